"""Which method is best for which clues: all clusterers and their rivals on twenty sets."""

from __future__ import annotations

from ...parts import Section
from .boards import Board
from .runs import AVOID, BOARD, EXPERIMENTS, KINDS, KNOWN, NOISES, SIZES, TWINS, UNTOLD, setting
from .summaries import Told, against_classifiers, by_data, every_set, winners

__all__ = ["EXPERIMENTS", "SECTION"]


def noisy(kind: str) -> list[str]:
    """A kind of clue with all shares of wrong ones."""
    return [setting(kind, noise) for noise in NOISES]


SECTION = Section(
    page="leaderboard",
    title="Leaderboard",
    about="Every clusterer of the library with its defaults, told the number of classes (where it asks for it) and "
    "nothing else, beside rivals (*in italics*): scikit-learn's KMeans with ten starts, which hears of no clues; "
    "LabelSpreading with its default kernel (γ = 20), with a wide one (γ = 1 / columns) and with that of neighbors; "
    "1-nearest-neighbor; and the package k-means-constrained. "
    + " ".join(f"{one} is left out: with its defaults it is {other}." for one, other in TWINS.items())
    + " Columns are standardized; methods that need counts see each column less its smallest value. All methods see "
    "the same clues: random pairs, of which a share says the opposite of the truth (*wrong*), or labels for a tenth "
    "of the rows, of which a share is drawn anew from all classes (*redrawn*: some of these come out right, half of "
    "them where there are two classes). Where labels are given, ARI is that of the other rows. A cell without a result "
    f"(clues that cannot be met, or more than {BOARD.limit:g} s by the clock) counts as ARI 0, that of chance. Noise "
    "that a method sets aside is judged as one cluster. *Broken* is the share of broken clues, the mean over the "
    "kinds of clue, of cells with a result. Seconds are those of one processor. This is no blind test: some of these "
    "sets were looked at while the library and its defaults were made (the priors of TVClust were chosen on iris, "
    "wine, ecoli and balance).",
    parts=[
        Told("Winners", winners),
        Told("By kind of data", by_data),
        Told("Labels: clusterers against classifiers", against_classifiers),
        Board(KINDS[0], "leaderboard_few_pairs", BOARD, noisy(KINDS[0])),
        Board(KINDS[1], "leaderboard_many_pairs", BOARD, noisy(KINDS[1])),
        Board(KINDS[2], "leaderboard_labels", BOARD, noisy(KINDS[2])),
        Board(
            "Cluster sizes",
            "leaderboard_sizes",
            SIZES,
            ["sizes"],
            "Every cluster is at least as large as the smallest class and at most as large as the largest.",
        ),
        Board(
            "A clustering to avoid",
            "leaderboard_avoid",
            AVOID,
            ["avoid"],
            "The columns of two sets beside each other; the classes of the first are known, those of the second are "
            "sought. KMeans is not told. Each pair of sets is used twice, so these are not independent.",
            extra=("ARI with the known one", KNOWN),
        ),
        Board("No clues", "leaderboard_untold", UNTOLD, ["no clues"], "Methods that take no clues, for completeness."),
        Told("ARI on every set, right clues", every_set),
    ],
)
