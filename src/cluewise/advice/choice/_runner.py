"""Trials of a search run: each candidate fitted with the clues outside every fold, and judged by those inside."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from cluewise._typing import Bools, Ints
from cluewise.advice.choice._candidates import counter
from cluewise.advice.choice._trials import Trial, drop
from cluewise.clues import Clues
from cluewise.core.loop import Progress
from cluewise.metrics import broken, held_out

__all__ = ["Runner", "labels_of", "reason"]

_CLEARLY = 0.1  # of a score


class _CallbackError(Exception):
    """What a callback raised: no fault of the candidate."""

    def __init__(self, own: Exception) -> None:
        super().__init__(str(own))
        self.own = own


class Runner:
    """What all trials of a search have in common, and how one is run."""

    def __init__(
        self,
        X: Any,
        clues: Clues,
        folds: Sequence[Bools],
        sample_weight: Any,
        seed: int,
        scoring: Any,
        time_limit: float | None,
    ) -> None:
        self.X, self.clues, self.folds, self.sample_weight = X, clues, folds, sample_weight
        self.seed, self.scoring = seed, scoring
        self.kept = [held_out.leave_out(clues, rows) for rows in folds]
        # Hard links that a fold holds out are held out for all candidates, those without clues included.
        self.steady = held_out.select_demands(clues).kinds <= {"sizes", "avoid"}
        self.until = np.inf if time_limit is None else perf_counter() + time_limit

    def run(self, trials: Sequence[Trial], progress: Progress) -> list[Trial]:
        """All trials with their scores; those that failed or came too late are dropped."""
        done: list[Trial] = []
        stop = False
        for number, trial in enumerate(trials):
            if stop:
                done.append(drop(trial, "a callback ended the search"))
                continue
            if perf_counter() >= self.until:
                done.append(drop(trial, "no time was left"))
                continue
            progress.begin_start(number)
            try:
                trial, stop = self._scored(trial, progress)
            except _CallbackError as error:
                raise error.own from None
            except Exception as error:  # one candidate must not take the search with it
                trial = drop(trial, reason(error))
            done.append(trial)
            stop |= progress.end_start()
        return done

    def _scored(self, trial: Trial, progress: Progress) -> tuple[Trial, bool]:
        began = perf_counter()
        found: list[Any] = []
        trace: list[float] = []
        counts: list[int] = []
        stop, fits = False, 0
        labels: Ints | None = None
        each = trial.clues or (bool(trial.demands) and not self.steady)  # otherwise all folds have the same fit
        for rows, kept in zip(self.folds, self.kept):
            if labels is None or each:
                labels = labels_of(self.fitted(trial, kept, quiet=True))
                counts.append(len(np.unique(labels[labels >= 0])))
                fits += 1
            found.append(self._judged(labels, rows))
            trace.append(-self._statistic(np.asarray(found)))
            try:
                stop |= progress(None, list(trace))
            except Exception as error:
                raise _CallbackError(error) from error
            spent = (perf_counter() - began) / fits
            if each and perf_counter() + spent * (len(self.folds) - len(found)) > self.until:
                return drop(trial, f"a fit takes {spent:.2g} s, too long for the time left"), stop
        result = held_out.jackknife(self._statistic, found)
        if np.isnan(result.score):
            return drop(trial, "its score is nan"), stop
        k = round(float(np.median(counts))) if counter(trial.estimator) is None or _finds(trial) else trial.n_clusters
        seconds = (perf_counter() - began) / fits
        scored = replace(trial, n_clusters=k, score=result.score, error=result.error, less=result.less, seconds=seconds)
        return scored, stop

    def _judged(self, labels: Ints, rows: Bools) -> Any:
        if self.scoring is None:
            return held_out.count_pairs(labels, self.clues, rows)
        return float(self.scoring(labels, held_out.select_about(self.clues, rows)))

    def _statistic(self, found: Any) -> float:
        return held_out.score_pairs(found) if self.scoring is None else float(np.mean(found))

    def fitted(self, trial: Trial, clues: Clues, *, quiet: bool) -> Any:
        """A candidate fitted on all rows; warnings of the fits on the way are nobody's business."""
        model = clone(trial.estimator)
        parameters = model.get_params()
        if "random_state" in parameters and parameters["random_state"] is None:
            model.set_params(random_state=self.seed)
        more: dict[str, Any] = {"clues": clues} if trial.clues else {}
        if trial.demands:
            more["clues"] = held_out.select_demands(clues)
        if self.sample_weight is not None and has_fit_parameter(model, "sample_weight"):
            more["sample_weight"] = self.sample_weight
        with warnings.catch_warnings():
            if quiet:
                warnings.simplefilter("ignore")
            return model.fit(self.X, **more)

    def collapsed(self, labels: Ints, best: Trial) -> str:
        """Whether a fit with all clues knows them clearly less well than fits with some predicted the others."""
        if self.scoring is not None or not best.clues:
            return ""
        told = held_out.score_pairs(held_out.count_pairs(labels, self.clues, np.ones(len(labels), dtype=bool))[None])
        if told >= best.score - max(_CLEARLY, 2 * best.error):
            return ""
        return f"with all clues it collapses: it agrees with them to {told:.3f} only"

    def broken(self, model: Any, best: Trial) -> Clues:
        """The clues that the winner breaks: in its own terms where it was told."""
        own = getattr(model, "broken_", None)
        if own is None or not best.clues:
            return broken(labels_of(model), self.clues)
        accepts = model.card.accepts if hasattr(model, "card") else self.clues.kinds
        unheard = self.clues.kinds - accepts
        return own | broken(model.labels_, self.clues.only(unheard)) if unheard else own


def _finds(trial: Trial) -> bool:
    card = getattr(trial.estimator, "card", None)
    return card is not None and card.finds


def labels_of(model: Any) -> Ints:
    """Clusters of a fitted model."""
    labels = getattr(model, "labels_", None)
    if labels is None:
        raise TypeError(f"{type(model).__name__} has no labels_ after its fit, so its clusters cannot be judged.")
    return np.asarray(labels)


def reason(error: Exception) -> str:
    """Why a candidate was dropped, in one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"
