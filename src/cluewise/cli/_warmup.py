"""``cluewise warmup``: compile everything once, so that the first real fit does not wait."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    import numpy as np

    from cluewise.clues import Clues

__all__ = ["warmup"]

_BESIDE: dict[str, tuple[dict[str, Any], ...]] = {
    "ConstrainedAgglomerative": ({"linkage": "single"}, {"linkage": "centroid"}),
    "CorrelationClusterer": ({"max_exact": 1},),
    "CVQE": ({"profile": "published"},),
    "LCVQE": ({"profile": "published"},),
    "MPCKMeans": ({"per_cluster": True},),
    "PCCC": ({"hard": "infinite"},),
    "PenalizedGMM": ({"inference": "belief-propagation"}, {"inference": "mean-field"}, {"inference": "gibbs"}),
    "SCSC": ({"update_rule": "exact"},),
    "TVClust": (
        {"base": "multinomial"},
        {"engine": "gibbs", "sweeps": 20},
        {"engine": "gibbs", "sweeps": 20, "collapsed": False},
        {"engine": "gibbs", "sweeps": 20, "base": "multinomial"},
        {"engine": "gibbs", "sweeps": 20, "base": "multinomial", "collapsed": False},
    ),
}
"""Parameters that lead to kernels of their own."""


Method = Annotated[
    list[str] | None,
    typer.Option("--method", metavar="NAME", help="Only this method; may be given several times."),
]


def warmup(method: Method = None) -> None:
    """Compile the kernels once, so that the first fit does not wait.

    Useful for servers, before the first request. Example: cluewise warmup --method PCKMeans
    """
    import warnings
    from time import perf_counter

    import numpy as np

    from cluewise.catalogue import get
    from cluewise.cli import _cards, _show

    began = perf_counter()
    chosen = [get(name) for name in method] if method else list(_cards.load_methods().values())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # not every method uses every kind of clue
        for dtype in (np.float32, np.float64):
            for one in chosen:
                (_use_default if one.__name__ == _cards.DEFAULT else _use)(one, dtype)
        if not method:
            _others()
    what = f"the kernels of {', '.join(one.__name__ for one in chosen)}" if method else "all kernels"
    _show.say(f"cluewise: compiled {what} ({perf_counter() - began:.1f} s).")


def _others() -> None:
    """What no fit of a clusterer on tiny data compiles."""
    import numpy as np

    for dtype in (np.float32, np.float64):
        _metrics(dtype)
        _neighbors(dtype)
        _chunk(dtype)
    _search(np.random.default_rng(0))
    _update()


def _use(method: type[Any], dtype: Any) -> None:
    """Fit tiny data, dense and sparse, with and without weights, with many clues and with one."""
    import numpy as np
    from scipy.sparse import csr_array

    X = np.abs(np.random.default_rng(0).normal(size=(12, 3))).astype(dtype)  # some methods count
    card = method.card
    for clues in _some_clues():
        for data in (X, csr_array(X)) if card.sparse else (X,):
            for more in ({}, {"sample_weight": np.ones(12)}) if card.weights else ({},):
                model = _made(method).fit(data, clues=clues, **more)
            if card.predicts:
                model.predict(data)
    for more in _BESIDE.get(method.__name__, ()):
        _made(method, **more).fit(X, clues=_some_clues()[0])


def _use_default(method: type[Any], dtype: Any) -> None:
    """The same with few fits: each of them compares dozens, which need the same kernels."""
    import numpy as np
    from scipy.sparse import csr_array

    X = np.random.default_rng(0).normal(size=(12, 3)).astype(dtype)
    *_, sides, sizes = _some_clues()
    _made(method).fit(X, clues=sides).predict(X)
    _made(method).fit(csr_array(X), clues=sizes, sample_weight=np.ones(12))
    _made(method).fit(np.random.default_rng(0).normal(size=(1600, 9)).astype(dtype))  # as grains


def _made(method: type[Any], **more: Any) -> Any:
    """An estimator for three clusters, as far as it counts them, with few repetitions of the same kernels."""
    model = method()
    has = model.get_params()
    few = {"n_clusters": 3, "random_state": 0, "n_init": 1, "n_partitions": 8, "n_rounds": 2}
    return model.set_params(**{name: value for name, value in (few | more).items() if name in has})


def _metrics(dtype: Any) -> None:
    """Learn every metric from tiny data."""
    import numpy as np

    from cluewise import metric_learning
    from cluewise.clues import Clues

    X = np.random.default_rng(0).normal(size=(24, 8)).astype(dtype)
    clues = Clues(24, labels=[*[0, 1] * 8, *[-1] * 8], must=[(0, 16)], cannot=[(1, 16)])
    for name in metric_learning.__all__:
        vars(metric_learning)[name]().fit(X, clues=clues)


def _neighbors(dtype: Any) -> None:
    """Near rows in so many columns that no tree finds them quickly."""
    import numpy as np

    from cluewise.density import ConstrainedDBSCAN
    from cluewise.spectral import E2CP

    X = np.random.default_rng(0).normal(size=(600, 9)).astype(dtype)
    ConstrainedDBSCAN(2.0).fit(X)
    E2CP(2).fit(X)


def _chunk(dtype: Any) -> None:
    """A look at a chunk of rows; dask need not be installed."""
    import numpy as np

    from cluewise.kernels import columns

    x = np.zeros((2, 1), dtype=dtype)
    columns.scan(x, np.zeros(1), np.zeros(1), x[0].copy(), x[0].copy())


def _update() -> None:
    """New clues for an ensemble, in memory and read back from a file, where arrays are read-only."""
    import tempfile

    import numpy as np

    from cluewise.ensemble import SCSC

    rng = np.random.default_rng(0)
    model = SCSC(3, n_partitions=8, random_state=0).fit(rng.normal(size=(40, 4)))
    with tempfile.TemporaryDirectory() as folder:
        model.save(folder)
        for ensemble in (model, SCSC.load(folder)):
            for clues in _some_clues()[1:3]:
                assert len(ensemble.labels_)
                ensemble.update(type(clues)(40, must=clues.must, cannot=clues.cannot))
            assert len(ensemble.labels_)
        del ensemble


def _some_clues() -> list[Clues]:
    """A clue of every kind that a kernel looks at, without contradiction.

    The columns of an array with a single pair are contiguous, those of a longer one are not; the compiler makes a
    kernel of its own for each.
    """
    from cluewise.clues import Clues

    many = Clues(
        12,
        labels=[0, 1, *[-1] * 10],
        must=[(2, 3), (3, 6)],
        cannot=[(4, 5), (5, 6), (2, 7)],
        together=[*[-1] * 8, 0, 0, -1, -1],
        apart=[*[-1] * 9, 0, 0, 0],
    )
    sides = Clues(12, labels=[0, 1, *[-1] * 10], partitions=[*[0, 1, 2] * 3, -1, -1, -1])
    return [many, Clues(12, must=[(2, 3)]), Clues(12, cannot=[(2, 3)]), sides, Clues(12, sizes=(4, 4))]


def _search(rng: np.random.Generator) -> None:
    """Cannot-links that need a search: many of them, drawn so that three clusters are just enough."""
    import numpy as np

    from cluewise.centroid import COPKMeans
    from cluewise.clues import Clues
    from cluewise.exact.feasibility import decide
    from cluewise.exact.network import Network

    n = 36
    pairs = np.array([(i, j) for i in range(n) for j in range(i) if (i - j) % 3])
    drawn = pairs[rng.choice(len(pairs), 84, replace=False)]
    X = rng.normal(size=(n, 2))
    for k in (2, 3):
        kept = drawn if k == 3 else drawn[(drawn % 3 < 2).all(axis=1)]
        COPKMeans(k, order="index", random_state=0).fit(X, clues=Clues(n, cannot=kept))
    # What follows when branch and bound gives up, here after its first node.
    decide(Network.build(Clues(n, cannot=drawn).graph), 3, node_limit=1)
