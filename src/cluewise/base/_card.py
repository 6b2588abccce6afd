"""Cards: what a method is, takes and promises."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Card"]


@dataclass(frozen=True)
class Card:
    """What a method is, takes and promises; read by documentation, catalogue, command line and laws.

    Parameters
    ----------
    paper : str
        Key in ``references.bib``.
    title : str
        The method in a few words.
    accepts : frozenset of str
        Kinds of clues that the method uses.
    hard : bool
        Whether every clue that is accepted holds in the result.
    mixes : bool
        Whether a link of infinite weight holds in the result, beside others that may not.
    joins : bool
        Whether must-links, together groups and equal labels hold in the result, even if others may not.
    closes : bool
        Whether the method works on the closure: an entailed clue changes nothing.
    descends : bool
        Whether the objective never rises from one iteration to the next.
    invariant : frozenset of str
        Which of "shift", "scale" and "rotation" of X change no label.
    finds : bool
        Whether the method finds the number of clusters; ``n_clusters`` is then what it expects, not a bound.
    noise : bool
        Whether label -1 marks noise.
    predicts, sparse, weights : bool
        Whether there is ``predict``, sparse X is taken, ``sample_weight`` is honored.
    deterministic : bool
        Whether the result does not depend on ``random_state``.
    single : bool
        Whether rows in single precision give the labels of the same rows in double precision.
    judges : bool
        Whether the method says how likely each link is wrong: ``doubt_``, and ``clues_``, the clues that it speaks of.
    named : bool
        Whether label class c becomes cluster c.
    plain : str
        What the method is without clues: "k-means", or "" for a method of its own.
    means : bool
        Whether ``cluster_centers_`` are the means of the clusters.
    cost : str
        Time per iteration.
    equation : str
        The objective or the algorithm in the paper.
    aliases : tuple of str
        Other names of the method.

    Examples
    --------
    >>> from cluewise import COPKMeans
    >>> COPKMeans.card.hard, sorted(COPKMeans.card.accepts)
    (True, ['apart', 'cannot', 'labels', 'must', 'together'])
    """

    paper: str
    title: str
    accepts: frozenset[str]
    hard: bool = False
    mixes: bool = False
    joins: bool = False
    closes: bool = False
    descends: bool = True
    invariant: frozenset[str] = frozenset({"shift", "scale", "rotation"})
    finds: bool = False
    noise: bool = False
    predicts: bool = True
    sparse: bool = True
    weights: bool = True
    deterministic: bool = False
    single: bool = True
    judges: bool = False
    named: bool = False
    plain: str = "k-means"
    means: bool = True
    cost: str = "O(nkd)"
    equation: str = ""
    aliases: tuple[str, ...] = ()
