"""Constrained 1-spectral clustering: cuts of a graph that hold the links, by tight relaxations [Rangapuram2012]_."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from cluewise._sklearn import StrOptions
from cluewise._typing import Floats, Ints
from cluewise.base import Attributes, Card, Clusterer, Problem
from cluewise.clues import Clues
from cluewise.clues.diagnosis import infeasible
from cluewise.core import loop
from cluewise.core.graphs.laplacian import degrees
from cluewise.exact.network import busy
from cluewise.exceptions import ClueError, Infeasible
from cluewise.spectral._base import Embedding, SpectralClusterer
from cluewise.spectral._one_spectral import moves
from cluewise.spectral._one_spectral.moves import State
from cluewise.spectral._one_spectral.splits import Graph, Starts, regroup, split

__all__ = ["OneSpectral"]


class OneSpectral(SpectralClusterer):
    r"""Balanced cuts of a graph that hold all links.

    Use it if links must hold and clusters are connected rather than spherical, above all for two clusters: there the
    relaxation is tight, all links hold, and the cut is near the best one. For more clusters parts are split one after
    another. Do not use it if links may be wrong: it follows each of them, at any price. Sparse throughout, so a graph
    of 70,000 rows is no problem.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters.
    {affinity}
    balance : {"normalized", "ratio"}, default="normalized"
        What makes clusters even: the summed weights of their edges (normalized cut), or their number of rows (ratio
        cut).
    hard : bool, default=True
        Whether every clue has to hold, whatever its weight; if clues contradict each other or need more clusters, the
        fit ends with an error. If False, as few as possible are broken, by weight.
    n_init : int, default=10
        Number of starts; the one with the lowest objective is kept. The first one descends from an eigenvector of the
        graph, the others from vectors at random. With more than two clusters a start is a sequence of splits, and all
        but the first start use both.
    max_iter : int, default=400
        Maximum number of iterations for an inner problem, one step of a descent.
    {random_state}

    Attributes
    ----------
    {labels_by_size_}
    {n_clusters_}
    cut_ : float
        The balanced cut: what each cluster cuts, divided by its volume.
    link_price_ : float
        Price of a broken link of weight 1 in the objective; more than any cut for the lightest link.
    objective_ : float
        ``cut_`` and the price of the links in ``broken_``.
    trace_ : ndarray
        The objective after each iteration: of two clusters the ratio after each step of the descent, then in every case
        the objective after each round of moves or regrouping.
    {n_iter_}
    {broken_}

    See Also
    --------
    FlexibleSpectral : Weighs links against the graph; for links of which some are wrong.
    COPKMeans : Holds all links, for spherical clusters.

    Notes
    -----
    With edges w, volumes b (degrees, or 1), cannot-links C with weights q, and must-link components as single vertices,
    the method minimizes over sets S

    .. math:: R_\gamma(S) = \frac{\operatorname{cut}(S) + \gamma\, q(C \text{ not cut by } S)}
        {\operatorname{vol}(S) \operatorname{vol}(\bar S) / \operatorname{vol}}

    and over vectors f its extension

    .. math:: R_\gamma(f) = \frac{\sum w |f_i - f_j| + \gamma \big( q(C) (\max f - \min f) - \sum_C q |f_i - f_j| \big)}
        {V(f)},

    where V sums the balance of the threshold sets of f, each times the step of f there. The best of these sets is at
    least as good as f. A step of RatioDCA replaces what is subtracted, and V, by their slopes at f, and solves the
    convex problem that remains by its dual. The price :math:`\gamma` begins at 0 and doubles until all links hold.

    ================================ ==========================================
    paper                            code
    ================================ ==========================================
    :math:`R_\gamma(f)`              ``trace_``
    :math:`\gamma`                   the price of ``raise_price``
    :math:`\lambda`                  the ratio of ``rank``
    :math:`\alpha, u, v`             ``Inner``
    ================================ ==========================================

    *Deviations.* The text of the paper was not at hand; the method follows a description of it and of its code.

    - In the inner problem each edge has a step of its own, by the summed weights at its ends.
    - The default is ten sequences of splits instead of five; eigenvectors of parts that they share are used once.
    - If the highest price does not suffice, the descent starts once more, at this price, from the nearest cut that
      holds all links. So they hold if they can.
    - Cannot-links of two clusters that form an odd cycle raise `Infeasible`, as in other methods, not `Contradiction`.
    - Of more than two clusters, every other start splits as if there were no links, and leaves these to what follows.
    - After the splits, single vertices move, also with two clusters, and clusters are regrouped (one is split, and a
      side of it or another cluster joins a third), as long as the objective falls. Then the exact solver mends what is
      still broken with the fewest edges left behind (``hard=True``), and moves begin anew.
    - With ``hard=True`` all links weigh the same. With ``hard=False`` must-links are edges of weight :math:`\gamma q`.
    - Pieces of a graph of neighbors are connected by an edge each. Rows without neighbors have volume 1.

    References
    ----------
    .. [Rangapuram2012] S. S. Rangapuram and M. Hein, "Constrained 1-spectral clustering", AISTATS 2012.

    Examples
    --------
    >>> from cluewise import Clues
    >>> from cluewise.spectral import OneSpectral
    >>> X = [[0, 0], [1, 0], [2, 0], [3, 0], [4, 0], [5, 0], [0, 1], [1, 1], [2, 1], [3, 1], [4, 1]]
    >>> OneSpectral(2, n_neighbors=3, random_state=0).fit(X).labels_
    array([0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1], dtype=int32)
    >>> clues = Clues(11, must=[(0, 3), (3, 5), (6, 9), (9, 10)], cannot=[(0, 6)])
    >>> OneSpectral(2, n_neighbors=3, random_state=0).fit(X, clues=clues).labels_
    array([0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1], dtype=int32)
    """

    card = Card(
        paper="Rangapuram2012",
        title="Balanced cuts of a graph that hold all links",
        accepts=frozenset({"labels", "must", "cannot", "together", "apart"}),
        hard=True,
        closes=True,
        predicts=False,
        sparse=False,
        weights=False,
        plain="",
        means=False,
        equation="RatioDCA, with a price for cannot-links that rises",
        time_rows="square",
        cost="O(edges) per inner iteration; O(n²d) for neighbors",
        aliases=("C1-SC", "COSC", "constrained 1-spectral clustering"),
    )
    _parameter_constraints = {
        name: rule for name, rule in SpectralClusterer._parameter_constraints.items() if name != "tol"
    } | {
        "balance": [StrOptions({"normalized", "ratio"})],
        "hard": ["boolean"],
    }

    tol = 0.0
    cut_: float
    link_price_: float

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        affinity: str = "local",
        n_neighbors: int = 10,
        gamma: float | None = None,
        balance: str = "normalized",
        hard: bool = True,
        n_init: int = 10,
        max_iter: int = 400,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.gamma = gamma
        self.balance = balance
        self.hard = hard
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state

    def _check_clues(self, clues: Any, n: int) -> Clues:
        known = super()._check_clues(clues, n)
        if self.hard:
            known.require(self.n_clusters)
        return known

    def _check_weights(self, known: Clues) -> None:
        if self.hard:
            super()._check_weights(known)

    def _embed(self, affinity: Any, clues: Clues) -> Embedding:
        """The graph instead of points."""
        graph, of_row = contract(csr_array(affinity), clues, self.balance == "ratio", self.hard)
        return Embedding(np.empty((clues.n, 0)), {}, (graph, of_row, {}, {}))

    def _n_starts(self, problem: Problem) -> int:
        return self._wanted_starts

    def _solve(self, problem: Problem) -> loop.Result[Any]:
        graph, _, memory, parts = problem.shared.operator
        k, two = problem.k, problem.k == 2
        first = problem.start == 0
        starts = Starts(first or not two, not first, problem.rng, memory, parts)
        # Where splits have to part links, clusters may be torn apart; so every other start leaves links to the moves.
        late = not two and problem.start % 2 == 0
        found = split(graph.without_links() if late else graph, k, starts, self.max_iter)
        labels, trace = found.labels, found.trace if two else []
        price = moves.link_price(graph, k)
        broken = moves.links_broken(graph, labels) > 0
        if broken:
            trace = []  # at a price of its own
        result = self._improve(problem, graph, labels, price, starts)
        if self.hard and moves.links_broken(graph, result.state.labels) > 0:
            trace = trace + result.trace
            labels = self._hold(problem, graph, result.state.labels)
            result = self._improve(problem, graph, labels, price, starts)
        return result._replace(trace=trace + result.trace)

    def _improve(
        self, problem: Problem, graph: Graph, labels: Ints, price: float, starts: Starts
    ) -> loop.Result[State]:
        """Move vertices and regroup clusters, until neither lowers the objective.

        Two of four starts regroup as long as they can before they move anything, since each order ends in other places.
        """
        k = problem.k

        def move(state: State) -> tuple[State, loop.Info]:
            return moves.move(state, graph=graph, k=k, price=price)

        def change(state: State) -> tuple[State, loop.Info]:
            value = moves.objective(graph, state.labels, k, price)
            found = regroup(graph, state.labels, k, price, starts, self.max_iter) if k > 2 else None
            if found is not None and (less := moves.objective(graph, found, k, price)) < value:
                return State(found), loop.Info(less, int(np.count_nonzero(found != state.labels)))
            return state, loop.Info(value, 0)

        first, second = (change, move) if problem.start % 4 < 2 else (move, change)

        def step(state: State) -> tuple[State, loop.Info]:
            new, info = first(state)
            return (new, info) if info.moved else second(state)

        return loop.run(step, State(labels), problem.limits, 1e-9 * price)

    def _hold(self, problem: Problem, graph: Graph, labels: Ints) -> Ints:
        try:
            return moves.hold(graph, labels, problem.k)
        except Infeasible as error:
            raise infeasible(problem.clues, problem.k, *error.witness) from None

    def _state_attributes(self, problem: Problem, state: Any, trace: list[float]) -> Attributes:
        graph, of_row, *_ = problem.shared.operator
        labels = sort_by_size(graph, state.labels, problem.k)
        found = Clusterer._state_attributes(self, problem, State(labels[of_row]), trace)
        return found | {
            "cut_": moves.cut(graph, labels, problem.k),
            "link_price_": moves.link_price(graph, problem.k),
        }


def contract(affinity: csr_array, clues: Clues, ratio: bool, hard: bool) -> tuple[Graph, Ints]:
    """The graph of must-link components, and the component of each row; of single rows if clues may break."""
    n = clues.n
    volume = np.ones(n) if ratio else degrees(affinity)
    none = np.empty((0, 2), dtype=np.int64)
    if not hard:
        must, must_weight, cannot, cannot_weight = clues.pairs(expand=True)
        if np.isinf(must_weight).any() or np.isinf(cannot_weight).any():
            raise ClueError("a clue has infinite weight, which hard=False cannot promise to hold; use hard=True.")
        bonds, links = must_weight > 0, cannot_weight > 0
        graph = Graph(
            affinity, volume, np.ones(n, dtype=np.int64),
            cannot[links], cannot_weight[links], must[bonds], must_weight[bonds],
        )  # fmt: skip
        return graph, np.arange(n)
    of_row, count = clues.components, clues.n_components
    if count < n:
        inside = csr_array((np.ones(n), of_row, np.arange(n + 1)), shape=(n, count))
        affinity = csr_array(inside.T @ affinity @ inside)
        affinity.setdiag(0)
        affinity.eliminate_zeros()
    tied, net = busy(clues.graph, clues.cliques)
    indptr, indices = net.plain()
    rows = np.repeat(np.arange(net.size), np.diff(indptr))
    once = rows < indices
    cannot = tied[np.column_stack([rows[once], indices[once]])]
    size = np.bincount(of_row, minlength=count)
    whole: Floats = np.bincount(of_row, volume, count).astype(np.float64)
    graph = Graph(affinity, whole, size, cannot, np.ones(len(cannot)), none, np.empty(0))
    return graph, of_row


def sort_by_size(graph: Graph, labels: Ints, k: int) -> Ints:
    """The same clusters, the one with the most rows first; of equally large ones that of the lower volume."""
    size, volume = (np.bincount(labels, weight, k) for weight in (graph.size, graph.volume))
    number = np.empty(k, dtype=np.int32)
    number[np.lexsort([volume, -size])] = np.arange(k, dtype=np.int32)
    return number[labels]
