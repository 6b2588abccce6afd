"""Which clues are probably wrong, according to a fitted model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cluewise._typing import Bools
from cluewise.catalogue import clusterers
from cluewise.clues import Clues

__all__ = ["Suspect", "Suspects", "suspects"]

_LISTED = 10  # suspects that the text lists


@dataclass(frozen=True)
class Suspect:
    """One clue and how likely it is wrong.

    Attributes
    ----------
    doubt : float
        Probability that the clue is wrong.
    kind : {"must", "cannot"}
        What it says about its two rows.
    rows : (int, int)
        The rows.
    source : str
        Where it comes from.
    broken : bool
        Whether the result of the model breaks it.

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


@dataclass(frozen=True)
class Suspects(Sequence[Suspect]):
    """Clues that are probably wrong, the most doubtful first; print it to read it, index it to work with it.

    Attributes
    ----------
    method : str
        Name of the clusterer that judged them.
    clues : int
        How many links it judged.
    expected : float
        About how many of those are wrong: the sum of all doubts.
    found : tuple of Suspect
        The most doubtful ones.

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
    found: tuple[Suspect, ...]

    @property
    def columns(self) -> dict[str, list[Any]]:
        """The table by columns, as data frames and ``cluewise.tables.write`` take it."""
        return {
            "doubt": [s.doubt for s in self.found],
            "kind": [s.kind for s in self.found],
            "a": [s.rows[0] for s in self.found],
            "b": [s.rows[1] for s in self.found],
            "source": [s.source for s in self.found],
            "broken": [s.broken for s in self.found],
        }

    def __len__(self) -> int:
        return len(self.found)

    def __getitem__(self, place: Any) -> Any:
        return self.found[place]

    def __iter__(self) -> Iterator[Suspect]:
        return iter(self.found)

    def __str__(self) -> str:
        if not self.clues:
            return f"{self.method} was given no links to judge."
        judged = f"{self.clues} link{'' if self.clues == 1 else 's'}"
        lines = [f"{self.method} judged {judged}; about {self.expected:.1f} of them are wrong."]
        table = [("wrong", "clue", "result"), *(_line(s) for s in self.found[:_LISTED])]
        width = max(len(clue) for _, clue, _ in table)
        lines += [f"{wrong:>9}  {clue:<{width}}  {result}" for wrong, clue, result in table if len(table) > 1]
        if len(self) > _LISTED:
            lines.append(f"… and {len(self) - _LISTED} more.")
        return "\n".join(lines)


def percent(doubt: float) -> str:
    """A probability in words; none is ever certain."""
    return "over 99 %" if doubt > 0.99 else "under 1 %" if doubt < 0.01 else f"{100 * doubt:.1f} %"


def _line(suspect: Suspect) -> tuple[str, str, str]:
    return percent(suspect.doubt), str(suspect), "broken" if suspect.broken else "kept"


def suspects(model: Any, *, n: int | None = None, above: float = 0.0) -> Suspects:
    """List the clues that a fitted model takes to be wrong, the most doubtful first.

    Parameters
    ----------
    model : fitted clusterer
        One that judges its clues: it has ``doubt_`` and ``clues_``.
    n : int, optional
        At most so many; all by default.
    above : float, default=0.0
        Only clues that are wrong with at least this probability.

    Returns
    -------
    Suspects
        A table to print, to index and to loop over.

    Notes
    -----
    A clue that the result keeps may be wrong, and one that it breaks may be right. Equal doubts go in the order of
    the clues, must-links first. Labels and groups are not judged.

    Probabilities are calibrated: a method is believed as far as it predicts the clues at hand. With a handful of clues,
    or with many that contradict the clusters, hardly any clue is called wrong, because the clusters may be wrong
    instead. This was measured with links of weight 1; `TVClust` takes a heavier link for so many independent reports
    and hardly doubts it. Nothing is certain: the text says "over 99 %" or "under 1 %" beyond those.

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
        raise ValueError(f"n is {n!r}; it must be a whole number of at least 0, or None for all.")
    if not 0 <= above <= 1:
        raise ValueError(f"above is {above!r}; it must be a probability between 0 and 1.")
    clues, doubt = _judgement(model)
    order = np.argsort(-doubt, kind="stable")
    order = order[doubt[order] >= above][:n]
    pairs = np.concatenate([clues.must, clues.cannot])
    source = np.concatenate([clues.must_source, clues.cannot_source])
    broken = _broken(model.labels_, clues)
    found = (
        Suspect(
            float(doubt[i]),
            "must" if i < len(clues.must) else "cannot",
            (int(pairs[i, 0]), int(pairs[i, 1])),
            str(source[i]),
            bool(broken[i]),
        )
        for i in order.tolist()
    )
    return Suspects(type(model).__name__, len(doubt), float(doubt.sum()), tuple(found))


def _judgement(model: Any) -> tuple[Clues, Any]:
    """The clues of a fit and what the model thinks of them."""
    name = type(model).__name__
    doubt, clues = getattr(model, "doubt_", None), getattr(model, "clues_", None)
    if doubt is not None and clues is not None:
        return clues, np.asarray(doubt, dtype=np.float64)
    able = [c for c, cls in clusterers().items() if cls.card.judges]
    if name in able:
        raise ValueError(f"this {name} has no doubts yet; fit it with clues first.")
    raise ValueError(f"{name} does not judge its clues; these methods do: {', '.join(able)}.")


def _broken(labels: Any, clues: Clues) -> Bools:
    """Which must-links, then cannot-links, the labels break; noise rows are each alone."""
    pairs = np.concatenate([clues.must, clues.cannot])
    first, second = labels[pairs[:, 0]], labels[pairs[:, 1]]
    together = (first == second) & (first >= 0)
    return together != (np.arange(len(pairs)) < len(clues.must))
