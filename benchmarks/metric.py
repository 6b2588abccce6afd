"""Metrics: ITML at equal pair visits, LMNN on digits of the mail, and K-means after each metric, beside metric-learn.

metric-learn needs an older scikit-learn. It is measured by the interpreter named in CLUEWISE_METRIC_RIVAL_PYTHON:
``python3.11 -m venv rival && rival/bin/pip install "scikit-learn==1.2.2" "numpy==1.24.4" "scipy<1.11" metric-learn``.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import tracemalloc
import warnings
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from measuring import Figure, Times, exponent, interleaved, one_thread
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score
from workload import here

from cluewise import Clues
from cluewise.datasets import load

FULL = {
    "columns": (16, 64),
    "pairs": 10_000,
    "sweeps": 20,
    "repeats": 3,
    "sizes": (100_000, 300_000, 1_000_000),
    "rows": 100_000,
    "usps": True,
    "sets": ("iris", "wine", "balance", "ionosphere"),
    "seeds": 20,
}
TINY = {
    "columns": (4,),
    "pairs": 50,
    "sweeps": 3,
    "repeats": 1,
    "sizes": (100, 200),
    "rows": 1_000,
    "usps": False,
    "sets": ("iris",),
    "seeds": 2,
}
GOALS = {16: 1 / 50, 64: 1 / 10}
METHODS = ("RCA", "ITML", "Xing", "LMNN")
LIMIT = 60.0  # seconds for LMNN on USPS
FEWEST = 4  # labels per class: metric-learn's LMNN needs more than its three neighbors
BUDGET = 240.0  # processor seconds for the rival in each cell: its Xing needs a minute per fit where d = 34
RIVAL = "CLUEWISE_METRIC_RIVAL_PYTHON"
THEIRS = "metric-learn"


def measure(
    columns: Sequence[int],
    pairs: int,
    sweeps: int,
    repeats: int,
    sizes: Sequence[int],
    rows: int,
    usps: bool,
    sets: Sequence[str],
    seeds: int,
) -> list[Figure]:
    if RIVAL not in os.environ:
        print(f"metric: rival not installed (set {RIVAL} to a Python that has metric-learn)")
    with one_thread():
        figures = [visits(d, pairs, sweeps, repeats) for d in columns]
        figures += [growth(sizes, repeats), memory(rows)]
        figures += clusters(here("metric", sets), seeds)
    return figures if usps and not here("metric", ["usps"]) else [*figures, large_margin(usps)]


def visits(d: int, pairs: int, sweeps: int, repeats: int) -> Figure:
    """P14: exactly ``sweeps`` sweeps over the same pairs, with the same bounds."""
    from cluewise.metric_learning import ITML

    X, told, bounds = task(d, pairs)
    clues = Clues(len(X), must=told[: pairs // 2], cannot=told[pairs // 2 :])
    model = ITML(trust=1.0, bounds=bounds, max_iter=sweeps, tol=0.0)
    model.fit(X, clues=clues)  # compiles
    if model.n_iter_ != sweeps:
        raise RuntimeError(f"{model.n_iter_} sweeps instead of {sweeps}.")
    ours = interleaved({"": lambda: model.fit(X, clues=clues)}, repeats)[""]
    given = {"X": X, "pairs": np.concatenate([clues.must, clues.cannot]), "bounds": bounds}
    sign = np.repeat([1, -1], [len(clues.must), len(clues.cannot)])
    theirs = rival(given | {"sign": sign, "sweeps": sweeps, "repeats": repeats})
    name = f"ITML, {pairs} pairs, {sweeps} sweeps, d = {d}"
    if theirs is None:
        return Figure(name, 1e3 * ours.best, 1e3 * ours.best, "ms", "itself: no rival", noise=ours.noise)
    anchor = 1e3 * Times(tuple(theirs["seconds"])).best
    return Figure(name, 1e3 * ours.best, anchor, "ms", f"{THEIRS}'s ITML", GOALS.get(d), noise=ours.noise)


def task(d: int, pairs: int) -> tuple[np.ndarray, np.ndarray, tuple[float, float]]:
    """Random rows, distinct pairs of them, and bounds that most pairs break."""
    rng = np.random.default_rng(0)
    told = np.arange(2 * pairs).reshape(pairs, 2)  # every row in one pair: no two are alike
    return rng.normal(size=(2 * pairs, d)), told, (1.2 * d, 2.8 * d)


def growth(sizes: Sequence[int], repeats: int) -> Figure:
    """Time of a sweep over the number of pairs, where their differences no longer fit into the caches."""
    from cluewise.metric_learning._itml import Bounds, State, step

    sweeps = {}
    for pairs in sizes:
        X, told, bounds = task(16, pairs)
        sign = np.where(np.arange(pairs) < pairs // 2, 1.0, -1.0)
        asked = Bounds(told, sign, np.ones(pairs), np.where(sign > 0, *bounds), X[told[:, 0]] - X[told[:, 1]])
        state = State(np.eye(16), np.zeros(pairs), asked.bound)
        sweeps[pairs] = lambda X=X, asked=asked, state=state: step(state, X=X, bounds=asked, tol=0.0)
    times = interleaved(sweeps, 3 * repeats)
    slope = exponent(sizes, [times[pairs].best for pairs in sizes])
    return Figure("ITML sweep: exponent of pairs", slope, 1.0, "", "linear growth", 1.1)


def memory(rows: int) -> Figure:
    """Peak of a fit in which every row has a label: nothing of the size of all pairs."""
    from cluewise.metric_learning import ITML

    rng = np.random.default_rng(0)
    y = rng.integers(10, size=rows)
    X = rng.normal(size=(rows, 16)) + y[:, None]
    clues = Clues.from_labels(y)
    tracemalloc.start()
    ITML(max_iter=3, random_state=0).fit(X, clues=clues)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return Figure(f"ITML, peak at n = {rows}", peak / 1e6, X.nbytes / 1e6, "MB", "X itself", 10.0)


def large_margin(usps: bool) -> Figure:
    """LMNN with all rows labelled, by the clock, with all threads."""
    from cluewise.metric_learning import LMNN

    if usps:
        data = load("usps")
        X, y = data.X, data.y
    else:
        X, y = load_digits(return_X_y=True)
        X, y = X[:200], y[:200]
    begin = perf_counter()
    model = LMNN().fit(X, clues=y)
    seconds = perf_counter() - begin
    name = f"LMNN, {X.shape[0]} × {X.shape[1]}, {model.n_iter_} steps"
    return Figure(name, seconds, LIMIT, "s", "a minute", 1.0)


def clusters(sets: Sequence[str], seeds: int) -> list[Figure]:
    """1 − ARI of K-means after each metric with 10 % labels, and seconds of learning, beside metric-learn's."""
    given: dict[str, Any] = {}
    for name in sets:
        data = load(name, standardize=True)
        given[f"X/{name}"], given[f"true/{name}"] = data.X.astype(np.float64), data.y
        for seed in range(seeds):
            given[f"y/{name}|{seed}"] = some_labels(data.y, seed)
    figures = []
    for method in METHODS:
        for name in sets:
            found = [ours(method, given, name, seed) for seed in range(seeds)]
            keys = [f"{method}|{name}|{seed}" for seed in range(seeds)]
            wanted = {key: value for key, value in given.items() if key.split("|")[0].split("/")[1] == name}
            theirs = rival(wanted | {"names": np.array(keys), "budget": BUDGET})
            figures += cell(method, name, given, found, theirs, keys)
    return figures


def cell(method: str, name: str, given: Any, found: Any, theirs: Any, keys: Sequence[str]) -> list[Figure]:
    """One method on one set: how good and how fast."""
    X, y = given[f"X/{name}"], given[f"true/{name}"]
    mine = [score(X, y, components, seed) for seed, (components, _) in enumerate(found)]
    seconds = 1e3 * float(np.mean([s for _, s in found]))
    of = f"1 - ARI, {name} after {method}"
    if theirs is None:
        plain = [score(X, y, np.eye(X.shape[1]), seed) for seed in range(len(mine))]
        return [Figure(of, 1 - np.mean(mine), 1 - np.mean(plain), "", "Euclidean distance")]
    made = {seed: theirs.get(f"components/{key}") for seed, key in enumerate(keys)}
    usable = {seed: L for seed, L in made.items() if L is not None and np.isfinite(L).all()}
    if len(usable) < len(keys):
        print(f"metric: {THEIRS}'s {method} on {name} gave a result in {len(usable)} of {len(keys)} draws")
    if not usable:
        return [Figure(of, 1 - np.mean(mine), 1.0, "", "no cluster at all")]
    their = [score(X, y, L, seed) for seed, L in usable.items()]
    error = [np.std(v, ddof=1) / np.sqrt(len(v)) if len(v) > 1 else 0.0 for v in (mine, their)]
    miss = 1 - np.mean(their)
    mean = f"{np.mean(mine):.3f} ± {error[0]:.3f}, theirs {np.mean(their):.3f} ± {error[1]:.3f}"
    print(f"ARI, {name} after {method}: {mean}", flush=True)
    anchor = 1e3 * float(np.mean([theirs[f"seconds/{keys[seed]}"] for seed in usable]))
    return [
        Figure(of, 1 - np.mean(mine), miss, "", f"{THEIRS}, one standard error allowed", (miss + error[1]) / miss),
        Figure(f"  seconds, {name}, {method}", seconds, anchor, "ms", THEIRS, 1.0),
    ]


def some_labels(y: np.ndarray, seed: int) -> np.ndarray:
    """A tenth of every class, four rows at least; -1 elsewhere."""
    rng = np.random.default_rng(seed)
    labels = np.full(len(y), -1)
    for c in np.unique(y):
        rows = rng.permutation(np.flatnonzero(y == c))
        labels[rows[: max(FEWEST, round(0.1 * len(rows)))]] = c
    return labels


def ours(method: str, given: Any, name: str, seed: int) -> tuple[np.ndarray, float]:
    """Our components with everything at its default, and the seconds that they took."""
    from cluewise import metric_learning

    X, labels = given[f"X/{name}"], given[f"y/{name}|{seed}"]
    model = {
        "RCA": metric_learning.RCA,
        "ITML": metric_learning.ITML,
        "Xing": metric_learning.XingMetric,
        "LMNN": metric_learning.LMNN,
    }[method]()
    if method == "ITML":
        model.set_params(random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, clues=labels)  # compiles
        begin = process_time()
        model.fit(X, clues=labels)
    return model.components_, process_time() - begin


def score(X: np.ndarray, y: np.ndarray, components: np.ndarray, seed: int) -> float:
    """Adjusted Rand index of K-means on the rows that a metric has turned."""
    found = KMeans(len(np.unique(y)), n_init=10, random_state=seed).fit_predict(X @ components.T)
    return float(adjusted_rand_score(y, found))


def rival(given: dict[str, Any]) -> dict[str, np.ndarray] | None:
    """What metric-learn answers; None when it is not there."""
    python = os.environ.get(RIVAL)
    if not python:
        return None
    with tempfile.TemporaryDirectory() as folder:
        tasks, answers = Path(folder) / "tasks.npz", Path(folder) / "answers.npz"
        np.savez(tasks, **given)
        script = Path(__file__).with_name("metric_rival.py")
        quiet = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        command = [python, str(script), str(tasks), str(answers)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=quiet)
        if done.returncode:
            raise RuntimeError(f"{RIVAL}={python} cannot run the rival:\n{done.stderr}")
        return dict(np.load(answers))
