"""Which method is best for which clues: all clusterers and their rivals on twenty sets."""

from __future__ import annotations

from ...parts import Section
from .boards import Board, Told, against_rivals, by_data, every_set, winners
from .runs import AVOID, BOARD, EXPERIMENTS, NOISES, SIZES, UNTOLD, setting

__all__ = ["EXPERIMENTS", "SECTION"]


def noisy(kind: str) -> list[str]:
    """A kind of clue with all shares of wrong ones."""
    return [setting(kind, noise) for noise in NOISES]


SECTION = Section(
    page="leaderboard",
    title="Leaderboard",
    about="Every clusterer of the library with its defaults, told the number of classes (where it asks for it) and "
    "nothing else, beside rivals (*in italics*): scikit-learn's KMeans with ten starts, which hears of no clues, "
    "LabelSpreading with its default kernel and with that of seven neighbors, 1-nearest-neighbor, and the package "
    "k-means-constrained. Columns are standardized; methods that need counts see each column less its smallest "
    "value. All methods see the same clues: random pairs, of which a share says the opposite of the truth, or labels "
    "for a tenth of the rows, of which a share is drawn anew from all classes (some of these come out right). Where "
    "labels are given, only the other rows are judged. Each number is the mean over three draws. A cell without a "
    "result (clues that cannot be met, or more than 60 s) counts as ARI 0, and so mostly as the last place. "
    "Noise that a method sets aside is judged as one cluster. Seconds are those of one processor.",
    parts=[
        Told("Winners", winners),
        Told("By kind of data", by_data),
        Told("Labels: clusterers against classifiers", against_rivals),
        Board("n/2 pairs", "leaderboard_few_pairs", BOARD, noisy("n/2 pairs")),
        Board("2n pairs", "leaderboard_many_pairs", BOARD, noisy("2n pairs")),
        Board("10 % labels", "leaderboard_labels", BOARD, noisy("10 % labels")),
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
            "sought. KMeans is not told.",
        ),
        Board("No clues", "leaderboard_untold", UNTOLD, ["no clues"], "Methods that take no clues, for completeness."),
        Told("ARI on every set, right clues", every_set),
    ],
)
