"""Records of people in several sources: typos, households, gaps, and the truth about who is who."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral, Real

import numpy as np
from numpy.random import Generator, RandomState

from cluewise._typing import Array, Floats, Ints
from cluewise.datasets._dataset import DatasetError, make_generator

__all__ = ["Entities", "make_entities"]

DIFFERENT, SIMILAR, EQUAL, MISSING = range(4)
"""How two texts compare."""

CHUNK = 500_000
"""Pairs that are compared at once."""


@dataclass(frozen=True, eq=False, repr=False)
class Entities:
    """Records of people, from several sources that list each person at most once.

    Parameters
    ----------
    columns : dict of str to ndarray of shape (n,)
        Texts by the name of the column; an empty text is missing.
    source : ndarray of shape (n,)
        Number of the source of each record.
    truth : ndarray of shape (n,)
        Number of the person that each record is about.

    Examples
    --------
    >>> from cluewise.datasets import make_entities
    >>> records = make_entities(500, random_state=0)
    >>> records
    Entities(500 records of 257 people in 3 sources)
    >>> pairs = records.block()
    >>> probability = records.score(pairs, make_entities(500, random_state=1))
    >>> same = records.truth[pairs[:, 0]] == records.truth[pairs[:, 1]]
    >>> bool(probability[same].mean() > 0.8 > 0.2 > probability[~same].mean())
    True
    """

    columns: Mapping[str, Array]
    source: Ints
    truth: Ints

    def __repr__(self) -> str:
        people, sources = len(np.unique(self.truth)), len(np.unique(self.source))
        return f"Entities({len(self.truth)} records of {people} people in {sources} sources)"

    def block(self, *, max_block: int = 100) -> Ints:
        """Pairs of records worth comparing: they agree in one of four simple keys.

        The keys are the phone number; the year of birth with three letters of the first and of the last name; the town
        with two letters of the last name; and the town with the street.

        Parameters
        ----------
        max_block : int, default=100
            A key that more records than this share is left out.

        Returns
        -------
        ndarray of shape (m, 2)
            Pairs of records, each once and sorted.
        """
        first, last, town = (self.columns[name] for name in ("first", "last", "town"))
        keys = (
            (self.columns["phone"],),
            (self.columns["born"], first.astype("U3"), last.astype("U3")),
            (town, last.astype("U2")),
            (town, self.columns["street"]),
        )
        n = len(self.truth)
        codes = [_pairs_of_block(_codes(key), max_block) for key in keys]
        code = np.unique(np.concatenate([pairs[:, 0] * n + pairs[:, 1] for pairs in codes]))
        return np.column_stack(np.divmod(code, n))

    def compare(self, pairs: Ints) -> Ints:
        """Compare the columns of pairs of records.

        Parameters
        ----------
        pairs : ndarray of shape (m, 2)
            Pairs of records.

        Returns
        -------
        ndarray of shape (m, n_columns)
            0 if two texts differ, 1 if they are similar (one letter changed, missing or added, or two neighbors
            swapped), 2 if they are equal, 3 if one of them is missing.
        """
        levels = np.empty((len(pairs), len(self.columns)), dtype=np.int8)
        for column, texts in enumerate(self.columns.values()):
            forward, length = _letters(texts)
            backward = _reverse(forward, length)
            for start in range(0, len(pairs), CHUNK):
                some = slice(start, start + CHUNK)
                levels[some, column] = _compare(forward, backward, length, *pairs[some].T)
        return levels

    def score(self, pairs: Ints, training: Entities) -> Floats:
        """Probability that pairs of records are about one person.

        Columns are taken as independent given the answer, as tools for record linkage do; what each comparison says
        is learned from other records whose truth is known. So members of a household, who agree in several columns,
        get scores that are too high.

        Parameters
        ----------
        pairs : ndarray of shape (m, 2)
            Pairs of records.
        training : Entities
            Records with known truth.

        Returns
        -------
        ndarray of shape (m,)
            The probabilities.
        """
        known = training.block()
        levels = training.compare(known)
        same = training.truth[known[:, 0]] == training.truth[known[:, 1]]
        odds = np.full(len(pairs), np.log((same.sum() + 1) / ((~same).sum() + 1)))
        found = self.compare(pairs)
        for column in range(levels.shape[1]):
            rates = [np.bincount(levels[side, column], minlength=4) + 1.0 for side in (same, ~same)]
            evidence = np.log(rates[0] / rates[0].sum()) - np.log(rates[1] / rates[1].sum())
            odds += evidence[found[:, column]]
        return 1 / (1 + np.exp(-odds))


def make_entities(
    n_records: int = 1000,
    *,
    n_sources: int = 3,
    typos: float = 0.1,
    missing: float = 0.05,
    random_state: int | Generator | RandomState | None = None,
) -> Entities:
    """Draw records of people who appear in several sources, for record linkage.

    People live in households of one to five, which share a town, a street and mostly a last name and a phone number;
    some have the first name of another member. A source lists each person with probability 1/2, and a tenth of the
    records have another address.

    Parameters
    ----------
    n_records : int, default=1000
        Number of records.
    n_sources : int, default=3
        Number of sources, from 2 to 5.
    typos : float, default=0.1
        Share of the texts with a typo: a letter that is changed, missing or added, or two that are swapped.
    missing : float, default=0.05
        Share of the texts that are missing.
    random_state : int, Generator, RandomState or None, default=None
        Seed.

    Returns
    -------
    Entities
        The records in random order, their sources, and who they are about.

    Examples
    --------
    >>> from cluewise.datasets import make_entities
    >>> records = make_entities(6, random_state=0)
    >>> sorted(records.columns)
    ['born', 'first', 'last', 'phone', 'street', 'town']
    >>> records.source.tolist(), records.truth.tolist()
    ([1, 2, 0, 1, 0, 1], [0, 1, 2, 3, 1, 1])
    """
    if not isinstance(n_records, Integral) or n_records < 1:
        raise DatasetError(f"n_records is {n_records!r}; it must be an integer of at least 1.")
    if not isinstance(n_sources, Integral) or not 2 <= n_sources <= 5:
        raise DatasetError(f"n_sources is {n_sources!r}; it must be an integer from 2 to 5.")
    for name, share in (("typos", typos), ("missing", missing)):
        if not isinstance(share, Real) or not 0 <= share <= 1:
            raise DatasetError(f"{name} is {share!r}; it must be from 0 to 1.")
    rng = make_generator(random_state)
    n = int(n_records)
    person, source = _listings(n, int(n_sources), rng)
    household = _households(n, rng)
    people = _people(household, max(n // 2200, 1), rng)
    columns = {name: texts[person] for name, texts in people.items()}
    moved = rng.random(n) < 0.1
    elsewhere = rng.integers(n, size=n)
    for name in ("town", "street"):
        columns[name] = np.where(moved, people[name][elsewhere], columns[name])
    order = rng.permutation(n)
    spoiled = {name: _spoil(texts[order], typos, missing, rng) for name, texts in columns.items()}
    _, truth = np.unique(_by_appearance(person[order]), return_inverse=True)
    return Entities(spoiled, source[order], truth)


def _by_appearance(codes: Ints) -> Ints:
    _, first, code = np.unique(codes, return_index=True, return_inverse=True)
    return first[code]


# --- people -------------------------------------------------------------------------------------------------------


def _listings(n: int, n_sources: int, rng: Generator) -> tuple[Ints, Ints]:
    """Person and source of n records: each source lists a person with probability 1/2, and one at least does."""
    listed = rng.random((n, n_sources)) < 0.5
    listed[np.arange(n), rng.integers(n_sources, size=n)] = True
    person, source = np.nonzero(listed)
    return person[:n], source[:n]


def _households(n: int, rng: Generator) -> Ints:
    """Household of each of n people, who follow one another."""
    size = rng.choice([1, 2, 3, 4, 5], p=[0.35, 0.3, 0.15, 0.15, 0.05], size=n)
    return np.repeat(np.arange(n), size)[:n]


def _people(household: Ints, n_towns: int, rng: Generator) -> dict[str, Array]:
    """Texts of each person."""
    n = len(household)
    first_names, last_names = _names(1000, 3, rng), _names(4000, 4, rng)
    towns, streets = _names(n_towns, 4, rng), _names(400, 4, rng)
    first, last, phone = _draw(1000, n, rng), _draw(4000, n, rng), rng.integers(10**8, 10**9, size=n)
    namesake = (rng.random(n) < 0.05) & (np.diff(household, prepend=-1) == 0)
    first[namesake] = first[np.flatnonzero(namesake) - 1]
    last = np.where(rng.random(n) < 0.85, last[household], last)
    phone = np.where(rng.random(n) < 0.6, phone[household], phone)
    number = rng.integers(1, 90, size=n).astype("U2")
    street = np.char.add(np.char.add(streets[_draw(400, n, rng)], " "), number)
    return {
        "first": first_names[first],
        "last": last_names[last],
        "born": rng.integers(1930, 2010, size=n).astype("U4"),
        "town": towns[rng.integers(n_towns, size=n)[household]],
        "street": street[household],
        "phone": phone.astype("U9"),
    }


def _draw(count: int, n: int, rng: Generator) -> Ints:
    """Numbers below ``count``, small ones more often: some names are frequent."""
    return (count * rng.random(n) ** 2).astype(np.int64)


def _names(count: int, syllables: int, rng: Generator) -> Array:
    """Invented names of two or more syllables, from frequent to rare."""
    parts = np.char.add(
        rng.choice(list("bdfghklmnprstvw"), (count, syllables)), rng.choice(list("aeiou"), (count, syllables))
    )
    keep = np.arange(syllables) < rng.integers(2, syllables + 1, size=(count, 1))
    name = np.full(count, "", dtype=f"U{2 * syllables}")
    for column in range(syllables):
        name = np.char.add(name, np.where(keep[:, column], parts[:, column], ""))
    return name


# --- typos --------------------------------------------------------------------------------------------------------


def _letters(texts: Array) -> tuple[Ints, Ints]:
    """Texts as a matrix of codes, 0 behind the end, and their lengths."""
    stored = texts.astype("S")
    letters = np.frombuffer(stored.tobytes(), np.uint8).reshape(len(stored), -1)
    return letters, np.count_nonzero(letters, axis=1)


def _spoil(texts: Array, typos: float, missing: float, rng: Generator) -> Array:
    """Texts of which some have a typo and some are missing."""
    letters, length = _letters(texts)
    letters = np.pad(letters, [(0, 0), (0, 1)])
    some = np.flatnonzero(rng.random(len(texts)) < typos)
    letters[some] = _mistype(letters[some], length[some], rng)
    letters[rng.random(len(texts)) < missing] = 0
    return letters.reshape(-1).view(f"S{letters.shape[1]}").astype("U")


def _mistype(letters: Ints, length: Ints, rng: Generator) -> Ints:
    """Change, drop or add a letter of each text, or swap two neighbors."""
    n, width = letters.shape
    kind = rng.integers(4, size=(n, 1))
    at = (rng.random(n) * (length - 1)).astype(np.int64)[:, None]
    place = np.arange(width)[None, :]
    taken = place + ((kind == 1) & (place >= at)) - ((kind == 2) & (place > at))
    taken = np.where((kind == 3) & (place == at), at + 1, np.where((kind == 3) & (place == at + 1), at, taken))
    spoiled = np.take_along_axis(letters, np.minimum(taken, width - 1), axis=1)
    digits = (letters[:, :1] >= 48) & (letters[:, :1] < 58)
    new = np.where(digits, rng.integers(48, 58, size=(n, 1)), rng.integers(97, 123, size=(n, 1)))
    change = (place == at) & (kind == 0) | (place == at + 1) & (kind == 2)
    return np.where(change, new, spoiled).astype(np.uint8)


# --- pairs --------------------------------------------------------------------------------------------------------


def _codes(columns: tuple[Array, ...]) -> Ints:
    """Number of each combination of texts, −1 where one is missing."""
    code, gap = np.zeros(len(columns[0]), np.int64), np.zeros(len(columns[0]), bool)
    for texts in columns:
        names, number = np.unique(texts, return_inverse=True)
        code = code * len(names) + number
        gap |= texts == ""
    return np.where(gap, -1, np.unique(code, return_inverse=True)[1])


def _pairs_of_block(code: Ints, most: int) -> Ints:
    """Pairs of records with one code, unless too many share it."""
    size = np.bincount(code[code >= 0], minlength=1)
    rows = np.flatnonzero((code >= 0) & (size[code] <= most))
    rows = rows[np.argsort(code[rows], kind="stable")]
    found = [np.empty((0, 2), np.int64)]
    for step in range(1, int(size[size <= most].max(initial=0))):
        same = code[rows[step:]] == code[rows[:-step]]
        found.append(np.column_stack([rows[:-step][same], rows[step:][same]]))
    return np.concatenate(found)


def _reverse(letters: Ints, length: Ints) -> Ints:
    """Letters from the last to the first."""
    place = length[:, None] - 1 - np.arange(letters.shape[1])
    return np.where(place >= 0, np.take_along_axis(letters, np.maximum(place, 0), axis=1), 0).astype(np.uint8)


def _compare(forward: Ints, backward: Ints, length: Ints, a: Ints, b: Ints) -> Ints:
    """How pairs of texts compare."""
    level = np.where((forward[a] == forward[b]).all(axis=1), EQUAL, DIFFERENT).astype(np.int8)
    level[(length[a] == 0) | (length[b] == 0)] = MISSING
    rest = np.flatnonzero(level == DIFFERENT)
    a, b = a[rest], b[rest]
    start, end = (_agree(letters[a], letters[b]) for letters in (forward, backward))
    swapped = (length[a] == length[b]) & (start + end == length[a] - 2) & _crosswise(forward[a], forward[b], start)
    # In "bba" and "bbaaa" both ends agree beyond the shorter text, though two letters are missing.
    one = (start + end >= np.maximum(length[a], length[b]) - 1) & (np.abs(length[a] - length[b]) <= 1)
    level[rest[one | swapped]] = SIMILAR
    return level


def _agree(first: Ints, second: Ints) -> Ints:
    """Number of letters until two texts differ; they do."""
    return np.argmax(first != second, axis=1)


def _crosswise(first: Ints, second: Ints, at: Ints) -> Array:
    """Whether two letters of one text are those of the other, swapped."""
    rows, after = np.arange(len(at)), np.minimum(at + 1, first.shape[1] - 1)
    return (first[rows, at] == second[rows, after]) & (first[rows, after] == second[rows, at])
