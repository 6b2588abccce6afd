"""Docstring entries that many estimators share, written once.

A docstring asks for an entry by a line of its own: ``{labels_}``, or ``{max_iter 100}`` where the entry has a default.
Lines that follow with a deeper indent continue the entry.
`Informed` and `Strategy` fill in the docstrings of their subclasses; other classes and functions use `documented`.
"""

from __future__ import annotations

import re
from textwrap import indent
from typing import Any, TypeVar

__all__ = ["documented", "fill"]

T = TypeVar("T")

ENTRIES = {
    # Parameters of estimators.
    "n_clusters": "n_clusters : int, default=8\n    Number of clusters.",
    "max_iter": "max_iter : int, default=@\n    Maximum number of iterations of one start.",
    "tol": (
        "tol : float, default=1e-4\n"
        "    Relative change of the objective below which the iterations have converged and stop."
    ),
    "n_init": "n_init : int, default=@\n    Number of starts; the one with the lowest objective is kept.",
    "random_state": (
        "random_state : int, RandomState, Generator or None, default=None\n"
        "    Seed of everything that is drawn at random. Pass an int for reproducible results."
    ),
    "init_neighborhoods": (
        'init : {"neighborhoods", "farthest-first", "k-means++", "random"}, array or callable, '
        'default="neighborhoods"\n'
        '    Initialization. "neighborhoods": means of the largest must-link components, then a row apart from all of\n'
        '    them, then k-means++ given these; "farthest-first": the same, but with components far from each other.'
    ),
    "n_init_neighborhoods": (
        "n_init : int, default=5\n"
        "    Number of starts; the one with the lowest objective is kept. The first start is as ``init`` says; after\n"
        '    "neighborhoods" the second is "farthest-first"; the others use k-means++. Centers given as ``init`` make\n'
        "    one start."
    ),
    "order": (
        'order : {"index", "random"} or permutation of the rows, default="index"\n'
        "    Order in which rows with clues are visited."
    ),
    # Parameters of the methods that learn a metric from broken links.
    "link_factor": (
        'penalty : float or "auto", default="auto"\n'
        '    Factor of the weights of links. "auto" chooses one for must-links and one for cannot-links, so that an\n'
        "    average broken link costs as much as one that is right nine times out of ten should. The papers use 1,\n"
        "    which lets a few wrong links do much harm."
    ),
    "per_cluster": "per_cluster : bool, default=False\n    Whether each cluster has a metric of its own.",
    "prior_rows": (
        "prior_rows : float, default=1.0\n"
        "    Number of imaginary rows, spread like all rows, that support each metric. The papers have none."
    ),
    # Parameters of strategies.
    "questions": (
        'questions : {"pair", "which", "label"}, default=@\n'
        '    What people are asked about a row. "pair": whether it belongs to a neighborhood, one after another;\n'
        '    "which": to which of the neighborhoods it belongs, if to any; "label": its class.'
    ),
    "infer_last": (
        "infer_last : bool, default=True\n"
        "    Whether a row that is apart from all but one of ``n_clusters`` neighborhoods joins that one without a\n"
        "    question. Set it to False if there may be more classes than ``n_clusters``."
    ),
    # Attributes of estimators.
    "labels_": "labels_ : ndarray of shape (n,)\n    Cluster of each row.",
    "cluster_centers_": "cluster_centers_ : ndarray of shape (n_clusters, d)\n    Means of the clusters.",
    "n_clusters_": "n_clusters_ : int\n    Number of clusters that have rows.",
    "n_iter_": "n_iter_ : int\n    Number of iterations.",
    "trace_": "trace_ : ndarray\n    The objective after each iteration.",
    "broken_": "broken_ : Clues\n    The clues that the result breaks.",
    "broken_cost_": "broken_cost_ : float\n    What the broken clues cost: their share of ``objective_``.",
    "margin_": (
        "margin_ : ndarray of shape (n,)\n"
        "    Lead of each row's cluster: half the squared distance to the best other center minus that to its own;\n"
        "    negative where only the clues keep a row in its cluster."
    ),
    "objective_squares_": "objective_ : float\n    Sum of squared distances to the centers.",
    "objective_notes_": "objective_ : float\n    The objective J given in the Notes.",
    "none_broken_": "broken_ : Clues\n    Always empty: the clues are hard.",
    "margin_cost_": (
        "margin_ : ndarray of shape (n,)\n"
        "    Lead of each row's cluster: what the row would cost in the best other cluster minus what it costs in its\n"
        "    own, links aside; negative where only the clues keep a row in its cluster."
    ),
    "metric_": (
        "metric_ : ndarray of shape (d,), (d, d), (n_clusters, d) or (n_clusters, d, d)\n"
        "    Weights of the columns, or matrices."
    ),
    "link_factors_": "penalty_ : ndarray of shape (2,)\n    The factors used for must-links and for cannot-links.",
    "columns_": (
        "n_features_in_ : int\n"
        "    Number of columns of X.\n"
        "feature_names_in_ : ndarray of shape (d,)\n"
        "    Names of the columns, where X has names."
    ),
    # Exceptions that estimators raise.
    "contradiction": (
        "Contradiction\n    When rows must be together and apart; the chain that proves it is in the message."
    ),
    # Parameters and results of methods and functions.
    "X": "X : {array-like, sparse matrix} of shape (n, d)\n    The data.",
    "X_dense": "X : array-like of shape (n, d)\n    The data.",
    "X_new": "X : {array-like, sparse matrix} of shape (m, d)\n    New rows.",
    "y": "y : ignored\n    Present for API consistency with scikit-learn.",
    "clues": (
        "clues : Clues or array-like of shape (n,), optional\n    What is known; an array is taken as partial labels."
    ),
    "sample_weight": "sample_weight : array-like of shape (n,), optional\n    Weight of each row.",
    "some_clues": "clues : Clues or array-like of shape (n,)\n    What is known; an array is taken as partial labels.",
    "strategy": "strategy : Strategy\n    Chooses the questions.",
    "state": "state : State\n    From `start` or `tell`.",
    "X_same": "X : {array-like, sparse matrix} of shape (n, d)\n    The data that the conversation began with.",
    "self": "object\n    The fitted estimator.",
    "labels": "ndarray of shape (m,)\n    Cluster of each row.",
    # Parameters of metrics.
    "two_labelings": "y_true, y_pred : array-like of shape (n,)\n    Two labelings of the same rows.",
    "exclude_pairs": (
        "exclude_pairs : array-like of shape (m, 2), default=None\n"
        "    Pairs of rows that do not count, for instance ``np.vstack([clues.must, clues.cannot])``."
    ),
    "clues_as_pairs": "clues : Clues\n    What is known; labels and groups count as the pairs that they imply.",
    "link_limit": (
        "limit : int, default=@\n    Maximum number of links of each kind; a random sample is taken of more."
    ),
    "link_seed": "random_state : int or Generator, default=0\n    Seed of that sample.",
    "clusters": "labels : array-like of shape (n,)\n    Cluster of each row; -1 is noise.",
    # Parameters and results of plots.
    "plot_X": "X : array-like, sparse matrix or frame of shape (n, d)\n    The data.",
    "plot_truth": (
        "truth : array-like of shape (n,), optional\n    True classes; rows in the wrong cluster get a cross."
    ),
    "plot_ax": "ax : matplotlib Axes, optional\n    Where to draw; a new figure by default.",
    "axes": 'matplotlib Axes\n    ``ax.figure`` is the figure; ``ax.figure.savefig("plot.png")`` saves it.',
}

# Entries that often come together, as one.
BLOCKS = {
    "max_iter_tol_random_state": ("max_iter", "tol", "random_state"),
    "clusters_": ("labels_", "cluster_centers_", "n_clusters_"),
    "iterations_": ("trace_", "n_iter_"),
    "broken_links_": ("margin_", "broken_", "broken_cost_"),
}
ENTRIES |= {block: "\n".join(ENTRIES[name] for name in names) for block, names in BLOCKS.items()}

PLACE = re.compile(r"^( *)\{(\w+)(?: ([^{}\n]+))?\}$", re.MULTILINE)


def fill(text: str, entries: dict[str, str] = ENTRIES) -> str:
    """Replace every line that asks for an entry by that entry."""

    def entry(match: re.Match[str]) -> str:
        margin, name, default = match.groups()
        return indent(entries[name].replace("@", default or "@"), margin)

    return PLACE.sub(entry, text)


def documented(target: T) -> T:
    """Fill in the docstring of a function, or those of a class and its methods."""
    described: list[Any] = [target, *(vars(target).values() if isinstance(target, type) else ())]
    for one in (getattr(one, "__func__", one) for one in described):  # class methods and static methods wrap one
        # The docstring of a property cannot be changed, and `python -OO` leaves none.
        if callable(one) and isinstance(one.__doc__, str) and PLACE.search(one.__doc__):
            one.__doc__ = fill(one.__doc__)
    return target
