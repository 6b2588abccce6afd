"""Docstring entries that many estimators share, written once.

A docstring asks for an entry by a line of its own: ``{labels_}``, or ``{max_iter 100}`` where the entry has a default.
Lines that follow with a deeper indent continue the entry.
`ClueEstimator` and `Strategy` fill in the docstrings of their subclasses; other classes and functions use `documented`.
In the wheel the entries are written out (`tools/wheel.py`), because editors read docstrings without importing anything.
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
    "max_iter": (
        "max_iter : int, default=@\n"
        "    Maximum number of iterations of one start; a `ConvergenceWarning` says if they were not enough."
    ),
    "tol": (
        "tol : float, default=1e-4\n"
        "    The iterations have converged when centers move less: bound on the sum of the squared distances they\n"
        "    move, relative to the mean variance of the columns of X, as in scikit-learn's k-means."
    ),
    "relative_tol": (
        "tol : float, default=1e-4\n"
        "    Relative change of the objective below which the iterations have converged and stop."
    ),
    "n_init": (
        'n_init : int or "auto", default=@\n'
        "    Number of starts; the one with the lowest objective is kept. Centers given as ``init`` make one start.\n"
        '    As in scikit-learn, "auto" means 10 if starts are drawn at random (``init`` is "random" or a callable),\n'
        "    else 1."
    ),
    "device": (
        "device : str, default=None\n"
        '    Device of torch on which rows of a NumPy array are worked on, such as "cuda". None: the processor, which\n'
        "    also does the work if there is no such device. Tensors are worked on where they are."
    ),
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
        'n_init : int or "auto", default=5\n'
        "    Number of starts; the one with the lowest objective is kept. The first start is as ``init`` says; after\n"
        '    "neighborhoods" the second is "farthest-first"; the others use k-means++. Centers given as ``init`` make\n'
        '    one start. As in scikit-learn, "auto" means 10 if ``init`` is "random" or a callable, else 1.'
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
    # Parameters and attributes of the Gaussian mixtures.
    "covariance_type": (
        'covariance_type : {"full", "tied", "diag", "spherical"}, default="full"\n'
        "    Shape of the clusters, as in scikit-learn's ``GaussianMixture``."
    ),
    "gaussian_em": (
        'inference : {"auto", "exact", "belief-propagation", "mean-field", "gibbs"}, default="auto"\n'
        '    Inference on connected components of links. "auto" is exact up to ``exact_size``; larger components use\n'
        '    belief propagation, or mean field where that does not converge. "exact" raises an error for larger\n'
        "    components. The other methods are used for every component that has a link.\n"
        "exact_size : int, default=100000\n"
        "    Maximum number of entries in a table of exact inference: ``n_clusters`` to the power of the treewidth\n"
        "    (as found) plus 1.\n"
        'init : {"k-means", "k-means++", "random"}, array or callable, default="k-means"\n'
        "    Initialization. k-means, in which rows that are certainly together move as one; or the nearest of drawn\n"
        "    rows. An array holds means, of shape (n_clusters, d), or memberships, of shape (n, n_clusters).\n"
        "reg_covar : float, default=1e-6\n"
        "    Added to the diagonal of covariances.\n"
        'n_init : int or "auto", default=1\n'
        "    Number of starts; the one with the highest likelihood is kept. More starts also find more spurious\n"
        "    solutions, in which a cluster has collapsed on a few rows.\n"
        "max_iter : int, default=100\n"
        "    Maximum number of iterations of one start.\n"
        "tol : float, default=1e-3\n"
        "    EM stops when the log-likelihood per row changes by less than this.\n"
        "random_state : int, RandomState, Generator or None, default=None\n"
        "    Seed of the start and of Gibbs sampling."
    ),
    "gaussians_": (
        "weights_ : ndarray of shape (n_clusters,)\n"
        "    Weight of each cluster.\n"
        "means_ : ndarray of shape (n_clusters, d)\n"
        "    Mean of each cluster.\n"
        "covariances_ : ndarray\n"
        "    Covariances. Their shape depends on ``covariance_type``: (n_clusters, d, d) for full, (d, d) for tied,\n"
        "    (n_clusters, d) for diag and (n_clusters,) for spherical."
    ),
    "likelihood_": (
        "lower_bound_ : float\n"
        "    Log-likelihood per row of the data and the clues before the last M-step; an estimate or a bound where\n"
        "    inference is not exact.\n"
        "objective_ : float\n"
        "    Minus ``lower_bound_``.\n"
        "inference_ : dict\n"
        "    Number of connected components of links by the method that inferred them in the last iteration, for\n"
        '    example ``{"belief-propagation": 1, "exact": 12}``; empty without links.'
    ),
    # Parameters and attributes of the spectral methods.
    "affinity": (
        'affinity : {"local", "nearest_neighbors", "rbf", "precomputed"}, default="local"\n'
        '    Similarity of two rows. "local": :math:`\\exp(-d^2 / (s_i s_j))` for neighbors, where the scale s of a\n'
        '    row is the distance to its farthest neighbor. "nearest_neighbors": 1 for mutual neighbors, ½ for others,\n'
        '    as in scikit-learn. "rbf": :math:`\\exp(-\\gamma d^2)` for all pairs, up to about 11,000 rows.\n'
        '    "precomputed": X is the affinity, dense or sparse, without negative numbers; its diagonal is ignored.\n'
        "n_neighbors : int, default=10\n"
        '    Number of neighbors of each row, for "local" and "nearest_neighbors". Equal rows share their neighbors.\n'
        "gamma : float or None, default=None\n"
        '    The :math:`\\gamma` of "rbf"; by default one over the median squared distance to the seventh neighbor.'
    ),
    "embedded_k_means": (
        'n_init : int or "auto", default=10\n'
        "    Number of starts of k-means; the one with the lowest objective is kept. The first start is\n"
        "    deterministic, from rows that are far apart; the others use k-means++.\n"
        "max_iter : int, default=300\n"
        "    Maximum number of iterations of one start.\n"
        "tol : float, default=1e-4\n"
        "    Relative change of the objective below which the iterations have converged and stop.\n"
        "random_state : int, RandomState, Generator or None, default=None\n"
        "    Seed of everything that is drawn at random. Pass an int for reproducible results."
    ),
    "labels_by_size_": "labels_ : ndarray of shape (n,)\n    Cluster of each row; clusters are sorted by size.",
    "embedded_k_means_": (
        "objective_ : float\n"
        "    Sum of squared distances to the means of the clusters, in the embedding.\n"
        "trace_ : ndarray\n"
        "    The objective after each iteration.\n"
        "n_iter_ : int\n"
        "    Number of iterations.\n"
        "broken_ : Clues\n"
        "    The clues that the result breaks."
    ),
    # Parameters and attributes of the information bottlenecks.
    "annealing": (
        'prior : {"uniform", "mass"}, default="uniform"\n'
        "    Weight of a row: the same for all rows, or its sum. ``sample_weight`` multiplies it.\n"
        "temperature : float, default=0.001\n"
        "    Last temperature, as a share of the temperature at which the first clusters split. Memberships are\n"
        "    nearly hard there.\n"
        "cooling : float, default=0.8\n"
        "    Factor from one temperature to the next.\n"
        'n_init : int or "auto", default=5\n'
        "    Number of starts; the one with the lowest objective is kept.\n"
        "max_iter : int, default=100\n"
        "    Maximum number of iterations at each temperature.\n"
        "tol : float, default=1e-3\n"
        "    Change of all memberships below which the iterations stop (at least 1e-5). At temperatures above the\n"
        "    last one they also stop when the relative change of the objective is below one millionth.\n"
        "random_state : int, RandomState, Generator or None, default=None\n"
        "    Seed of everything that is drawn at random. Pass an int for reproducible results."
    ),
    "bottleneck_": (
        "labels_ : ndarray of shape (n,)\n"
        "    Most likely cluster of each row.\n"
        "memberships_ : ndarray of shape (n, n_clusters)\n"
        "    Probability of each cluster for each row, at the last temperature.\n"
        "weights_ : ndarray of shape (n_clusters,)\n"
        "    Share of each cluster.\n"
        "profiles_ : ndarray of shape (n_clusters, d)\n"
        "    Probability of each column in each cluster.\n"
        "information_ : float\n"
        "    Information of clusters about columns, :math:`I(C;Y)`, in nats.\n"
        "conditional_information_ : float\n"
        "    Information of clusters about columns given the known groups, :math:`I(C;Y|Z)`, in nats.\n"
        "compression_ : float\n"
        "    Information of clusters about rows, :math:`I(C;X)`, in nats.\n"
        "temperature_ : float\n"
        "    The last temperature.\n"
        "n_clusters_ : int\n"
        "    Number of clusters that have rows.\n"
        "objective_ : float\n"
        "    :math:`-F` at the last temperature; see Notes.\n"
        "trace_ : ndarray\n"
        "    The objective after each iteration. It falls at each temperature, but not from one to the next.\n"
        "n_iter_ : int\n"
        "    Number of iterations at all temperatures.\n"
        "margin_ : ndarray of shape (n,)\n"
        "    Lead of each row's cluster over the next best, in nats."
    ),
    "avoided_": (
        "variation_ : ndarray of shape (n_avoided,)\n"
        "    Variation of information between ``labels_`` and each clustering to avoid, in nats, over the rows that\n"
        "    it covers.\n"
        "broken_ : Clues\n"
        "    Always empty: a clustering to avoid cannot be broken, only resembled."
    ),
    # Parameters and attributes of the learned metrics.
    "shrinkage": (
        'shrinkage : "auto" or float in [0, 1], default="auto"\n'
        '    Share of the identity in the covariance within chunklets, for columns of unit variance. "auto" is\n'
        "    d / (d + 2f), where f is the number of rows in chunklets minus the number of chunklets, so it vanishes\n"
        "    as clues increase. With 0, directions without scatter are left out."
    ),
    "components_": (
        "components_ : ndarray of shape (n_components, d)\n"
        "    L, with ``transform(X) = X @ L.T``.\n"
        "n_components_ : int\n"
        "    Rank of the metric."
    ),
    # Attributes of estimators.
    "inertia_": (
        "inertia_ : float\n"
        "    Sum of squared distances of the rows to the centers of their clusters, times ``sample_weight``."
    ),
    "inertia_metric_": (
        "inertia_ : float\n"
        "    Sum of the squared distances of the rows to the centers of their clusters, or of the divergences that\n"
        "    take their place, times ``sample_weight``."
    ),
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
    # Notes.
    "in_chunks": (
        "X may be a dask array, or a dask data frame of numbers. Rows with clues are brought into memory; the others\n"
        "are read chunk by chunk, once in each iteration. ``labels_`` and ``margin_`` are then dask arrays with the\n"
        "chunks of X. Instead of k-means++ there is k-means‖ (Bahmani et al., 2012), with ten rows for each cluster\n"
        "from which all starts draw; from the same centers the result is that of the rows in memory. If X is a torch\n"
        "tensor, or an array of CuPy or JAX, this is done on its device; ``labels_`` and ``margin_`` are of its kind."
    ),
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
    "max_iter_relative_tol_random_state": ("max_iter", "relative_tol", "random_state"),
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
