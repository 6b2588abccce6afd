"""Numbers of any size: every method gives the result of ordinary scales, or refuses in the sentence of the gate."""

import re
import warnings
from collections import Counter
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pytest
from scipy.sparse import issparse
from sklearn.utils import get_tags

import cluewise as cw
from cluewise import Clues, metric_learning
from cluewise.boosting import DistBoost
from cluewise.checks import sample_clues
from cluewise.checks._examples import adapt_rows, blobs
from cluewise.checks._fits import copy_with, select_clues
from cluewise.exceptions import NotDescending
from cluewise.metrics import ari

N, D, K = 40, 4, 3
METRICS = {name: getattr(metric_learning, name) for name in metric_learning.__all__} | {"DistBoost": DistBoost}
CLASSES = cw.clusterers() | METRICS

VARIANTS = {
    "ApproxKernelKMeans": [{"kernel": "linear"}],
    "BalancedKMeans": [{"balance": 1.0}],
    "BoostCluster": [{"projection": "generalized"}, {"final": "votes"}],
    "CVQE": [{"profile": "published"}],
    "ClosurePCKMeans": [{"profile": "published"}],
    "ConstrainedAgglomerative": [{"linkage": kind} for kind in ("centroid", "complete", "average", "single")],
    "DCA": [{"n_components": 2}],
    "DPMeans": [{"divergence": "generalized_i"}],
    "DistBoost": [{"covariance_type": "diag"}],
    "E2CP": [{"affinity": "rbf"}, {"affinity": "nearest_neighbors"}],
    "EquivalenceGMM": [{"covariance_type": kind} for kind in ("tied", "diag", "spherical")],
    "FlexibleSpectral": [{"affinity": "rbf"}, {"affinity": "nearest_neighbors"}],
    "HMRFKMeans": [
        {"metric": "full"},
        {"metric": None},
        {"metric": "full", "per_cluster": True},
        {"link_cost": "constant"},
        {"profile": "published"},
        {"distortion": "cosine"},
        {"distortion": "generalized_i"},
    ],
    "ITML": [{"n_components": 2}],
    "KCC": [{"utility": "cosine"}, {"normalized": True}],
    "LCVQE": [{"profile": "published"}],
    "MKMeans": [{"metric": "full", "per_cluster": True}],
    "MPCKMeans": [{"metric": "full"}, {"metric": "full", "per_cluster": True}, {"profile": "published"}],
    "PCCC": [{"hard": "infinite"}],
    "PenalizedGMM": [{"covariance_type": kind} for kind in ("tied", "diag", "spherical")],
    "RCA": [{"n_components": 2}, {"shrinkage": 0.0}],
    "RDPMeans": [{"profile": "published"}],
    "RelationalSpectral": [{"affinity": "rbf"}],
    "SCSC": [{"update_rule": "exact"}],
    "SpectralKernelKMeans": [{"affinity": "rbf"}, {"profile": "published"}],
    "TVClust": [{"engine": "gibbs", "sweeps": 10, "burn_in": 5}, {"profile": "published"}],
    "XingMetric": [{"shape": "diagonal"}],
}
MODELS = {
    f"{name}({', '.join(f'{key}={value!r}' for key, value in params.items())})": (name, params)
    for name in CLASSES
    for params in [{}, *VARIANTS.get(name, [])]
}

# Powers of two, so that at other scales every number has the same digits.
POWERS = {
    "float64": [-1070, -700, -400, -250, -198, -150, -100, -50, 50, 100, 150, 196, 250, 400, 505, 520, 700, 1000],
    "float32": [-145, -120, -80, -39, -30, -15, 15, 30, 36, 60, 63, 80, 100, 120],
}
OFFSETS = {"float64": [30, 40, 50, 52, 60, 150, 198], "float32": [10, 20, 22, 35]}
FACTORS = [-1000, -600, -190, -100, -38, 38, 100, 190, 600, 1000]
POOR = ("zero", "equal rows", "two rows", "one cluster", "one column", "subnormal column", "grid")
KINDS = ("all", "column", "offset", "poor", "rows", "links")

REFUSED = re.compile(
    r"(X|sample_weight) (reaches|stays within) .*; (convert it to float64 or )?divide it by \S+ first\.$|"
    r"a clue has weight .* Scale all weights down"
)
# Where rows do not differ there may be nothing to cluster or to learn.
NOTHING = re.compile(
    "n_clusters=3 is too many|X has only zeros|no mixture of n_clusters=3 gets|DistBoost learns from pairs|"
    "n_components=2 is larger"
)

# Parameters in the unit of X (1) or of its squares (2): they are scaled with it.
UNITS = {"eps": 1, "penalty": 2, "reg_covar": 2}
# Not invariant by their cards, but by these parameters.
IN_UNITS = {"ConstrainedDBSCAN", "EquivalenceGMM", "PenalizedGMM", "PartitionKMeans"}
# Profiles of rows become equal when one column outweighs the others; KCC and SCSC also cluster single columns.
BY_COLUMN = {"InformationBottleneck", "ConditionalIB", "CoordinatedConditionalIB", "KCC", "SCSC"}
# A row of weight 2 is two rows, which priors and thresholds notice.
COUNTING = {"ConstrainedDBSCAN", "DPMeans", "RDPMeans", "EquivalenceGMM", "PenalizedGMM", "FeedbackNaiveBayes"}
# Made of scikit-learn's k-means, whose means have as many digits as X.
FOREIGN = {"CondEns", "KCC", "SCSC", "BoostCluster", "DistBoost"}
# Measured from the origin, whatever the card says of the default.
FROM_ORIGIN = (
    {"kernel": "linear"},
    {"distortion": "cosine"},
    {"distortion": "generalized_i"},
    {"divergence": "generalized_i"},
)
# These start in Euclidean distance and go on in a learned one, so that a wide column and the others decide.
LEARNING = {"HMRFKMeans", "MKMeans", "MPCKMeans"}
# A prior in units of X, and leading eigenvectors of a matrix that goes by these units: a wide column changes them.
BY_UNIT = (("TVClust", {"profile": "published"}), ("ITML", {"n_components": 2}))


class Case(NamedTuple):
    """A fit to rows of a scale, with a column of a scale, an offset, little in them, or weights of a scale."""

    model: str
    kind: str
    power: int | str
    dtype: str
    seed: int


def cases(kind, seed=0):
    """All fits of a kind."""
    for model, (name, params) in MODELS.items():
        card = CLASSES[name].card
        if kind == "links":
            told = card.accepts & {"must", "cannot"}
            yield from (Case(model, kind, power, "float64", seed) for power in FACTORS if told)
            continue
        if kind == "rows" and not (card.weights and name not in METRICS):
            continue
        if kind == "offset" and params in FROM_ORIGIN[1:]:
            continue  # nothing is left of angles and of ratios
        for dtype, powers in POWERS.items():
            chosen = {"offset": OFFSETS[dtype], "poor": POOR, "rows": FACTORS}.get(kind, powers)
            yield from (Case(model, kind, power, dtype, seed) for power in chosen)


class Found(NamedTuple):
    """What a fit gave."""

    model: object
    labels: np.ndarray
    new: np.ndarray  # predicted labels, or distances of a metric in units of the largest


def model_of(key, power=0, k=K):
    """The model with parameters in a unit of X that is ``2**power`` as large."""
    name, params = MODELS[key]
    model = copy_with(CLASSES[name](), n_clusters=k, random_state=0, eps=2.5, n_partitions=20).set_params(**params)
    units = UNITS | {"trust": 2} if name == "PartitionKMeans" else {} if name == "DistBoost" else UNITS
    given = {key: value for key, value in model.get_params().items() if key in units and isinstance(value, float)}
    with np.errstate(over="ignore"):
        scaled = {key: np.clip(np.ldexp(value, power * units[key]), 1e-300, 1e300) for key, value in given.items()}
    return model.set_params(**{key: float(value) for key, value in scaled.items()})


@lru_cache(maxsize=8)
def problem(key, dtype, seed, step=1024):
    """Rows on a grid, so that moving them is exact, and clues."""
    name, params = MODELS[key]
    rng = np.random.default_rng([seed, 7])
    X, y = blobs(N, D, K, rng)
    model = CLASSES[name]()
    if "generalized_i" in params.values() or get_tags(model).input_tags.positive_only:
        X = X - X.min(axis=0) + 1  # from a center with a zero all other rows are infinitely far away
    clues = sample_clues(y, model.card.accepts - {"sizes"}, rng)
    return (np.round(adapt_rows(model, X) * step) / step).astype(dtype), clues


def fitted(model, X, clues, weight=None):
    """Fit and predict; no floating-point warning, and no objective that rises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("error", NotDescending)
        model.fit(X, clues=select_clues(model, clues), **({} if weight is None else {"sample_weight": weight}))
        labels = getattr(model, "labels_", np.zeros(len(X), dtype=int))
        if type(model).__name__ in METRICS:
            return Found(model, labels, distances(model, X))
        if hasattr(model, "transform"):
            seen = model.transform(X)
            if getattr(model, "divergence", "") == "generalized_i":
                seen = seen[seen < np.inf]  # a row is infinitely far from a center that has a zero where it has none
            assert np.isfinite(seen).all(), "transform gives numbers that are not finite"
        return Found(model, labels, model.predict(X) if hasattr(model, "predict") else labels)


def distances(model, X):
    """Distances of all pairs as a metric sees them, the largest 1."""
    i, j = np.triu_indices(len(X), 1)
    if isinstance(model, metric_learning.PropagatedDistances):
        found = np.asarray(model.transform(X), dtype=np.float64)[i, j]
    else:
        found = model.pair_distance(X[i], X[j]).astype(np.float64)
    if hasattr(model, "get_mahalanobis_matrix"):
        for seen in (model.get_mahalanobis_matrix(), model.transform(X)):
            assert np.isfinite(seen).all(), "the metric is not finite"
    return found / max(found.max(), np.finfo(float).tiny)


def infinite(value, name):
    """Names of published results that hold something else than finite numbers."""
    if isinstance(value, dict):
        return {bad for key, part in value.items() for bad in infinite(part, f"{name}[{key!r}]")}
    if isinstance(value, (list, tuple)):
        return {bad for i, part in enumerate(value) for bad in infinite(part, f"{name}[{i}]")}
    numbers = value.data if issparse(value) else value
    real = isinstance(numbers, float) or (isinstance(numbers, (np.ndarray, np.generic)) and numbers.dtype.kind == "f")
    return {name} if real and not np.isfinite(numbers).all() else set()


@lru_cache(maxsize=64)
def reference(key, dtype, seed, what):
    """The fit at an ordinary scale: of X, of X on a coarse grid, with weights, without a column, or with only one."""
    X, clues = problem(key, dtype, seed, 4 if what == "coarse" else 1024)
    X = X.copy()
    if what == "without":
        X[:, 0] = 0
    elif what == "only":
        X[:, 1:] = 0
    return fitted(model_of(key), X, clues, weights(seed) if what == "weighted" else None)


def weights(seed):
    return np.random.default_rng([seed, 8]).integers(1, 4, size=N).astype(float)


def same(a, b):
    if a.new.dtype.kind == "f":
        return np.abs(a.new - b.new).max() < 1e-3
    return ari(a.labels, b.labels) == 1 and ari(a.new, b.new) == 1


def judged(case):
    """Whether a fit gives what it should: "right", or what is wrong."""
    key, kind, power, dtype, seed = case
    name, params = MODELS[key]
    X, clues = problem(key, dtype, seed, 4 if kind == "offset" else 1024)
    X, invariant, weight, unit, k, expected = X.copy(), CLASSES[name].card.invariant, None, 0, K, ()
    with np.errstate(all="ignore"):
        if kind == "all":
            X, unit = np.ldexp(X, power), power
            expected = ["X"] if "scale" in invariant or name in IN_UNITS else ()
        elif kind == "column":
            X[:, 0] = np.ldexp(X[:, 0], power)
            unit = max(power, 0)
            plain = "scale" in invariant and name not in BY_COLUMN and params not in FROM_ORIGIN
            plain &= power < 0 or (name not in LEARNING and (name, params) not in BY_UNIT)
            far = abs(power) >= np.finfo(dtype).nmant - 2  # the sum of two squares is the larger of them
            expected = ["X", "without" if power < 0 else "only"] if plain and far else ()
        elif kind == "offset":
            X += X.dtype.type(2.0**power)
            exact = np.finfo(dtype).nmant - (12 if name in FOREIGN else 2)
            expected = ["coarse"] if "shift" in invariant and power <= exact and params not in FROM_ORIGIN else ()
    if kind == "rows":
        weight, expected = np.ldexp(weights(seed), power), () if name in COUNTING else ["weighted"]
    elif kind == "links":
        clues = select_clues(CLASSES[name](), clues)
        clues = Clues(
            N,
            labels=clues.labels,
            must=clues.must,
            cannot=clues.cannot,
            must_weight=2.0**power * clues.must_weight,
            cannot_weight=2.0**power * clues.cannot_weight,
        )
    elif kind == "poor":
        X, k = poor(X, power)
        clues = clues.only([]) if k == 1 else clues
    found = fitted(model_of(key, unit, k), X, clues, weight)
    bad = {name for part in vars(found.model) if part.endswith("_") for name in infinite(vars(found.model)[part], part)}
    if len(set(found.labels)) == 1 or params in FROM_ORIGIN:  # there is no other cluster, or it is infinitely far away
        bad -= {"margin_"}
    bad -= {"radius_"} if name == "PropagatedDistances" else set()  # its parameter
    if bad or not np.isfinite(found.new).all():
        return f"wrong: {sorted(bad) or 'distances'} not finite"
    if expected and not any(same(found, reference(key, dtype, seed, what)) for what in expected):
        return f"wrong: other clusters or distances than those of {expected}"
    return "right"


def poor(X, what):
    """Rows with little in them, and how many clusters to ask for."""
    if what == "subnormal column":
        X[:, 0] = np.arange(N) % 3 * np.finfo(X.dtype).smallest_subnormal
    rows = {
        "zero": lambda: 0 * X,
        "equal rows": lambda: np.repeat(X[:1], N, axis=0),
        "two rows": lambda: X[np.arange(N) % 2],
        "one column": lambda: X[:, :1].copy(),
        "grid": lambda: np.round(X / 4),
    }
    return rows.get(what, lambda: X)(), 1 if what == "one cluster" else K


def attack(case):
    """What became of a fit: "right", "refused", or what is wrong with it."""
    try:
        return judged(case)
    except Exception as error:
        if isinstance(error, ValueError) and "\n" not in str(error):
            if REFUSED.match(str(error)):
                return "refused"
            if case.kind in ("poor", "offset") and NOTHING.match(str(error)):
                return "refused"
        return f"died: {type(error).__name__}: {error}"


@pytest.mark.parametrize("kind", KINDS)
def test_every_scale_is_right_or_refused(kind, sweep, record_property):
    every = list(cases(kind))
    count = sweep(12, len(every))
    chosen = np.sort(np.random.default_rng(0).permutation(len(every))[:count])
    results = {every[i]: attack(every[i]) for i in chosen}
    record_property("counts", dict(Counter(said.split(":")[0] for said in results.values())))
    assert {case: said for case, said in results.items() if said not in ("right", "refused")} == {}


@pytest.mark.parametrize("dtype", POWERS)
def test_ordinary_scales_are_not_refused(dtype):
    most = 100 if dtype == "float64" else 30
    asked = [power for power in POWERS[dtype] if abs(power) <= most]
    said = {power: attack(Case("PCKMeans()", "all", power, dtype, 0)) for power in asked}
    assert set(said.values()) == {"right"}, said
