"""Run the demo of the wheel where little is allowed, print what came of it, and write it to docs/places.csv.

``python tools/places.py`` installs the wheel into a fresh environment and runs ``cluewise demo`` there, each time in
another hard place. It needs Linux, uv, the package index, and a user who may make name spaces.
"""

from __future__ import annotations

import csv
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from environments import ROOT, build_wheel, install

TABLE = ROOT / "docs" / "places.csv"
FIELDS = ["place", "demo", "CPU time (s)", "memory (MiB)"]


class Place(NamedTuple):
    """What is special about it: settings, a program that starts Python, options of Python, mounts before it starts."""

    settings: dict[str, str] = {}
    starter: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    mounts: str = ""
    compiles: bool = False  # with an empty cache of compiled code


PLACES = {
    "as it is": Place(compiles=True),
    "no compiler": Place({"PATH": "/nonexistent", "CC": "/nonexistent/cc"}, compiles=True),
    # The folder in which the demo runs becomes a mount of its own, which stays writable, and has the temporary files.
    "read-only home and installation": Place(mounts='mount --bind "$PWD" "$PWD" && mount -o bind,remount,ro /'),
    "no /dev/shm": Place(mounts="mount -t tmpfs -o ro none /dev/shm"),
    "one core": Place(starter=("taskset", "--cpu-list", "0")),
    "1 GiB of address space": Place(starter=("prlimit", f"--as={1 << 30}"), compiles=True),
    "C locale": Place({"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}),
    "every warning an error": Place(options=("-W", "error")),
    "without docstrings and asserts": Place(options=("-OO",)),
}


def main() -> None:
    """Print a line for each place, and write all of them down."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        python = install(build_wheel(folder), sys.executable, folder / "venv")
        rows = []
        for place in PLACES:
            rows.append(_try(place, python, folder))
            print(
                "  ".join(f"{text:<{width}}" for text, width in zip(rows[-1].values(), (34, 8, 12, 8, 0))), flush=True
            )
    with TABLE.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n", extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    sys.exit(any(row["demo"] != "works" for row in rows))


def _try(name: str, python: Path, folder: Path) -> dict[str, str]:
    """Run the demo: whether it worked, what it needed, and what it said beside its results."""
    place = PLACES[name]
    with tempfile.TemporaryDirectory(dir=folder) as work:
        command = [*place.starter, "/usr/bin/env", "-C", work, str(python), *place.options, "-m", "cluewise", "demo"]
        if place.mounts:
            script = f'cd {work} && {place.mounts} && exec "$@"'
            command = ["unshare", "--map-root-user", "--mount", "sh", "-c", script, "sh", *command]
        settings = {"TMPDIR": work} | ({"NUMBA_CACHE_DIR": f"{work}/cache"} if place.compiles else {}) | place.settings
        out, errors = Path(work, "out"), Path(work, "errors")
        with out.open("w") as to, errors.open("w") as aside:
            child = subprocess.Popen(command, env=os.environ | settings, stdout=to, stderr=aside)
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
        works = child.returncode == 0 and "with clues" in out.read_text("utf-8", "replace")
        said = errors.read_text("utf-8", "replace").strip()
    seconds, megabytes = usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024
    results = [name, "works" if works else "fails", f"{seconds:.0f}", f"{megabytes:.0f}"]
    return dict(zip(FIELDS, results, strict=True)) | {"said": said}


if __name__ == "__main__":
    main()
