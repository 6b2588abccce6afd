"""Error rates of sources: learned from who agrees with whom, for yes and no apart."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cluewise import Clues
from cluewise.active import Answer, Question, SimulatedOracle, reliability

CROWD = {"ann": (0.05, 0.1), "bob": (0.1, 0.05), "cat": (0.15, 0.15)}  # wrong yes, wrong no
ODD = {"spammer": (0.5, 0.5), "merger": (0.6, 0.02), "splitter": (0.02, 0.6), "adversary": (0.9, 0.9)}


def ask(people, seed, n_pairs=400, overlap=1.0):
    """Answers of simulated workers about pairs of 60 rows in four classes, and the truth."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=60)
    every = np.column_stack(np.triu_indices(60, 1))
    pairs = every[rng.choice(len(every), n_pairs, replace=False)]
    truth = {(int(i), int(j)): bool(y[i] == y[j]) for i, j in pairs}
    said = []
    for who, (wrong_yes, wrong_no) in people.items():
        for pair, same in truth.items():
            if rng.random() < overlap:
                wrong = rng.random() < (wrong_no if same else wrong_yes)
                said.append(Answer(Question("pair", pair), same != wrong, who))
    return said, truth


def accuracy(together, pairs, truth):
    return np.mean([(p > 0.5) == truth[tuple(pair)] for p, pair in zip(together, pairs.tolist())])


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(sorted(ODD)))
def test_rates_of_every_kind_of_worker_are_found(seed, odd):
    people = {**CROWD, odd: ODD[odd]}
    said, truth = ask(people, seed)
    found = reliability(said)
    for source in found.sources:
        # About 130 pairs belong together and 270 do not: the standard errors are at most .044 and .03.
        assert source.wrong_yes == pytest.approx(people[source.who][0], abs=0.13)
        assert source.wrong_no == pytest.approx(people[source.who][1], abs=0.18)
        assert source.answers == len(truth)
    assert accuracy(found.together, found.pairs, truth) > 0.95


def test_two_of_five_who_are_wrong_do_not_win():
    """An adversary and one who joins everything: the majority errs far more often than the posterior."""
    people = {**CROWD, "adversary": ODD["adversary"], "merger": ODD["merger"]}
    gain = []
    for seed in range(5):
        said, truth = ask(people, seed)
        found = reliability(said)
        votes = dict.fromkeys(truth, 0)
        for answer in said:
            votes[answer.question.rows] += 1 if answer.value else -1
        majority = np.mean([(count > 0) == truth[pair] for pair, count in votes.items()])
        gain.append(accuracy(found.together, found.pairs, truth) - majority)
    assert min(gain) > 0
    assert np.mean(gain) > 0.05


def test_probabilities_are_calibrated():
    said, truth = ask(
        {"ann": (0.2, 0.2), "bob": (0.1, 0.3), "cat": (0.3, 0.1), "dan": (0.2, 0.2)}, 3, 1500, overlap=0.7
    )
    found = reliability(said)
    is_true = np.array([truth[tuple(pair)] for pair in found.pairs.tolist()])
    for low, high in ((0.0, 0.2), (0.2, 0.5), (0.5, 0.8), (0.8, 1.0)):
        some = (found.together >= low) & (found.together <= high)
        assert is_true[some].mean() == pytest.approx(found.together[some].mean(), abs=0.12)


def test_the_log_odds_by_hand():
    """At the fixed point, a probability follows from the rates by the formula of the docstring."""
    said, _ = ask(CROWD, 0, 50)
    found = reliability(said)
    rate = {source.who: source for source in found.sources}
    for x in range(3):
        pair = tuple(found.pairs[x].tolist())
        logs = np.log(found.share / (1 - found.share))
        for answer in said:
            if answer.question.rows == pair:
                a, b = rate[answer.who].wrong_yes, rate[answer.who].wrong_no
                logs += np.log((1 - b) / a) if answer.value else np.log(b / (1 - a))
        assert found.together[x] == pytest.approx(1 / (1 + np.exp(-logs)), abs=1e-4)


def test_clusters_judge_a_single_source():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=60)
    pairs = [tuple(map(int, rng.choice(60, 2, replace=False))) for _ in range(400)]
    said = SimulatedOracle(y, error_rate=0.3, random_state=0)([Question("pair", pair) for pair in pairs])
    noisy = np.where(rng.random(60) < 0.05, (y + 1) % 3, y)
    found = reliability(said, labels=noisy)
    clusters, person = found.sources
    assert (clusters.who, person.who) == ("clusters", "simulated")
    assert person.wrong_yes > clusters.wrong_yes
    truth = {pair: bool(y[pair[0]] == y[pair[1]]) for pair in map(tuple, found.pairs.tolist())}
    assert accuracy(found.together, found.pairs, truth) > 0.85
    assert accuracy(reliability(said).together, found.pairs, truth) < 0.75


def test_clues_have_confidences():
    said = [Answer(Question("group", (0, 1, 2)), [[0, 1], [2]], who) for who in ("ann", "bob")]
    said += [Answer(Question("pair", (3, 4)), True, "ann"), Answer(Question("pair", (3, 4)), False, "bob")]
    found = reliability(said)
    clues = found.clues(5)
    assert isinstance(clues, Clues)
    assert clues.must.tolist() == [[0, 1]]
    assert {(0, 2), (1, 2)} <= set(map(tuple, clues.cannot.tolist()))
    assert clues.must_confidence[0] == pytest.approx(found.together[found.pairs.tolist().index([0, 1])])
    assert clues.must_source[0] == "ann, bob"
    assert (clues.cannot_confidence > 0.5).all()


def test_what_is_left_out():
    pair = Question("pair", (3, 1))
    said = [
        Answer(pair, None, "ann"),
        Answer(pair, True),
        Answer(pair, True, Answer.INFERRED),
        Answer(Question("label", (1,)), "x", "ann"),
    ]
    found = reliability(said)
    assert found.sources == ()
    assert found.clues(4) == Clues(4)
    assert str(found).strip() == "answers  wrong yes  wrong no"
    assert reliability([*said, Answer(pair, False, "bob")]).pairs.tolist() == [[1, 3]]
