"""Which laws hold for which card, and the function that runs them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone

from cluewise.base import Card
from cluewise.checks import _laws_clues as of_clues
from cluewise.checks import _laws_conduct as of_conduct
from cluewise.checks import _laws_data as of_data
from cluewise.checks import _laws_results as of_results
from cluewise.checks._examples import adapt_rows, blobs, sample_clues
from cluewise.checks._fits import Law, always

__all__ = ["check_clusterer", "laws_for"]

LINKS = frozenset({"must", "cannot"})
GROUPS = frozenset({"labels", "together", "apart"})


def _expands(card: Card) -> bool:
    # A label that names a cluster says more than the links it implies.
    return not card.named and card.accepts >= LINKS and bool(card.accepts & GROUPS)


def _soft(card: Card) -> bool:
    return not (card.hard or card.mixes) and bool(card.accepts & LINKS)


_LAWS: tuple[tuple[Law, Callable[[Card], bool]], ...] = (
    (of_results.law_nothing_is_missing, always),  # first, since the others use what it looks for
    (of_data.law_no_clues_is_kmeans, lambda card: card.plain == "k-means"),
    (of_clues.law_hard_is_hard, lambda card: card.hard),
    (of_clues.law_broken_names_what_is_broken, always),
    (of_clues.law_entailed_clues_change_nothing, lambda card: card.closes and card.accepts >= LINKS),
    (of_clues.law_order_of_clues_is_irrelevant, always),
    (of_clues.law_groups_are_their_pairs, _expands),
    (of_data.law_clues_are_enough, lambda card: not card.reads),
    (of_data.law_permuted_rows, always),
    (of_clues.law_contradiction_raises_first, lambda card: (card.hard or card.joins) and card.accepts >= LINKS),
    (of_clues.law_infeasible_raises_first, lambda card: card.hard and not card.finds),
    (of_clues.law_unused_kinds_warn, always),
    (of_clues.law_infinite_weight_is_refused, _soft),
    (of_clues.law_infinite_weight_is_hard, lambda card: card.mixes and not card.hard),
    (of_clues.law_unequal_weights_warn, lambda card: card.hard and bool(card.accepts & LINKS)),
    (of_clues.law_bare_pairs_are_refused, always),
    (of_results.law_objective_never_rises, lambda card: card.descends),
    (of_results.law_labels_are_clusters, always),
    (of_results.law_centers_are_means, lambda card: card.means),
    (of_results.law_prediction_knows_its_rows, lambda card: card.predicts),
    (of_results.law_labels_are_predictions, lambda card: card.predicts and card.means),
    (of_results.law_doubts_are_probabilities, lambda card: card.judges),
    (of_results.law_same_seed_same_result, always),
    (of_results.law_seed_is_irrelevant, lambda card: card.deterministic),
    (of_conduct.law_threads_change_nothing, always),
    (of_conduct.law_two_fits_at_once, always),
    (of_conduct.law_inputs_stay_untouched, always),
    (of_conduct.law_any_layout_of_rows, always),
    (of_conduct.law_float32_stays_float32, always),
    (of_conduct.law_y_is_ignored, always),
    (of_conduct.law_unfinished_fits_warn, always),
    (of_data.law_moved_and_scaled_rows, lambda card: bool(card.invariant & {"shift", "scale"})),
    (of_data.law_rotated_rows, lambda card: "rotation" in card.invariant),
    (of_conduct.law_pickle_and_clone, always),
    (of_conduct.law_slices_keep_their_meaning, always),
    (of_conduct.law_within_budget, always),
    (of_data.law_weights_are_repetitions, lambda card: card.weights),
    (of_data.law_sparse_is_dense, lambda card: card.sparse),
)


class _Reader:
    """A card that notes which of its fields are read."""

    def __init__(self, card: Card) -> None:
        self.card = card
        self.read: list[str] = []

    def __getattr__(self, name: str) -> Any:
        self.read.append(f"card.{name}")
        return getattr(self.card, name)


def reason_for(law: Law, card: Card) -> str:
    """The fields of a card because of which a law applies, as a part of a sentence; empty if it always applies."""
    reader: Any = _Reader(card)
    dict(_LAWS)[law](reader)
    return f", which follows from {' and '.join(dict.fromkeys(reader.read))}" if reader.read else ""


def laws_for(estimator: Any) -> list[Law]:
    """List the laws that an estimator promises to obey, by its card.

    Parameters
    ----------
    estimator : object or class
        A clusterer with a ``card``.

    Returns
    -------
    list of functions
        Each takes ``(estimator, X, clues, rng)`` and raises ``AssertionError`` when the law is broken.

    Examples
    --------
    >>> from cluewise import COPKMeans, PCKMeans
    >>> from cluewise.checks import laws_for
    >>> hard = {law.__name__ for law in laws_for(COPKMeans)} - {law.__name__ for law in laws_for(PCKMeans)}
    >>> "law_hard_is_hard" in hard
    True
    """
    card = getattr(estimator, "card", None)
    if not isinstance(card, Card):
        raise TypeError(f"{estimator!r} has no card, so it is unknown which laws it should obey.")
    return [law for law, holds in _LAWS if holds(card)]


def check_clusterer(estimator: Any, *, random_state: int = 0) -> None:
    """Check that a clusterer obeys all laws of its card, on small generated data.

    Parameters
    ----------
    estimator : object
        The clusterer; copies of it are fitted, with three clusters.
    random_state : int, default=0
        Seed of the data and the clues.

    Raises
    ------
    AssertionError
        If a law is broken; the message says which, because of which fields of the card it applies, and how. Other
        exceptions are those of the estimator; a note says which law was checked.

    Examples
    --------
    >>> from cluewise import SeededKMeans
    >>> from cluewise.checks import check_clusterer
    >>> check_clusterer(SeededKMeans())
    """
    laws = laws_for(estimator)
    model = clone(estimator)
    if "n_clusters" in model.get_params():
        model.set_params(n_clusters=3)
    for law in laws:
        rng = np.random.default_rng([random_state, *law.__name__.encode()])  # another law changes nothing for this one
        X, y = blobs(40, 3, 3, rng)
        clues = sample_clues(y, model.card.accepts, rng)
        try:
            law(model, adapt_rows(model, X), clues, rng)
        except AssertionError as error:
            why = reason_for(law, model.card)
            raise AssertionError(f"{type(model).__name__} breaks {law.__name__}{why}: {error}") from error
        except Exception as error:
            why = reason_for(law, model.card)
            error.add_note(f"raised by {type(model).__name__} in the check of {law.__name__}{why}")
            raise
