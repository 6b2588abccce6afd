"""The result of `suggest`: a ranked table of methods, with the reason for each rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cluewise._notebook import Report
from cluewise.advice._search import ClueSearchCV
from cluewise.advice._shortlist import KINDS
from cluewise.advice._trials import Trial, is_tied, warn_of_chance
from cluewise.metrics.held_out import jackknife_error

__all__ = ["Suggestion", "explain_ranks"]

CAUTION = 1.5
"""Standard errors by which a classifier has to be better; chosen by ``experiments/classify.py``."""


@dataclass(frozen=True, eq=False, repr=False)
class Suggestion(Report):
    """Methods ranked by how well they predict held-out clues; print it to read it.

    Attributes
    ----------
    search : ClueSearchCV
        The search; ``search.results_`` has every candidate.
    best : estimator
        The best method, fitted on all rows.
    best_trial : Trial
        Its trial, with the score.
    methods : tuple of Trial
        The best trial of each method, in order.
    reasons : dict of str to str
        Reason for the rank of each method, by name.
    left_out : dict of str to str
        Methods that were not tried, and why.
    baseline : Trial or None
        Plain K-means without clues, with the number of clusters that suits it best.
    classifiers : tuple of Trial
        Plain classifiers, the best first, if there are labels of at least two classes.
    enough_labels : bool
        Whether there are at least two labels of each class, and labels of as many classes as there are clusters.
    n_searched : int
        Number of rows in the search.
    rows : int
        Number of rows.

    Examples
    --------
    >>> import cluewise as cw
    >>> from cluewise import suggest
    >>> X = [[0.0], [1.0], [2.0], [3.0], [20.0], [21.0], [22.0], [23.0]]
    >>> clues = cw.Clues(8, labels=[0, 0, 0, 0, 1, 1, 1, 1])
    >>> suggest(X, clues, methods=["PCKMeans"], random_state=0).best.labels_
    array([0, 0, 0, 0, 1, 1, 1, 1], dtype=int32)
    """

    search: ClueSearchCV
    best: Any
    best_trial: Trial
    methods: tuple[Trial, ...]
    reasons: Mapping[str, str]
    left_out: Mapping[str, str]
    baseline: Trial | None
    classifiers: tuple[Trial, ...]
    enough_labels: bool
    n_searched: int
    rows: int

    @property
    def classifier(self) -> Trial | None:
        """The best of the plain classifiers."""
        return self.classifiers[0] if self.classifiers else None

    @property
    def classify(self) -> bool:
        """Whether to use a plain classifier instead.

        Every class has enough labels, and the classifier predicts held-out clues better than every clusterer: by more
        than 1.5 standard errors of the difference.
        """
        if self.classifier is None or not self.enough_labels:
            return False
        best = max(self.methods, key=lambda t: t.score)
        lead = self.classifier.score - best.score
        return lead > CAUTION * jackknife_error(self.classifier.less - best.less)

    @property
    def columns(self) -> dict[str, list[Any]]:
        """The table by columns, as data frames and ``cluewise.tables.write`` take it."""
        return {
            "method": [t.name for t in self.methods],
            "clusters": [t.n_clusters for t in self.methods],
            "clues": [t.clues for t in self.methods],
            "score": [t.score for t in self.methods],
            "error": [t.error for t in self.methods],
            "seconds": [t.seconds for t in self.methods],
            "reason": [self.reasons[t.name] for t in self.methods],
        }

    @property
    def rivals(self) -> list[tuple[Trial, str]]:
        """What the methods are compared with, each with a description."""
        both = ((self.baseline, "no clues, for comparison"), (self.classifier, "a plain classifier, for comparison"))
        return [(trial, why) for trial, why in both if trial is not None]

    @property
    def verdict(self) -> str:
        """What to do, in words."""
        best = self.best_trial
        clues = "with the clues" if best.clues else "without the clues, which do not help"
        if best.demands:
            clues += f", but with {best.demands}"
        words = f"Take {best.name} with {best.n_clusters} clusters, {clues}. {warn_of_chance(best)}".rstrip()
        if self.classify and self.classifier is not None:
            words += (
                f" But a plain classifier ({self.classifier.name}, {self.classifier.score:.3f}) predicts held-out "
                "clues better than any clusterer: use it."
            )
        return words

    def __str__(self) -> str:
        lines = [("score", "", "clusters", "seconds", "method", "reason")]
        lines += [_line(t, self.reasons[t.name]) for t in self.methods]
        lines += [_line(t, why) for t, why in self.rivals]
        wide = [max(len(line[j]) for line in lines) for j in range(5)]
        text = [
            f"{score:>{wide[0]}} {error:<{wide[1]}}  {k:>{wide[2]}}  {seconds:>{wide[3]}}  {name:<{wide[4]}}  {why}"
            for score, error, k, seconds, name, why in lines
        ]
        text += [f"Not tried: {name}, which {why}." for name, why in self.left_out.items()]
        if self.n_searched < self.rows:
            text.append(f"Searched on {self.n_searched} of {self.rows} rows.")
        return "\n".join([*text, self.verdict])


def _line(trial: Trial, reason: str) -> tuple[str, str, str, str, str, str]:
    return (
        f"{trial.score:.3f}",
        f"± {trial.error:.3f}",
        str(trial.n_clusters),
        f"{trial.seconds:.3g}",
        trial.name,
        reason,
    )


def explain_ranks(ranked: Sequence[Trial], chosen: Trial) -> dict[str, str]:
    """Explain the rank of each method."""
    top = max(ranked, key=lambda t: t.score)
    reasons = {}
    for trial in ranked:
        if trial is chosen:
            why = "predicts held-out clues best" if trial is top else "as good as the best, with fewest clusters"
        elif is_tied(trial, top):
            why = "as good within the error"
        else:
            why = f"{top.score - trial.score:.2f} below the best"
        if not trial.clues:
            why += "; no better with clues"
        reasons[trial.name] = f"{KINDS[trial.name]}: {why}" if trial.name in KINDS else why
    return reasons
