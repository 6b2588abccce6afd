"""Do the tests notice a bug? ``python tools/mutants.py [NUMBER ...]``

Each mutant is a line of the library made wrong on purpose. It is put into a copy of the tree, where the few tests that
should notice run, and must fail. First they all run without a mutant, and must pass. A mutant is found by its text,
which stands exactly once in ``src``, so code may move from file to file and this list stays as it is.

Kernels run as plain Python here, so that nothing is compiled for the sake of one mutant. Takes some minutes, and exits
with 1 if a mutant survives or if its text is not there.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "_build", "docs", "results", "report")


class Mutant(NamedTuple):
    """A wrong line, and the tests that should notice it."""

    right: str
    wrong: str
    tests: str  # arguments of pytest


TWINS = "tests/kernels/test_{}_twins.py"
CATCH = "tests/test_laws.py::test_laws_catch_liars -k "
MUTANTS = (
    # Kernels.
    Mutant("better = value < best[i]\n", "better = value <= best[i]\n", TWINS.format("assignment")),
    Mutant("sums[h, j] += w * x[i, j]", "sums[h, j] += x[i, j]", TWINS.format("assignment")),
    Mutant("pull[j] += node_pull[e] * shares[f]", "pull[j] += node_pull[e]", TWINS.format("closures")),
    Mutant("min(exits[t, h], exits[r, h])", "max(exits[t, h], exits[r, h])", TWINS.format("pairs")),
    Mutant("if squared > 1 + slack:", "if squared > 1:", TWINS.format("density") + " tests/density/test_radius.py"),
    # Laws: a weaker one lets a liar through.
    Mutant("rise = np.flatnonzero(np.diff(trace) > slack)", "rise = np.zeros(0)", CATCH + "objective"),
    Mutant("for kind in (csr_array, csr_matrix, csc_array):", "for kind in ():", CATCH + "sparse"),
    Mutant("y=rng.integers(9, size=len(X))", "y=None", CATCH + "y_is"),
    Mutant('assert_same(first, second, "another seed")', "pass", CATCH + "seed_is"),
    # Estimators.
    Mutant("LOG_ODDS * within / rows.mass /", "LOG_ODDS * within /", "tests/core/test_price.py"),
    Mutant("others[rows, top] = log_sum(rest)\n", "pass\n", "tests/mixture/test_inference.py"),
    Mutant("mass = np.bincount(clues.components, weights=weight,", "mass = np.bincount(clues.components,",
           "tests/density/test_constrained_dbscan.py"),
    Mutant("k = int(np.flatnonzero(w > theta)[-1])", "k = int(np.flatnonzero(w > theta)[0])",
           "tests/ensemble/test_scsc.py tests/ensemble/test_weights.py"),
    Mutant('if self.linkage == "ward":', "if False:", "tests/hierarchy/test_agglomerative.py"),
    # Clues and what they break.
    Mutant("np.minimum.at(weakest, component[clues.must", "np.maximum.at(weakest, component[clues.must",
           "tests/clues/test_entailed.py"),
    Mutant("if parts.max(initial=0) > upper.max(initial=0) + slack:", "if False:",
           "tests/exact/test_feasibility.py -k sizes"),
    Mutant("table.rows[table.counts > 1]", "table.rows[table.counts > 2]", "tests/metrics/test_satisfaction.py"),
    # Questions.
    Mutant("voices[a.question.key] < MOST", "voices[a.question.key] <= MOST",
           "tests/active/test_strategy_laws.py -k contradiction"),
    # The command line.
    Mutant('"CondEns" if clues.kinds == {"avoid"} else DEFAULT', "DEFAULT", "tests/cli/test_cli_fit.py -k avoid"),
    Mutant("if not 0 <= price < math.inf:", "if price < 0:", "tests/cli/test_cli_bad_input.py -k penalty"),
)  # fmt: skip


def home(tree: Path, text: str) -> Path:
    """The only file of the library that holds this text, once."""
    found = [path for path in sorted((tree / "src").rglob("*.py")) for _ in range(path.read_text("utf-8").count(text))]
    if len(found) != 1:
        raise LookupError(f"stands {len(found)} times in src")
    return found[0]


def passes(tree: Path, tests: str) -> bool:
    """Whether these tests pass in this tree."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist"]
    environment = {**os.environ, "PYTHONPATH": str(tree / "src"), "NUMBA_DISABLE_JIT": "1"}
    run = subprocess.run([*command, "--hypothesis-profile=ci", *tests.split()], cwd=tree, env=environment,
                         capture_output=True, text=True)  # fmt: skip
    if run.returncode not in (0, 1):  # neither passed nor failed: no tests, or they cannot be read
        raise RuntimeError(run.stdout + run.stderr)
    return run.returncode == 0


def fate(tree: Path, mutant: Mutant) -> str:
    """What becomes of a mutant."""
    try:
        path = home(tree, mutant.right)
    except LookupError as error:
        return str(error)
    text = path.read_text("utf-8")
    path.write_text(text.replace(mutant.right, mutant.wrong), "utf-8")
    try:
        return "survived" if passes(tree, mutant.tests) else "caught"
    finally:
        path.write_text(text, "utf-8")


def main(numbers: Sequence[str]) -> int:
    """Try these mutants, or all."""
    chosen = [MUTANTS[int(number) - 1] for number in numbers] or MUTANTS
    with TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        shutil.copytree(ROOT, tree, ignore=LEFT_OUT)
        for tests in dict.fromkeys(mutant.tests for mutant in chosen):
            if not passes(tree, tests):
                print(f"{tests} fails without a mutant")
                return 1
        lost = 0
        for mutant in chosen:
            end = fate(tree, mutant)
            lost += end != "caught"
            number = MUTANTS.index(mutant) + 1
            print(f"{number:2} {end:8} {mutant.right.strip()}  →  {mutant.wrong.strip()}", flush=True)
    print(f"{len(chosen) - lost} of {len(chosen)} caught")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
