"""How long does a fresh process take: import and fit 150 rows, and the help of the command line?

Processor seconds stand beside the clock's: they hardly change when other programs keep the machine busy.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from time import perf_counter

from measuring import Figure, Times

FULL = {"repeats": 5}
TINY = {"repeats": 1}
LONGER = 1.0  # seconds that a fit may take longer
HELP = 0.7 / 0.58  # the help of the command line against that of an app of one command

ROWS = "import numpy as np; X = np.random.default_rng(0).standard_normal((150, 4)); "
SCRIPTS = {
    "cluewise": ROWS + "import cluewise; cluewise.PCKMeans(3, random_state=0).fit("
    "X, clues=cluewise.Clues(150, must=[(0, 1)], cannot=[(2, 3)]))",
    "scikit-learn": ROWS + "from sklearn.cluster import KMeans; KMeans(3, n_init=1, random_state=0).fit(X)",
    "import cluewise": "import cluewise",
    "import numpy": "import numpy",
    "cluewise --help": "import sys; sys.argv[1:] = ['--help']; from cluewise.cli import main; main()",
    "typer app": "import typer; app = typer.Typer(); app.command()(lambda name: None); app(['--help'])",
}


def measure(repeats: int) -> list[Figure]:
    for script in SCRIPTS.values():
        run(script)  # compiles what is not in the cache, and fills the file cache
    wall: dict[str, list[float]] = {name: [] for name in SCRIPTS}
    processor: dict[str, list[float]] = {name: [] for name in SCRIPTS}
    for _ in range(repeats):
        for name, script in SCRIPTS.items():
            clock, spent = run(script)
            wall[name].append(clock)
            processor[name].append(spent)
    figures = []
    for kind, seconds in (("clock", wall), ("processor", processor)):
        best = {name: min(found) for name, found in seconds.items()}
        noise = {name: Times(tuple(found)).noise for name, found in seconds.items()}
        for name, anchor, goal in (
            ("cluewise", "scikit-learn", 1 + LONGER / best["scikit-learn"]),
            ("import cluewise", "import numpy", None),
            ("cluewise --help", "typer app", HELP),
        ):
            label = "import and fit 150 rows" if name == "cluewise" else name
            against = "the same with scikit-learn's KMeans" if name == "cluewise" else anchor
            figures.append(Figure(f"{label}, {kind}", best[name], best[anchor], "s", against, goal, noise=noise[name]))
    return figures


def run(script: str) -> tuple[float, float]:
    """Clock and processor seconds of a fresh process."""
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = perf_counter()
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment, check=False)
    clock = perf_counter() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise RuntimeError(f"this failed in a fresh process: {script}\n{done.stderr}")
    return clock, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
