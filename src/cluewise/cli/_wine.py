"""The experiment that ``cluewise demo`` shows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cluewise._typing import Array, Floats, Ints
from cluewise.clues import Clues
from cluewise.front import Cluewise
from cluewise.metrics import accuracy, ari, broken, nmi
from cluewise.rows.balance import standardize

__all__ = ["DRAWS", "Wine", "make", "other_draws"]

DRAWS = 5


class Wine(NamedTuple):
    """178 wines of three kinds, what is known about them, and their clusters without and with it."""

    columns: dict[str, Any]  # as in the file
    truth: Array
    ids: Array
    X: Floats  # standardized
    clues: Clues
    before: Ints
    after: Ints
    trust: dict[str, float]  # share of the clues of each kind that seem right

    def scores(self, labels: Ints) -> dict[str, str]:
        """How good a clustering is, in words and numbers."""
        failed = broken(labels, self.clues)
        return {
            "agreement with the truth (ARI)": f"{ari(self.truth, labels):.3f}",
            "the same by NMI": f"{nmi(self.truth, labels):.3f}",
            "wines in the wrong cluster": str(self.strays(labels)),
            f"broken clues, of {_count(self.clues)}": str(_count(failed)),
            f"wrong clues among them, of {self.wrong(self.clues)}": str(self.wrong(failed)),
        }

    def strays(self, labels: Ints) -> int:
        """Wines that are not in the cluster of their kind."""
        return round(len(labels) * (1 - accuracy(self.truth, labels)))

    def wrong(self, clues: Clues) -> int:
        """Links that contradict the truth."""
        must, cannot = self.truth[clues.must], self.truth[clues.cannot]
        return int((must[:, 0] != must[:, 1]).sum() + (cannot[:, 0] == cannot[:, 1]).sum())

    def lines(self) -> dict[str, list[str]]:
        """The clues without their source, so that readers find the line of each."""
        clues, ids = self.clues, self.ids
        known = np.flatnonzero(clues.labels >= 0)
        return {
            "a": [*ids[clues.must[:, 0]], *ids[clues.cannot[:, 0]], *ids[known]],
            "b": [*ids[clues.must[:, 1]], *ids[clues.cannot[:, 1]], *clues.classes_[clues.labels[known]]],
            "kind": ["must"] * len(clues.must) + ["cannot"] * len(clues.cannot) + ["label"] * len(known),
        }


def make() -> Wine:
    """Draw the clues and cluster twice."""
    from sklearn.datasets import load_wine

    wine = load_wine()
    truth = np.array(["Barolo", "Grignolino", "Barbera"], dtype=object)[wine.target]
    ids = np.array([f"wine{i:03d}" for i in range(1, len(truth) + 1)], dtype=object)
    columns = {"id": ids} | {name: wine.data[:, j] for j, name in enumerate(wine.feature_names)}
    X = standardize(wine.data)
    clues = _draw(truth, 0)
    model = _fit(X, clues)
    return Wine(columns, truth, ids, X, clues, _fit(X, None).labels_, model.labels_, model.trust_["sampled"])


def other_draws(wine: Wine) -> Floats:
    """ARI with other draws of clues: a single one may be lucky."""
    return np.array([ari(wine.truth, _fit(wine.X, _draw(wine.truth, seed)).labels_) for seed in range(1, DRAWS + 1)])


def _draw(truth: Array, seed: int) -> Clues:
    return Clues.sample(truth, labels=0.1, pairs=100, noise=0.1, random_state=seed)


def _fit(X: Floats, clues: Clues | None) -> Cluewise:
    return Cluewise(3, random_state=0).fit(X, clues=clues)


def _count(clues: Clues) -> int:
    return len(clues.must) + len(clues.cannot) + int((clues.labels >= 0).sum())
