"""Data sets from OpenML, fetched and cached by scikit-learn; each is checked before use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from cluewise._typing import Array
from cluewise.datasets._dataset import Dataset, DatasetError, Listing, as_floats, number_classes

__all__ = ["OPENML", "Entry", "fetch", "listings"]


class Entry(NamedTuple):
    """What is expected of a data set on OpenML."""

    data_id: int
    d: int
    counts: tuple[int, ...]  # rows per class, sorted: sources name and number classes differently
    words: Mapping[str, float] = {"false": 0.0, "true": 1.0}  # numbers that encode words
    numeric_only: bool = False  # drop columns of words
    missing: float | None = None  # value of missing cells


_A_TO_Z: tuple[int, ...] = (734, 734, 736, 739, 747, 748, 752, 753, 755, 758, 761, 764, 766)
_A_TO_Z += (768, 773, 775, 783, 783, 786, 787, 789, 792, 796, 803, 805, 813)

OPENML = {
    "balance": Entry(11, 4, (49, 288, 288)),
    "breast": Entry(15, 9, (241, 458), missing=1.0),  # 1 is the median and the most frequent value
    "covtype": Entry(1596, 54, (2747, 9493, 17367, 20510, 35754, 211840, 283301)),
    "ecoli": Entry(39, 7, (2, 2, 5, 20, 35, 52, 77, 143)),
    "glass": Entry(41, 9, (9, 13, 17, 29, 70, 76)),
    "heart": Entry(53, 13, (120, 150)),
    "ionosphere": Entry(59, 34, (126, 225)),
    "letter": Entry(6, 16, _A_TO_Z),
    "mnist": Entry(554, 784, (6313, 6824, 6825, 6876, 6903, 6958, 6990, 7141, 7293, 7877)),
    "pendigits": Entry(32, 16, (1055, 1055, 1055, 1055, 1056, 1142, 1143, 1143, 1144, 1144)),
    "pima": Entry(37, 8, (268, 500)),
    "sonar": Entry(40, 60, (97, 111)),
    "tic_tac_toe": Entry(50, 9, (332, 626), words={"b": 0.0, "x": 1.0, "o": 2.0}),
    "usps": Entry(41082, 256, (708, 716, 792, 821, 824, 834, 852, 929, 1269, 1553)),
    "vowel": Entry(307, 10, (90,) * 11, numeric_only=True),  # the words are the speaker and the sex
    "zoo": Entry(62, 16, (4, 5, 8, 10, 13, 20, 41)),
}


def listings() -> dict[str, Listing]:
    """Sizes of the data sets on OpenML."""
    return {name: Listing(sum(e.counts), e.d, len(e.counts), "OpenML") for name, e in OPENML.items()}


def fetch(name: str) -> Dataset:
    """Fetch a data set, which scikit-learn caches, and check that it is the right one."""
    entry = OPENML[name]
    where = f"{name} (OpenML data set {entry.data_id})"
    bunch = _download(entry, where)
    X, features = _numbers(bunch, entry, where)
    y, class_names = number_classes(np.asarray(bunch.target))
    _check(X.shape, tuple(sorted(np.bincount(y).tolist())), entry, where)
    if entry.missing is not None:
        X = np.where(np.isnan(X), entry.missing, X)
    return Dataset(name, as_floats(X, where), y, class_names, features, f"OpenML data set {entry.data_id}")


def _download(entry: Entry, where: str) -> Any:
    from sklearn.datasets import fetch_openml

    try:
        # The other parser needs pandas and leaves words in the matrix.
        return fetch_openml(data_id=entry.data_id, as_frame=False, parser="liac-arff")
    except Exception as error:  # a download may fail in many ways
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise DatasetError(f"{where} could not be fetched: {reason}") from error


def _numbers(bunch: Any, entry: Entry, where: str) -> tuple[Array, tuple[str, ...]]:
    """The matrix with words replaced by numbers, and the names of its columns."""
    X = np.array(bunch.data, dtype=np.float64)
    columns = [str(column) for column in bunch.feature_names]
    worded = [j for j, column in enumerate(columns) if column in bunch.categories]
    if entry.numeric_only:
        kept = [j for j in range(len(columns)) if j not in set(worded)]
        return X[:, kept], tuple(columns[j] for j in kept)
    for j in worded:
        numbers = [_number(word, entry.words) for word in bunch.categories[columns[j]]]
        if None in numbers:
            raise DatasetError(f"{where}: column {columns[j]!r} has words that cluewise does not know.")
        present = ~np.isnan(X[:, j])
        X[present, j] = np.array(numbers, dtype=np.float64)[X[present, j].astype(np.intp)]
    return X, tuple(columns)


def _number(word: str, words: Mapping[str, float]) -> float | None:
    try:
        return words[word] if word in words else float(word)
    except ValueError:
        return None


def _check(shape: tuple[int, ...], counts: tuple[int, ...], entry: Entry, where: str) -> None:
    expected = (sum(entry.counts), entry.d)
    if shape != expected or counts != entry.counts:
        raise DatasetError(
            f"{where} is not the expected data set: it has shape {shape} and classes of {counts} rows, "
            f"not {expected} and {entry.counts}."
        )
