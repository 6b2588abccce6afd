"""Integer programs by HiGHS: in this process when they are short, in a child process when they may be long.

HiGHS cannot be interrupted from outside, so Ctrl-C would wait for it. A child process can be killed at once. This
file is what the child runs, as a script, which is why it imports nothing but NumPy and SciPy; ``subprocess`` instead of
``multiprocessing`` saves users the ``if __name__ == "__main__"`` guard.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

__all__ = ["Answer", "Program", "solve", "solve_here", "solve_in_child"]

SHORT = 0.2  # seconds that Ctrl-C may have to wait
SMALL = 4_000  # entries of a program that HiGHS reads and presolves in much less than that
STOP = 0.3, 0.03  # seconds, and share of the time, that HiGHS may need to notice that its time is over
GRACE = 0.3  # seconds after the deadline at which the child is killed
POLL = 0.01
BUSY = 5.0  # seconds of other work while the child runs


class Program(NamedTuple):
    """Minimize cost · x over x between 0 and 1, some of them whole numbers, with least ≤ rows · x ≤ most.

    Only solutions that cost at most ``ceiling`` are of interest.
    """

    cost: Any
    indptr: Any  # rows, CSR
    indices: Any
    values: Any
    least: Any
    most: Any
    whole: Any  # 1 for variables that are whole numbers, 0 for the others
    ceiling: float


class Answer(NamedTuple):
    """``status`` is "optimal", "infeasible" or "limit"; ``x`` the best solution found, or None."""

    status: str
    x: Any
    bound: float


def solve(program: Program, seconds: float, gap: float, meanwhile: Callable[[], None] | None) -> Answer:
    """Solve for at most so many seconds, or until the relative ``gap``.

    ``meanwhile`` is a short piece of work to repeat while a child process is busy.
    """
    deadline = time.monotonic() + seconds
    if len(program.indices) <= SMALL:
        answer = solve_here(program, min(SHORT, seconds), gap)
        if answer.status != "limit":
            return answer
    return solve_in_child(program, deadline - time.monotonic(), gap, meanwhile)


def solve_here(program: Program, seconds: float, gap: float, largest: Any = 1.0) -> Answer:
    """Solve in this process; ``largest`` is the upper bound of each variable."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    if seconds <= 0:
        return Answer("limit", None, -np.inf)
    result = milp(
        program.cost,
        integrality=program.whole,
        bounds=Bounds(0.0, largest),
        constraints=LinearConstraint(_rows(program), program.least, program.most),
        options={"time_limit": seconds, "mip_rel_gap": gap},
    )
    if result.status == 2:
        return Answer("infeasible", None, -np.inf)
    bound = -np.inf if result.mip_dual_bound is None else float(result.mip_dual_bound)
    return Answer("optimal" if result.status == 0 else "limit", result.x, bound)


def relax(program: Program, seconds: float) -> tuple[float, Any]:
    """Bound by linear programming, and which variables a solution below the ceiling may use (reduced costs)."""
    from scipy.optimize import linprog
    from scipy.sparse import vstack

    rows, least, most = _rows(program), program.least, program.most
    equal = least == most
    above, below = ~equal & np.isfinite(most), ~equal & np.isfinite(least)
    result = linprog(
        program.cost,
        A_ub=vstack([rows[above], -rows[below]]),
        b_ub=np.concatenate([most[above], -least[below]]),
        A_eq=rows[equal],
        b_eq=most[equal],
        bounds=(0.0, None),
        options={"time_limit": max(seconds, 0.0)},
    )
    if result.status != 0:
        return -np.inf, np.ones(len(program.cost), bool)
    room = program.ceiling - result.fun
    return float(result.fun), result.lower.marginals <= room + 1e-7 * (1.0 + abs(room))


def _rows(program: Program) -> Any:
    from scipy.sparse import csr_array

    shape = len(program.indptr) - 1, len(program.cost)
    # HiGHS counts in 32 bits, and older SciPy does not convert.
    indices, indptr = (np.asarray(part, dtype=np.int32) for part in (program.indices, program.indptr))
    return csr_array((program.values, indices, indptr), shape=shape)


def solve_in_child(program: Program, seconds: float, gap: float, meanwhile: Callable[[], None] | None) -> Answer:
    """Solve in a child process, which dies when time is over or with any exception here."""
    nothing = Answer("limit", None, -np.inf)
    if not sys.executable or seconds < 0:
        return nothing
    deadline = time.monotonic() + seconds
    with tempfile.TemporaryDirectory(prefix="cluewise-") as folder:
        problem, answer, first = (Path(folder, f"{name}.npz") for name in ("problem", "answer", "first"))
        np.savez(problem, *program, time.time() + deadline - time.monotonic(), gap)  # both processes share this clock
        # The child finds the packages where this process found them.
        path = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
        child = subprocess.Popen(
            [sys.executable, "-P", __file__, folder],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"PYTHONPATH": path},
            start_new_session=True,  # Ctrl-C in a terminal goes to this process only
        )
        try:
            # Popen.wait would hold up KeyboardInterrupt for a quarter of a second.
            rest = time.monotonic() + BUSY
            while child.poll() is None and not answer.exists() and time.monotonic() < deadline + GRACE:
                if meanwhile is None or time.monotonic() > rest:
                    time.sleep(POLL)
                else:
                    meanwhile()
        finally:
            child.kill()
            child.wait()
        if not answer.exists():
            answer = first
        return _read(answer) if answer.exists() else nothing


def _write(path: Path, found: Answer) -> None:
    aside = path.with_suffix(".part.npz")
    np.savez(aside, status=found.status, x=[] if found.x is None else found.x, bound=found.bound)
    aside.replace(path)


def _read(path: Path) -> Answer:
    with np.load(path) as data:
        x = data["x"]
        return Answer(str(data["status"]), x if len(x) else None, float(data["bound"]))


def main(folder: str) -> None:
    """What the child does: a bound first, in case time is too short for more."""
    with np.load(Path(folder, "problem.npz")) as data:
        *fields, end, gap = (data[f"arr_{i}"] for i in range(len(data.files)))
    program = Program(*fields)
    bound, useful = relax(program, float(end) - time.time() - STOP[0])
    _write(Path(folder, "first.npz"), Answer("limit", None, bound))
    seconds = (float(end) - time.time()) * (1 - STOP[1]) - STOP[0]
    found = solve_here(program, seconds, float(gap), useful.astype(float))
    _write(Path(folder, "answer.npz"), found._replace(bound=max(bound, found.bound)))


if __name__ == "__main__":
    main(sys.argv[1])
