"""`Cluewise`: rows and clues of every kind, what has to hold, what is doubted, and what is said about the choice."""

import json
import pickle
from dataclasses import replace
from time import process_time

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.special import expit
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import roc_auc_score

from cluewise import Clues, Cluewise, clusterers
from cluewise.cli import main
from cluewise.clues import Groups
from cluewise.core.threads import threads
from cluewise.exceptions import ClueError, Contradiction, Infeasible
from cluewise.front import _cluewise
from cluewise.front._choice import make_folds
from cluewise.front._evidence import gather
from cluewise.metrics import ari, broken

CENTERS = np.array([(-4.0, 0.0), (0.0, 4.0), (4.0, 0.0)])
Y = np.arange(90) % 3
X = CENTERS[Y] + np.random.default_rng(0).normal(size=(90, 2))
PAIRS = Clues.sample(Y, pairs=60, random_state=0)
LABELS = np.where(np.arange(90) < 18, Y, -1)


def fit(clues=None, k=3, data=X, sample_weight=None, **params):
    return Cluewise(k, **({"random_state": 0} | params)).fit(data, clues=clues, sample_weight=sample_weight)


def report(pairs, wrong):
    """Clues about pairs, some of them wrong."""
    same = (Y[pairs[:, 0]] == Y[pairs[:, 1]]) ^ wrong
    return {"must": pairs[same], "cannot": pairs[~same]}


def draw_pairs(count, seed=0):
    first, second = np.triu_indices(90, 1)
    some = np.random.default_rng(seed).choice(len(first), count, replace=False)
    return np.column_stack([first, second])[some]


# --- rows ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "k", "labels"),
    [
        ([[1.0]], 1, [0]),
        ([[1.0]], None, [0]),
        ([[1.0], [2.0]], 1, [0, 0]),
        ([[1.0], [1.0]], None, [0, 0]),
        (np.ones((20, 2)), None, [0] * 20),
    ],
)
def test_few_or_equal_rows(rows, k, labels):
    model = fit(k=k, data=rows)
    assert model.labels_.tolist() == labels
    assert model.predict_proba(rows).shape == (len(rows), len(model.cluster_ids_))


@pytest.mark.parametrize("clues", [None, Clues(2, must=[(0, 1)]), Clues(2, cannot=[(0, 1)])])
def test_two_rows(clues):
    assert set(fit(clues, 2, [[1.0], [2.0]]).labels_.tolist()) <= {0, 1}


def test_as_many_clusters_as_rows():
    assert sorted(fit(k=20, data=X[:20]).labels_) == list(range(20))


@pytest.mark.parametrize("clues", [None, PAIRS, LABELS, Clues(90, labels=np.where(np.arange(90) < 30, Y + 2, -1))])
def test_more_clusters_than_distinct_rows_warn(clues):
    with pytest.warns(ConvergenceWarning, match="of 5 clusters have rows"):
        model = fit(clues, 5, CENTERS[Y])
    assert model.n_clusters_ == len(np.unique(model.labels_)) <= 5


def test_many_equal_rows_are_one_point():
    assert ari(Y, fit(data=CENTERS[Y]).labels_) == 1


def test_constant_columns_change_nothing():
    constant = np.hstack([X, np.full((90, 2), 7.0)])
    assert (fit(PAIRS, data=constant).labels_ == fit(PAIRS).labels_).all()


@pytest.mark.parametrize("wide", [2, 1, 150])
def test_sparse_rows(wide):
    more = 0.01 * np.random.default_rng(1).normal(size=(90, 148))
    rows = np.hstack([X, more])[:, :wide]
    dense, sparse = fit(PAIRS, data=rows), fit(PAIRS, data=csr_array(rows))
    assert ari(dense.labels_, sparse.labels_) == 1
    assert (sparse.predict(csr_array(rows)) == sparse.labels_).all()


@pytest.mark.parametrize("n", [1, 5, 90])
def test_more_columns_than_rows(n):
    rows = np.hstack([X, 0.01 * np.random.default_rng(1).normal(size=(90, 200))])[:n]
    model = fit(k=min(n, 3), data=rows)
    assert model.n_features_in_ == 202
    assert n < 90 or ari(Y, model.labels_) == 1


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("rows", [np.ones((1, 200)), np.ones((30, 200)), csr_array((30, 200))])
def test_equal_rows_with_many_columns_are_no_reason_to_warn(rows):
    assert set(Cluewise(random_state=0).fit(rows).labels_) == {0}


def test_single_precision():
    model = fit(PAIRS, data=X.astype(np.float32))
    assert model.margin_.dtype == np.float32
    assert ari(Y, model.labels_) == ari(Y, fit(PAIRS).labels_)


def test_rows_of_weight_zero_have_labels_and_no_influence():
    far = np.vstack([X, [[1000.0, 0.0]] * 10])
    weight = np.append(np.ones(90), np.zeros(10))
    model = fit(data=far, sample_weight=weight)
    assert ari(Y, model.labels_[:90]) == 1
    assert model.labels_.shape == (100,)
    assert fit(PAIRS, sample_weight=(np.arange(90) % 4 > 0).astype(float)).n_clusters_ == 3


# --- clues --------------------------------------------------------------------------------------------------------


def test_without_clues_the_result_is_a_plain_clustering():
    model = fit()
    assert ari(Y, model.labels_) == 1
    assert model.choice_.reason == "there are no clues"
    assert (model.harm_, model.trust_, len(model.doubt_)) == (0.0, {}, 0)
    assert (fit(Clues(90)).labels_ == model.labels_).all()


def test_one_clue_alone_is_not_believed():
    model = fit(Clues(90, must=[(0, 1)]))
    assert (model.labels_ == fit().labels_).all()
    assert "one clue alone" in str(model.choice_).lower()


@pytest.mark.parametrize("kind", ["must", "cannot"])
def test_links_of_one_kind(kind):
    assert ari(Y, fit(PAIRS.only([kind])).labels_) == 1


def test_must_links_that_join_everything():
    chain = [(i, i + 1) for i in range(89)]
    with pytest.warns(ConvergenceWarning, match="only 1 of 3"):
        assert fit(Clues(90, must=chain, must_weight=np.inf)).n_clusters_ == 1
    with pytest.warns(ConvergenceWarning, match="only 1 of 3"):
        assert fit(Clues(90, must=chain), hard=True).n_clusters_ == 1


def test_contradicting_clues_are_weighed():
    """A must-link and a cannot-link about the same rows, next to many clues that are right."""
    odd = Clues(90, must=[(0, 3), (3, 6), (0, 1)], cannot=[(0, 6), (0, 3)])
    model = fit(PAIRS | odd)
    assert ari(Y, model.labels_) > 0.95
    assert model.clues_.contradictions


def test_some_wrong_clues_do_no_harm():
    pairs = draw_pairs(90)
    clues = Clues(90, **report(pairs, np.arange(90) % 5 == 0))
    assert ari(Y, fit(clues).labels_) == 1


def test_harm_is_less_likely_the_more_held_out_clues_gain():
    """Log-odds are 1.95 less 1.66 times the logarithm of one more than the gain."""
    choice = fit(PAIRS).choice_
    fitted = choice.plan._replace(view="mixed")
    odds = [expit(1.95 - 1.66 * np.log(1 + total)) for total in (0, 6, 60)]
    harms = [
        _cluewise._estimate_harm(replace(choice, plan=fitted, gain=gain, held=held))
        for gain, held in [(-0.1, 60), (0.1, 60), (0.5, 120)]
    ]
    assert harms == pytest.approx(odds)
    plain = choice.plan._replace(start=choice.plain, view="")
    assert _cluewise._estimate_harm(replace(choice, plan=plain, gain=0.0)) == 0  # the clustering without clues


def test_harm_is_not_estimated_where_nothing_was_compared():
    """Neither by held-out clues, nor because the result is the one without clues."""
    must_hold = Clues(90, must=PAIRS.must, cannot=PAIRS.cannot, must_weight=np.inf, cannot_weight=np.inf)
    odd = Clues(90, must=[(0, 1), (2, 4)], must_weight=np.inf)  # rows of different clusters
    for model, why in (
        (fit(PAIRS, hard=True), "clues that must hold are not held out to compare anything"),
        (fit(must_hold), "clues that must hold are not held out to compare anything"),
        (fit(PAIRS).refit(PAIRS, start=Y), "a start was given"),
        (fit(Clues(90, sizes=(10, 25)), k=4), "clues that must hold moved rows afterwards"),
        (fit(PAIRS | odd), "clues that must hold moved rows afterwards"),
        (fit().update(Clues(90, sizes=[(10, 10), (30, 30), (50, 50)])), "clues that must hold moved rows afterwards"),
    ):
        assert np.isnan(model.harm_)
        assert model.choice_.harm_unknown == why
    bounds = Clues(90, sizes=(10, 60))
    assert fit(bounds).harm_ == fit(hard=True).harm_ == 0.0  # the clustering without clues keeps these bounds
    middle = Clues.sample(Y == 1, pairs=60, random_state=0)  # no clustering without clues finds it
    compared = fit(middle, k=2)
    assert 0 < compared.harm_ < 1
    assert fit(middle | bounds, k=2).harm_ == compared.harm_  # it keeps the bounds, too
    assert np.isnan(compared.refit(middle, start=(Y == 1).astype(int)).harm_)
    assert 0 < compared.update(Clues(90, must=[(1, 4)])).harm_ < 1  # at last everything is compared again


def test_classes_name_their_clusters():
    model = fit(LABELS)
    assert (model.labels_ == Y).all()
    swapped = fit(np.where(LABELS < 0, -1, (LABELS + 1) % 3))
    assert (swapped.labels_ == (Y + 1) % 3).all()


@pytest.mark.parametrize("names", [[10, 20, 30], ["a", "b", "c"]])
def test_other_classes_are_numbered_in_order(names):
    clues = [None if c < 0 else names[c] for c in LABELS]
    assert (fit(clues).labels_ == Y).all()


def test_groups_and_partitions():
    some = np.where(np.arange(90) % 3 == 0, Y, -1)
    for clues in (Clues(90, together=some), Clues(90, partitions=[np.where(np.arange(90) < 45, Y, -1)])):
        assert ari(Y, fit(clues).labels_) > 0.85
    apart = np.where(np.arange(90) < 60, np.arange(90) // 3, -1)
    assert ari(Y, fit(Clues(90, apart=apart)).labels_) == 1


def test_avoid_is_refused_and_the_sentence_is_true(capsys):
    with pytest.raises(ClueError, match="does not avoid") as caught:
        fit(Clues(90, avoid=[Y]))
    name = str(caught.value).partition("such as ")[2].partition(":")[0]
    assert "avoid" in clusterers()[name].card.accepts
    command = str(caught.value).split("`")[1]
    assert command.startswith("cluewise ")
    with pytest.raises(SystemExit, match="0"):
        main(command.split()[1:])
    assert name in capsys.readouterr().out


# --- what has to hold -----------------------------------------------------------------------------------------------


def test_infinite_weights_hold_and_are_not_doubted():
    odd = Clues(90, must=[(0, 1)], cannot=[(0, 3)], must_weight=np.inf, cannot_weight=np.inf)
    model = fit(PAIRS | odd)
    assert model.labels_[0] == model.labels_[1] != model.labels_[3]
    links = np.concatenate([model.clues_.must, model.clues_.cannot]).tolist()
    assert [model.doubt_[links.index(pair)] for pair in ([0, 1], [0, 3])] == [0, 0]
    groups = np.where(np.arange(90) < 2, 0, -1).astype(np.int32)
    held = fit(PAIRS | Clues(90, together=[Groups(groups, np.array([np.inf]), np.array(["sure"]))]))
    assert held.labels_[0] == held.labels_[1]


def test_hard_keeps_everything():
    wrong = np.arange(30) % 3 == 0
    pairs = np.column_stack([np.arange(0, 60, 2), np.arange(1, 61, 2)])  # no row twice, so nothing contradicts
    model = fit(Clues(90, labels=np.where(np.arange(90) >= 80, Y, -1), **report(pairs, wrong)), hard=True)
    assert not model.broken_.kinds
    assert not model.doubt_.any()
    assert not np.nan_to_num(model.label_doubt_).any()
    assert (model.labels_[80:] == Y[80:]).all()


@pytest.mark.parametrize(
    ("clues", "error", "match"),
    [
        ({"must": [(0, 1), (1, 2)], "cannot": [(0, 2)]}, Contradiction, "0 - 1 - 2"),
        ({"apart": np.where(np.arange(90) < 4, 0, -1)}, Infeasible, "needs 4 clusters"),
        ({"labels": np.where(np.arange(90) < 4, np.arange(90), -1)}, Infeasible, "4 classes"),
        ({"sizes": (40, 50)}, Infeasible, "add up to 120"),
        ({"partitions": [Y]}, ClueError, r"hard=True cannot keep partitions; .* hard=False\.$"),
    ],
)
def test_what_cannot_hold_is_refused_before_any_work(monkeypatch, clues, error, match):
    monkeypatch.setattr(_cluewise, "Ground", None)
    with pytest.raises(error, match=match):
        fit(Clues(90, **clues), hard=True)


def test_infinite_weights_that_contradict_each_other_are_refused_before_any_work(monkeypatch):
    monkeypatch.setattr(_cluewise, "Ground", None)
    with pytest.raises(Contradiction, match="0 - 1 - 2"):
        fit(Clues(90, must=[(0, 1), (1, 2)], cannot=[(0, 2)], must_weight=np.inf, cannot_weight=np.inf), k=None)


@pytest.mark.parametrize("k", [3, None])
@pytest.mark.parametrize("sizes", [(25, 35), [(10, 10), (30, 30), (50, 50)]])
def test_sizes_hold(k, sizes):
    model = fit(PAIRS | Clues(90, sizes=sizes), k=k)
    low, high = np.broadcast_to(sizes, (3, 2)).T
    count = np.bincount(model.labels_, minlength=3)
    assert ((low <= count) & (count <= high)).all()


def test_sizes_bound_the_number_of_clusters():
    assert np.bincount(fit(Clues(90, sizes=(45, 45)), k=None).labels_).tolist() == [45, 45]


def test_soft_links_do_not_ask_for_more_clusters_than_sizes_leave_room_for():
    """Sizes hold and links may be broken, so there is no reason to fail."""
    clues = Clues(90, cannot=[(0, 1), (0, 2), (1, 2)], sizes=(45, 90))
    assert np.bincount(fit(clues, k=None).labels_).tolist() == [45, 45]


def test_sizes_in_weight_hold():
    weight = 1.0 + np.arange(90) % 2
    model = fit(Clues(90, sizes=[(20, 30), (30, 60), (60, 80)], size_unit="weight"), sample_weight=weight)
    mass = np.bincount(model.labels_, weights=weight)
    assert (mass >= [20, 30, 60]).all()
    assert (mass <= [30, 60, 80]).all()


@pytest.mark.parametrize(("sizes", "k"), [((0, 20), 9), ((80, 180), 2), ((100, 180), 1), ((44, 46), 4)])
def test_sizes_in_weight_bound_the_number_of_clusters(sizes, k):
    """Weights of 2, so that there are twice as many as rows."""
    model = fit(Clues(90, sizes=sizes, size_unit="weight"), k=None, sample_weight=np.full(90, 2.0))
    mass = 2 * np.bincount(model.labels_)
    assert len(mass) == k
    assert ((sizes[0] <= mass) & (mass <= sizes[1])).all()


def test_sizes_without_room_for_any_row_are_infeasible():
    with pytest.raises(Infeasible, match="add up to 0"):
        fit(Clues(90, sizes=(0, 0)), k=None)


def test_labels_that_do_not_fit_into_their_cluster_are_infeasible():
    with pytest.raises(Infeasible):
        fit(Clues(90, labels=LABELS, sizes=[(0, 2), (30, 45), (40, 60)]), hard=True)


@pytest.mark.parametrize(
    ("clues", "params"),
    [
        (Clues(90, sizes=[(10, 10), (30, 30), (50, 50)]), {}),
        (PAIRS | Clues(90, sizes=[(10, 10), (30, 30), (50, 50)]), {}),
        (PAIRS | Clues(90, must=[(0, 1), (2, 4)], must_weight=np.inf), {}),
        (Clues(90, labels=np.where(np.arange(90) < 12, (Y + np.arange(90) // 9) % 3, -1)), {"hard": True}),
    ],
)
def test_rows_that_were_moved_have_the_margin_of_their_own_cluster(clues, params):
    for model in (fit(clues, **params), fit(**params).update(clues)):
        P = model.predict_proba(X)
        own = P[np.arange(90), model.labels_]
        P[np.arange(90), model.labels_] = 0
        np.testing.assert_allclose(model.margin_, own - P.max(axis=1), atol=1e-6)
        assert ((model.margin_ < 0) == (model.labels_ != model.predict(X))).all()
        assert (model.margin_ < 0).any()


# --- doubt and trust ------------------------------------------------------------------------------------------------


def test_wrong_links_are_doubted_most():
    pairs, wrong = draw_pairs(100), np.arange(100) % 6 == 0
    model = fit(Clues(90, **report(pairs, wrong)))
    links = np.concatenate([model.clues_.must, model.clues_.cannot])
    is_must = np.arange(len(links)) < len(model.clues_.must)
    truth = (Y[links[:, 0]] == Y[links[:, 1]]) != is_must
    assert model.doubt_.shape == truth.shape
    assert roc_auc_score(truth, model.doubt_) > 0.95


def test_wrong_labels_are_doubted_most():
    known = np.arange(90) < 45
    given = np.where(known, np.where(np.arange(90) % 7 == 0, (Y + 1) % 3, Y), -1)  # of every class
    model = fit(given)
    assert np.isnan(model.label_doubt_[~known]).all()
    assert roc_auc_score(given[known] != Y[known], model.label_doubt_[known]) > 0.8


def test_a_bad_source_is_trusted_less():
    pairs = draw_pairs(160)
    wrong = np.random.default_rng(0).random(80) < 0.4
    good = Clues(90, source="good", **report(pairs[:80], np.zeros(80, dtype=bool)))
    bad = Clues(90, source="bad", **report(pairs[80:], wrong))
    trust = fit(good | bad).trust_
    assert set(trust) == {"good", "bad"}
    assert set(trust["bad"]) == {"must", "cannot", "all"}
    assert trust["bad"]["all"] < trust["good"]["all"] - 0.05


def test_lines_of_a_file_are_one_source(tmp_path):
    links = [(*pair, "must") for pair in PAIRS.must.tolist()] + [(*pair, "cannot") for pair in PAIRS.cannot.tolist()]
    (tmp_path / "pairs.csv").write_text("\n".join(f"{a},{b},{kind}" for a, b, kind in links), "utf-8")
    read = Clues.read(tmp_path / "pairs.csv", n=90)
    assert read.must_source[0] == "pairs.csv:1"
    assert set(fit(read).trust_) == {"pairs.csv"}
    (tmp_path / "more.csv").write_text("\n".join(f"{a},{b},{kind}" for a, b, kind in links[:9]), "utf-8")
    both = read | Clues.read(tmp_path / "more.csv", n=90)
    assert set(fit(both).trust_) == {"pairs.csv", "more.csv + pairs.csv"}
    known = {"must": PAIRS.must.tolist(), "labels": {"0": "x", "1": "y"}}
    (tmp_path / "known.json").write_text(json.dumps(known), "utf-8")
    assert set(fit(Clues.read(tmp_path / "known.json", n=90)).trust_) == {"known.json"}


def test_labels_of_one_class_leave_room_for_others():
    model = fit(np.where((Y == 0) & (np.arange(90) < 30), 0, -1), k=None)
    assert ari(Y, model.labels_) > 0.9


def test_what_has_to_hold_does_not_vouch_for_other_links():
    pairs, wrong = draw_pairs(100), np.arange(100) % 4 == 0
    chains = [[(a, a + 3) for a in range(first, 60 + first, 3)] for first in range(3)]  # rows of a class
    sure = Clues(90, must=np.concatenate(chains), must_weight=np.inf, source="sure")
    model = fit(Clues(90, **report(pairs, wrong), source="said") | sure)
    assert model.trust_["sure"]["all"] == 1
    assert 0.65 < model.trust_["said"]["all"] < 0.85
    assert np.count_nonzero(model.doubt_ > 0.5) > 15


# --- choice ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("clues", [None, PAIRS, LABELS])
def test_the_number_of_clusters_is_found(clues):
    model = fit(clues, k=None)
    assert model.n_clusters_ == 3
    assert ari(Y, model.labels_) == 1


@pytest.mark.parametrize("links", [0, 5, 60])
def test_classes_without_labels_are_found(links):
    two = Clues(90, labels=np.where(Y < 2, LABELS, -1))  # 12 rows; nobody has labelled a row of the third class
    known = two | Clues.sample(Y, pairs=links, random_state=0) if links else two
    model = fit(known, k=None)
    assert model.n_clusters_ == 3
    assert ari(Y, model.labels_) > 0.95
    assert fit(known, k="classes").n_clusters_ == 2


def test_as_many_clusters_as_classes_need_labels():
    with pytest.raises(ClueError, match="needs labels, but no row has one"):
        fit(PAIRS, k="classes")
    assert fit(LABELS, k="classes").n_clusters_ == 3


def test_clues_bound_the_number_of_clusters():
    five = Clues(90, apart=np.where(np.arange(90) < 5, 0, -1))
    assert len(fit(five, k=None).cluster_ids_) >= 5
    ring = Clues(5, cannot=[(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)])  # no three exclude each other
    assert fit(ring, None, X[:5], hard=True).n_clusters_ >= 3


@pytest.mark.parametrize("k", [3, None])
def test_a_time_limit_is_kept_and_said(k):
    model = fit(PAIRS, k=k, time_limit=1e-4)
    assert "time limit" in model.choice_.reason
    assert "time limit" in str(model.choice_)
    assert ari(Y, model.labels_) == 1


def test_the_choice_is_told_in_words():
    choice = fit(PAIRS).choice_
    lines = str(choice).splitlines()
    assert sum(line.startswith("* ") for line in lines) == 1
    assert lines[-1].endswith(".")
    assert choice.plan in choice.scores
    assert choice.scores.keys() == choice.errors.keys()


def test_a_clue_that_is_held_out_twice_counts_once():
    """So many pairs that all pairs of some rows are held out together, which a pair may be with either row."""
    clues = Clues.sample(Y, pairs=250, random_state=0)
    folds = make_folds(gather(clues, 3, np.arange(90)), np.random.default_rng(0))
    held = np.concatenate([fold.held for fold in folds])
    assert len(held) > len(np.unique(held))
    assert fit(clues).choice_.held <= 250


# --- conduct --------------------------------------------------------------------------------------------------------


def test_seeds_and_threads():
    one = fit(PAIRS, n_jobs=1)
    for other in (fit(PAIRS, n_jobs=2), fit(PAIRS)):
        assert (one.predict_proba(X) == other.predict_proba(X)).all()
        assert (one.doubt_ == other.doubt_).all()
    with threads(3):
        assert (fit(PAIRS).labels_ == one.labels_).all()
    generator = fit(PAIRS, random_state=np.random.default_rng(4))
    assert (generator.labels_ == fit(PAIRS, random_state=np.random.default_rng(4)).labels_).all()


@pytest.mark.parametrize("clues", [None, PAIRS, LABELS])
def test_predictions_of_the_rows_of_the_fit(clues):
    model = fit(clues)
    assert (model.predict(X) == model.labels_).all()
    P = model.predict_proba(X)
    np.testing.assert_allclose(P.sum(axis=1), 1, rtol=1e-5)
    top = np.sort(P, axis=1)
    np.testing.assert_allclose(model.margin_, top[:, -1] - top[:, -2], atol=1e-6)


def test_pickle_clone_and_parameters():
    model = fit(PAIRS)
    loaded = pickle.loads(pickle.dumps(model))
    assert (loaded.predict(X) == model.labels_).all()
    assert loaded.update(LABELS).clues_ == PAIRS | Clues(90, labels=LABELS)
    again = clone(model).set_params(n_clusters=2, hard=True)
    assert (again.n_clusters, again.hard, again.random_state) == (2, True, 0)
    with pytest.raises(NotFittedError):
        again.predict(X)
    with pytest.raises(ValueError, match="time_limit"):
        again.set_params(time_limit=-1).fit(X)


def test_feature_names():
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame(X, columns=["length", "width"])
    model = fit(PAIRS, data=table)
    assert model.feature_names_in_.tolist() == ["length", "width"]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(table[["width", "length"]])


def test_broken_is_what_the_labels_break():
    model = fit(PAIRS | Clues(90, must=[(0, 1)]))
    assert model.broken_ == broken(model.labels_, model.clues_)


@pytest.mark.parametrize("moment", ["fit_anew", "find_scores", "rate_sources"])
def test_an_interrupted_fit_leaves_all_results_or_none(monkeypatch, moment):
    def stop(*_, **__):
        raise KeyboardInterrupt

    model = fit(PAIRS)
    before = {name: getattr(model, name) for name in model._results()}
    monkeypatch.setattr(_cluewise, moment, stop)
    with pytest.raises(KeyboardInterrupt):
        model.update(Clues.sample(Y, pairs=80, random_state=1))
    assert all(getattr(model, name) is value for name, value in before.items())
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, clues=PAIRS)
    with pytest.raises(NotFittedError):
        model.predict(X)


def test_small_problems_take_little_time():
    fit(PAIRS)
    began = process_time()
    fit(PAIRS)
    assert process_time() - began < 5
