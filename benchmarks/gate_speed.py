"""Is the working tree slower than a commit? ``python benchmarks/gate_speed.py BASE``, or ``make gate-speed BASE=…``.

Two processes, one for each version, make the same calls in turn, and processor seconds are compared, never with those
of another day. A call that seems slower is measured again, in two new processes, whose memory lies elsewhere; it is
slower if all of several such *starts* say so. A start goes by the fastest of its rounds: other programs only ever add.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterable, Sequence
from io import BytesIO
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Self

from gate_calls import CALLS

ROOT = Path(__file__).resolve().parents[1]
LIMIT = 1.05
"""Ratio of processor seconds above which a start calls a call slower."""

STARTS, ROUNDS = 4, 6
"""Pairs of processes that have to agree, and how often each makes a call."""

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "CLUEWISE_THREADS"), "1")

Start = Callable[[Iterable[str]], dict[str, float | None]]


class Side:
    """A process that makes calls with one version of the library."""

    def __init__(self, src: Path) -> None:
        settings = os.environ | ONE_THREAD | {"PYTHONPATH": str(src), "PYTHONHASHSEED": "0"}
        command = [sys.executable, str(Path(__file__).with_name("gate_calls.py"))]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=settings)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()

    def time(self, name: str) -> float | None:
        """Processor seconds of a call; None if this version cannot make it."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(name, file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline().strip()
        if not answer:
            raise RuntimeError(f"the process that times {name} has ended.")
        return None if answer == "none" else float(answer)


def compare_once(base: Path, new: Path, names: Iterable[str], rounds: int = ROUNDS) -> dict[str, float | None]:
    """One start: the fastest of each call with the new version, divided by that with the base; None if one lacks it."""
    ratios: dict[str, float | None] = {}
    with Side(base) as old_side, Side(new) as new_side:
        for name in names:
            times: dict[Side, list[float | None]] = {old_side: [], new_side: []}
            for turn in range(rounds):
                for side in (old_side, new_side) if turn % 2 == 0 else (new_side, old_side):
                    times[side].append(side.time(name))
            old, own = ([one for one in times[side] if one is not None] for side in (old_side, new_side))
            ratios[name] = min(own) / min(old) if old and own else None
    return ratios


def judge(start: Start, names: Sequence[str], starts: int = STARTS) -> dict[str, list[float]]:
    """Ratios of each call, one for each start; only calls that are slower in all starts have as many as that."""
    found: dict[str, list[float]] = {name: [] for name in names}
    left = list(names)
    for _ in range(starts):
        if not left:
            break
        for name, ratio in start(left).items():
            if ratio is not None:
                found[name].append(ratio)
        left = [name for name in left if found[name] and found[name][-1] > LIMIT]
    return found


def describe(found: dict[str, list[float]], starts: int = STARTS) -> tuple[str, list[str]]:
    """A table, and the calls that are slower."""
    lines, slower = [f"{'call':26} {'ratio':>6}  {'starts':>6}"], []
    for name, ratios in found.items():
        if not ratios:
            lines.append(f"{name:26} {'–':>6}  {0:6}  not in both versions")
            continue
        is_slower = len(ratios) == starts and min(ratios) > LIMIT
        slower += [name] * is_slower
        lines.append(f"{name:26} {median(ratios):6.2f}  {len(ratios):6}  {'SLOWER' if is_slower else ''}".rstrip())
    return "\n".join(lines), slower


def unpack(commit: str, folder: Path) -> Path:
    """The library as it was at a commit; returns its ``src``."""
    packed = subprocess.run(["git", "archive", commit, "src"], cwd=ROOT, capture_output=True)
    if packed.returncode:
        raise SystemExit(f"git cannot unpack {commit!r}: {packed.stderr.decode().strip()}")
    with tarfile.open(fileobj=BytesIO(packed.stdout)) as archive:
        archive.extractall(folder, filter="data")
    return folder / "src"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Is the working tree slower than a commit?")
    parser.add_argument("base", nargs="?", default="HEAD", help="the commit (default: the last one)")
    parser.add_argument("--calls", nargs="*", default=list(CALLS), choices=list(CALLS), help="only some of the calls")
    given = parser.parse_args(arguments)
    with TemporaryDirectory() as folder:
        base = unpack(given.base, Path(folder))
        table, slower = describe(judge(lambda names: compare_once(base, ROOT / "src", names), given.calls))
    print(table)
    if slower:
        print(
            f"More than {LIMIT - 1:.0%} slower than {given.base} in {STARTS} of {STARTS} starts: {', '.join(slower)}."
        )
    else:
        print(f"Nothing is slower than {given.base} beyond noise ({LIMIT - 1:.0%} in {STARTS} starts).")
    return bool(slower)


if __name__ == "__main__":
    sys.exit(main())
