"""Clusters of all answers and acts: one fit after another, each with the ids of the one before."""

from __future__ import annotations

import copy
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import NoneType
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances

from cluewise._lazy import lazy
from cluewise._typing import Bools, Floats, Ints
from cluewise.active import Act, Answer, State
from cluewise.clues import Clues
from cluewise.clues.words import plural
from cluewise.exceptions import ClueError, Contradiction, Infeasible
from cluewise.front import Cluewise, keep_ids
from cluewise.metrics.held_out import kept_shares, leave_out, make_folds, select_demands

__all__ = ["Fit", "Fitter", "anchors_of", "entry_of", "typical_rows"]

ANCHORS = 12
"""Rows that stand for a cluster: in acts, and when its id is found again after a restart."""

_SAMPLE = 5000  # rows of a cluster among which its anchors are looked for
_SAME = 0.5  # share of rows in common, of all rows of both, from which on it is the same cluster
_FEWEST = 10  # clues that are worth holding some of them out
_FOLDS = 4
_EQUAL = 1e-6  # margins that differ less are the same
_SOURCE = re.compile(r"(answer|act) (\d+)")


@dataclass(frozen=True, eq=False)
class Fit:
    """The clusters after some answers; never changed, so that every thread may read it.

    Attributes
    ----------
    revision : int
        Number of the fit, from 1; 0 before the first one.
    labels : ndarray of shape (n,)
        Permanent id of the cluster of each row.
    margins : ndarray of shape (n,)
        How sure each row is, from 0 to 1.
    state : State
        The answers and acts that it takes account of.
    clues : Clues
        What they say.
    must_doubt, cannot_doubt : ndarrays
        Probability that each link of ``clues`` is wrong.
    label_doubt : ndarray of shape (n,)
        The same for labels; nan for rows without one.
    broken : Clues
        Clues that the clusters do not keep.
    model : Cluewise or None
        The model, which later fits leave alone.
    error : str or None
        One sentence if something that people said had to be left out.
    last : dict or None
        What changed since the fit before.
    """

    revision: int
    labels: Ints
    margins: Floats
    state: State
    clues: Clues
    must_doubt: Floats
    cannot_doubt: Floats
    label_doubt: Floats
    broken: Clues
    model: Cluewise | None = None
    error: str | None = None
    last: dict[str, Any] | None = None

    @lazy
    def ids(self) -> list[int]:
        """Ids of the clusters that have rows."""
        return [int(one) for one in np.unique(self.labels) if one >= 0]

    @lazy
    def sizes(self) -> dict[int, int]:
        """Number of rows of each cluster."""
        counts = np.bincount(self.labels[self.labels >= 0])
        return {one: int(counts[one]) for one in self.ids}

    @lazy
    def confidence(self) -> dict[int, float]:
        """Mean margin of each cluster."""
        inside = self.labels >= 0
        total = np.bincount(self.labels[inside], weights=self.margins[inside])
        return {one: float(total[one] / self.sizes[one]) for one in self.ids}

    @lazy
    def broken_links(self) -> set[tuple[int, int, bool]]:
        """Links that the clusters do not keep: rows, and whether it is a must-link."""
        must = {(a, b, True) for a, b in self.broken.must.tolist()}
        return must | {(a, b, False) for a, b in self.broken.cannot.tolist()}

    @lazy
    def broken_labels(self) -> set[int]:
        """Rows whose label the clusters do not keep."""
        return set(np.flatnonzero(self.broken.labels >= 0).tolist())

    @lazy
    def doubted(self) -> Floats:
        """Doubt of all clues: must-links, cannot-links, labels."""
        return np.concatenate([self.must_doubt, self.cannot_doubt, self.label_doubt[self.clues.labels >= 0]])

    @property
    def count(self) -> int:
        """Number of clues."""
        return len(self.doubted)

    @property
    def trust(self) -> float | None:
        """Share of the clues that seem right, those of acts aside: they are demands, not reports."""
        clues = self.clues
        weights = np.concatenate([clues.must_weight, clues.cannot_weight])
        sources: Any = [] if clues.label_source is None else clues.label_source[clues.labels >= 0]
        said = np.ones(self.count, dtype=bool)
        said[: len(weights)] = np.isfinite(weights)
        said[len(weights) : len(weights) + len(sources)] = [not str(one).startswith("act ") for one in sources]
        return float(1 - np.nan_to_num(self.doubted[said]).mean()) if said.any() else None

    @lazy
    def classes(self) -> dict[int, str]:
        """The class that most known labels of a cluster name."""
        found = {}
        for one in self.ids:
            codes = self.clues.labels[(self.labels == one) & (self.clues.labels >= 0)]
            if len(codes):
                found[one] = str(self.clues.classes_[np.bincount(codes).argmax()])
        return found

    @lazy
    def said(self) -> dict[int, Answer | Act]:
        """What each entry says."""
        every: tuple[Answer | Act, ...] = (*self.state.answers, *self.state.acts)
        return {said.entry: said for said in every if said.entry is not None}

    @classmethod
    def nothing(cls, state: State, n: int, margins: float = 0.0) -> Fit:
        """What there is before the first fit: one cluster."""
        none, empty = np.empty(0), Clues(n)
        labels = np.zeros(n, dtype=np.int32)
        return cls(
            0, labels, np.full(n, margins, dtype=np.float32), state, empty, none, none, np.full(n, np.nan), empty
        )


class Fitter:
    """Fits `Cluewise` to states of a project; one thread uses it.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The encoded rows.
    n_clusters : int or None
        Number of clusters before any act; None: found.
    kept : dict or None
        Ids and anchors of the clusters when the project was last open, as `describe_ids` gave them.
    seed : int
        Seed of the model.
    correct : callable
        ``correct(state, labels, n_clusters)``: better clusters of the strategy that asks, or None.
    """

    def __init__(
        self,
        X: Floats,
        n_clusters: int | None,
        kept: dict[str, Any] | None,
        seed: int,
        correct: Callable[[State, Ints, int], Ints | None],
    ) -> None:
        self._X, self._n_clusters, self._kept, self._seed, self._correct = X, n_clusters, kept, seed, correct
        self._chosen: Cluewise | None = None  # by held-out clues alone
        self._model: Cluewise | None = None
        self._gone: dict[int, Ints] = {}  # rows of the clusters that are no more
        self._plain: tuple[int, Ints] | None = None  # number of clusters, and the clusters without clues
        self.base: int | None = None if kept is None else kept.get("base")  # clusters before acts changed their number

    def fit(self, state: State, before: Fit) -> Fit:
        """The clusters of a state."""
        clues, error = _clues_of(state)
        k = self._count(state, clues)
        clues, contradiction = _soften(clues, state, k, len(self._X))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of empty clusters
            model = self._lead(state, clues, k)
        if self._model is None:
            self._restore(model)
        else:
            keep_ids(model, self._model)
            self._revive(model, before)
        self._model = model
        labels = model.cluster_ids_[model.labels_].astype(np.int32)
        links = len(model.clues_.must)
        found = Fit(
            before.revision + 1,
            labels,
            _margins(model, self._X),
            state,
            model.clues_,
            np.asarray(model.doubt_[:links]),
            np.asarray(model.doubt_[links:]),
            model.label_doubt_,
            model.broken_,
            model,
            error or contradiction,
        )
        return replace(found, last=_compare(before, found))

    def _lead(self, state: State, clues: Clues, k: int | None) -> Cluewise:
        """A model of the clues that begins with the clusters of the strategy, if answers contradict what it chose.

        Questions are chosen to be hard to predict. So held-out answers do not tell whether it pays to follow the
        others, and many answers would change nothing.
        """
        chosen = self._chosen
        if chosen is None:
            chosen = self._chosen = Cluewise(k, random_state=self._seed).fit(self._X, clues=clues)
        else:
            chosen.set_params(n_clusters=k).refit(clues)
        model = copy.copy(chosen)
        start = self._correct(state, chosen.labels_, len(chosen.cluster_ids_))
        return model if start is None else model.refit(clues, start=start)

    def describe_ids(self, anchors: dict[int, list[int]]) -> dict[str, Any]:
        """What a later session needs to find the same clusters again."""
        fresh = 0 if self._model is None else int(self._model._next_id)
        return {"next": fresh, "base": self.base, "anchors": {str(one): rows for one, rows in anchors.items()}}

    def measure_help(self, fit: Fit) -> dict[str, Any] | None:
        """Share of held-out clues that the clusters keep, with the other clues and without any."""
        clues, model = fit.clues.only(["must", "cannot", "labels"]), fit.model
        if model is None or fit.count < _FEWEST:
            return None
        shares: list[tuple[float, float, int]] = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            k = len(model.cluster_ids_)
            if self._plain is None or self._plain[0] != k:
                alone = copy.copy(model).set_params(n_clusters=k)
                self._plain = k, alone.refit(Clues(clues.n)).labels_.copy()
            for rows in make_folds(clues, _FOLDS, np.random.default_rng(self._seed)):
                try:
                    helped = copy.copy(model).refit(leave_out(clues, rows)).labels_
                except ClueError:
                    return None
                shares.append(_kept(helped, self._plain[1], clues, rows))
        total = sum(count for *_, count in shares)
        if not total:
            return None
        together = [sum(share[i] * share[2] for share in shares) / total for i in (0, 1)]
        return {"with": together[0], "without": together[1], "clues": total}

    def _count(self, state: State, clues: Clues) -> int | None:
        """The number of clusters; None: the model finds it."""
        k = self._n_clusters
        if any(act.change for act in state.acts):
            k = state.count(k or self.base or 2)
        if k is None:
            return None
        classes = len(np.unique(clues.labels[clues.labels >= 0]))
        return min(max(k, classes), len(self._X))

    def _revive(self, model: Cluewise, before: Fit) -> None:
        """Give a cluster that comes back, as after an undo, the id that it had, and with it its name."""
        for at in np.flatnonzero(~np.isin(model.cluster_ids_, before.ids)).tolist():
            rows = np.flatnonzero(model.labels_ == at)
            alike = {
                one: len(np.intersect1d(rows, old)) / len(np.union1d(rows, old)) for one, old in self._gone.items()
            }
            best = max(alike, key=alike.__getitem__, default=None)
            if best is not None and alike[best] > _SAME:
                model.cluster_ids_[at] = best
                del self._gone[best]
        for one in set(before.ids) - set(model.cluster_ids_.tolist()):
            self._gone[one] = np.flatnonzero(before.labels == one)

    def _restore(self, model: Cluewise) -> None:
        """Give clusters the ids that they had when the project was last open."""
        if self._kept is None or not self._kept["anchors"]:
            return
        earlier, ids = Cluewise(), sorted(int(one) for one in self._kept["anchors"])
        earlier.labels_ = np.full(len(self._X), -1, dtype=np.int64)
        for number, one in enumerate(ids):
            rows = [row for row in self._kept["anchors"][str(one)] if row < len(self._X)]
            earlier.labels_[rows] = number
        earlier.cluster_ids_ = np.array(ids)
        earlier._next_id = self._kept["next"]
        keep_ids(model, earlier)


def anchors_of(fit: Fit, X: Floats, seed: int = 0) -> dict[int, list[int]]:
    """Rows that stand for each cluster, the medoid first: near its mean, and surer of it than others."""
    return {one: typical_rows(one, fit, X, ANCHORS, seed) for one in fit.ids}


def typical_rows(one: int, fit: Fit, X: Floats, count: int, seed: int = 0) -> list[int]:
    """Rows of a cluster near its mean, the nearest first; those that are surer than most come before the others."""
    rows = np.flatnonzero(fit.labels == one)
    if len(rows) > _SAMPLE:
        rows = np.sort(np.random.default_rng(seed).choice(rows, _SAMPLE, replace=False))
    some = np.asarray(X[rows], dtype=np.float64)
    away = ((some - some.mean(axis=0)) ** 2).sum(axis=1)
    sure = fit.margins[rows] >= np.median(fit.margins[rows])
    typical: list[int] = rows[np.lexsort([away, ~sure])[:count]].tolist()
    return typical


def entry_of(source: str, state: State) -> int | None:
    """The entry that a clue comes from, by its source; None for clues that were given before."""
    match = _SOURCE.match(source)
    if match is None:
        return None
    number = int(match[2])
    if match[1] == "act":
        return number
    return state.answers[number - 1].entry if number <= len(state.answers) else None


def _margins(model: Cluewise, X: Floats) -> Floats:
    """How sure each row is of its cluster.

    Clusters that no clue has shaped are equally sure of all rows: how much nearer a row is to the mean of its own
    cluster than to another one tells them apart.
    """
    margins: Floats = model.margin_.astype(np.float32)
    k = len(model.cluster_ids_)
    stayed = margins[margins >= 0]  # others were moved by clues
    if k < 2 or not len(stayed) or np.ptp(stayed) > _EQUAL:
        return margins
    rows: Ints = np.arange(len(X))
    sizes = np.bincount(model.labels_, minlength=k)
    means = np.stack([np.bincount(model.labels_, column, minlength=k) for column in np.asarray(X).T], axis=1)
    away = euclidean_distances(X, means / np.maximum(sizes, 1)[:, None])
    away[:, sizes == 0] = np.inf
    own = away[rows, model.labels_].copy()
    away[rows, model.labels_] = np.inf
    other = away.min(axis=1)
    nearer = np.clip(1 - own / np.maximum(other, np.finfo(np.float64).tiny), 0, 1)
    return np.where(margins < 0, margins, margins * nearer).astype(np.float32)


def _clues_of(state: State) -> tuple[Clues, str | None]:
    """What a state says; without its acts if these contradict labels."""
    error = None
    try:
        clues = state.clues
    except ClueError as problem:
        clues = replace(state, acts=()).clues
        error = f"What was done is left out, because labels differ: {problem}"
    return clues.only(clues.kinds - {"avoid"}), error


def _soften(clues: Clues, state: State, k: int | None, n: int) -> tuple[Clues, str | None]:
    """The clues with acts that cannot hold together as ordinary clues, the older first: the last word counts.

    The sentence is about demands that no number of contradictions explains.
    """
    hard = {act.entry for act in state.acts if act.entry is not None}
    while True:
        try:
            select_demands(clues).require(n if k is None else k)
        except Contradiction as problem:
            conflict = problem.conflicts[0]
            sources = " + ".join([conflict.source, *(step[2] for step in conflict.chain)])
            acts = sorted(hard & {int(number) for kind, number in _SOURCE.findall(sources) if kind == "act"})
            if not acts:
                return _weaken(
                    clues, None
                ), f"Clues that must hold contradict each other, so they may be broken: {problem}"
            hard.remove(acts[0])
            clues = _weaken(clues, f"act {acts[0]}")
        except Infeasible as problem:
            return _weaken(clues, None), f"What was done cannot all hold, so it may be broken: {problem}"
        else:
            return clues, None


def _weaken(clues: Clues, source: str | None) -> Clues:
    """The clues with links of a source, or all, of weight 1 instead of infinite weight."""

    def mask(sources: Any) -> Bools:
        every = np.full(len(sources), source is None)
        return every if source is None else np.array([_is_from(str(one), source) for one in sources], dtype=bool)

    must, cannot = mask(clues.must_source), mask(clues.cannot_source)
    everything = np.ones(clues.n, dtype=bool)
    rest = clues.subset(
        must=~must,
        cannot=~cannot,
        labels=everything,
        together=[np.full(len(g.weights), True) for g in clues.together],
        apart=[np.full(len(g.weights), True) for g in clues.apart],
        partitions=[everything for _ in clues.partitions],
        sizes=source is not None,
    )
    return rest | Clues(
        clues.n,
        must=clues.must[must],
        cannot=clues.cannot[cannot],
        must_source=clues.must_source[must],
        cannot_source=clues.cannot_source[cannot],
    )


def _is_from(source: str, act: str) -> bool:
    return any(part.strip() == act or part.strip().startswith(f"{act} ") for part in source.split("+"))


def _compare(before: Fit, now: Fit) -> dict[str, Any] | None:
    """What changed from one fit to the next."""
    if not before.revision:
        return None
    moved = int(np.count_nonzero(before.labels != now.labels))
    kept = len(before.broken_links - now.broken_links) + len(before.broken_labels - now.broken_labels)
    words = f"moved {plural(moved, 'row')}" if moved else "no row moved"
    if kept:
        words += f", {plural(kept, 'clue')} now kept"
    return {"moved": moved, "kept": kept, "words": words}


def _kept(helped: Ints, alone: Ints, clues: Clues, rows: Bools) -> tuple[float, float, int]:
    """Share of the clues about some rows that two clusterings keep, and how many clues these are."""
    touched = {kind: int((rows[getattr(clues, kind)].any(axis=1)).sum()) for kind in ("must", "cannot")}
    touched["labels"] = int((clues.labels[rows] >= 0).sum())
    count = sum(touched.values())
    shares = []
    for labels in (helped, alone):
        found = kept_shares(labels, clues, rows)
        shares.append(sum(share * touched[kind] for kind, share in found.items()) / max(count, 1))
    return shares[0], shares[1], count


def check_kept(kept: Any) -> None:
    """Raise an error unless ids and anchors are as `Fitter.describe_ids` gives them."""
    if kept is None:
        return
    numbers = [*kept["anchors"], *(row for rows in kept["anchors"].values() for row in rows), kept["next"]]
    if any(int(number) < 0 or isinstance(number, (bool, float)) for number in numbers):
        raise TypeError("an id or a row is no number")
    if not isinstance(kept.get("base"), (int, NoneType)) or not isinstance(kept["next"], int):
        raise TypeError("there is no number of clusters")
