"""How likely clues do harm: a small logistic score of what a trial showed.

Harm is a Rand index to the truth that is lower with clues than without, from the same seed. ``experiments/harm.py``
draws clues, right and partly wrong ones, from labelled data sets, lets `check` try COPKMeans, PKMeans, MKMeans and
MPCKMeans (each with the published settings), and fits the score: 1096 cases of 18 data sets, harm in 54 % of them. On
data sets left out of the fit the area under the curve is 0.70 and the Brier score 0.216 (0.248 for the base rate
alone); where it said 30 to 40 % there was harm in 38 %, where 70 to 80 %, in 75 %. Informativeness, coherence,
agreement, coverage and difficulty alone reach 0.52, no better than guessing, and add little to the trial (0.71): they
are shown but not counted. The four sets of the survey's tables are not among the 18; there, over 3200 fits with 25
right pairs (``experiments/survey_tables.py``), the verdict cuts harmful fits from 35 % to 10 % and keeps 70 % of the
gains. That held-out clues decide first and the score second was chosen after a look at other draws from these four.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cluewise.advice.doctor._tryout import Tryout
from cluewise.clues import Clues

__all__ = ["INTERCEPT", "LIKELY", "UNCHANGED", "WEIGHTS", "features", "judged", "probability"]

WEIGHTS = {"evidence": -0.71, "strain": 9.85}
INTERCEPT = -0.39
UNCHANGED = "The clusters are unchanged in this trial."
LIKELY = 0.45  # where held-out clues cannot tell, clues with less than this are used
_TELLING = frozenset({"labels", "must", "cannot", "together", "apart", "partitions"})


def features(trial: Tryout) -> dict[str, float]:
    """What the score is computed from.

    ``evidence`` is the gain on held-out clues in units of its standard deviation over the splits plus 0.03, at most
    1.5 either way; ``strain`` the log of how much wider the clusters become, at most 0.2 either way. Without splits
    there is no evidence.
    """
    evidence = 0.0 if np.isnan(trial.gain) else trial.gain / (trial.spread + 0.03)
    return {"evidence": float(np.clip(evidence, -1.5, 1.5)), "strain": float(np.clip(trial.strain, -0.2, 0.2))}


def probability(found: dict[str, float]) -> float:
    """The logistic function of the score."""
    score = INTERCEPT + sum(WEIGHTS[name] * value for name, value in found.items())
    return float(1 / (1 + np.exp(-score)))


def judged(trial: Tryout | None, clues: Clues) -> dict[str, Any]:
    """Features, probability, verdict and reasons; without a trial, or of bounds on sizes alone, nothing is known."""
    if trial is None or trial.trouble or not clues.kinds & _TELLING:
        return {"features": {}, "harm": float("nan"), "harmful": None, "reasons": ()}
    if trial.moved <= 0:
        return {"features": features(trial), "harm": 0.0, "harmful": False, "reasons": (UNCHANGED,)}
    found = features(trial)
    harm = probability(found)
    told = not np.isnan(trial.gain) and trial.gain != 0
    harmful = trial.gain < 0 if told else harm > LIKELY
    return {"features": found, "harm": harm, "harmful": bool(harmful), "reasons": _reasons(trial)}


def _reasons(trial: Tryout) -> tuple[str, ...]:
    """What the trial showed, in words."""
    points = 100 * trial.gain
    size = f"{abs(points):.1f}" if abs(points) >= 0.05 else f"{abs(points):.1g}"
    splits = f"{size} points in {trial.splits} splits"
    if np.isnan(trial.gain):
        held = "No clues could be held out."
    elif points == 0:
        held = f"Held-out clues come out as well with the others as without ({trial.splits} splits)."
    else:
        held = f"Held-out clues come out {'better' if points > 0 else 'worse'} with the others than without ({splits})."
    wider = 100 * np.expm1(trial.strain)
    shape = f"The clusters become {abs(wider):.1f} % {'wider' if wider > 0 else 'tighter'} (sum of squares)."
    moved = f"The clusters with and without clues agree to {100 * (1 - trial.moved):.0f} % (ARI)."
    return held, shape, moved
