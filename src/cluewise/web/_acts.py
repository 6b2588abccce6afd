"""What people do with clusters, as clues that always hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import count, pairwise
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from cluewise._typing import Floats
from cluewise.active import Act, State
from cluewise.clues.words import plural
from cluewise.web._fits import Fit, typical_rows

__all__ = ["Acts", "is_spoken", "locked", "names_of"]

KINDS = ("name", "lock", "unlock", "merge", "split", "belongs", "never", "together")
LOCKED = 2000
"""Rows of a locked cluster that are tied; of more, its anchors and a sample."""

_UNNAMED = "unnamed cluster"  # the class of a cluster without a name, and its number
_FIRMLY = 3  # anchors of a cluster that stand for it in a merge or a ban
_PILE = 12  # rows of each half of a split that stay together
_LONGEST = 100  # letters of a name
_SAMPLE = 20_000  # rows that are split by 2-means


class Acts:
    """Turns what a person does on the page into an `Act`.

    Parameters
    ----------
    fit : Fit
        The clusters that the person sees.
    X : ndarray of shape (n, d)
        The encoded rows.
    anchors : mapping of int to list of int
        Rows that stand for each cluster, the medoid first.
    state : State
        What was done so far; it may be ahead of the fit.
    """

    def __init__(self, fit: Fit, X: Floats, anchors: Mapping[int, list[int]], state: State) -> None:
        self._fit, self._X, self._anchors = fit, X, anchors
        self._names, self._locked = names_of(state), locked(state)

    def make(self, asked: Mapping[str, Any], who: str) -> Act:
        """The act that a page asked for; ValueError says what is wrong with it."""
        kind = asked.get("act")
        if kind not in KINDS:
            raise ValueError(f"An act is one of {', '.join(KINDS)}, not {kind!r}.")
        made: dict[str, Any] = getattr(self, f"_{kind}")(asked)
        return Act(kind, who=who, **made)

    def _name(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        one, name = self._cluster(asked.get("cluster")), asked.get("name")
        name = " ".join(name.split()) if isinstance(name, str) else ""
        if not name or len(name) > _LONGEST or not name.isprintable():
            raise ValueError(f"The name of a cluster is a text of 1 to {_LONGEST} letters.")
        shown = f"Named {self._call(one)} '{name}'"
        return {"shown": shown, "cluster": one, "name": name, "anchors": self._rows_for(one)}

    def _lock(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        one = self._cluster(asked.get("cluster"))
        if one in self._locked:
            raise ValueError(f"{_upper(self._call(one))} is locked already.")
        rows = np.flatnonzero(self._fit.labels == one)
        shown = f"Locked {self._call(one)} ({plural(len(rows), 'row')}"
        if len(rows) > LOCKED:
            spread = rows[np.linspace(0, len(rows) - 1, LOCKED - len(self._anchors[one])).astype(int)]
            rows = np.unique([*spread.tolist(), *self._anchors[one]])
            shown += f", tied by a sample of {len(rows)}"
        tied, others = rows.tolist(), sorted(self._locked & self._anchors.keys())
        known = self._fit.clues.labels
        name = self._classes()[one]
        # A label is evidence only; the links hold.
        return {
            "shown": f"{shown})",
            "cluster": one,
            "must": tuple(pairwise(tied)),
            "cannot": tuple((self._anchors[one][0], self._anchors[other][0]) for other in others),
            "labels": tuple((row, name) for row in tied if known[row] < 0),
            "anchors": self._rows_for(one),
        }

    def _unlock(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        one = self._cluster(asked.get("cluster"))
        if one not in self._locked:
            raise ValueError(f"{_upper(self._call(one))} is not locked.")
        return {"shown": f"Unlocked {self._call(one)}", "cluster": one}

    def _merge(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        given = asked.get("clusters")
        if not isinstance(given, list) or len(given) < 2 or len({*map(repr, given)}) < len(given):
            raise ValueError("Choose two or more different clusters to merge.")
        chosen = [self._cluster(one) for one in given]
        held = [one for one in chosen if one in self._locked]
        if len(held) > 1:
            raise ValueError(f"{_upper(_listed(map(self._call, held)))} are locked; unlock all but one first.")
        first, *others = chosen
        classes = self._classes()
        named = {row: classes[first] for one in chosen for row in (*self._anchors[one], *self._labeled(one))}
        return {
            "shown": f"Merged {self._call(first)} with {_listed(map(self._call, others))}",
            "cluster": first,
            "must": tuple(pairwise(row for cluster in chosen for row in self._anchors[cluster][:_FIRMLY])),
            "labels": tuple((self._rest(chosen, classes) | named).items()),
            "anchors": self._rows_for(first),
            "change": -len(others),
        }

    def _split(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        one, piles = self._cluster(asked.get("cluster")), asked.get("piles")
        if one in self._locked:
            raise ValueError(f"{_upper(self._call(one))} is locked; unlock it first.")
        if piles is None:
            heaps, how = self._halve(one), "by 2-means"
        else:
            if not isinstance(piles, list) or len(piles) != 2:
                raise ValueError("A cluster is split into two piles of rows.")
            heaps, how = [self._rows(pile) for pile in piles], "into two piles"
            if set(heaps[0]) & set(heaps[1]):
                raise ValueError(f"Row {min(set(heaps[0]) & set(heaps[1]))} is in both piles.")
        classes = self._classes()
        halves = classes[one], self._new_class(classes[one], classes.values())
        labels = {row: halves[self._nearer(row, heaps)] for row in self._labeled(one)}
        labels |= {row: name for name, heap in zip(halves, heaps) for row in heap}
        return {
            "shown": f"Split {self._call(one)} {how}",
            "cluster": one,
            "must": tuple(link for heap in heaps for link in pairwise(heap)),
            "cannot": ((heaps[0][0], heaps[1][0]),),
            "labels": tuple((self._rest([one], classes) | labels).items()),
            "anchors": self._rows_for(one),
            "change": 1,
        }

    def _belongs(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        one, rows = self._cluster(asked.get("cluster")), self._rows(asked.get("rows"))
        core = self._core(one, rows)
        if not core:
            raise ValueError(f"{_upper(self._call(one))} consists of these rows already.")
        left = {int(self._fit.labels[row]) for row in rows} - {one, -1}
        others = [self._core(other, rows) for other in sorted(left)]
        shown = f"Moved {plural(len(rows), 'row')} to {self._call(one)}"
        return {
            "shown": shown,
            "cluster": one,
            "must": tuple(link for some in (core, *others) for link in pairwise(some))
            + tuple((row, core[0]) for row in rows),
            # Without these, rows like the moved ones would be reason enough to join both clusters.
            "cannot": tuple((core[0], other[0]) for other in others if other),
            "anchors": self._rows_for(one),
        }

    def _never(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        one, rows = self._cluster(asked.get("cluster")), self._rows(asked.get("rows"))
        core = self._core(one, rows)
        if not core:
            raise ValueError(f"{_upper(self._call(one))} has no other rows; split or merge clusters instead.")
        shown = f"Kept {plural(len(rows), 'row')} out of {self._call(one)}"
        return {
            "shown": shown,
            "cluster": one,
            "must": tuple(pairwise(core)),
            "cannot": tuple((row, core[0]) for row in rows),
            "anchors": self._rows_for(one),
        }

    def _together(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        rows = self._rows(asked.get("rows"))
        if len(rows) < 2:
            raise ValueError("Choose two or more rows that belong together.")
        return {"shown": f"Put {len(rows)} rows together", "must": tuple(pairwise(rows))}

    def _halve(self, one: int) -> list[list[int]]:
        """The rows nearest to the means of two halves of a cluster, the nearest first."""
        rows = np.flatnonzero(self._fit.labels == one)
        if len(rows) > _SAMPLE:
            rows = rows[np.linspace(0, len(rows) - 1, _SAMPLE).astype(int)]
        some = np.asarray(self._X[rows], dtype=np.float64)
        if len(np.unique(some, axis=0)) < 2:
            raise ValueError(f"{_upper(self._call(one))} cannot be split: all its rows are alike.")
        halves = KMeans(2, n_init=4, random_state=0).fit(some)
        heaps = []
        for half in (0, 1):
            own = np.flatnonzero(halves.labels_ == half)
            away = ((some[own] - halves.cluster_centers_[half]) ** 2).sum(axis=1)
            heaps.append(rows[own[np.argsort(away, kind="stable")[:_PILE]]].tolist())
        return heaps

    def _classes(self) -> dict[int, str]:
        """A class for each cluster: the one that most of its labels name, its name, or its id."""
        known, names = self._fit.classes, self._names
        found = {one: known.get(one) or names.get(one) or f"{_UNNAMED} {one}" for one in self._anchors}
        for name in [name for name, times in Counter(found.values()).items() if times > 1]:
            for one in [one for one in found if found[one] == name][1:]:
                found[one] = self._new_class(name, found.values())
        return found

    def _new_class(self, name: str, used: Iterable[str]) -> str:
        """A name like another that is not in use."""
        taken = {*used, *map(str, self._fit.clues.classes_)}
        return next(new for i in count(2) if (new := f"{name} ({i})") not in taken)

    def _rest(self, changed: Sequence[int], classes: Mapping[int, str]) -> dict[int, str]:
        """Labels that say what the other clusters are: typical rows of each, unless their label is known.

        Without them the fit is free to tear another cluster, because the number of clusters is all that it is told.
        They are labels and no links, because links would have to hold when one of these clusters changes, too.
        """
        known = self._fit.clues.labels
        others = [one for one in self._anchors if one not in changed]
        return {row: classes[one] for one in others for row in self._anchors[one] if known[row] < 0}

    def _labeled(self, one: int) -> list[int]:
        """Rows of a cluster that changes which have a label: they get another, as the last word counts."""
        rows: list[int] = np.flatnonzero((self._fit.labels == one) & (self._fit.clues.labels >= 0))[:LOCKED].tolist()
        return rows

    def _nearer(self, row: int, heaps: list[list[int]]) -> int:
        """The heap whose mean is nearer to a row."""
        return int(np.argmin([((self._X[heap].mean(axis=0) - self._X[row]) ** 2).sum() for heap in heaps]))

    def _core(self, one: int, rows: list[int]) -> list[int]:
        """Typical rows of a cluster that stay together, without some rows.

        They outnumber these, because what is tied goes where most of it is at home: otherwise the center of the cluster
        would follow the rows, and not the other way round.
        """
        typical = typical_rows(one, self._fit, self._X, min(3 * len(rows) + _FIRMLY, LOCKED))
        moved = set(rows)
        return [row for row in typical if row not in moved]

    def _cluster(self, one: Any) -> int:
        if isinstance(one, bool) or not isinstance(one, int) or one not in self._anchors:
            raise ValueError(f"There is no cluster {one}.")
        return one

    def _rows(self, rows: Any) -> list[int]:
        good = isinstance(rows, list) and rows and all(isinstance(row, int) and row is not True for row in rows)
        if not good:
            raise ValueError("Rows are a list of row numbers.")
        outside = [row for row in rows if not 0 <= row < len(self._X)]
        if outside:
            raise ValueError(f"There is no row {outside[0]}.")
        return list(dict.fromkeys(rows))

    def _rows_for(self, one: int) -> tuple[int, ...]:
        return tuple(self._anchors[one])

    def _call(self, one: int) -> str:
        name = self._names.get(one)
        return f"cluster {one}" if name is None else f"'{name}'"


def names_of(state: State) -> dict[int, str]:
    """The names that people gave to clusters; the last one counts."""
    named = [act for act in state.acts if act.kind == "name"]
    return {act.cluster: act.name for act in named if act.cluster is not None and act.name is not None}


def locked(state: State) -> set[int]:
    """Clusters that are locked."""
    return {act.cluster for act in state.acts if act.kind == "lock" and act.cluster is not None}


def is_spoken(name: str) -> bool:
    """Whether somebody gave a class its name; others only say which rows an act left together."""
    return not name.startswith(f"{_UNNAMED} ")


def _listed(names: Iterable[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def _upper(words: str) -> str:
    return words[:1].upper() + words[1:]
