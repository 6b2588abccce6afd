"""Install the wheel into fresh environments, one for each Python × oldest and newest dependencies, and use it.

``python tools/environments.py [PYTHON …]`` tries these Pythons, or each on the path from 3.11 on, prints a table and
writes it to docs/environments.csv; what the table says of other Pythons stays. It needs uv and the package index.
"""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "docs" / "environments.csv"
UV = str(Path(sys.executable).parent / "uv")

DEPENDENCIES = ("numpy", "scipy", "scikit-learn", "numba")
FIELDS = ["Python", "dependencies", *DEPENDENCIES, "installed in (s)", "size (MB)", "smoke test"]

# The oldest are those that pyproject.toml allows and that have wheels for the Python: users compile nothing.
ENDS = {"oldest": ["--resolution", "lowest-direct", "-r", str(ROOT / "pyproject.toml")], "newest": []}

SMOKE = """
import cluewise as cw
X, y = cw.datasets.make_pattern("two_spirals", n_samples=300, random_state=0)
clues = cw.Clues.sample(y, pairs=60, random_state=0)
model = cw.Cluewise(2, random_state=0).fit(X, clues=clues)
assert cw.metrics.ari(y, model.labels_) > 0.9, cw.metrics.ari(y, model.labels_)
assert cw.PCKMeans(2, random_state=0).fit(X, clues=clues).labels_.shape == (300,)
cw.save(model, "model.cluewise")
assert (cw.load("model.cluewise").predict(X) == model.predict(X)).all()
"""

ASK = """
import json, platform, sys, sysconfig
from importlib.metadata import version
free = "t" if sysconfig.get_config_var("Py_GIL_DISABLED") else ""
print(json.dumps([platform.python_version() + free, *map(version, sys.argv[1:])]))
"""


def main(pythons: list[str]) -> None:
    """Try all combinations, and write down what came of it."""
    rows = list(csv.DictReader(TABLE.open(newline=""))) if TABLE.exists() else []
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        wheel = build_wheel(Path(folder))
        for python in pythons or find_pythons():
            for end in ENDS:
                row = try_environment(wheel, python, end)
                failed |= row["smoke test"] != "passed"
                print("  ".join(f"{row[field]:<12}" for field in FIELDS), flush=True)
                rows = [old for old in rows if [*old.values()][:2] != [*row.values()][:2]] + [row]
    rows.sort(key=lambda row: (_number(row["Python"]), list(ENDS).index(row["dependencies"])))
    with TABLE.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    sys.exit(failed)


def _number(version: str) -> list[int]:
    return [int(part.rstrip("t")) for part in version.split(".")]


def find_pythons() -> list[str]:
    """Every Python from 3.11 on that can be started; a name on the path may stand for none."""
    found = (shutil.which(f"python3.{minor}") for minor in range(11, 30))
    return [path for path in found if path and not subprocess.run([path, "-c", ""], capture_output=True).returncode]


def build_wheel(folder: Path) -> Path:
    """The wheel, in an empty folder."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    (wheel,) = folder.glob("*.whl")
    return wheel


def install(wheel: Path, python: str, folder: Path, *options: str) -> Path:
    """A fresh environment with the wheel in it; its Python."""
    subprocess.run([python, "-m", "venv", "--without-pip", folder], check=True)
    inside = folder / "bin" / "python"
    subprocess.run([UV, "pip", "install", "--quiet", "--python", inside, *options, wheel], check=True)
    return inside


def try_environment(wheel: Path, python: str, end: str) -> dict[str, str]:
    """A line of the table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "venv")
        start = time.monotonic()
        inside = install(wheel, python, folder, "--no-cache", "--only-binary", ":all:", *ENDS[end])
        took, size = time.monotonic() - start, sum(path.lstat().st_size for path in folder.rglob("*"))
        asked = subprocess.run([inside, "-c", ASK, *DEPENDENCIES], check=True, capture_output=True, text=True)
        smoke = subprocess.run([inside, "-I", "-c", SMOKE], cwd=name, capture_output=True, text=True)
        if smoke.returncode:
            print(smoke.stderr, file=sys.stderr)
    version, *versions = json.loads(asked.stdout)
    result = "failed" if smoke.returncode else "passed"
    return dict(zip(FIELDS, [version, end, *versions, f"{took:.0f}", f"{size / 1e6:.0f}", result], strict=True))


if __name__ == "__main__":
    os.environ.pop("PYTHONPATH", None)
    main(sys.argv[1:])
