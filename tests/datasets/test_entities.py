"""Records of people: who is who, what typos do, and which pairs are worth comparing."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from cluewise.datasets import DatasetError, Entities, make_entities
from cluewise.datasets._entities import _compare, _letters, _mistype, _reverse


def distance(a, b):
    """Edits, with swaps of neighbors, that turn one text into the other."""
    table = np.zeros((len(a) + 1, len(b) + 1), int)
    table[:, 0], table[0, :] = range(len(a) + 1), range(len(b) + 1)
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            options = [table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + (a[i - 1] != b[j - 1])]
            if i > 1 and j > 1 and a[i - 1] == b[j - 2] and a[i - 2] == b[j - 1]:
                options.append(table[i - 2, j - 2] + 1)
            table[i, j] = min(options)
    return table[-1, -1]


def test_sources_list_each_person_once():
    records = make_entities(2000, n_sources=5, random_state=0)
    assert len(records.truth) == len(records.source) == 2000
    assert len(set(zip(records.truth.tolist(), records.source.tolist()))) == 2000
    assert set(records.source) == set(range(5))
    assert set(records.truth) == set(range(records.truth.max() + 1))
    assert np.bincount(records.truth).max() == 5
    assert {len(texts) for texts in records.columns.values()} == {2000}


def test_seeds():
    first, again, other = (make_entities(100, random_state=seed) for seed in (0, 0, 1))
    for name, texts in first.columns.items():
        assert_array_equal(texts, again.columns[name])
    assert_array_equal(first.truth, again.truth)
    assert (first.columns["phone"] != other.columns["phone"]).any()


def test_without_typos_a_person_has_one_name():
    records = make_entities(1000, typos=0, missing=0, random_state=0)
    for name in ("first", "last", "born", "phone"):
        assert len(set(zip(records.truth.tolist(), records.columns[name].tolist()))) == records.truth.max() + 1
    homes = set(zip(records.truth.tolist(), records.columns["town"].tolist()))
    assert len(homes) >= records.truth.max() + 1  # some have moved
    assert not any((texts == "").any() for texts in records.columns.values())


def test_households_share_names_and_addresses():
    records = make_entities(3000, typos=0, missing=0, random_state=0)
    home = np.char.add(records.columns["town"], records.columns["street"])
    shared = 0
    for place in np.unique(home):
        here = home == place
        if len(np.unique(records.truth[here])) > 1:
            shared += len(np.unique(records.columns["last"][here])) == 1
    assert shared > 100


def test_shares_of_typos_and_gaps():
    clean = make_entities(5000, typos=0, missing=0, random_state=0)
    gaps = make_entities(5000, typos=0, missing=0.2, random_state=0)
    for name, texts in gaps.columns.items():
        assert (texts == "").mean() == pytest.approx(0.2, abs=0.02)
        assert (clean.columns[name] != "").all()


def test_a_typo_is_one_edit():
    rng = np.random.default_rng(0)
    texts = np.array(["anna", "bo", "maximilian", "c3", "12345"] * 40)
    letters, length = _letters(texts)
    wrong = _mistype(np.pad(letters, [(0, 0), (0, 1)]), length, rng)
    found = wrong.reshape(-1).view(f"S{wrong.shape[1]}").astype("U")
    edits = [distance(a, b) for a, b in zip(texts, found)]
    assert set(edits) == {0, 1}  # a letter may be replaced by itself, or two equal ones swapped
    assert np.mean(edits) > 0.8
    assert {len(b) - len(a) for a, b in zip(texts, found)} == {-1, 0, 1}


def test_comparisons_are_those_of_the_edit_distance():
    rng = np.random.default_rng(0)
    texts = np.array(["", *("".join(rng.choice(list("ab"), rng.integers(1, 6))) for _ in range(60))])
    pairs = np.array(list(combinations(range(61), 2)))
    letters, length = _letters(texts)
    found = _compare(letters, _reverse(letters, length), length, *pairs.T)
    for (i, j), level in zip(pairs, found):
        edits = distance(texts[i], texts[j])
        expected = 3 if not (texts[i] and texts[j]) else {0: 2, 1: 1}.get(edits, 0)
        assert level == expected, (texts[i], texts[j])


def test_compare_in_chunks(monkeypatch):
    from cluewise.datasets import _entities

    records = make_entities(60, random_state=0)
    pairs = np.array(list(combinations(range(60), 2)))
    whole = records.compare(pairs)
    assert whole.shape == (len(pairs), 6)
    monkeypatch.setattr(_entities, "CHUNK", 100)
    assert_array_equal(records.compare(pairs), whole)


def test_blocks_are_pairs_with_a_common_key():
    records = make_entities(300, typos=0.3, missing=0.1, random_state=0)
    c = records.columns
    keys = (
        (c["phone"],),
        (c["born"], c["first"].astype("U3"), c["last"].astype("U3")),
        (c["town"], c["last"].astype("U2")),
        (c["town"], c["street"]),
    )
    expected = set()
    for key in keys:
        same = np.all([(k[:, None] == k) & (k != "") for k in key], axis=0)
        expected |= set(map(tuple, np.argwhere(np.triu(same, 1)).tolist()))
    assert set(map(tuple, records.block(max_block=300).tolist())) == expected
    assert len(records.block(max_block=2)) < len(expected)
    assert len(make_entities(1, random_state=0).block()) == 0


def test_scores_are_naive_bayes():
    columns = {"name": np.array(["ann", "ann", "bob", "", "eve"])}
    truth = np.array([0, 0, 1, 2, 3])

    class Known(Entities):
        def block(self, *, max_block=100):
            return np.array([(0, 1), (0, 2), (0, 3), (1, 2)])

    training = Known(columns, np.zeros(5, int), truth)
    # Levels: equal, different, missing, different; one is a match, with one added to each count.
    odds = (2 / 4) * np.array([(2 / 5) / (1 / 7), (1 / 5) / (3 / 7), (1 / 5) / (2 / 7)])
    found = training.score(np.array([(0, 1), (0, 4), (0, 3)]), training)
    np.testing.assert_allclose(found, odds / (1 + odds))


BAD = {
    "n_records is 0; it must be an integer of at least 1.": {"n_records": 0},
    "n_sources is 6; it must be an integer from 2 to 5.": {"n_sources": 6},
    "typos is -0.1; it must be from 0 to 1.": {"typos": -0.1},
    "missing is '5 %'; it must be from 0 to 1.": {"missing": "5 %"},
}


@pytest.mark.parametrize(("words", "change"), BAD.items())
def test_bad_arguments(words, change):
    with pytest.raises(DatasetError) as error:
        make_entities(**change)
    assert str(error.value) == words
