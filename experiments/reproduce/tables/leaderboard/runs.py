"""What is run for the leaderboard: every clusterer with nothing but k told, and rivals, on twenty sets."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from inspect import signature
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.neighbors import KNeighborsClassifier
from sklearn.semi_supervised import LabelSpreading

import cluewise
from cluewise import Clues
from cluewise.metrics import ari

from ...cells import Experiment, Problem
from ...sets import paper_set, standardized

__all__ = [
    "AVOID",
    "BOARD",
    "CLASSIFIERS",
    "EXPERIMENTS",
    "KINDS",
    "KNOWN",
    "NOISES",
    "OTHERS",
    "OURS",
    "SIZES",
    "TWINS",
    "UNTOLD",
    "setting",
]

DATA = (
    "iris", "wine", "glass", "ecoli", "balance", "breast", "pima", "ionosphere", "sonar", "heart", "protein", "vowel",
    "zoo", "isolet1560", "yale_faces", "surfbow_webcam",
    "shape_aggregation", "shape_compound", "shape_spiral", "shape_chainlink",
)  # fmt: skip
KINDS = ("n/2 pairs", "2n pairs", "10 % labels")
NOISES = (0, 10, 20)
OTHERS = "rows without a label"  # the stage that is judged where labels were given
KNOWN = "known"  # the stage that tells how much of a clustering to avoid is still there
COUNTS = {"ConditionalIB", "CoordinatedConditionalIB", "FeedbackNaiveBayes", "InformationBottleneck"}
TWINS = {"HMRFKMeans": "MPCKMeans"}  # the same method, as long as both have their defaults
OURS = {name: cls for name, cls in cluewise.clusterers().items() if name not in TWINS and cls.card.reads}
CLASSIFIERS = ("1-NN", "LabelSpreading", "LabelSpreading, wide", "LabelSpreading, knn")
SIZED = "k-means-constrained"


# --- clues


def setting(kind: str, noise: int) -> str:
    """The name of a setting, as in "n/2 pairs, 10 % wrong"; a label that is drawn anew may come out right."""
    return f"{kind}, {noise} % {'redrawn' if 'labels' in kind else 'wrong'}" if noise else kind


def pairs(y: np.ndarray, seed: int, times: float, noise: int) -> Clues:
    """Random pairs, so many for each row; a share of them says the opposite of what is true."""
    return Clues.sample(y, pairs=int(times * len(y)), noise=noise / 100, random_state=seed)


def labels(y: np.ndarray, seed: int, noise: int) -> Clues:
    """A label for a tenth of the rows; a share of them is drawn anew from all classes."""
    return Clues.sample(y, labels=0.1, label_noise=noise / 100, random_state=seed)


def sizes(y: np.ndarray, seed: int) -> Clues:
    """How small the smallest cluster may be and how large the largest: all that every method of the field can take."""
    counts = np.bincount(y)
    return Clues(len(y), sizes=(counts.min(), counts.max()))


def no_clues(y: np.ndarray, seed: int) -> None:
    """Nothing is known."""


PAIRS = {
    setting(kind, noise): partial(pairs, times=times, noise=noise)
    for kind, times in {"n/2 pairs": 0.5, "2n pairs": 2.0}.items()
    for noise in NOISES
}
LABELS = {setting("10 % labels", noise): partial(labels, noise=noise) for noise in NOISES}
NEEDS = {
    **dict.fromkeys(PAIRS, frozenset({"must", "cannot"})),
    **dict.fromkeys(LABELS, frozenset({"labels"})),
    "sizes": frozenset({"sizes"}),
}


# --- methods


def ours(cls: type[Any], p: Problem) -> Any:
    """A clusterer with its defaults: only the number of clusters and the seed are set."""
    known = {"n_clusters": p.k, "random_state": p.seed}
    X = p.X - p.X.min(axis=0) if cls.__name__ in COUNTS else p.X
    model = cls(**{name: value for name, value in known.items() if name in signature(cls).parameters})
    return judged(p, model.fit(X, clues=p.clues).labels_)


def judged(p: Problem, found: np.ndarray) -> Any:
    """The clusters; where labels were given also how right the other rows are."""
    if p.clues is None or "labels" not in p.clues.kinds:
        return found
    others = p.clues.labels < 0
    return {"": found, OTHERS: ari(p.y[others], found[others])}


def k_means(p: Problem) -> Any:
    """Scikit-learn's, which hears of no clues."""
    return judged(p, KMeans(p.k, n_init=10, random_state=p.seed).fit_predict(p.X))


def nearest(p: Problem) -> Any:
    """Each row gets the label of the nearest row that has one."""
    assert p.clues is not None
    told = p.clues.labels >= 0
    return judged(p, KNeighborsClassifier(1).fit(p.X[told], p.clues.labels[told]).predict(p.X))


def spreading(p: Problem, **options: Any) -> Any:
    """Labels flow to near rows."""
    assert p.clues is not None
    return judged(p, LabelSpreading(max_iter=1000, **options).fit(p.X, p.clues.labels).transduction_)


def wide_spreading(p: Problem) -> Any:
    """The same with a kernel as wide as the rows are far apart; the default is made for two or three columns."""
    return spreading(p, gamma=1 / p.X.shape[1])


def sized_rival(p: Problem) -> Any:
    """The package k-means-constrained; it is no dependency."""
    from k_means_constrained import KMeansConstrained

    assert p.clues is not None
    assert p.clues.sizes is not None
    low, high = (int(bound) for bound in p.clues.sizes)
    return KMeansConstrained(p.k, size_min=low, size_max=high, random_state=p.seed).fit_predict(p.X)


METHODS: dict[str, Callable[[Problem], Any]] = {
    **{name: partial(ours, cls) for name, cls in OURS.items()},
    "KMeans": k_means,
    "1-NN": nearest,
    "LabelSpreading": spreading,
    "LabelSpreading, wide": wide_spreading,
    "LabelSpreading, knn": partial(spreading, kernel="knn"),
    SIZED: sized_rival,
}
RIVAL_OF = {
    **dict.fromkeys(CLASSIFIERS, frozenset({"labels"})),
    SIZED: frozenset({"sizes"}),
}


def takes(data: str, name: str, method: str) -> bool:
    """Whether a method makes use of such clues; K-means is there for comparison."""
    if method == "KMeans":
        return True
    return NEEDS[name] <= (OURS[method].card.accepts if method in OURS else RIVAL_OF[method])


def here(data: str, name: str, method: str) -> bool:
    """The same, of what is installed: a rival that is not there has not lost."""
    return takes(data, name, method) and (method != SIZED or find_spec("k_means_constrained") is not None)


def untold(data: str, name: str, method: str) -> bool:
    """Whether a method takes no clues at all."""
    return method == "KMeans" or (method in OURS and not OURS[method].card.accepts)


# --- a known clustering to avoid

GLUED = (("iris", "wine"), ("glass", "ecoli"), ("breast", "pima"), ("heart", "ionosphere"), ("balance", "vowel"),
         ("zoo", "protein"))  # fmt: skip


def glued(known: str, sought: str) -> tuple[np.ndarray, np.ndarray]:
    """Columns of two sets beside each other, rows matched at random; the last column is the class in the first one."""
    (A, a), (B, b) = standardized(known), standardized(sought)
    n, rng = min(len(a), len(b)), np.random.default_rng(0)
    i, j = rng.permutation(len(a))[:n], rng.permutation(len(b))[:n]
    return np.column_stack([A[i], B[j], a[i]]), b[j]


def other(fit: Callable[[Problem], Any], p: Problem) -> dict[str, Any]:
    """What a method finds that has been told the known clustering, and how much of that is still in it."""
    known = p.X[:, -1].astype(np.int64)
    found = fit(p._replace(X=p.X[:, :-1], clues=Clues(len(p.y), avoid=known)))
    return {"": found, KNOWN: ari(known, found)}


BOARD = Experiment(
    name="leaderboard",
    title="All clusterers that take pairs or labels, and rivals, on twenty sets",
    data={name: paper_set(name, standardized) for name in DATA},
    settings=PAIRS | LABELS,
    methods=METHODS,
    seeds=3,
    only=takes,
    limit=60.0,
    quick={"data": ["iris"], "settings": ["n/2 pairs", "10 % labels"]},
)
SIZES = Experiment(
    name="leaderboard_sizes",
    title="Bounds on cluster sizes",
    data=BOARD.data,
    settings={"sizes": sizes},
    methods=METHODS,
    seeds=3,
    only=here,
    limit=60.0,
    quick={"data": ["iris"]},
)
UNTOLD = Experiment(
    name="leaderboard_untold",
    title="Methods that take no clues",
    data=BOARD.data,
    settings={"no clues": no_clues},
    methods=METHODS,
    seeds=3,
    only=untold,
    limit=60.0,
    quick={"data": ["iris"]},
)
AVOID = Experiment(
    name="leaderboard_avoid",
    title="Two sets in one: the clusters of the first are known and not wanted",
    data={f"{a} + {b}": partial(glued, a, b) for known, sought in GLUED for a, b in ((known, sought), (sought, known))},
    settings={"avoid": no_clues},
    methods={name: partial(other, METHODS[name]) for name in ("KMeans", *cluewise.clusterers(accepts=["avoid"]))},
    seeds=3,
    limit=60.0,
    quick={"data": ["iris + wine"]},
)
EXPERIMENTS = [BOARD, SIZES, UNTOLD, AVOID]
