"""The doctor for clues: what it finds, what it says, and that it is never in the way."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.cluster import KMeans
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import cluewise as cw
from cluewise import Clues
from cluewise.advice import Clash, Tryout, _clashes, check, harm
from cluewise.advice._clashes import find_clashes, find_repairs
from cluewise.advice._page import recommend
from cluewise.advice.harm import judge_harm
from cluewise.datasets import load
from cluewise.exceptions import ClueError
from cluewise.metrics import coherence, informativeness, metric_agreement, predictability, redundancy
from cluewise.metrics.segments import make_segments

A8 = np.array([[0, 0.2], [1, 0], [0.1, 1.1], [1.6, 1.4], [4, 4.1], [5, 3.9], [4.2, 5], [2.4, 2.7]])


def two_blobs(n: int = 60, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return rng.normal(size=(n, 2)) + 8 * y[:, None], y


# --- without data -----------------------------------------------------------------------------------------


def test_no_clues():
    found = check(Clues(5))
    assert (found.recommendation, found.satisfiable, found.coverage) == ("ask", True, 0.0)
    assert np.isnan(found.redundancy)
    assert np.isnan(found.harm)
    assert found.harmful is None
    assert found.components == {}
    assert "there are no clues" in str(found)
    assert "no clues" in str(check(Clues(0)))


def test_a_contradiction_is_named_with_its_chain_and_what_to_repair():
    clues = Clues(6, must=[(0, 1), (1, 2), (4, 5)], cannot=[(0, 2)], must_source=["Ann", "Ben", "Ann"])
    found = check(clues, n_clusters=2)
    assert found.satisfiable is False
    assert [c.chain for c in found.contradictions] == [((0, 1, "must-link (Ann)"), (1, 2, "must-link (Ben)"))]
    assert found.recommendation == "repair"
    assert found.repairs == ("cannot-link 0 – 2 (given)",)
    text = str(found)
    assert "must be apart (cannot-link), but must-links join them: 0 - 1 - 2" in text
    assert text.endswith(
        "repair the 1 link named above first; until then only a soft method such as Cluewise can use them."
    )


def test_the_link_that_most_contradictions_share_is_repaired_first():
    # One wrong must-link between two right pairs contradicts three cannot-links.
    chain = Clues(6, must=[(0, 1), (1, 2), (2, 3)], cannot=[(0, 2), (1, 3)])
    assert find_repairs(chain) == (("must-link 1 – 2 (given)",), ((1, 2),), 0)
    clues = Clues(6, must=[(0, 1), (1, 2), (3, 4), (4, 5), (2, 3)], cannot=[(0, 4), (1, 5), (0, 5), (2, 4), (1, 3)])
    assert find_repairs(clues).words == ("must-link 2 – 3 (given)",)
    heavy = Clues(6, must=clues.must, cannot=[(0, 4), (0, 5), (1, 5)], must_weight=50, cannot_weight=0.1)
    assert set(find_repairs(heavy).words) == {f"cannot-link {a} – {b} (given)" for a, b in [(0, 4), (0, 5), (1, 5)]}
    page = str(check(Clues(9, together=[0] * 9, cannot=[(0, i) for i in range(1, 5)])))
    assert "… and 1 more." in page
    assert "repair 4 links first, beginning with those named above; until" in page


def test_contradictions_of_labels_alone_have_no_repairs():
    clash = Clues(3, labels=[0, 1, -1], together=["a", "a", None])
    assert find_repairs(clash) == ((), (), 1)
    assert "repair the contradictions first" in check(clash).advice
    mixed = Clues(
        4, labels=[0, 1, -1, -1], must=[(0, 2), (1, 2)], together=[None, None, "b", "b"], apart=[1, None, 1, None]
    )
    assert find_repairs(mixed).words == ("must-link 0 – 2 (given)",)


def test_contradictions_that_have_nothing_in_common_are_repaired_together(monkeypatch):
    pairs = [(2 * i, 2 * i + 1) for i in range(30)]
    clues = Clues(60, must=pairs, cannot=pairs)
    followed = []
    monkeypatch.setattr(_clashes, "_list_links", lambda c, real=_clashes._list_links: followed.append(c) or real(c))
    assert find_repairs(clues) == (tuple(f"cannot-link {a} – {b} (given)" for a, b in pairs), tuple(pairs), 0)
    assert len(followed) == 30


def test_of_too_many_contradictions_some_are_repaired_and_the_others_counted(monkeypatch):
    pairs = [(2 * i, 2 * i + 1) for i in range(30)]
    clues = Clues(60, must=pairs, cannot=pairs)
    monkeypatch.setattr(_clashes, "_CHAINS", 12)
    monkeypatch.setattr(_clashes, "_AT_ONCE", 5)
    found = find_repairs(clues)
    assert (len(found.words), found.left) == (12, 18)
    page = str(check(clues))
    assert "Without the following links, 18 contradictions would remain; check them first:" in page
    assert "repair 12 links first, beginning with those named above, and check again; until" in page
    monkeypatch.setattr(_clashes, "_CHAINS", 30)
    monkeypatch.setattr(_clashes, "_FEWEST", 2)
    monkeypatch.setattr(_clashes, "_ROWS", 4)  # with many rows fewer chains are followed
    assert len(find_repairs(clues).words) == 2


def test_too_few_clusters():
    triangle = Clues(4, cannot=[(0, 1), (1, 2), (0, 2)])
    found = check(triangle, n_clusters=2)
    assert (found.satisfiable, found.recommendation, found.degeneracy) == (False, "soften", 2)
    assert "needs 3 clusters" in found.why
    assert "needs 3 clusters" in str(found)
    good = check(triangle, n_clusters=3)
    assert (good.satisfiable, good.why, good.recommendation) == (True, "", "use")
    assert "degeneracy 2, below 3 clusters" in str(good)
    square = check(Clues(4, cannot=[(0, 1), (1, 2), (2, 3), (0, 3)]), n_clusters=2)
    assert "no odd cycle" in str(square)
    assert "give data to learn more" in square.advice
    with_data = check(Clues(4, cannot=[(0, 1)]), A8[:4])
    assert with_data.advice.endswith("give the number of clusters (n_clusters, or -k) to learn more.")


def test_tangled_cannot_links():
    # Three by three, all across: two colors do, degeneracy 3.
    found = check(Clues(6, cannot=[(i, j) for i in range(3) for j in range(3, 6)]), n_clusters=3)
    assert (found.satisfiable, found.degeneracy) == (True, 3)
    assert "hard to separate: degeneracy 3, not below 3 clusters" in str(found)


def test_counts_of_what_the_clues_entail():
    clues = Clues(8, must=[(0, 1), (1, 2), (0, 2), (4, 5)], cannot=[(2, 4), (0, 5), (3, 7)])
    found = check(clues)
    assert found.redundancy == redundancy(clues) == 5 / 7
    assert found.components == {2: 1, 3: 1}
    assert found.coverage == 7 / 8
    assert "redundancy    71 %" in str(found)


def test_a_large_apart_group_is_no_burden():
    found = check(Clues(5000, apart=[1] * 5000), n_clusters=5000)
    assert found.degeneracy == 64
    assert found.satisfiable is True


# --- with data --------------------------------------------------------------------------------------------


def test_the_numbers_are_those_of_the_metrics():
    clues = Clues(8, must=[(0, 1), (3, 7), (4, 6)], cannot=[(2, 7), (3, 4), (1, 5)])
    model = cw.COPKMeans(2, init=A8[[0, 4]])
    found = check(clues, A8, estimator=model, random_state=0)
    assert found.coherence == coherence(A8, clues)
    assert found.agreement == metric_agreement(A8, clues) == 1.0
    assert found.predictability == predictability(A8, clues)
    assert found.informativeness == informativeness(model.fit(A8).labels_, clues)
    assert (found.method, found.n_clusters, found.unused) == ("COPKMeans", 2, ())
    assert found.trial.rows == 8


def test_good_clues_are_used_and_wrong_ones_are_not():
    X, y = two_blobs()
    good = check(Clues.sample(y, pairs=40, random_state=1), X, n_clusters=2, random_state=0)
    assert (good.recommendation, good.harm, good.trial.moved) == ("ask", 0.0, 0.0)  # nothing to gain here
    assert "Cluewise was tried. The clusters are unchanged in this trial." in str(good)
    assert "Probability" not in str(good)
    wrong = Clues.sample(y, pairs=40, noise=0.4, random_state=1)
    bad = check(wrong, X, estimator=cw.PKMeans(2, penalty=1, random_state=0), random_state=0)
    assert bad.harmful
    assert bad.harm > 0.5
    assert bad.recommendation == "leave"


def test_advice_follows_the_held_out_clues():
    # Three blobs in a row; k-means with k = 2 splits them as it likes, clues tell which two belong together.
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 1], 30)
    X = np.column_stack([np.repeat([0.0, 10.0, 22.0], 30), np.zeros(90)]) + rng.normal(size=(90, 2))
    clues = Clues.sample(y, pairs=60, random_state=0)
    found = check(clues, X, estimator=cw.COPKMeans(2, random_state=0), random_state=0)
    assert found.trial.gain > 0.1
    assert (found.recommendation, found.harmful) == ("use", False)
    assert "Held-out clues are predicted better with the other clues than without" in str(found)


def test_misleading_distances():
    # Near rows differ, far rows belong together.
    rng = np.random.default_rng(0)
    place = np.repeat(np.arange(4) * 10.0, 15)
    X = np.column_stack([place + rng.normal(size=60), rng.normal(size=60)])
    must = [(i, i + 45) for i in range(12)]
    cannot = [(i, i + 1) for i in range(0, 14, 2)] + [(i, i + 1) for i in range(45, 59, 2)]
    found = check(Clues(60, must=must, cannot=cannot), X, n_clusters=4, random_state=0)
    assert found.agreement == 0.0
    assert found.recommendation == "leave"
    assert "near rows differ and far rows belong together" in found.advice
    assert "Clues that clash most:" in str(found)


def test_the_worst_clashes_come_first():
    X = np.array([[0.0, 0], [10, 0], [1, 0.1], [9, 0.1], [0, 50], [10, 50], [30, 0], [30, 9]])
    clues = Clues(8, must=[(0, 1), (6, 7)], cannot=[(2, 3), (4, 5)], must_source=["a", "b"], cannot_source=["c", "d"])
    found = find_clashes(make_segments(X, clues), clues, 5)
    assert found[0] == Clash((0, 1), (2, 3), "a", "c", found[0].overlap)
    assert found[0].overlap > 0.7
    assert str(found[0]) == "must-link 0 – 1 (a) against cannot-link 2 – 3 (c)"
    assert [c.overlap for c in found] == sorted((c.overlap for c in found), reverse=True)
    assert all((c.must, c.cannot) != ((6, 7), (2, 3)) for c in found)  # they do not overlap
    assert find_clashes(make_segments(X, clues), clues, 1) == found[:1]
    labels = check(Clues(8, labels=[0, 0, 1, 1, -1, -1, -1, -1]), X)
    assert labels.clashes[0].must_source == "from labels or groups"


def test_all_kinds_of_clues():
    X, y = two_blobs()
    half = np.where(np.arange(60) < 20, y, -1)
    groups = {"together": ["a", None, "a", *[None] * 57], "apart": [None, "p", "p", *[None] * 57]}
    for clues, model in (
        (Clues(60, labels=half), None),
        (Clues(60, partitions=half), cw.PartitionKMeans(2, random_state=0)),
        (Clues(60, **groups), cw.COPKMeans(2)),
        (Clues(60, sizes=(20, 40)), cw.SizedKMeans(2, random_state=0)),
        (Clues(60, avoid=y), cw.CondEns(2, random_state=0)),
        (Clues(60, labels=half, sizes=(20, 40)), cw.PCCC(2, random_state=0)),
    ):
        found = check(clues, X, estimator=model, random_state=0)
        assert found.trial is not None
        assert found.trial.trouble == ""
        assert found.recommendation in ("use", "ask")
        assert "Advice: " in str(found)
    assert np.isnan(check(Clues(60, sizes=(20, 40)), X, estimator=cw.SizedKMeans(2, random_state=0)).harm)


def test_kinds_that_the_method_does_not_use():
    X, y = two_blobs()
    found = check(Clues(60, avoid=y), X, estimator=cw.PCKMeans(2, random_state=0))
    assert (found.recommendation, found.unused, found.trial) == ("leave", ("avoid",), None)
    assert "PCKMeans does not use: avoid." in str(found)
    both = check(Clues(60, must=[(0, 2)], avoid=y), X, estimator=cw.PCKMeans(2, random_state=0))
    assert both.unused == ("avoid",)


def test_a_method_that_cannot_be_fitted_is_no_error():
    X, _ = two_blobs()
    few = check(Clues(60, must=[(0, 2)]), X, estimator=cw.PCKMeans(100))
    assert "even without clues" in few.trial.trouble
    assert (few.recommendation, np.isnan(few.harm)) == ("leave", True)
    clues = Clues(60, cannot=[(0, 1), (1, 2), (0, 2)])
    hard = check(clues, X, estimator=cw.COPKMeans(2, random_state=0))
    assert "with the clues" in hard.trial.trouble
    assert "needs 3 clusters" in hard.trial.trouble
    assert hard.recommendation == "soften"
    assert "COPKMeans was tried: it cannot cluster these rows with the clues" in str(hard)
    soft = check(clues, X, estimator=cw.PCKMeans(2, random_state=0), random_state=0)
    assert soft.satisfiable is False
    assert soft.trial.trouble == ""


def test_sizes_that_leave_no_room_for_any_number_of_clusters_are_to_be_changed():
    X, _ = two_blobs()
    found = check(Clues(60, sizes=(25, 25)), X, estimator=cw.Cluewise(random_state=0), random_state=0)
    assert "with the clues" in found.trial.trouble
    assert found.advice == "change the bounds on sizes, which have to hold, or the number of clusters."


def test_a_trial_that_only_fails_with_clues():
    X, _ = two_blobs()

    class Refuses(cw.PCKMeans):
        def fit(self, X, y=None, *, clues=None, sample_weight=None):
            if clues is not None and len(clues.must):
                raise ValueError("no must-links, please.")
            return super().fit(X, clues=clues)

    clues = Clues(60, must=[(0, 2)], cannot=[(0, 1), (4, 5)])
    found = check(clues, X, estimator=Refuses(2, random_state=0), random_state=0)
    assert (found.recommendation, found.advice) == ("soften", "use a soft method such as Cluewise.")

    class RefusesParts(cw.PCKMeans):
        def fit(self, X, y=None, *, clues=None, sample_weight=None):
            if clues is not None and len(clues.must) < 1:
                raise ValueError("where is my must-link?")
            return super().fit(X, clues=clues)

    parts = harm.try_out(RefusesParts(2, random_state=0), X, clues, np.random.default_rng(0))
    assert 0 < parts.splits < 10
    assert parts.trouble == ""


def test_many_rows_are_sampled():
    X, y = two_blobs(6000)
    clues = Clues.sample(y, pairs=3000, labels=50, random_state=0)
    model = cw.PCKMeans(2)
    found = check(clues, X, estimator=model, random_state=0)
    assert found.trial.rows == 2000
    assert "(on 2000 rows)" in str(found)
    again = check(clues, X, estimator=model, random_state=0)
    assert (again.harm, again.trial) == (found.harm, found.trial)
    labels = check(Clues(6000, labels=y), X, estimator=model, random_state=0)
    assert labels.trial.rows == 2000
    links = check(Clues.sample(y, pairs=100, random_state=0), X, estimator=model, random_state=0)
    assert links.trial.rows == 2000
    few = check(Clues(6000, labels=np.where(np.arange(6000) < 40, y, -1)), X, estimator=model, random_state=0)
    assert few.trial.rows == 2000


def test_a_method_that_estimates_harm_itself_is_fitted_twice():
    fits = []

    class Anxious(cw.PCKMeans):
        def fit(self, X, y=None, *, clues=None, sample_weight=None):
            fits.append(clues)
            super().fit(X, clues=clues)
            self.harm_, self.choice_ = 0.45, SimpleNamespace(reason="the worst was best")
            return self

    X, y = two_blobs()
    wrong = Clues.sample(y, pairs=60, noise=0.4, random_state=1)
    found = check(wrong, X, estimator=Anxious(2, penalty=50, random_state=0), random_state=0)
    assert len(fits) == 2
    assert (found.harm, found.harmful, found.trial.harm, found.trial.splits) == (0.45, True, 0.45, 0)
    assert "Probability that Anxious does worse with these clues than without: 45 %.\n  The worst was best." in str(
        found
    )
    assert harm.is_conclusive(found.trial)


def test_without_an_estimate_of_harm_nothing_is_advised():
    """Links that are nonsense, and must hold: nothing is held out that could tell."""
    X, y = two_blobs()
    nonsense = Clues(60, must=[(a, 59 - a) for a in range(25)], cannot=[(25, 34)])
    assert (y[nonsense.must[:, 0]] != y[nonsense.must[:, 1]]).any()
    found = check(nonsense, X, estimator=cw.Cluewise(2, hard=True, random_state=0), random_state=0)
    why = "clues that must hold are not held out to compare anything"
    assert found.trial.moved > 0.02
    assert (found.trial.harm_unknown, found.trial.splits) == (why, 0)
    assert np.isnan(found.harm)
    assert (found.harmful, found.recommendation) == (None, "unknown")
    assert "Whether Cluewise does worse with these clues than without is unknown.\n" in str(found)
    assert f"It was not estimated: {why}.\n" in str(found)
    assert str(found).endswith(f"Advice: none: harm was not estimated, as {why}.")


def test_inputs_of_any_kind_stay_as_they_are():
    X, y = two_blobs(30)
    labels = np.where(np.arange(30) < 10, y, -1)
    X.flags.writeable = False
    whole = check(labels, X, random_state=0)
    assert check(labels.tolist(), X.tolist(), random_state=0).harm == whole.harm
    assert check(labels, csr_matrix(X), random_state=0).coherence == whole.coherence
    assert check(labels).n_clusters == 2
    model = cw.PCKMeans(2)
    check(labels, X, estimator=model)
    assert not hasattr(model, "labels_")
    assert model.random_state is None
    with pytest.raises(ClueError):
        check(labels, X[:20])


def test_methods_without_seed_or_number_of_clusters():
    X, y = two_blobs(30)
    clues = Clues.sample(y, pairs=10, random_state=0)
    found = check(clues, X, estimator=cw.RDPMeans(cluster_cost=50.0), random_state=0)
    assert found.n_clusters is None
    assert found.trial.trouble == ""
    assert check(clues, X).trial is None
    asked = check(clues, X, estimator=cw.PCKMeans(random_state=0), n_clusters=2, random_state=0)
    assert asked.harm == check(clues, X, estimator=cw.PCKMeans(2, random_state=0), random_state=0).harm
    assert asked.n_clusters == 2
    with pytest.raises(ClueError, match="number of clusters"):
        check(clues, n_clusters=0)
    found = check(Clues(30, must=[(0, 1)]), X, estimator=cw.PKMeans(2, penalty=1, random_state=1), random_state=0)
    assert found.trial.splits == 0  # one clue cannot be held out of nothing
    apart = next(i for i in range(30) if y[i] != y[0])
    found = check(Clues(30, must=[(0, apart)]), X, estimator=cw.PKMeans(2, penalty=99, random_state=1), random_state=0)
    assert (found.trial.splits, found.trial.moved > 0) == (0, True)
    assert "No clues could be held out." in str(found)


def test_groups_of_one_row_say_nothing():
    X, _ = two_blobs()
    alone = np.where(np.arange(60) < 40, np.arange(60), -1)
    for kind in ("together", "apart"):
        found = check(Clues(60, **{kind: alone}), X, n_clusters=2, random_state=0)
        assert (found.trial.splits, found.trial.moved) == (0, 0.0)
    some = np.where(np.arange(60) < 55, np.arange(60), 55)
    assert check(Clues(60, together=some), X, n_clusters=2, random_state=0).trial.trouble == ""


def test_labels_of_one_class_tell_no_number_of_clusters():
    X, _ = two_blobs(30)
    found = check([0] * 5 + [-1] * 25, X)
    assert (found.n_clusters, found.trial) == (None, None)


@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        ((40, 60), "use fewer clusters, or allow smaller ones"),
        ((1, 10), "use more clusters, or allow larger ones"),
    ],
)
def test_bounds_on_sizes_that_cannot_be_kept(sizes, words):
    X, _ = two_blobs()
    found = check(Clues(60, sizes=sizes), X, estimator=cw.SizedKMeans(3))
    assert (found.satisfiable, found.recommendation) == (False, "soften")
    assert found.advice.startswith(words)
    whole = check(Clues(60, sizes=(19, 21), together=[0] * 30 + [-1] * 30), X, estimator=cw.PCCC(3))
    assert whole.advice.startswith("change the bounds on sizes or the number of clusters")


def test_what_cannot_be_checked_is_refused_in_a_sentence():
    X, y = two_blobs(30)
    for estimator, words in (
        (KMeans(2), r"estimator is KMeans\(.*\), which takes no clues"),
        (make_pipeline(StandardScaler(), cw.PCKMeans(2)), "estimator is a Pipeline; give its last step"),
        (cw.ClueSearchCV(cw.PCKMeans(2)), "estimator is a ClueSearchCV; give one of the methods"),
    ):
        with pytest.raises(TypeError, match=words):
            check(y, X, estimator=estimator)
    with pytest.raises(ClueError, match="clues is None"):
        check(None)


def test_right_clues_are_not_accused():
    X, y = two_blobs()
    found = check(Clues.sample(y, pairs=40, random_state=1), X, n_clusters=2, random_state=0)
    assert found.agreement > 0.9
    assert found.clashes
    assert "Clues that clash most" not in str(found)


def test_rows_that_hold_no_numbers_are_named():
    X, y = two_blobs(30)
    X[17, 1] = np.nan
    with pytest.raises(ValueError, match="in row 17"):
        check(Clues(30, must=[(0, 2)], cannot=[(0, 1)]), X, n_clusters=2)
    with pytest.raises(ValueError, match="in row 17"):
        check(y, X)


def test_identical_rows():
    clues = Clues(6, must=[(0, 1)], cannot=[(2, 3)])
    found = check(clues, np.zeros((6, 2)), estimator=cw.COPKMeans(2, random_state=0), random_state=0)
    assert found.agreement == 0.5
    assert found.clashes == ()


# --- the score --------------------------------------------------------------------------------------------


def trial(**known) -> Tryout:
    usual = {"rows": 10, "informativeness": 0.2, "splits": 10, "gain": 0.0, "error": 0.02, "moved": 0.3, "strain": 0.0}
    return Tryout(**(usual | known))


def test_the_score_falls_with_evidence_and_news_and_rises_with_strain():
    clues = Clues(4, must=[(0, 1)])

    def harm_of(**known):
        return judge_harm(trial(**known), clues)["harm"]

    assert harm_of(gain=0.1) < harm_of(gain=0.0) < harm_of(gain=-0.1)
    assert harm_of(gain=-0.1, error=0.02) > harm_of(gain=-0.1, error=0.2)  # the same gain, less sure
    assert harm_of(gain=5.0) == harm_of(gain=6.0)
    assert harm_of(strain=-0.1) < harm_of(strain=0.0) < harm_of(strain=0.1)
    assert harm_of(strain=5.0) == harm_of(strain=0.2)
    assert harm_of(informativeness=0.5) < harm_of(informativeness=0.1)
    seen = {"evidence": 0.05 / 0.03, "strain": 0.1, "news": 0.2}
    by_hand = harm.INTERCEPT + sum(harm.WEIGHTS[name] * value for name, value in seen.items())
    assert harm_of(gain=0.05, strain=0.1) == pytest.approx(1 / (1 + np.exp(-by_hand)))


def test_the_weights_are_those_that_the_experiment_found():
    page = (Path(__file__).parents[1] / "experiments" / "results" / "harm.md").read_text("utf-8")
    found = {name: float(value) for name, value in re.findall(r"^\| (\w+) \| (-?\d+\.\d\d) \|$", page, flags=re.M)}
    assert found == harm.WEIGHTS | {"intercept": harm.INTERCEPT}
    count, said, was, area, brier, constant = map(
        float, re.search(r"^\| all \|(.*)\|$", page, flags=re.M)[1].split("|")
    )
    assert (count, abs(said - was) <= 10, area >= 0.75, brier < constant) == (544, True, True, True)
    off = [int(by) for by in re.findall(r"^\| not used \| \d \|.*\| ([+-]\d+) \|$", page, flags=re.M)]
    assert len(off) == 5
    assert max(map(abs, off[:4])) <= 10
    assert "in the highest fifth it is too low" in " ".join(check.__doc__.split())  # off by more than 10
    for number in ("34 other", "544 cases", f"{was:.0f} %", f"{area:.2f}", f"{brier:.3f}", f"{constant:.3f}"):
        assert number in check.__doc__


def test_the_verdict():
    clues = Clues(4, must=[(0, 1)])

    def said(**known):
        return judge_harm(trial(**known), clues)

    assert said(gain=-0.3, strain=0.2)["harmful"] is True
    assert said(gain=0.3)["harmful"] is False
    assert (said(moved=0.0)["harm"], said(moved=0.0)["reasons"]) == (0.0, (harm.UNCHANGED,))
    assert (said(moved=0.02, gain=-0.3)["harm"], said(moved=0.02)["reasons"]) == (0.0, (harm.HARDLY,))
    assert said(moved=0.0, gain=np.nan, splits=0)["harmful"] is False
    for nothing in ({"trouble": "no"}, {"splits": 4}, {"splits": 0, "gain": np.nan, "error": np.nan}):
        found = said(**nothing)
        assert np.isnan(found["harm"])
        assert (found["harmful"], found["features"]) == (None, {})
    assert judge_harm(trial(), Clues(4, sizes=(1, 3)))["harmful"] is None


def test_too_few_clues_to_tell():
    X, y = two_blobs(30)
    apart = np.flatnonzero(y != y[0])
    clues = Clues(30, must=[(0, apart[0]), (0, apart[1])])
    found = check(clues, X, estimator=cw.PKMeans(2, penalty=99, random_state=1), random_state=0)
    assert found.trial.moved > 0
    assert np.isnan(found.harm)
    assert (found.harmful, found.recommendation) == (None, "ask")
    assert "Too few clues can be held out to tell whether PKMeans does worse with them than without." in str(found)
    assert "Probability" not in str(found)


def test_each_row_with_clues_is_held_out_once():
    X, y = two_blobs()
    fits = []

    class Noted(cw.PCKMeans):
        def fit(self, X, y=None, *, clues=None, sample_weight=None):
            fits.append(clues)
            return super().fit(X, clues=clues)

    clues = Clues(60, labels=np.where(np.arange(60) < 20, y, -1))
    tried = harm.try_out(Noted(2, random_state=0), X, clues, np.random.default_rng(0))
    told = [np.flatnonzero(given.labels >= 0) for given in fits[2:]]
    held = np.concatenate([np.setdiff1d(np.arange(20), rows) for rows in told])
    assert tried.splits == 10
    assert sorted(held.tolist()) == list(range(20))


def test_words_of_the_verdict():
    X, y = two_blobs()
    found = check(Clues.sample(y, pairs=20, random_state=0), X, n_clusters=2, random_state=0)
    parts = {name: getattr(found, name) for name in found.__dataclass_fields__}
    say = lambda **known: _say(parts | {"agreement": 0.9, "coverage": 0.5} | known)  # noqa: E731
    moved = trial(gain=0.1)
    assert say(trial=moved, harm=0.1, harmful=False) == ("use", "use them.")
    assert say(trial=moved, harm=0.1, harmful=False, coverage=0.01)[1].endswith("would help more.")
    assert say(trial=moved, harm=0.7, harmful=True)[0] == "leave"
    assert say(trial=moved, harm=0.7, harmful=True, agreement=0.3)[1].startswith(
        "leave them out, repair them, or choose other columns"
    )
    assert say(trial=moved, harm=0.7, harmful=True, model=cw.COPKMeans(2))[0] == "soften"
    # Distances mislead: a gain on held-out clues within its error is no reason to use them.
    faint, clear = trial(gain=0.01, strain=0.1), trial(gain=0.1, strain=0.1)
    assert say(trial=faint, harm=0.3, harmful=False, agreement=0.1)[0] == "leave"
    assert say(trial=faint, harm=0.3, harmful=False, agreement=0.6)[0] == "use"
    assert say(trial=clear, harm=0.3, harmful=False, agreement=0.1)[0] == "use"
    assert say(trial=trial(gain=0.01), harm=0.3, harmful=False, agreement=0.1)[0] == "use"
    unknown = trial(gain=np.nan, strain=0.1, moved=0.015)
    assert say(trial=unknown, harm=0.0, harmful=False, agreement=0.1)[0] == "leave"
    assert say(trial=trial(splits=2), harm=np.nan, harmful=None, reasons=("few",))[0] == "ask"
    assert harm._reasons(trial(gain=-0.02, splits=4, strain=-0.1))[:2] == (
        "Held-out clues are predicted worse with the other clues than without (2.0 ± 2.0 points in 4 splits).",
        "The clusters become 9.5 % tighter (sum of squares).",
    )
    assert "(0.03 ± 2.0 points in 4 splits)" in harm._reasons(trial(gain=-0.0003, splits=4))[0]


def _say(parts):
    model = parts.pop("model", cw.PCKMeans(2))
    return recommend(parts, model)


def test_wine_as_in_the_documentation():
    wine = load("wine", standardize=True)
    clues = Clues.sample(wine.y, pairs=60, random_state=0)
    found = check(clues, wine.X, estimator=cw.PCKMeans(3, random_state=0), random_state=0)
    assert (found.satisfiable, found.harmful) == (True, False)
    assert found.coverage == 87 / 178
    assert found.informativeness == pytest.approx(1 / 60)
