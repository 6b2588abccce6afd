"""What a search has tried: one line per candidate, and which of them it takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from cluewise._typing import Floats
from cluewise.metrics.held_out import jackknife_error

__all__ = ["Trial", "Trials", "chance_warning", "drop", "pick", "tied"]

_LISTED = 20  # trials that the text lists


@dataclass(frozen=True, eq=False)
class Trial:
    """One candidate and how well it predicts clues that were held out.

    Attributes
    ----------
    name : str
        Name of the estimator.
    parameters : dict of str to object
        What the search has set.
    n_clusters : int or None
        Number of clusters asked for, or found where the method finds it; None where nothing was fitted.
    clues : bool
        Whether the candidate is told the clues.
    demands : str
        What a candidate without clues is told all the same, in words: bounds on sizes, what to avoid, links and
        groups of infinite weight.
    score : float
        Agreement with held-out clues, 1 at best and 0 by chance; nan where it was dropped.
    error : float
        Standard error of the score.
    seconds : float
        Mean time of one fit.
    dropped : str
        Why the candidate is out of the race; empty where it is not.

    Examples
    --------
    >>> from cluewise.advice import Trial
    >>> Trial("PCKMeans", {"n_clusters": 3}, 3, True).what
    'PCKMeans(n_clusters=3)'
    """

    name: str
    parameters: Mapping[str, Any]
    n_clusters: int | None
    clues: bool
    score: float = float("nan")
    error: float = float("nan")
    seconds: float = float("nan")
    dropped: str = ""
    demands: str = ""
    less: Floats = field(default_factory=lambda: np.zeros(0), repr=False)  # score without each fold
    estimator: Any = field(default=None, repr=False)  # not fitted

    @property
    def what(self) -> str:
        """The candidate in words."""
        without = f" without clues{f' but {self.demands}' if self.demands else ''}"
        return f"{self.name}({self.told}){'' if self.clues else without}"

    @property
    def told(self) -> str:
        """What the search has set, in words."""
        return ", ".join(f"{key}={value!r}" for key, value in self.parameters.items())


@dataclass(frozen=True, eq=False)
class Trials(Sequence[Trial]):
    """All candidates of a search, the one it takes first, then by score; print it to read it.

    Attributes
    ----------
    found : tuple of Trial
        The candidates; those that were dropped come last.
    warning : str
        A sentence, where even the first is not clearly better than chance; empty otherwise.

    Examples
    --------
    >>> import cluewise as cw
    >>> from cluewise import ClueSearchCV
    >>> X = [[0.0], [1.0], [2.0], [8.0], [9.0], [10.0]]
    >>> search = ClueSearchCV(cw.PCKMeans(), n_clusters=[2, 3], random_state=0)
    >>> table = search.fit(X, clues=[0, 0, 0, 1, 1, 1]).results_
    >>> len(table), table[0].n_clusters, table[0].score
    (4, 2, 1.0)
    """

    found: tuple[Trial, ...]
    warning: str = ""

    @property
    def columns(self) -> dict[str, list[Any]]:
        """The table by columns, as data frames and ``cluewise.tables.write`` take it."""
        return {
            "candidate": [t.name for t in self.found],
            "parameters": [t.told for t in self.found],
            "n_clusters": [-1 if t.n_clusters is None else t.n_clusters for t in self.found],
            "clues": [t.clues for t in self.found],
            "score": [t.score for t in self.found],
            "error": [t.error for t in self.found],
            "seconds": [t.seconds for t in self.found],
            "dropped": [t.dropped for t in self.found],
        }

    def __len__(self) -> int:
        return len(self.found)

    def __getitem__(self, place: Any) -> Any:
        return self.found[place]

    def __iter__(self) -> Iterator[Trial]:
        return iter(self.found)

    def __str__(self) -> str:
        lines = [("score", "error", "seconds", "candidate")]
        lines += [(f"{t.score:.3f}", f"{t.error:.3f}", f"{t.seconds:.3g}", t.what) for t in self.found if not t.dropped]
        lines += [("", "", "", f"{t.what} is out: {t.dropped}") for t in self.found if t.dropped]
        text = [f"{score:>6}  {error:>5}  {time:>8}  {what}".rstrip() for score, error, time, what in lines]
        more = len(text) - 1 - _LISTED
        text = text[: _LISTED + 1] + ([f"… and {more} more."] if more > 0 else [])
        return "\n".join([*text, self.warning] if self.warning else text)


def tied(trial: Trial, best: Trial) -> bool:
    """Whether a trial is within one standard error of the best, of their difference on the same folds."""
    return trial is best or best.score - trial.score <= jackknife_error(best.less - trial.less)


def pick(trials: Sequence[Trial]) -> Trials:
    """The trials in order, the one to take first.

    Among those tied with the best score the fewest clusters win, then the highest score; equal scores go to
    a candidate that needs no clues, then to the one that was named first.
    """
    running = [t for t in trials if not t.dropped]
    order = sorted(range(len(running)), key=lambda i: (-running[i].score, running[i].clues, i))
    ranked = [running[i] for i in order]
    if ranked:
        even = [t for t in ranked if tied(t, ranked[0])]
        fewest = min(t.n_clusters or 0 for t in even)
        chosen = next(t for t in even if (t.n_clusters or 0) == fewest)
        ranked = [chosen, *(t for t in ranked if t is not chosen)]
    return Trials((*ranked, *(t for t in trials if t.dropped)))


def chance_warning(best: Trial) -> str:
    """A sentence where the best score may be chance: at most 0, or at most twice its error; empty otherwise."""
    if np.isnan(best.score) or best.score > max(0.0, 2 * best.error):
        return ""
    return "No method clearly predicts held-out clues better than chance; check them (cluewise check)."


def drop(trial: Trial, why: str) -> Trial:
    """The same trial, out of the race."""
    return replace(trial, dropped=why)
