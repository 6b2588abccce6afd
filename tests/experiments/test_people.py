"""Clues as people give them: each habit draws what its name says."""

import numpy as np
import people
import pytest

RNG = np.random.default_rng(0)
Y = np.repeat(np.arange(4), 30)
X = np.array([(0, 0), (0, 3), (9, 0), (9, 6)])[Y] + RNG.normal(size=(120, 2))


def draw(setting, seed=0):
    task = people.Task(X, Y, np.random.default_rng(seed))
    return people.HABITS[setting].draw(task)


@pytest.mark.parametrize("setting", list(people.HABITS))
def test_a_habit_knows_which_of_its_clues_are_wrong(setting):
    given = draw(setting)
    clues = given.clues
    assert clues.kinds
    links = [Y[pairs[:, 0]] == Y[pairs[:, 1]] for pairs in (clues.must, clues.cannot)]
    wrong = np.concatenate([~links[0], links[1]])
    if len(wrong):
        np.testing.assert_array_equal(given.wrong, wrong)
        assert given.right == pytest.approx(1 - wrong.mean())
    assert not given.judged[clues.labels >= 0].any()  # rows with labels are not judged


def test_some_classes_have_labels_and_others_none():
    for setting, classes in (("15 % labels of half of the classes", 2), ("20 % labels of one class", 1)):
        labels = draw(setting).clues.labels
        assert len(np.unique(labels[labels >= 0])) == classes


def test_look_alike_classes_are_the_nearest():
    given = draw("n/2 pairs of two look-alike classes").clues
    assert set(Y[np.concatenate([given.must, given.cannot]).ravel()]) == {0, 1}
    coarse = draw("15 % labels, coarser than the truth").clues
    names = [set(coarse.labels[(c == Y) & (coarse.labels >= 0)]) for c in range(4)]
    assert names[0] == names[1] != names[2] == names[3]


def test_links_of_one_kind_groups_and_near_pairs():
    assert draw("n/2 must-links").clues.kinds == {"must"}
    assert draw("n/2 cannot-links").clues.kinds == {"cannot"}
    (groups,) = draw("ten groups of eight").clues.together
    assert len(groups.sizes) == 10
    assert groups.sizes.max() == 8
    assert all(len(set(Y[groups.codes == number])) == 1 for number in range(10))
    near, any_ = (draw(f"n/2 {kind} pairs").clues for kind in ("near", "random"))

    def spread(clues):
        ends = np.concatenate([clues.must, clues.cannot])
        return np.linalg.norm(X[ends[:, 0]] - X[ends[:, 1]], axis=1).mean()

    assert 3 * spread(near) < spread(any_)


def test_sources_and_confidences():
    both = draw("n/2 right, and n of which 40 % are wrong").clues
    assert {"ann", "bob"} <= set(both.must_source)
    told, silent = (draw(f"n pairs, half of them unsure, {how}").clues for how in ("told", "not told"))
    assert set(np.round(told.must_confidence, 2)) == {0.6, 0.98}
    assert np.isnan(silent.must_confidence).all()


def test_runs_are_kept_and_reported(tmp_path, capsys):
    path, words = tmp_path / "people.csv", ["--sets", "iris", "--methods", "KMeans", "Cluewise*"]
    words += ["--settings", "ten*", "--csv", str(path)]
    people.main(["run", *words])
    once = path.read_text("utf-8")
    assert len(once.splitlines()) == 4
    people.main(["run", *words])  # nothing is run twice
    assert path.read_text("utf-8") == once
    capsys.readouterr()
    people.main(["report", *words])
    table = capsys.readouterr().out.splitlines()
    assert table[-1].startswith("| ten groups of eight | ")
    people.main(["drop", *words])
    with pytest.raises(SystemExit, match="nothing of this was run"):
        people.main(["report", *words])
