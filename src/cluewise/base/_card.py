"""Cards: what a method is, accepts and promises."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from cluewise.clues import KINDS

__all__ = ["Card"]

Change: TypeAlias = Literal["shift", "scale", "rotation"]
Growth: TypeAlias = Literal["linear", "square"]
Memory: TypeAlias = Literal["rows", "pairs", "square"]
Plain: TypeAlias = Literal["k-means", ""]


@dataclass(frozen=True)
class Card:
    """What a method is, accepts and promises; read by documentation, catalogue, command line and laws.

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
        Whether links of infinite weight hold in the result while others may break.
    joins : bool
        Whether must-links, together groups and equal labels hold in the result, even if other clues may break.
    closes : bool
        Whether the method works on the closure of the clues, so that an entailed clue changes nothing.
    descends : bool
        Whether the objective never rises from one iteration to the next.
    invariant : frozenset of str
        Which of "shift", "scale" and "rotation" of X leave the labels unchanged.
    finds : bool
        Whether the method finds the number of clusters; ``n_clusters`` is then what it expects, not a bound.
    noise : bool
        Whether label -1 marks noise.
    reads : bool
        Whether the method looks at X. Otherwise the clues are all that it needs, and X may be None.
    predicts, sparse, weights : bool
        Whether the method has ``predict``, accepts sparse X, uses ``sample_weight``.
    chunks : bool
        Whether X may be a dask array, whose rows are read chunk by chunk, or a torch tensor, whose rows stay where
        they are.
    deterministic : bool
        Whether the result is independent of ``random_state``.
    single : bool
        Whether single and double precision give the same labels.
    judges : bool
        Whether the method estimates how likely each link is wrong: ``doubt_``, for the links of ``clues_``.
    named : bool
        Whether label class c becomes cluster c.
    plain : {"k-means", ""}
        What the method is without clues: scikit-learn's ``KMeans``, or a method of its own.
    means : bool
        Whether ``cluster_centers_`` are the means of the clusters when a fit has converged.
    time_rows, time_columns : {"linear", "square"}
        How time grows with the number of rows and of columns, logarithms aside, with default parameters.
    memory : {"rows", "pairs", "square"}
        What memory grows with, with default parameters: the table of rows; the pairs that labels and groups stand for;
        all pairs of rows.
    cost : str
        Time per iteration, for people to read.
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
    invariant: frozenset[Change] = frozenset(get_args(Change))
    finds: bool = False
    noise: bool = False
    reads: bool = True
    predicts: bool = True
    sparse: bool = True
    weights: bool = True
    chunks: bool = False
    deterministic: bool = False
    single: bool = True
    judges: bool = False
    named: bool = False
    plain: Plain = "k-means"
    means: bool = True
    time_rows: Growth = "linear"
    time_columns: Growth = "linear"
    memory: Memory = "rows"
    cost: str = "O(nkd)"
    equation: str = ""
    aliases: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a card that says what no method can be."""
        _check_words("accepts", self.accepts, KINDS)
        _check_words("invariant", self.invariant, get_args(Change))
        _check_words("plain", [self.plain], get_args(Plain))
        _check_words("time_rows", [self.time_rows], get_args(Growth))
        _check_words("time_columns", [self.time_columns], get_args(Growth))
        _check_words("memory", [self.memory], get_args(Memory))
        if not self.title:
            raise ValueError("a card needs a title: the method in a few words.")
        if not self.cost.startswith("O("):
            raise ValueError(f"cost of a card begins with 'O(', not {self.cost!r}.")
        for promise, kinds in _ABOUT.items():
            if getattr(self, promise) and not self.accepts & kinds:
                raise ValueError(f"a card with {promise}=True accepts clues of the kind {' or '.join(sorted(kinds))}.")


_LINKS = frozenset({"must", "cannot"})
# A promise about clues is empty where no such clue is accepted.
_ABOUT = {"hard": frozenset(KINDS), "mixes": _LINKS, "joins": _LINKS, "named": frozenset({"labels"}), "judges": _LINKS}


def _check_words(field: str, words: Iterable[str], known: Sequence[str]) -> None:
    for word in words:
        if word not in known:
            raise ValueError(f"{field} of a card cannot be {word!r}; there are {', '.join(map(repr, known))}.")
