"""Run the trials of a search: fit each candidate with the clues outside every fold, and score it by those inside."""

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
from cluewise.advice._trials import Trial
from cluewise.clues import Clues
from cluewise.core.loop import Progress
from cluewise.metrics import broken, held_out

__all__ = ["Runner", "describe_error", "get_labels", "make_model", "select_clues"]

_COLLAPSE = 0.1  # difference of scores that counts as a collapse


class _CallbackError(Exception):
    """An exception of a callback, which does not count against the candidate."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(str(cause))
        self.cause = cause


class Runner:
    """What all trials of a search share, and how one is run."""

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
        # Hard links in a fold are held out for all candidates, those without clues included: their fits then differ.
        self.same_demands = held_out.select_demands(clues).kinds <= {"sizes", "avoid"}
        self.until = np.inf if time_limit is None else perf_counter() + time_limit

    def run(self, trials: Sequence[Trial], progress: Progress) -> list[Trial]:
        """Score all trials; those that fail or come too late are dropped."""
        done: list[Trial] = []
        stop = False
        for number, trial in enumerate(trials):
            if stop:
                done.append(replace(trial, dropped="a callback ended the search"))
                continue
            if perf_counter() >= self.until:
                done.append(replace(trial, dropped="no time was left"))
                continue
            progress.begin_start(number)
            try:
                trial, stop = self._score(trial, progress)
            except _CallbackError as error:
                raise error.cause from None
            except Exception as error:  # one candidate that fails must not end the search
                trial = replace(trial, dropped=describe_error(error))
            done.append(trial)
            stop |= progress.end_start()
        return done

    def _score(self, trial: Trial, progress: Progress) -> tuple[Trial, bool]:
        began = perf_counter()
        results: list[Any] = []
        trace: list[float] = []
        counts: list[int] = []
        stop, fits = False, 0
        labels: Ints | None = None
        fit_each = trial.clues or (bool(trial.demands) and not self.same_demands)  # else all folds share one fit
        for rows, kept in zip(self.folds, self.kept):
            if labels is None or fit_each:
                labels = get_labels(self.fit(trial, kept, quiet=True))
                counts.append(len(np.unique(labels[labels >= 0])))
                fits += 1
            if self.scoring is None:
                results.append(held_out.count_pairs(labels, self.clues, rows))
            else:
                results.append(float(self.scoring(labels, held_out.select_about(self.clues, rows))))
            trace.append(-self._summarize(np.asarray(results)))
            try:
                stop |= progress(None, list(trace))
            except Exception as error:
                raise _CallbackError(error) from error
            seconds = (perf_counter() - began) / fits
            if fit_each and perf_counter() + seconds * (len(self.folds) - len(results)) > self.until:
                return replace(trial, dropped=f"a fit takes {seconds:.2g} s, too long for the time left"), stop
        score, less = estimate = held_out.jackknife(self._summarize, results)
        if np.isnan(score):
            return replace(trial, dropped="its score is nan"), stop
        card = getattr(trial.estimator, "card", None)
        finds = trial.n_clusters is None or (card is not None and card.finds)
        k = round(float(np.median(counts))) if finds else trial.n_clusters
        seconds = (perf_counter() - began) / fits
        return replace(trial, n_clusters=k, score=score, error=estimate.error, less=less, seconds=seconds), stop

    def _summarize(self, results: Any) -> float:
        return held_out.score_pairs(results) if self.scoring is None else float(np.mean(results))

    def fit(self, trial: Trial, clues: Clues, *, quiet: bool) -> Any:
        """Fit a candidate on all rows; ``quiet`` hides the warnings of fits whose result is not kept."""
        model = make_model(trial, self.seed)
        more = select_clues(trial, clues)
        if self.sample_weight is not None and has_fit_parameter(model, "sample_weight"):
            more["sample_weight"] = self.sample_weight
        with warnings.catch_warnings():
            if quiet:
                warnings.simplefilter("ignore")
            return model.fit(self.X, **more)

    def explain_collapse(self, labels: Ints, best: Trial) -> str:
        """Explain that a fit with all clues keeps them clearly worse than the trials predicted held-out ones, if so."""
        if self.scoring is not None or not best.clues:
            return ""
        all_rows = np.ones(len(labels), dtype=bool)
        score = held_out.score_pairs(held_out.count_pairs(labels, self.clues, all_rows)[None])
        if score >= best.score - max(_COLLAPSE, 2 * best.error):
            return ""
        return f"with all clues it collapses: its agreement with them is only {score:.3f}"

    def find_broken(self, model: Any, best: Trial) -> Clues:
        """Find the clues that the winner breaks, by its own account if it used them."""
        own = getattr(model, "broken_", None)
        if own is None or not best.clues:
            return broken(get_labels(model), self.clues)
        accepts = model.card.accepts if hasattr(model, "card") else self.clues.kinds
        unused = self.clues.kinds - accepts
        return own | broken(model.labels_, self.clues.only(unused)) if unused else own


def make_model(trial: Trial, seed: int) -> Any:
    """Clone the estimator of a trial, with a seed if it has none of its own."""
    model = clone(trial.estimator)
    parameters = model.get_params()
    if "random_state" in parameters and parameters["random_state"] is None:
        model.set_params(random_state=seed)
    return model


def select_clues(trial: Trial, clues: Clues) -> dict[str, Any]:
    """Select the clues that a candidate is fitted with, as keyword arguments of ``fit``."""
    if trial.clues:
        return {"clues": clues}
    return {"clues": held_out.select_demands(clues)} if trial.demands else {}


def get_labels(model: Any) -> Ints:
    """Clusters of a fitted model."""
    labels = getattr(model, "labels_", None)
    if labels is None:
        raise TypeError(f"{type(model).__name__} has no labels_ after its fit, so its clusters cannot be scored.")
    return np.asarray(labels)


def describe_error(error: Exception) -> str:
    """Describe in one line why a candidate failed."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"
