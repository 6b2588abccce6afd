"""Integer programs by HiGHS: in this process when they are short, in a child process when they may be long.

HiGHS cannot be interrupted from outside, so Ctrl-C would wait for it. A child process can be killed at once. This
file is what the child runs, as a script, which is why it imports nothing but NumPy and SciPy; ``subprocess`` instead of
``multiprocessing`` spares users the ``if __name__ == "__main__"`` guard.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

__all__ = ["Answer", "Program", "solve", "solve_here", "solve_in_child"]

SHORT = 0.2  # seconds that Ctrl-C may have to wait
SMALL = 4_000  # entries of a program that HiGHS reads and presolves in much less than that
GRACE = 0.3  # seconds for the child to stop by itself
STOP = 0.2  # seconds before the deadline at which HiGHS is told to stop, so that its bound comes back in time
POLL = 0.01


class Program(NamedTuple):
    """Minimize cost · x over x ∈ {0, 1}: the first ``exact`` rows add up to one, the others to at most one."""

    cost: Any
    indptr: Any  # rows, CSR with all entries 1
    indices: Any
    exact: int


class Answer(NamedTuple):
    """``status`` is "optimal", "infeasible" or "limit"; ``x`` the best solution found, or None."""

    status: str
    x: Any
    bound: float


def solve(program: Program, deadline: float, gap: float) -> Answer:
    """Solve until ``deadline`` (of ``time.monotonic``) or the relative ``gap``."""
    left = deadline - time.monotonic()
    if len(program.indices) <= SMALL:
        answer = solve_here(program, min(SHORT, left), gap)
        if answer.status != "limit":
            return answer
    return solve_in_child(program, deadline, gap)


def solve_here(program: Program, seconds: float, gap: float) -> Answer:
    """Solve in this process."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array

    if seconds <= 0:
        return Answer("limit", None, -np.inf)
    count, size = len(program.indptr) - 1, len(program.cost)
    rows = csr_array((np.ones(len(program.indices)), program.indices, program.indptr), shape=(count, size))
    least = np.where(np.arange(count) < program.exact, 1.0, -np.inf)
    result = milp(
        program.cost,
        integrality=np.ones(size),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(rows, least, 1.0),
        options={"time_limit": seconds, "mip_rel_gap": gap},
    )
    status = {0: "optimal", 2: "infeasible"}.get(result.status, "limit")
    bound = -np.inf if result.mip_dual_bound is None else float(result.mip_dual_bound)
    return Answer(status, result.x, bound)


def solve_in_child(program: Program, deadline: float, gap: float) -> Answer:
    """Solve in a child process, which dies with the deadline or with any exception here."""
    nothing = Answer("limit", None, -np.inf)
    if not sys.executable or time.monotonic() > deadline:
        return nothing
    with tempfile.TemporaryDirectory(prefix="cluewise-") as folder:
        problem, answer = Path(folder, "problem.npz"), Path(folder, "answer.npz")
        seconds = deadline - time.monotonic()
        np.savez(problem, *program, time.time() + seconds, gap)
        # The child finds the packages where this process found them.
        path = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
        child = subprocess.Popen(
            [sys.executable, "-P", __file__, str(problem), str(answer)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"PYTHONPATH": path},
            start_new_session=True,  # Ctrl-C in a terminal goes to this process only
        )
        try:
            # Popen.wait would hold up KeyboardInterrupt for a quarter of a second.
            while child.poll() is None and time.monotonic() < deadline + GRACE:
                time.sleep(POLL)
        finally:
            child.kill()
            child.wait()
        if child.returncode != 0:
            return nothing
        with np.load(answer) as data:
            x = data["x"]
            return Answer(str(data["status"]), x if len(x) else None, float(data["bound"]))


def main(problem: str, answer: str) -> None:
    """What the child does."""
    with np.load(problem) as data:
        cost, indptr, indices, exact, end, gap = (data[f"arr_{i}"] for i in range(6))
    found = solve_here(Program(cost, indptr, indices, int(exact)), float(end) - time.time() - STOP, float(gap))
    np.savez(answer, status=found.status, x=[] if found.x is None else found.x, bound=found.bound)


if __name__ == "__main__":
    main(*sys.argv[1:])
