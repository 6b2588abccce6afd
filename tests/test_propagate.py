"""Guarded propagation of clues: what is imputed, how much it weighs, and what keeps it from doing harm."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from cluewise import Clues, PCKMeans
from cluewise.advice import _propagate, propagate
from cluewise.datasets import load
from cluewise.exceptions import ClueError
from cluewise.metrics import ari


def imputed(clues):
    """{(i, j): (kind, weight)} of the imputed links."""
    found = {}
    for kind in ("must", "cannot"):
        pairs, weight, source = (getattr(clues, kind + part) for part in ("", "_weight", "_source"))
        for (i, j), w, s in zip(pairs.tolist(), weight, source):
            if s == "imputed":
                found[i, j] = (kind, w)
    return found


def random_case(seed, n=9):
    """Rows in general position and consistent clues of several kinds."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    X = rng.normal(size=(n, 2)) + 2 * np.eye(3)[y][:, :2]
    pairs = np.array([(i, j) for i in range(n) for j in range(i)])
    some = pairs[rng.choice(len(pairs), size=4, replace=False)]
    same = y[some[:, 0]] == y[some[:, 1]]
    told = {"must": some[same], "cannot": some[~same]}
    if seed % 3 == 1:
        told["labels"] = np.where(rng.random(n) < 0.4, y, -1)
    if seed % 3 == 2:
        told["apart"] = [None if rng.random() < 0.5 else str(i % 2) for i in range(n)]
        told["apart"] = [group if y[i] != y[0] or i == 0 else None for i, group in enumerate(told["apart"])]
        for i in range(n):  # at most one row of a class in a group
            if told["apart"][i] is not None and any(
                told["apart"][j] == told["apart"][i] and y[j] == y[i] for j in range(i)
            ):
                told["apart"][i] = None
    return X, Clues(n, **told)


def says(clues, i, j):
    """What clues say or entail about two rows, by trying the contrary."""
    if (clues | Clues(clues.n, cannot=[(i, j)])).contradictions:
        return "must"
    return "cannot" if (clues | Clues(clues.n, must=[(i, j)])).contradictions else None


def by_brute_force(X, clues, radius, k):
    """Every pair near every clue, nearest first, each tried against all that stands; weights by the formula."""
    D = cdist(X, X)
    nearest = [np.argsort(D[i])[: k + 1] for i in range(len(X))]
    must, must_weight, cannot, cannot_weight = clues.pairs(expand=True)
    tied = np.unique(np.concatenate([must, cannot]))
    sigma = np.median([D[i, nearest[i][-1]] for i in tied]) if len(tied) else 1.0
    ways = {}
    for kind, links, weights in (("must", must, must_weight), ("cannot", cannot, cannot_weight)):
        for (a, b), weight in zip(links.tolist(), weights):
            for i in nearest[a]:
                for j in nearest[b]:
                    if i != j and max(D[i, a], D[j, b]) <= radius:
                        way = (max(D[i, a], D[j, b]), D[i, a] ** 2 + D[j, b] ** 2, kind, weight)
                        pair = (int(min(i, j)), int(max(i, j)))
                        ways[pair] = min(ways.get(pair, way), way)
    standing, found = clues, {}
    for pair, (_, squared, kind, weight) in sorted(ways.items(), key=lambda item: item[1]):
        share = np.exp(-squared / (2 * sigma**2))
        if says(clues, *pair) is None and share >= 1e-3:
            tried = standing | Clues(len(X), **{kind: [pair]}, source="imputed")
            if not tried.contradictions:
                standing, found[pair] = tried, (kind, weight * share)
    return found


# What is imputed


def test_worked_by_hand():
    X = [[0.0], [0.1], [5.0], [5.2], [9.0]]
    more = propagate(X, Clues(5, must=[(0, 2)], cannot=[(0, 4)], must_weight=3), radius=0.5, n_neighbors=1)
    # distances of rows 0, 2 and 4 to their nearest: 0.1, 0.2, 3.8; sigma is the median
    assert imputed(more) == {
        (0, 3): ("must", pytest.approx(3 * np.exp(-(0.2**2) / (2 * 0.2**2)))),
        (1, 2): ("must", pytest.approx(3 * np.exp(-(0.1**2) / (2 * 0.2**2)))),
        (1, 3): ("must", pytest.approx(3 * np.exp(-(0.1**2 + 0.2**2) / (2 * 0.2**2)))),
        (1, 4): ("cannot", pytest.approx(np.exp(-(0.1**2) / (2 * 0.2**2)))),
    }
    flat = propagate(X, Clues(5, must=[(0, 2)], cannot=[(0, 4)], must_weight=3), radius=0.5, decay=False)
    assert {pair: w for pair, (_, w) in imputed(flat).items()} == {(0, 3): 3, (1, 2): 3, (1, 3): 3, (1, 4): 1}


@given(st.integers(0, 2**20), st.sampled_from([0.3, 1.0, np.inf]), st.integers(1, 4))
def test_the_same_as_by_brute_force(seed, radius, k):
    X, clues = random_case(seed)
    more = propagate(X, clues, radius=radius, n_neighbors=k)
    expected = by_brute_force(X, clues, radius, k)
    found = imputed(more)
    assert {pair: kind for pair, (kind, _) in found.items()} == {pair: kind for pair, (kind, _) in expected.items()}
    for pair, (_, weight) in expected.items():
        assert found[pair][1] == pytest.approx(weight)
    assert more.contradictions == clues.contradictions == ()


@given(st.integers(0, 2**20))
def test_radius_zero_changes_nothing_and_a_larger_one_only_adds(seed):
    X, clues = random_case(seed)
    assert propagate(X, clues, radius=0) is clues
    before = {}
    for radius in (0.1, 0.4, 0.8, 1.6, np.inf):
        after = imputed(propagate(X, clues, radius=radius))
        assert before.items() <= after.items()
        before = after


@given(st.integers(0, 2**20), st.integers(0, 30))
def test_a_limit_keeps_the_nearest(seed, limit):
    X, clues = random_case(seed)
    # without cuts by weight the order is that of the longer step alone
    every = imputed(propagate(X, clues, radius=np.inf, decay=False, n_neighbors=8))
    some = imputed(propagate(X, clues, radius=np.inf, decay=False, n_neighbors=8, limit=limit))
    assert len(some) == min(limit, len(every))
    assert some.items() <= every.items()
    D = cdist(X, X)
    must, _, cannot, _ = clues.pairs(expand=True)

    def step(pair):
        links = np.concatenate([must, cannot])
        both = [np.maximum(D[pair[0], links[:, e]], D[pair[1], links[:, 1 - e]]) for e in (0, 1)]
        return np.min(both)

    if some:
        assert max(map(step, some)) <= min((step(p) for p in every if p not in some), default=np.inf)


def test_weights_fall_with_the_distance_and_tiny_ones_are_left_out():
    X = np.cumsum([0, 1, 1.5, 2, 20, 50, 1.0, 1.2])[:, None]
    found = imputed(propagate(X, Clues(8, cannot=[(0, 7)]), radius=np.inf, n_neighbors=3))
    along = [found[i, 7][1] for i in (1, 2, 3)]
    assert along == sorted(along, reverse=True)
    far = imputed(propagate(X, Clues(8, cannot=[(0, 7)]), radius=np.inf, n_neighbors=3, decay=False))
    assert (0, 4) in far  # 50 away from row 7
    assert (0, 4) in found  # sigma is as large here
    near = imputed(propagate(X, Clues(8, cannot=[(0, 7), (2, 6), (1, 3)]), radius=np.inf, n_neighbors=3))
    assert not any(4 in pair for pair in near)


# Guards


def test_tic_tac_toe():
    """Two boards that differ little and in class: nothing is imputed, by the radius or by the sides."""
    boards = np.zeros((3, 27))
    for board, text in zip(boards, ("xxxxoobob", "xxxxoobbo", "ooobxxxbx")):
        board[np.arange(9) * 3 + ["xob".index(c) for c in text]] = 1
    clues = Clues(3, cannot=[(0, 1)], must=[(0, 2)])
    assert propagate(boards, clues) is clues
    assert propagate(boards, clues, radius=np.inf) == clues  # B and C: a cannot-link is entailed


def test_the_nearest_clue_decides_and_equal_ones_decide_nothing():
    X = np.array([[0.0], [1.0], [3.0], [10.0], [30.0]])
    # row 1 is nearer to row 0 (apart from 3) than to row 2 (with 3)
    more = imputed(propagate(X, Clues(5, cannot=[(0, 3)], must=[(2, 3)]), radius=2.5))
    assert more[1, 3][0] == "cannot"
    X[1] = 1.5
    assert (1, 3) not in imputed(propagate(X, Clues(5, cannot=[(0, 3)], must=[(2, 3)]), radius=2.5))


def test_contradictory_clues_are_taken_as_they_are():
    X, clues = random_case(3)
    torn = clues | Clues(9, must=[(0, 1), (1, 2)], cannot=[(0, 2)])
    more = propagate(X, torn, radius=np.inf)
    assert {str(c) for c in torn.contradictions} == {str(c) for c in more.contradictions}


def test_imputed_links_do_not_contradict_each_other_through_chains():
    """The must-links 0-2 and 4-6 would join 1 to 2 and 5 to 6; a cannot-link near by is not crossed by two steps."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    pairs = rng.permutation(60)[:40].reshape(20, 2)
    clues = Clues(60, must=pairs[:10], cannot=pairs[10:])  # at random: near clues disagree
    assert clues.contradictions == ()
    more = propagate(X, clues, radius=np.inf, n_neighbors=8)
    assert len(more.must) > 15
    assert len(more.cannot) > 15
    assert more.contradictions == ()


def test_auto_is_off_without_both_kinds_and_where_classes_are_random():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    off = 0
    for seed in range(20):
        y = rng.integers(2, size=80)
        clues = Clues.sample(y, pairs=60, random_state=seed)
        off += propagate(X, clues) is clues
        assert propagate(X, clues.only(["must"])) == clues.only(["must"])
        assert propagate(X, clues.only(["cannot"])) == clues.only(["cannot"])
    assert off >= 16


def drawn(kind, count, y, seed):
    """Clues of one kind about ``count`` rows, or so many pairs, that agree with the classes."""
    if kind != "groups":
        return Clues.sample(y, **{kind: count}, random_state=seed)
    rows = np.random.default_rng(seed).choice(len(y), count, replace=False)
    members = [rows[y[rows] == c] for c in range(int(y.max()) + 1)]
    together, apart = np.full((2, len(y)), -1)
    for c, mine in enumerate(members):
        together[mine] = 1000 * c + np.arange(len(mine)) // 4
    for number, one_of_each in enumerate(zip(*members)):
        apart[list(one_of_each)] = number
    return Clues(len(y), together=together, apart=apart)


CASES = {
    "labels": [(20, 100, 2), (30, 300, 3), (60, 300, 2)],
    "pairs": [(50, 100, 2), (150, 300, 3), (300, 150, 2)],
    "groups": [(40, 150, 2), (90, 300, 3), (60, 150, 2)],
}
"""Kinds of clues: how many of them, rows, classes."""


@pytest.mark.parametrize("kind", CASES)
def test_auto_fires_on_noise_in_one_draw_of_twenty_at_most(kind, sweep):
    """Classes independent of X: several radii are tried, and the links of a label hang together, but 5 % hold."""
    fired = np.zeros((3, sweep(15, 600)))
    for row, (count, n, k) in enumerate(CASES[kind]):
        for draw in range(fired.shape[1]):
            rng = np.random.default_rng([row, draw])
            clues = drawn(kind, count, rng.integers(k, size=n), seed=draw)
            fired[row, draw] = propagate(rng.normal(size=(n, 2)), clues) is not clues
    assert fired.mean() <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / fired.size), fired.mean(axis=1)


@pytest.mark.parametrize("kind", CASES)
def test_auto_still_fires_where_it_is_right(kind, sweep):
    """Each class has four parts, between those of the other."""
    for row, (count, n, _) in enumerate(CASES[kind]):
        for draw in range(sweep(1, 20)):
            rng = np.random.default_rng([row, draw])
            part = rng.integers(8, size=n)
            X = np.column_stack([3.0 * part, np.zeros(n)]) + rng.normal(scale=0.3, size=(n, 2))
            clues = drawn(kind, count, part % 2, seed=draw)
            assert propagate(X, clues) is not clues, (kind, count, n, draw)


def test_the_radius_depends_on_nothing_but_the_data_and_the_clues():
    rng = np.random.default_rng(0)
    part = rng.integers(8, size=100)
    X = np.column_stack([3.0 * part, np.zeros(100)]) + rng.normal(scale=0.3, size=(100, 2))
    clues = Clues.sample(part % 2, pairs=50, random_state=0)
    first = propagate(X, clues)
    np.random.seed(1)  # noqa: NPY002
    assert propagate(X, clues) == first
    assert imputed(propagate(1024 * X, clues)).keys() == imputed(first).keys()


def test_auto_is_off_where_all_clues_share_a_row():
    star = Clues(5, must=[(0, 1), (0, 2)], cannot=[(0, 3), (0, 4)])
    assert propagate(np.arange(5.0)[:, None], star) is star


def test_auto_is_on_where_classes_have_parts_and_off_when_distance_says_it_all():
    rng = np.random.default_rng(1)
    part = np.repeat(np.arange(8), 25)
    X = np.column_stack([3.0 * part, np.zeros(200)]) + rng.normal(scale=0.3, size=(200, 2))
    on = Clues.sample(part % 2, pairs=100, random_state=0)  # each class has four parts, between those of the other
    more = propagate(X, on)
    found = imputed(more)
    assert len(found) > 500
    right = [(part[i] % 2 == part[j] % 2) == (kind == "must") for (i, j), (kind, _) in found.items()]
    assert np.mean(right) > 0.97
    off = Clues.sample(part // 4, pairs=100, random_state=0)
    X[:, 0] = 50.0 * (part // 4) + rng.normal(size=200)
    assert propagate(X, off) is off


# Any input


def test_kinds_of_input():
    X, clues = random_case(2)
    expected = propagate(X, clues, radius=1.0)
    read_only = np.asfortranarray(X)
    read_only.flags.writeable = False
    assert propagate(read_only, clues, radius=1.0) == expected
    assert propagate(X.tolist(), clues, radius=1.0) == expected
    assert imputed(propagate(X.astype(np.float32), clues, radius=1.0)).keys() == imputed(expected).keys()
    labels = [0, -1, -1, 1, -1, -1, -1, -1, 0]
    assert propagate(X, labels, radius=1.0) == propagate(X, Clues.from_labels(labels), radius=1.0)
    assert propagate(X, labels, radius=1.0).labels.tolist() == labels  # labels spread as links only
    sized = clues | Clues(9, sizes=(2, 5))
    assert propagate(X, sized, radius=1.0) == expected | Clues(9, sizes=(2, 5))


@given(st.integers(0, 2**20))
def test_the_order_of_rows_and_of_clues_does_not_matter(seed):
    X, clues = random_case(seed)
    order = np.random.default_rng(seed).permutation(9)
    there = imputed(propagate(X, clues, radius=1.0))
    back = imputed(propagate(X[order], clues[order], radius=1.0))
    moved = {tuple(sorted((int(order[i]), int(order[j])))): said for (i, j), said in back.items()}
    assert moved.keys() == there.keys()
    for pair, (kind, weight) in there.items():
        assert moved[pair] == (kind, pytest.approx(weight))


def test_degenerate_data():
    nothing = Clues(4)
    assert propagate(np.zeros((4, 1)), nothing, radius=1.0) is nothing
    assert propagate([[1.0]], Clues(1), radius=1.0) == Clues(1)
    pair = Clues(4, must=[(0, 1)])
    assert propagate(np.zeros((4, 1)), pair, radius=1.0, limit=0) is pair
    same = propagate(np.zeros((4, 1)), pair, radius=1.0)  # all rows equal: everything follows, with full weight
    assert set(imputed(same).values()) == {("must", 1.0)}
    assert len(same.must) == 6
    both = Clues(4, must=[(0, 1)], cannot=[(2, 3)])
    assert propagate(np.zeros((4, 1)), both) is both  # equal rows tell nothing
    assert propagate(np.zeros((4, 1)), both, radius=1.0) == both  # and equally near clues disagree
    lone = Clues(3, cannot=[(0, 2)])
    assert propagate([[0.0], [1.0], [9.0]], lone, radius=0.5) == lone  # nobody is near


def test_hard_clues_impute_soft_links():
    X = [[0.0], [0.1], [5.0], [5.2], [9.0]]
    hard = propagate(X, Clues(5, must=[(0, 2)], must_weight=np.inf), radius=0.5, decay=False)
    assert set(imputed(hard).values()) == {("must", 1.0)}
    mixed = Clues(5, must=[(0, 2)], cannot=[(0, 4)], must_weight=np.inf, cannot_weight=2.5)
    assert imputed(propagate(X, mixed, radius=0.5, decay=False))[1, 3] == ("must", 2.5)


def test_many_rows_and_few_clues_are_searched_row_by_row(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    clues = Clues(300, must=[(0, 7), (20, 30)], cannot=[(0, 100)])
    found = imputed(propagate(X, clues, radius=np.inf, n_neighbors=4))
    expected = by_brute_force(X, clues, np.inf, 4)
    assert found.keys() == expected.keys()
    monkeypatch.setattr(_propagate, "nearest_exactly", None)  # the other search is not asked
    monkeypatch.setattr(_propagate, "SLICE", 1)
    many = Clues(300, must=np.arange(100).reshape(50, 2))
    assert len(imputed(propagate(X, many, radius=np.inf, n_neighbors=4))) > 100


def test_blocks_do_not_change_the_result(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, size=(40, 2)) * 1.0  # many equal distances
    clues = Clues.sample(rng.integers(3, size=40), pairs=30, random_state=0)
    whole = [propagate(X, clues, radius=2.0, limit=limit) for limit in (20, 10**5)]
    monkeypatch.setattr(_propagate, "BATCH", 1)
    monkeypatch.setattr(_propagate, "SPARE", 100)
    assert whole == [propagate(X, clues, radius=2.0, limit=limit) for limit in (20, 10**5)]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"radius": "far"}, "radius is 'far'; it must be 'auto' or a distance of at least 0"),
        ({"radius": -1.0}, "radius is -1.0"),
        ({"radius": np.nan}, "radius is nan"),
        ({"radius": None}, "radius is None"),
        ({"n_neighbors": 0}, "n_neighbors is 0; it must be an integer of at least 1"),
        ({"n_neighbors": 2.5}, r"n_neighbors is 2\.5"),
        ({"limit": -1}, "limit is -1; it must be an integer of at least 0"),
        ({"limit": True}, "limit is True"),
    ],
)
def test_wrong_parameters(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        propagate([[0.0], [1.0]], Clues(2, must=[(0, 1)]), **options)


def test_clues_for_other_rows():
    with pytest.raises(ClueError, match="3"):
        propagate([[0.0], [1.0]], Clues(3, must=[(0, 1)]))


# Real data


@pytest.mark.needs_data
def test_it_helps_where_classes_are_no_blobs():
    """Ionosphere, where neighbors share a class but classes are no blobs: the largest gain that was measured."""
    data = load("ionosphere", standardize=True)
    without, having = [], []
    for seed in range(2):
        clues = Clues.sample(data.y, pairs=len(data.y) // 2, random_state=seed)
        for given_clues, scores in ((clues, without), (propagate(data.X, clues), having)):
            model = PCKMeans(2, penalty="auto", random_state=seed).fit(data.X, clues=given_clues)
            scores.append(ari(data.y, model.labels_))
    assert np.mean(having) > np.mean(without) + 0.3


@pytest.mark.needs_data
def test_it_stays_away_from_glass():
    data = load("glass", standardize=True)
    clues = Clues.sample(data.y, pairs=len(data.y) // 2, random_state=0)
    assert propagate(data.X, clues) is clues
