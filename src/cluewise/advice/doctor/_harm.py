"""How likely clues do harm: a small logistic score of what a trial showed.

Harm is an adjusted Rand index to the truth that is more than 0.02 lower with clues than without, from the same seed.
``experiments/harm.py`` tries PCKMeans, E2CP, MPCKMeans and FlexibleSpectral with right and partly wrong pairs and
labels, learns the score on one half of the data sets and judges it on the other. What came out, with a table of
predicted and observed shares, is in ``experiments/results/harm.md``; a test checks that the weights here are those.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cluewise.advice.doctor._tryout import Tryout
from cluewise.clues import Clues

__all__ = [
    "HARDLY",
    "INTERCEPT",
    "LIKELY",
    "SMALL",
    "UNCHANGED",
    "WEIGHTS",
    "features",
    "judged",
    "probability",
    "told",
]

WEIGHTS = {"evidence": -0.63, "strain": 5.60, "news": -4.05}
INTERCEPT = -0.34
UNCHANGED = "The clusters are unchanged in this trial."
HARDLY = "The clusters hardly change in this trial."
SMALL = 0.02  # of the adjusted Rand index: less is no harm, and clusterings that differ by less hardly do any
LIKELY = 0.4  # more probable harm is a reason to leave clues out; chosen on the sets that the score was learned from
_SPLITS = 5  # of fewer the error of the gain is not known well enough
_TELLING = frozenset({"labels", "must", "cannot", "together", "apart", "partitions"})


def told(trial: Tryout) -> bool:
    """Whether a trial tells how likely harm is: hardly a row moves, or clues could be held out often enough."""
    return not trial.trouble and (trial.moved <= SMALL or trial.splits >= _SPLITS)


def features(trial: Tryout) -> dict[str, float]:
    """What the score is computed from.

    ``evidence`` is the gain on held-out clues in standard errors (0.01 added to them), at most 3 either way; ``strain``
    the log of how much wider the clusters become, at most 0.2 either way; ``news`` the share of the clues that the
    results without clues break, at most 0.5: where these are bad, little can be spoiled.
    """
    evidence, strain = trial.gain / (trial.error + 0.01), trial.strain
    return {
        "evidence": float(np.clip(evidence, -3, 3)),
        "strain": float(np.clip(strain, -0.2, 0.2)),
        "news": min(trial.informativeness, 0.5),
    }


def probability(found: dict[str, float]) -> float:
    """The logistic function of the score."""
    score = INTERCEPT + sum(WEIGHTS[name] * value for name, value in found.items())
    return float(1 / (1 + np.exp(-score)))


def judged(trial: Tryout | None, clues: Clues) -> dict[str, Any]:
    """Features, probability, verdict and reasons.

    Nothing is known without a trial, of bounds on sizes alone, and where too few clues could be held out.
    """
    if trial is None or trial.trouble or not clues.kinds & _TELLING:
        return {"features": {}, "harm": float("nan"), "harmful": None, "reasons": ()}
    if trial.moved <= SMALL:
        return {"features": {}, "harm": 0.0, "harmful": False, "reasons": (HARDLY if trial.moved > 0 else UNCHANGED,)}
    if not told(trial):
        return {"features": {}, "harm": float("nan"), "harmful": None, "reasons": _reasons(trial)}
    found = features(trial)
    harm = probability(found)
    return {"features": found, "harm": harm, "harmful": harm > LIKELY, "reasons": _reasons(trial)}


def _reasons(trial: Tryout) -> tuple[str, ...]:
    """What the trial showed, in words."""
    points = 100 * trial.gain
    size = f"{abs(points):.1f}" if abs(points) >= 0.05 else f"{abs(points):.1g}"
    if trial.splits > 1:
        size += f" ± {100 * trial.error:.1f}"
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
