"""Acts: what people do with clusters, as plain values that become hard clues (decision 0020)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from cluewise.active._dialog import row_numbers
from cluewise.clues import Clues

__all__ = ["ACTS", "Act"]

ACTS = ("name", "lock", "unlock", "merge", "split", "belongs", "never", "together")


@dataclass(frozen=True)
class Act:
    """Something that a person did with clusters: named one, merged two, said that a row belongs to one.

    Whoever lets people act (a page, a program) knows the clusters that they saw, and writes down what the act means
    for rows. So an act survives every refit, and can be taken back like an answer.

    Parameters
    ----------
    kind : {"name", "lock", "unlock", "merge", "split", "belongs", "never", "together"}
        What was done.
    shown : str
        A sentence for people, such as "Merged 'Barolo' with cluster 4".
    must, cannot : sequence of (int, int), default=()
        Pairs of rows that belong together, or apart, because of it.
    labels : sequence of (int, str), default=()
        Rows and the names of their classes.
    cluster : int or str, optional
        Stable id of the cluster.
    name : str, optional
        Its name.
    anchors : sequence of int, default=()
        Rows in the middle of the cluster, by which it is found again.
    change : int, default=0
        By how much the number of clusters changes.
    who : str, default=""
        Who did it.
    when : str, default=""
        When, as text such as "2026-11-15T20:00:00+00:00".
    entry : int, optional
        Number of the entry in the store; None before the act is stored.

    See Also
    --------
    Project.act : Stores an act.
    Answer : What people say when they are asked.

    Examples
    --------
    >>> from cluewise.active import Act
    >>> act = Act("merge", "Merged 'Barolo' with cluster 4", must=[(3, 8)], change=-1, who="ann", entry=12)
    >>> act.clues(10), str(act.clues(10).must_source[0])
    (Clues(10 rows: 1 must-link), 'act 12 (ann)')
    >>> Act.from_json(act.to_json()) == act
    True
    """

    kind: str
    shown: str
    must: tuple[tuple[int, int], ...] = ()
    cannot: tuple[tuple[int, int], ...] = ()
    labels: tuple[tuple[int, str], ...] = ()
    cluster: Any = None
    name: str | None = None
    anchors: tuple[int, ...] = ()
    change: int = 0
    who: str = ""
    when: str = ""
    entry: int | None = None

    def __post_init__(self) -> None:
        if self.kind not in ACTS:
            raise ValueError(f"an act is of the kind {', '.join(ACTS)}, not {self.kind!r}.")
        if not isinstance(self.shown, str) or not self.shown:
            raise ValueError(f"shown={self.shown!r}; an act is shown to people as a sentence.")
        if not isinstance(self.change, int) or isinstance(self.change, bool):
            raise ValueError(f"change={self.change!r}; the number of clusters changes by a whole number.")
        for name in ("must", "cannot"):
            object.__setattr__(self, name, _pairs(name, getattr(self, name)))
        object.__setattr__(self, "labels", _labels(self.labels))
        object.__setattr__(self, "anchors", row_numbers(self.anchors, "the anchors of an act"))
        if min(self.rows, default=0) < 0:
            raise ValueError(f"row {min(self.rows)} of an act is not a row number.")

    @property
    def rows(self) -> set[int]:
        """All rows that the act mentions."""
        linked = {row for pair in (*self.must, *self.cannot) for row in pair}
        return linked | {row for row, _ in self.labels} | set(self.anchors)

    @property
    def source(self) -> str:
        """Where its clues come from: the number of the entry, and who did it."""
        number = "act" if self.entry is None else f"act {self.entry}"
        return f"{number} ({self.who})" if self.who else number

    def clues(self, n: int) -> Clues:
        """The clues in the act: links of infinite weight, and labels.

        Parameters
        ----------
        n : int
            Number of rows.

        Returns
        -------
        Clues
            Their source is the act.
        """
        labels = None
        if self.labels:
            labels = np.full(n, None, dtype=object)
            labels[[row for row, _ in self.labels]] = [name for _, name in self.labels]
        return Clues(
            n,
            labels=labels,
            must=self.must or None,
            cannot=self.cannot or None,
            must_weight=np.inf if self.must else None,
            cannot_weight=np.inf if self.cannot else None,
            source=self.source,
        )

    def to_json(self) -> dict[str, Any]:
        """Plain values; empty ones are left out."""
        found = {one.name: getattr(self, one.name) for one in fields(self)}
        said = {name: value for name, value in found.items() if value not in ("", None, ())}
        for name in ("must", "cannot", "labels"):
            if name in said:
                said[name] = [list(pair) for pair in said[name]]
        if "anchors" in said:
            said["anchors"] = list(self.anchors)
        return said

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Act:
        """The act that `to_json` wrote."""
        known = {one.name for one in fields(cls)}
        return cls(**{name: some for name, some in value.items() if name in known})


def _pairs(name: str, given: Iterable[Any]) -> tuple[tuple[int, int], ...]:
    pairs = []
    for pair in given:
        rows = row_numbers(pair, f"a {name}-link of an act")
        if len(rows) != 2 or rows[0] == rows[1]:
            raise ValueError(f"a {name}-link of an act is about two different rows, not {list(rows)}.")
        pairs.append((rows[0], rows[1]))
    return tuple(pairs)


def _labels(given: Iterable[Any]) -> tuple[tuple[int, str], ...]:
    names: dict[int, str] = {}
    for row, name in given:
        (number,) = row_numbers([row], "the labels of an act")
        if not isinstance(name, str) or not name:
            raise ValueError(f"the label of row {number} in an act is the name of a class, not {name!r}.")
        if names.setdefault(number, name) != name:
            raise ValueError(f"an act labels row {number} {names[number]!r} and {name!r}.")
    return tuple(names.items())
