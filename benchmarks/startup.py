"""How long does a fresh process take: import and fit 150 rows, and the commands fit, list and --help?

Processor seconds stand beside the clock's: they hardly change when other programs keep the machine busy.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from time import perf_counter

from measuring import Figure, Times

FULL = {"before": 1, "repeats": 5}
TINY = {"before": 0, "repeats": 1}
LONGER = 1.0  # seconds that a fit may take longer
GOALS = {"cluewise fit": 1.3, "cluewise list": 1.0, "cluewise --help": 3.0}  # ratios to the anchors of the commands
LIBRARIES = "import sklearn.base, numba"

COMMAND = "import sys; sys.argv[1:] = '{}'.split(); from cluewise.cli import main; main()"  # as the shell starts it
ROWS = "import numpy as np; X = np.random.default_rng(0).standard_normal((150, 4)); "
SCRIPTS = {
    "cluewise": ROWS + "import cluewise; cluewise.PCKMeans(3, random_state=0).fit("
    "X, clues=cluewise.Clues(150, must=[(0, 1)], cannot=[(2, 3)]))",
    "scikit-learn": ROWS + "from sklearn.cluster import KMeans; KMeans(3, n_init=1, random_state=0).fit(X)",
    "import cluewise": "import cluewise",
    "import numpy": "import numpy",
    LIBRARIES: LIBRARIES,
    "cluewise fit": COMMAND.format("fit wine.csv --clues clues.csv --method PCKMeans --out clusters.csv"),
    "cluewise list": COMMAND.format("list"),
    "cluewise --help": COMMAND.format("--help"),
    "typer app": "import typer; app = typer.Typer(); app.command()(lambda name: None); app(['--help'])",
}


def measure(before: int, repeats: int) -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        run("from cluewise.cli import main; main(['demo', '--quiet', '--out', '.'])", folder)
        return _measure(before, repeats, folder)


def _measure(before: int, repeats: int, folder: str) -> list[Figure]:
    for script in list(SCRIPTS.values()) * before:
        run(script, folder)  # compiles what is not in the cache, and fills the file cache
    wall: dict[str, list[float]] = {name: [] for name in SCRIPTS}
    processor: dict[str, list[float]] = {name: [] for name in SCRIPTS}
    for _ in range(repeats):
        for name, script in SCRIPTS.items():
            clock, spent = run(script, folder)
            wall[name].append(clock)
            processor[name].append(spent)
    figures = []
    for kind, seconds in (("clock", wall), ("processor", processor)):
        best = {name: min(found) for name, found in seconds.items()}
        noise = {name: Times(tuple(found)).noise for name, found in seconds.items()}
        for name, anchor, goal in (
            ("cluewise", "scikit-learn", 1 + LONGER / best["scikit-learn"]),
            ("import cluewise", "import numpy", None),
            ("cluewise fit", LIBRARIES, GOALS["cluewise fit"]),
            ("cluewise list", LIBRARIES, GOALS["cluewise list"]),
            ("cluewise --help", "typer app", GOALS["cluewise --help"]),
        ):
            label = "import and fit 150 rows" if name == "cluewise" else name
            against = "the same with scikit-learn's KMeans" if name == "cluewise" else anchor
            figures.append(Figure(f"{label}, {kind}", best[name], best[anchor], "s", against, goal, noise=noise[name]))
    return figures


def run(script: str, folder: str) -> tuple[float, float]:
    """Clock and processor seconds of a fresh process in a folder; bytecode is cached, as for installed packages."""
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": ""}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = perf_counter()
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment, check=False)
    clock = perf_counter() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise RuntimeError(f"this failed in a fresh process: {script}\n{done.stderr}")
    return clock, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
