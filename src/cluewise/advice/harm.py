"""How likely clues do harm: try the method with clues and without, and score what the trial shows.

Harm means that the adjusted Rand index to the true classes is more than 0.02 lower with clues than without, from the
same seed. ``experiments/harm.py`` tries PCKMeans, E2CP, MPCKMeans and FlexibleSpectral with correct and partly wrong
pairs and labels, fits a logistic score on one half of the data sets and evaluates it on the other. The results, with a
table of predicted and observed shares, are in ``experiments/results/harm.md``; a test checks that the weights agree.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from cluewise._typing import UNASSIGNED, Bools, Floats, Ints
from cluewise.clues import Clues
from cluewise.metrics import ari, held_out, informativeness
from cluewise.metrics.segments import take_rows

__all__ = [
    "ALONE",
    "HARDLY",
    "INTERCEPT",
    "LIKELY",
    "SMALL",
    "UNCHANGED",
    "WEIGHTS",
    "Tryout",
    "extract_features",
    "is_conclusive",
    "judge_harm",
    "try_out",
]

WEIGHTS = {"evidence": -0.63, "strain": 5.60, "news": -4.05}
INTERCEPT = -0.34
ALONE = "it cannot cluster these rows even without clues"
UNCHANGED = "The clusters are unchanged in this trial."
HARDLY = "The clusters hardly change in this trial."
SMALL = 0.02  # of the adjusted Rand index: a smaller loss is no harm, and a smaller change is hardly any
LIKELY = 0.4  # above this probability clues should be left out; chosen on the data sets that the score was fitted on
_SPLITS = 5  # with fewer splits the error of the gain is too uncertain
_TESTABLE = frozenset({"labels", "must", "cannot", "together", "apart", "partitions"})
_ROWS = 2000  # maximum number of rows in a trial
_FOLDS = 10


class Tryout(NamedTuple):
    """Results of trying a method with clues and without; nan where a number is unknown.

    Attributes
    ----------
    rows : int
        Number of rows in the trial.
    informativeness : float
        Share of the clues that the results without clues break.
    gain : float
        Share of held-out clues kept with the other clues minus that kept without any, averaged over the splits.
    error : float
        Standard error of the gain.
    splits : int
        Number of splits; in all of them together, each row with clues is held out once.
    moved : float
        1 minus the adjusted Rand index of the clusterings with and without clues.
    strain : float
        Log of how much wider the clusters are with clues (sums of squares).
    trouble : str
        Why the method could not be fitted; empty if it could.
    harm : float
        The estimate of the method itself, if it makes one (``harm_``); nothing is held out for it then.
    reason : str
        What the method chose, and why (``choice_``); empty if it does not choose.
    trust : float
        Share of the links and labels that seem right to the method, if it judges them (``doubt_``).
    harm_unknown : str
        Why the method makes no estimate here (``harm_`` is nan), if it makes one otherwise; nothing is held out either.

    Examples
    --------
    >>> import cluewise as cw
    >>> from cluewise.advice import check
    >>> trial = check([0, -1, 1, -1], [[0.0], [1.0], [8.0], [9.0]], random_state=0).trial
    >>> trial.rows, trial.informativeness, trial.moved
    (4, 0.0, 0.0)
    """

    rows: int
    informativeness: float
    gain: float = np.nan
    error: float = np.nan
    splits: int = 0
    moved: float = np.nan
    strain: float = np.nan
    trouble: str = ""
    harm: float = np.nan
    reason: str = ""
    trust: float = np.nan
    harm_unknown: str = ""


def try_out(estimator: Any, X: Any, clues: Clues, rng: np.random.Generator) -> Tryout:
    """Fit some rows without clues, with all of them, and with parts of them; the method must use all of ``clues``."""
    rows = _sample_rows(clues, rng)
    points, known = take_rows(X, rows, clues.n), clues[rows]
    # The two fits that are compared start from one seed. A method with a seed of its own is tried from that one only,
    # because that is what its user will get.
    fixed = isinstance(estimator.get_params(deep=False).get("random_state"), (int, np.integer))
    plain_labels: dict[int, Ints] = {}

    def fit(part: Clues | None, seed: int) -> Any:
        model = clone(estimator)
        if not fixed and "random_state" in model.get_params(deep=False):
            model.set_params(random_state=seed)
        return model.fit(points, clues=part)

    def fit_plain(seed: int) -> Ints:
        seed = 0 if fixed else seed
        if seed not in plain_labels:
            plain_labels[seed] = fit(None, seed).labels_
        return plain_labels[seed]

    seeds = rng.integers(2**31, size=_FOLDS + 1).tolist()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings about other rows or clues than the user's are of no use
        try:
            plain = fit_plain(seeds[0])
        except ValueError as error:
            return Tryout(len(rows), np.nan, trouble=f"{ALONE}: {error}")
        try:
            clued = fit(known, seeds[0])
        except ValueError as error:
            news = informativeness(plain, known)
            return Tryout(len(rows), news, trouble=f"it cannot cluster these rows with the clues: {error}")
        gains: list[float] = []
        estimates = hasattr(clued, "harm_")
        for mask, seed in zip(() if estimates else held_out.make_folds(known, _FOLDS, rng), seeds[1:]):
            try:
                labels = fit(held_out.leave_out(known, mask), seed).labels_
            except ValueError:  # some methods refuse some parts of the clues
                continue
            gains.append(_share_kept(labels, known, mask) - _share_kept(fit_plain(seed), known, mask))
    own = getattr(clued, "harm_", np.nan)
    return Tryout(
        rows=len(rows),
        informativeness=informativeness(np.array(list(plain_labels.values())), known),
        gain=float(np.mean(gains)) if gains else np.nan,
        error=float(np.std(gains, ddof=1) / np.sqrt(len(gains))) if len(gains) > 1 else np.nan,
        splits=len(gains),
        moved=1.0 - ari(clued.labels_, plain),
        strain=_strain(points, plain, clued.labels_),
        harm=own,
        reason=clued.choice_.reason if hasattr(clued, "choice_") else "",
        trust=_find_trust(clued),
        harm_unknown=clued.choice_.harm_unknown if estimates and np.isnan(own) else "",
    )


def _find_trust(model: Any) -> float:
    """Share of the links and labels of a fit that seem right to it; nan if it does not say."""
    labels = getattr(model, "label_doubt_", np.empty(0))
    doubt = np.concatenate([getattr(model, "doubt_", np.empty(0)), labels[~np.isnan(labels)]])
    return 1.0 - float(doubt.mean()) if len(doubt) else np.nan


def _sample_rows(clues: Clues, rng: np.random.Generator) -> Ints:
    """All rows, or a sample: at most half of it are rows with clues, those of whole links first."""
    if clues.n <= _ROWS:
        return np.arange(clues.n)
    links = rng.permutation(np.concatenate([clues.must, clues.cannot]))[: _ROWS // 4]
    chosen = np.unique(links)
    room = _ROWS // 2 - len(chosen)
    others = np.setdiff1d(clues.tied, chosen)
    if room > 0 and len(others):
        chosen = np.union1d(chosen, rng.permutation(others)[:room])
    mask = np.ones(clues.n, dtype=bool)
    mask[chosen] = False
    rest = np.flatnonzero(mask)
    return np.union1d(chosen, rng.choice(rest, min(len(rest), _ROWS - len(chosen)), replace=False))


def _share_kept(labels: Ints, clues: Clues, rows: Bools) -> float:
    """Share of the clues about these rows, of whatever kind, that a clustering keeps."""
    shares, held = held_out.kept_shares(labels, clues, rows), held_out.select_about(clues, rows)
    count: dict[str, int] = {
        "must": len(held.must),
        "cannot": len(held.cannot),
        "labels": int((held.labels >= 0).sum()),
        "together": sum(int((group.sizes > 1).sum()) for group in held.together),
        "apart": sum(int((group.sizes > 1).sum()) for group in held.apart),
        "partitions": sum(int((held.partition_codes(t) >= 0).sum()) for t in range(len(held.partitions))),
    }
    return sum(share * count[kind] for kind, share in shares.items()) / sum(count[kind] for kind in shares)


def _strain(points: Floats, plain: Ints, clued: Ints) -> float:
    """Log of the sum of squares within clusters with clues over that without, limited to a factor of 5."""
    before, after = _sum_of_squares(points, plain), _sum_of_squares(points, clued)
    if before <= 0 or after <= 0:
        return 0.0
    return float(np.clip(np.log(after / before), -np.log(5), np.log(5)))


def _sum_of_squares(points: Floats, labels: Ints) -> float:
    """Sum of squares around the means of the clusters; each noise row is alone and adds nothing."""
    inside = labels != UNASSIGNED
    kept, codes = points[inside], np.unique(labels[inside], return_inverse=True)[1]
    size = np.bincount(codes)
    means = np.column_stack([np.bincount(codes, weights=column) for column in kept.T]) / size[:, None]
    return float(((kept - means[codes]) ** 2).sum())


def is_conclusive(trial: Tryout) -> bool:
    """Whether a trial shows how likely harm is: hardly a row moves, the method says it, or there were enough splits."""
    told = not np.isnan(trial.harm)
    return not trial.trouble and (trial.moved <= SMALL or told or trial.splits >= _SPLITS)


def extract_features(trial: Tryout) -> dict[str, float]:
    """Extract what the score is computed from.

    ``evidence`` is the gain on held-out clues in standard errors (plus 0.01), ``strain`` the log of how much wider the
    clusters become, ``news`` the share of the clues that the results without clues break: where these are bad, little
    can be spoiled. All three are clipped, because the experiment has few cases beyond these limits.
    """
    return {
        "evidence": float(np.clip(trial.gain / (trial.error + 0.01), -3, 3)),
        "strain": float(np.clip(trial.strain, -0.2, 0.2)),
        "news": min(trial.informativeness, 0.5),
    }


def judge_harm(trial: Tryout | None, clues: Clues) -> dict[str, Any]:
    """Features, probability, verdict and reasons, as `Diagnosis` has them."""
    unknown = {"features": {}, "harm": float("nan"), "harmful": None, "reasons": ()}
    if trial is None or trial.trouble or not clues.kinds & _TESTABLE:
        return unknown
    if trial.moved <= SMALL:
        return {"features": {}, "harm": 0.0, "harmful": False, "reasons": (HARDLY if trial.moved > 0 else UNCHANGED,)}
    if not np.isnan(trial.harm):
        return {"features": {}, "harm": trial.harm, "harmful": trial.harm > LIKELY, "reasons": _reasons(trial)}
    if not is_conclusive(trial):
        return unknown | {"reasons": _reasons(trial)}
    features = extract_features(trial)
    score = INTERCEPT + sum(WEIGHTS[name] * value for name, value in features.items())
    harm = float(1 / (1 + np.exp(-score)))
    return {"features": features, "harm": harm, "harmful": harm > LIKELY, "reasons": _reasons(trial)}


def _reasons(trial: Tryout) -> tuple[str, ...]:
    """What the trial shows, in sentences."""
    points = 100 * trial.gain
    size = f"{abs(points):.1f}" if abs(points) >= 0.05 else f"{abs(points):.1g}"
    if trial.splits > 1:
        size += f" ± {100 * trial.error:.1f}"
    if trial.harm_unknown:
        gain = f"It was not estimated: {trial.harm_unknown}."
    elif trial.reason:
        gain = f"{trial.reason[0].upper()}{trial.reason[1:]}."
    elif np.isnan(trial.gain):
        gain = "No clues could be held out."
    elif points == 0:
        gain = f"Held-out clues are predicted as well with the other clues as without ({trial.splits} splits)."
    else:
        better = "better" if points > 0 else "worse"
        gain = f"Held-out clues are predicted {better} with the other clues than without"
        gain += f" ({size} points in {trial.splits} splits)."
    wider = 100 * np.expm1(trial.strain)
    shape = f"The clusters become {abs(wider):.1f} % {'wider' if wider > 0 else 'tighter'} (sum of squares)."
    moved = f"The clusters with and without clues have an ARI of {1 - trial.moved:.2f} (1: the same, 0: unrelated)."
    return gain, shape, moved
