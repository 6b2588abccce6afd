"""The candidates of a search with their scores, and which of them is chosen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cluewise._notebook import Report
from cluewise._typing import Floats
from cluewise.metrics.held_out import jackknife_error

__all__ = ["Trial", "Trials", "is_tied", "pick", "warn_of_chance"]

_LISTED = 20  # trials in the printed table


@dataclass(frozen=True, eq=False)
class Trial:
    """One candidate of a search, and how well it predicts held-out clues.

    Attributes
    ----------
    name : str
        Name of the estimator.
    parameters : dict of str to object
        Parameters set by the search.
    n_clusters : int or None
        Requested number of clusters, or the number found if the method finds it; None if nothing was fitted.
    clues : bool
        Whether the candidate uses the clues.
    demands : str
        What a candidate without clues must satisfy all the same, in words: bounds on sizes, what to avoid, links and
        groups of infinite weight.
    score : float
        Agreement with held-out clues: at most 1, 0 by chance; nan if the candidate was dropped.
    error : float
        Standard error of the score.
    seconds : float
        Mean time of a fit.
    dropped : str
        Why the candidate was dropped; empty if it was not.

    Examples
    --------
    >>> from cluewise.advice import Trial
    >>> Trial("PCKMeans", {"n_clusters": 3}, 3, True).description
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
    def description(self) -> str:
        """The candidate in words."""
        without = f" without clues{f' except {self.demands}' if self.demands else ''}"
        return f"{self.name}({self.settings}){'' if self.clues else without}"

    @property
    def settings(self) -> str:
        """The parameters set by the search, in words."""
        return ", ".join(f"{key}={value!r}" for key, value in self.parameters.items())


@dataclass(frozen=True, eq=False, repr=False)
class Trials(Report, Sequence[Trial]):
    """All candidates of a search: the chosen one first, the others by score; print it to read it.

    Attributes
    ----------
    trials : tuple of Trial
        The candidates; those that were dropped come last.
    warning : str
        A sentence if even the first is not clearly better than chance; empty otherwise.

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

    trials: tuple[Trial, ...]
    warning: str = ""

    @property
    def columns(self) -> dict[str, list[Any]]:
        """The table by columns, as data frames and ``cluewise.tables.write`` take it."""
        return {
            "candidate": [t.name for t in self.trials],
            "parameters": [t.settings for t in self.trials],
            "n_clusters": [-1 if t.n_clusters is None else t.n_clusters for t in self.trials],
            "clues": [t.clues for t in self.trials],
            "score": [t.score for t in self.trials],
            "error": [t.error for t in self.trials],
            "seconds": [t.seconds for t in self.trials],
            "dropped": [t.dropped for t in self.trials],
        }

    def __len__(self) -> int:
        return len(self.trials)

    def __getitem__(self, place: Any) -> Any:
        return self.trials[place]

    def __iter__(self) -> Iterator[Trial]:
        return iter(self.trials)

    def __str__(self) -> str:
        lines = [("score", "error", "seconds", "candidate")]
        for t in self.trials:  # those that were dropped come last
            if t.dropped:
                lines.append(("", "", "", f"{t.description} was dropped: {t.dropped}"))
            else:
                lines.append((f"{t.score:.3f}", f"{t.error:.3f}", f"{t.seconds:.3g}", t.description))
        text = [f"{score:>6}  {error:>5}  {time:>8}  {name}".rstrip() for score, error, time, name in lines]
        more = len(text) - 1 - _LISTED
        text = text[: _LISTED + 1] + ([f"… and {more} more."] if more > 0 else [])
        return "\n".join([*text, self.warning] if self.warning else text)


def is_tied(trial: Trial, best: Trial) -> bool:
    """Whether a trial is within one standard error of the best: that of their difference on the same folds."""
    return trial is best or best.score - trial.score <= jackknife_error(best.less - trial.less)


def pick(trials: Sequence[Trial]) -> Trials:
    """Order the trials, the chosen one first.

    Of the trials tied with the best score, the one with the fewest clusters is chosen, then the one with the highest
    score. Equal scores go to a candidate without clues, then to the first.
    """
    running = [t for t in trials if not t.dropped]
    order = sorted(range(len(running)), key=lambda i: (-running[i].score, running[i].clues, i))
    ranked = [running[i] for i in order]
    if ranked:
        even = [t for t in ranked if is_tied(t, ranked[0])]
        fewest = min(t.n_clusters or 0 for t in even)
        chosen = next(t for t in even if (t.n_clusters or 0) == fewest)
        ranked = [chosen, *(t for t in ranked if t is not chosen)]
    return Trials((*ranked, *(t for t in trials if t.dropped)))


def warn_of_chance(best: Trial) -> str:
    """A sentence if the best score may be due to chance: at most 0, or at most twice its error; empty otherwise."""
    if np.isnan(best.score) or best.score > max(0.0, 2 * best.error):
        return ""
    return "No method predicts held-out clues clearly better than chance; check the clues (cluewise check)."
