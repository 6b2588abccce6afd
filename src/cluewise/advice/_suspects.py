"""Clues that a fitted model takes to be wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cluewise._notebook import Report
from cluewise._typing import Bools
from cluewise.catalogue import clusterers
from cluewise.clues import Clues

__all__ = ["Suspect", "Suspects", "format_doubt", "suspects"]

_LISTED = 10  # suspects in the printed table


@dataclass(frozen=True)
class Suspect:
    """A clue and the probability that it is wrong.

    Attributes
    ----------
    doubt : float
        Probability that the clue is wrong.
    kind : {"must", "cannot"}
        Kind of the link.
    rows : (int, int)
        The rows.
    source : str
        Where it comes from.
    broken : bool
        Whether the clustering breaks it.

    Examples
    --------
    >>> from cluewise.advice import Suspect
    >>> print(Suspect(0.93, "must", (3, 17), "given", True))
    must-link 3 – 17 (given)
    """

    doubt: float
    kind: str
    rows: tuple[int, int]
    source: str
    broken: bool

    def __str__(self) -> str:
        return f"{self.kind}-link {self.rows[0]} – {self.rows[1]} ({self.source})"


@dataclass(frozen=True, repr=False)
class Suspects(Report, Sequence[Suspect]):
    """Clues that are probably wrong, the most doubtful first; print it to read it, index it to use it.

    Attributes
    ----------
    method : str
        Name of the clusterer that judged them.
    clues : int
        Number of links that it judged.
    expected : float
        Expected number of wrong links: the sum of all doubts.
    suspects : tuple of Suspect
        The most doubtful links.

    Examples
    --------
    >>> import cluewise as cw
    >>> from cluewise.advice import suspects
    >>> X = [[0.0], [1.0], [2.0], [3.0], [9.0], [10.0], [11.0], [12.0]]
    >>> model = cw.RDPMeans(cluster_cost=6).fit(X, clues=cw.Clues(8, must=[(0, 1), (3, 4), (5, 7)]))
    >>> table = suspects(model)
    >>> table[0].rows, len(table)
    ((3, 4), 3)
    """

    method: str
    clues: int
    expected: float
    suspects: tuple[Suspect, ...]

    @property
    def columns(self) -> dict[str, list[Any]]:
        """The table by columns, as data frames and ``cluewise.tables.write`` take it."""
        return {
            "doubt": [s.doubt for s in self.suspects],
            "kind": [s.kind for s in self.suspects],
            "a": [s.rows[0] for s in self.suspects],
            "b": [s.rows[1] for s in self.suspects],
            "source": [s.source for s in self.suspects],
            "broken": [s.broken for s in self.suspects],
        }

    def __len__(self) -> int:
        return len(self.suspects)

    def __getitem__(self, place: Any) -> Any:
        return self.suspects[place]

    def __iter__(self) -> Iterator[Suspect]:
        return iter(self.suspects)

    def __str__(self) -> str:
        if not self.clues:
            return f"{self.method} had no links to judge."
        judged = f"{self.clues} link{'' if self.clues == 1 else 's'}"
        lines = [f"{self.method} judged {judged}; about {self.expected:.1f} of them are wrong."]
        shown = self.suspects[:_LISTED]
        rows = [(format_doubt(s.doubt), str(s), "broken" if s.broken else "kept") for s in shown]
        table = [("wrong", "clue", "result"), *rows] if rows else []
        width = max((len(clue) for _, clue, _ in table), default=0)
        lines += [f"{wrong:>9}  {clue:<{width}}  {result}" for wrong, clue, result in table]
        if len(self) > _LISTED:
            lines.append(f"… and {len(self) - _LISTED} more; loop over the result to see all.")
        return "\n".join(lines)


def format_doubt(doubt: float) -> str:
    """Format the probability that a clue is wrong as a percentage.

    Parameters
    ----------
    doubt : float
        The probability.

    Returns
    -------
    str
        The percentage. No doubt is ever certain: beyond these, "over 99 %" or "under 1 %".

    Examples
    --------
    >>> from cluewise.advice import format_doubt
    >>> format_doubt(0.656), format_doubt(0.9999)
    ('65.6 %', 'over 99 %')
    """
    return "over 99 %" if doubt > 0.99 else "under 1 %" if doubt < 0.01 else f"{100 * doubt:.1f} %"


def suspects(model: Any, *, n: int | None = None, above: float = 0.0) -> Suspects:
    """List the clues that are probably wrong according to a fitted model, the most doubtful first.

    Parameters
    ----------
    model : fitted clusterer
        A model that judges its clues: it has ``doubt_`` and ``clues_``.
    n : int, optional
        Maximum number of clues; all by default.
    above : float, default=0.0
        Minimum probability that a clue is wrong.

    Returns
    -------
    Suspects
        A table to print, to index and to loop over.

    Notes
    -----
    A clue that the clustering keeps may be wrong, and one that it breaks may be right. Equal doubts are in the order of
    the clues, must-links first. Labels and groups are not judged.

    Probabilities are calibrated: a method is trusted as far as it predicts these clues. With few clues, or with many
    that contradict the clusters, hardly any clue is called wrong, because the clusters may be wrong instead. This was
    measured with links of weight 1; `TVClust` treats a heavier link as so many independent reports and hardly doubts
    it.

    Examples
    --------
    >>> import cluewise as cw
    >>> from cluewise.advice import suspects
    >>> X = [[0.0], [1.0], [2.0], [3.0], [9.0], [10.0], [11.0], [12.0]]
    >>> ann = cw.Clues(8, must=[(0, 1), (1, 2), (2, 3), (4, 5), (5, 6), (6, 7)], source="Ann")
    >>> ben = cw.Clues(8, must=[(3, 4)], cannot=[(0, 4), (1, 5), (2, 6), (3, 7)], source="Ben")
    >>> print(suspects(cw.RDPMeans(cluster_cost=6).fit(X, clues=ann | ben), above=0.5))
    RDPMeans judged 11 links; about 0.8 of them are wrong.
        wrong  clue                   result
       65.6 %  must-link 3 – 4 (Ben)  broken
    """
    if n is not None and (not isinstance(n, (int, np.integer)) or isinstance(n, bool) or n < 0):
        raise ValueError(f"n is {n!r}; it must be an integer of at least 0, or None for all.")
    if not 0 <= above <= 1:
        raise ValueError(f"above is {above!r}; it must be a probability between 0 and 1.")
    clues, doubt = _get_doubts(model)
    order = np.argsort(-doubt, kind="stable")
    order = order[doubt[order] >= above][:n]
    pairs = np.concatenate([clues.must, clues.cannot])
    source = np.concatenate([clues.must_source, clues.cannot_source])
    broken = _mark_broken(model.labels_, clues)
    suspects = []
    for i in order.tolist():
        kind, rows = "must" if i < len(clues.must) else "cannot", (int(pairs[i, 0]), int(pairs[i, 1]))
        suspects.append(Suspect(float(doubt[i]), kind, rows, str(source[i]), bool(broken[i])))
    return Suspects(type(model).__name__, len(doubt), float(doubt.sum()), tuple(suspects))


def _get_doubts(model: Any) -> tuple[Clues, Any]:
    """The clues of a fit and their doubts."""
    name = type(model).__name__
    doubt, clues = getattr(model, "doubt_", None), getattr(model, "clues_", None)
    if doubt is not None and clues is not None:
        return clues, np.asarray(doubt, dtype=np.float64)
    judges = ["Cluewise", *(c for c, cls in clusterers().items() if cls.card.judges)]
    if name in judges:
        raise ValueError(f"this {name} has no doubts yet; fit it with clues first.")
    raise ValueError(f"{name} does not judge its clues; these methods do: {', '.join(judges)}.")


def _mark_broken(labels: Any, clues: Clues) -> Bools:
    """Mark the broken must-links, then the broken cannot-links; each noise row is alone."""
    pairs = np.concatenate([clues.must, clues.cannot])
    first, second = labels[pairs[:, 0]], labels[pairs[:, 1]]
    together = (first == second) & (first >= 0)
    return together != (np.arange(len(pairs)) < len(clues.must))
