"""`Rows`: a table as numbers, one unit of variance per column."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from cluewise._dask import is_dask
from cluewise._texts import short
from cluewise._typing import Array, Bools, Floats
from cluewise.exceptions import ColumnWarning
from cluewise.rows._cells import Cells, Given, Words, read_columns
from cluewise.rows._chunks import draw_rows, map_partitions
from cluewise.rows._encoder import Encoded, Encoder, Piece, as_words
from cluewise.rows._kinds import ENCODERS, KINDS, LEFT_OUT, LIKE_AN_ID, Fitted, Guess, Settings, fit_encoder, recognize
from cluewise.rows.balance import spreads
from cluewise.tables import TableError

__all__ = ["ColumnPlan", "Rows"]

AUTO = "auto"
VERSION = 1
_INDICATOR = 0.25  # of the variance of a column
_RELATED = 0.3  # correlation from which on it matters that a value is missing
_SURE = 15.0  # squared correlation times rows: not by chance
_SHOWN = 40  # letters of a cell in a message
_ROWS = 1024  # that are written at a time


@dataclass(frozen=True)
class ColumnPlan:
    """What a column of the table became.

    Attributes
    ----------
    name : str
        The column.
    kind : str
        One of number, category, ordered, date, text, vector and image, or "left out".
    width : int
        Number of columns of the encoded matrix.
    how : str
        What was done, in words; why, if it was left out.
    notes : tuple of str
        What was found on the way, one sentence each.
    """

    name: str
    kind: str
    width: int
    how: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Column:
    """A column that is used: its encoder, and how its block is balanced."""

    name: str
    encoder: Encoder
    indicator: bool
    center: Floats
    spread: Floats

    def names(self) -> list[str]:
        return self.encoder.names(self.name) + ([f"{self.name} missing"] if self.indicator else [])


class Rows(TransformerMixin, BaseEstimator):
    """Encode the columns of a table as numbers.

    Each column is encoded by its kind, which is recognized: numbers (the logarithm or the normal score if the
    farthest 1 % of the rows have 30 % of the variance), categories (one column per level; by spelling if there are many
    levels; ordered ones by their order), dates and times (trend and cycles), text (tf-idf of words and characters,
    reduced by a truncated SVD), lists of numbers, and paths of pictures. Missing values are filled in. Every column of
    the table has one unit of variance in total, so a text does not outweigh a number. Columns that are empty or
    constant are left out, and so are those that look like ids, unless there is no other.

    Parameters
    ----------
    kinds : dict of str to str or list, optional
        Kinds of columns that are not as they look: ``"number"``, ``"category"``, ``"ordered"``, ``"date"``, ``"text"``,
        ``"vector"`` or ``"image"``. A list names the levels of an ordered category from low to high. ``"auto"``
        recognizes the kind but keeps a column that looks like an id; ``"ignore"`` leaves a column out.
    weights : dict of str to float, optional
        Variance of columns that shall count more or less than 1.
    embed : dict of str to callable, optional
        For columns of text or of paths: a function from a list of n texts to an array of shape (n, d), such as the
        ``encode`` of an embedding model. The vectors take the place of tf-idf and thumbnails.
    balance : bool, default=True
        Center the columns and scale them to their variance. Otherwise numbers stay as they are, and levels are 0 or 1.
    max_levels : int, default=20
        Categories of more levels are encoded by spelling.
    n_components : int, default=30
        Largest number of columns for a text, a category of many levels or a picture.
    folder : str, default="."
        Where paths of pictures start.
    random_state : int, default=0
        Seed of the truncated SVD.

    Attributes
    ----------
    plan_ : list of ColumnPlan
        What each column became, in the order of the table.
    n_features_in_ : int
        Number of columns of the table.
    feature_names_in_ : array of str
        Names of the columns; only if the table has names.

    See Also
    --------
    Cluewise : The clusterer to use first.

    Notes
    -----
    X can be a data frame (pandas, polars, pyarrow, ...), a dict of columns or a 2-D array. A missing value gets the
    median (numbers, dates) or the mean of the encoded column. A column that says whether the value is missing is added
    if that is related to another column. `transform` gives one `ColumnWarning` for each new or missing column, and for
    values that it has not seen.

    Of a dask data frame or array, 100,000 rows drawn at random decide what its columns are. `transform` then returns a
    dask array, and its warnings come from where the rows are encoded.

    Examples
    --------
    >>> import cluewise as cw
    >>> table = {
    ...     "age": [23, 35, None, 61, 44],
    ...     "plan": ["basic", "pro", "pro", "basic", "pro"],
    ...     "joined": ["2024-03-01", "2024-05-17", "2023-11-30", "2022-01-08", "2024-02-11"],
    ...     "country": ["FR"] * 5,
    ... }
    >>> rows = cw.Rows()
    >>> X = rows.fit_transform(table)
    >>> X.var(axis=0).round(3).tolist()[:2]
    [1.0, 1.0]
    >>> print(rows.explain())
    age      number    1  number
             1 missing (20 %): filled with the median.
    plan     category  1  category of 2 levels, a column each
    joined   date      5  date: trend, weekday, season
    country  left out  0  it is constant
    """

    plan_: list[ColumnPlan]
    n_features_in_: int
    feature_names_in_: Array

    def __init__(
        self,
        *,
        kinds: Mapping[str, str | Sequence[str]] | None = None,
        weights: Mapping[str, float] | None = None,
        embed: Mapping[str, Callable[[list[str]], Any]] | None = None,
        balance: bool = True,
        max_levels: int = 20,
        n_components: int = 30,
        folder: str = ".",
        random_state: int = 0,
    ) -> None:
        self.kinds = kinds
        self.weights = weights
        self.embed = embed
        self.balance = balance
        self.max_levels = max_levels
        self.n_components = n_components
        self.folder = folder
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Rows:
        """Recognize the columns of a table.

        Parameters
        ----------
        X : data frame, dict of columns or array of shape (n, d)
            The table.
        y : None
            Ignored.

        Returns
        -------
        Rows
            The fitted encoder.
        """
        self.fit_transform(draw_rows(X, self.random_state) if is_dask(X) else X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Floats:
        """Recognize the columns of a table, and encode it.

        Parameters
        ----------
        X : data frame, dict of columns or array of shape (n, d)
            The table.
        y : None
            Ignored.

        Returns
        -------
        array of shape (n, width), float64
            The encoded rows.
        """
        if is_dask(X):
            self.fit_transform(draw_rows(X, self.random_state))
            return self.transform(X)
        given = read_columns(X)
        _refuse_empty(given)
        self._check_parameters(given)
        fitted = {name: self._fit_column(name, cells, given, ids=given.named) for name, cells in given.columns.items()}
        if all(isinstance(found, str) for found in fitted.values()):  # better an id than nothing
            for name in [name for name, found in fitted.items() if found == LIKE_AN_ID]:
                fitted[name] = self._fit_column(name, given.columns[name], given, ids=False)
        used = {name: found for name, found in fitted.items() if not isinstance(found, str)}
        informative = _find_informative({name: found[1] for name, found in used.items()}) if self.balance else set()
        columns, encoded = [], []
        plans = {name: ColumnPlan(name, LEFT_OUT, 0, why) for name, why in fitted.items() if isinstance(why, str)}
        for name, (encoder, (pieces, missing, bad)) in used.items():
            indicator = name in informative
            if indicator:
                pieces = _with_indicator(pieces, missing)
            column = self._balanced(name, encoder, indicator, pieces)
            if not np.isfinite(column.spread).any():
                plans[name] = ColumnPlan(name, LEFT_OUT, 0, "it is constant")
                continue
            notes = [_trouble(encoder, given.columns[name], bad, given)] if bad.any() else []
            notes += [_gaps(encoder, missing, indicator)] if missing.any() else []
            plans[name] = ColumnPlan(name, encoder.kind, len(column.center), encoder.describe(), tuple(notes))
            columns.append(column)
            encoded.append(pieces)
        self.plan_ = [plans[name] for name in given.columns]
        if not columns:
            raise TableError(_nothing_left(given, self.plan_))
        self._columns = columns
        self._names = list(given.columns)
        self._named = given.named
        self.n_features_in_ = len(given.columns)
        if given.named:
            self.feature_names_in_ = np.array(self._names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return _join(columns, encoded, given.n)

    def transform(self, X: Any) -> Floats:
        """Encode a table as the one that was fitted.

        Columns are found by their names. One that is missing is filled in as missing values are, a new one is ignored;
        both are named in a `ColumnWarning`, and so are levels that were not there in `fit`.

        Parameters
        ----------
        X : data frame, dict of columns or array of shape (n, d)
            The table.

        Returns
        -------
        array of shape (n, width), float64
            The encoded rows.
        """
        check_is_fitted(self)
        if is_dask(X):
            return map_partitions(X, self.transform, sum(len(column.center) for column in self._columns))
        given = self._matched(read_columns(X))
        _refuse_empty(given)
        encoded = []
        for column in self._columns:
            name, encoder = column.name, column.encoder
            cells = given.columns.get(name, Words([], np.full(given.n, -1, dtype=np.int64)))
            pieces, missing, bad = encoder.encode(self._embedded(name, cells))
            if bad.any():
                place = f" of column '{name}' of {given.name}"
                warnings.warn(_trouble(encoder, cells, bad, given, place), ColumnWarning, stacklevel=2)
            encoded.append(_with_indicator(pieces, missing) if column.indicator else pieces)
        return _join(self._columns, encoded, given.n)

    def inverse(self, X: Floats) -> dict[str, list[Any]]:
        """Show encoded rows, such as cluster centers, in the units of the table.

        Parameters
        ----------
        X : array of shape (n, width)
            Rows as `transform` returns them, or means of such rows.

        Returns
        -------
        dict of str to list
            For each column n values: numbers, the most likely level, a date, the most typical words, or a vector.

        Examples
        --------
        >>> import cluewise as cw
        >>> rows = cw.Rows().fit({"age": [20, 30, 40], "city": ["Rome", "Oslo", "Rome"]})
        >>> rows.inverse([[0.0, 0.5]])
        {'age': [30.0], 'city': ['Rome']}
        """
        shown = {}
        for column, block in self._split(X):
            natural = block * np.where(np.isfinite(column.spread), column.spread, 0.0) + column.center
            shown[column.name] = column.encoder.inverse(natural[:, : len(natural[0]) - column.indicator])
        return shown

    def distances(self, X: Floats) -> Floats:
        """Distances between encoded rows as Gower's: the mean over the columns of the table, each at most 1.

        An outlying number or a rare level counts no more than any other difference. For methods that take a matrix;
        the encoded rows themselves are the better choice for all others.

        Parameters
        ----------
        X : array of shape (n, width)
            Rows as `transform` returns them.

        Returns
        -------
        array of shape (n, n)
            For each column the distance of the encoded values, divided by the largest in the column; then the mean,
            weighted by ``weights``.

        Examples
        --------
        >>> import cluewise as cw
        >>> rows = cw.Rows()
        >>> rows.distances(rows.fit_transform({"age": [20, 30, 40], "city": ["Rome", "Oslo", "Rome"]})).tolist()
        [[0.0, 0.75, 0.5], [0.75, 0.0, 0.75], [0.5, 0.75, 0.0]]
        """
        from scipy.spatial.distance import cdist

        total, weight = np.zeros((len(X), len(X))), 0.0
        for column, block in self._split(X):
            share = float((self.weights or {}).get(column.name, 1.0))
            apart = cdist(block, block)
            largest = apart.max(initial=0.0)
            total += share * apart / (largest if largest > 0 else 1.0)
            weight += share
        return total / weight if weight > 0 else total

    def _split(self, X: Floats) -> Iterator[tuple[_Column, Floats]]:
        """The part of each column in encoded rows."""
        check_is_fitted(self)
        X = np.atleast_2d(np.asarray(X, dtype=np.float64))
        width = sum(len(column.center) for column in self._columns)
        if X.shape[1] != width:
            raise ValueError(f"X has {X.shape[1]} columns; encoded rows have {width}.")
        start = 0
        for column in self._columns:
            yield column, X[:, start : start + len(column.center)]
            start += len(column.center)

    def explain(self) -> str:
        """The plan as text: a line for each column of the table, and a line for each note.

        Returns
        -------
        str
            Name, kind, number of encoded columns, and what was done.
        """
        check_is_fitted(self)
        longest = max(len(plan.name) for plan in self.plan_)
        lines = []
        for plan in self.plan_:
            lines.append(f"{plan.name:<{longest}}  {plan.kind:<8}  {plan.width}  {plan.how}")
            lines += [f"{'':<{longest}}  {note}" for note in plan.notes]
        return "\n".join(lines)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """The names of the encoded columns.

        Parameters
        ----------
        input_features : None or array of str
            Must be the names of the fitted columns, if given.

        Returns
        -------
        array of str
            One name for each encoded column, such as ``city=Rome``.
        """
        check_is_fitted(self)
        if input_features is not None and self._named and list(input_features) != self._names:
            raise ValueError("input_features is not equal to feature_names_in_")
        if input_features is not None and len(input_features) != self.n_features_in_:
            raise ValueError(
                f"input_features should have length equal to number of features ({self.n_features_in_}), "
                f"got {len(input_features)}"
            )
        return np.array([name for column in self._columns for name in column.names()], dtype=object)

    def to_state(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """What was fitted, as plain data: a dict for JSON and a dict of arrays.

        Functions in ``embed`` are not part of it.

        Returns
        -------
        state : dict
            Parameters, names, the plan, and the plain values of each encoder.
        arrays : dict of str to array
            The arrays of the encoders, of numbers only.

        Examples
        --------
        >>> import json
        >>> import cluewise as cw
        >>> rows = cw.Rows().fit({"age": [20, 30, 40], "city": ["Rome", "Oslo", "Rome"]})
        >>> state, arrays = rows.to_state()
        >>> again = cw.Rows.from_state(json.loads(json.dumps(state)), arrays)
        >>> again.get_feature_names_out().tolist()
        ['age', 'city=Rome']
        """
        check_is_fitted(self)
        parameters = {key: value for key, value in self.get_params(deep=False).items() if key != "embed"}
        for key in ("kinds", "weights"):
            parameters[key] = None if parameters[key] is None else dict(parameters[key])
        columns: list[dict[str, Any]] = []
        arrays: dict[str, Array] = {}
        for i, column in enumerate(self._columns):
            values, own = column.encoder.to_state()
            encoder = type(column.encoder).__name__
            columns.append({"name": column.name, "encoder": encoder, "values": values, "indicator": column.indicator})
            arrays |= {f"{i}.{key}": array for key, array in own.items()}
            arrays |= {f"{i}.balance": np.stack([column.center, column.spread])}
        state = {
            "version": VERSION,
            "parameters": parameters,
            "names": self._names,
            "named": self._named,
            "plan": [asdict(plan) for plan in self.plan_],
            "columns": columns,
        }
        return state, arrays

    @classmethod
    def from_state(
        cls,
        state: Mapping[str, Any],
        arrays: Mapping[str, Array],
        *,
        embed: Mapping[str, Callable[[list[str]], Any]] | None = None,
    ) -> Rows:
        """The fitted encoder that `to_state` described.

        Parameters
        ----------
        state : dict
            The first value of `to_state`.
        arrays : dict of str to array
            The second.
        embed : dict of str to callable, optional
            The functions that were given to the encoder, if any.

        Returns
        -------
        Rows
            An encoder that is fitted.
        """
        if state.get("version") != VERSION:
            raise ValueError(f"the plan of the columns is of version {state.get('version')}; expected {VERSION}.")
        try:
            return cls(**state["parameters"], embed=embed)._restore(state, arrays)
        except (KeyError, TypeError, IndexError, AttributeError) as error:
            raise ValueError(f"the plan of the columns is damaged ({type(error).__name__}: {error}).") from None

    def _restore(self, state: Mapping[str, Any], arrays: Mapping[str, Array]) -> Rows:
        self.plan_ = [ColumnPlan(**{**plan, "notes": tuple(plan["notes"])}) for plan in state["plan"]]
        self._names, self._named = list(state["names"]), bool(state["named"])
        self.n_features_in_ = len(self._names)
        if self._named:
            self.feature_names_in_ = np.array(self._names, dtype=object)
        self._columns = [_restore_column(i, entry, arrays) for i, entry in enumerate(state["columns"])]
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_columns")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.categorical = tags.input_tags.string = True
        return tags

    def _check_parameters(self, given: Given) -> None:
        for option in ("kinds", "weights", "embed"):
            for name in getattr(self, option) or ():
                if name not in given.columns:
                    close = difflib.get_close_matches(str(name), list(given.columns)[:1000], n=1)
                    hint = f"; did you mean '{short(close[0])}'?" if close else "."
                    raise TableError(f"{given.name} has no column '{name}', which {option} names{hint}")
        for name, kind in (self.kinds or {}).items():
            if isinstance(kind, str) and kind not in (*KINDS, AUTO, "ignore"):
                raise ValueError(f"'{kind}' is not a kind of column ('{name}'); the kinds are {', '.join(KINDS)}.")
        for name, weight in (self.weights or {}).items():
            if not 0 <= weight < np.inf:
                raise ValueError(f"the weight of column '{name}' is {weight}; it must be a number of at least 0.")
        for option in ("max_levels", "n_components"):
            if getattr(self, option) < 1:
                raise ValueError(f"{option} is {getattr(self, option)}; it must be at least 1.")

    def _fit_column(self, name: str, cells: Cells, given: Given, *, ids: bool) -> Fitted | str:
        """The encoder of a column and the encoded column, or why it is left out."""
        asked = (self.kinds or {}).get(name, None)
        settings = Settings(self.max_levels, self.n_components, self.random_state, self.folder, not self.balance)
        if asked == "ignore" or (self.weights or {}).get(name, 1.0) == 0:
            return "you left it out"
        if name in (self.embed or {}):
            found = fit_encoder(self._embedded(name, cells), Guess("vector"), settings)
        elif asked in (None, AUTO):
            order = given.orders.get(name)
            guess = recognize(name, cells, max_levels=self.max_levels, order=order, ids=ids and asked is None)
            if guess.kind == LEFT_OUT:
                return guess.why
            try:
                return fit_encoder(cells, guess, settings)
            except ImportError as error:  # nobody has asked for pictures
                return str(error).rstrip(".")
        else:
            levels = None if isinstance(asked, str) else [str(level) for level in asked]
            found = fit_encoder(cells, Guess("ordered" if levels else str(asked), order=levels), settings)
        if isinstance(found, str):  # what somebody asks for is not left out without a word
            raise TableError(f"column '{name}' of {given.name} cannot be a column of kind {asked}: {found}.")
        return found

    def _embedded(self, name: str, cells: Cells) -> Cells:
        """The cells, or the vectors that a given function makes of them."""
        function = (self.embed or {}).get(name)
        if function is None:
            return cells
        words = as_words(cells)
        if not words.levels:
            return words
        vectors = np.asarray(function(list(words.levels)), dtype=np.float64)
        if vectors.ndim != 2 or len(vectors) != len(words.levels):
            raise ValueError(
                f"embed of column '{name}' returned an array of shape {vectors.shape} for {len(words.levels)} texts."
            )
        return np.vstack([vectors, np.full(vectors.shape[1], np.nan)])[words.codes]

    def _balanced(self, name: str, encoder: Encoder, indicator: bool, pieces: Sequence[Piece]) -> _Column:
        weight = (self.weights or {}).get(name, 1.0)
        parts = [(piece.table.shape[1], piece.share) for piece in pieces]
        if not self.balance:
            width = sum(size for size, _ in parts)
            return _Column(name, encoder, False, np.zeros(width), np.full(width, 1 / np.sqrt(weight)))
        mean, variance = (np.concatenate(found) for found in zip(*(piece.moments() for piece in pieces)))
        return _Column(name, encoder, indicator, mean, spreads(variance, parts, weight))

    def _matched(self, given: Given) -> Given:
        """The table with the names of the fitted columns, and a warning for each column that is new or missing."""
        if not (given.named and self._named):
            if len(given.columns) != self.n_features_in_:
                raise ValueError(
                    f"X has {len(given.columns)} features, but Rows is expecting {self.n_features_in_} features "
                    "as input."
                )
            columns = dict(zip(self._names, given.columns.values()))
            return Given(columns, given.n, given.name, given.where)
        used = [column.name for column in self._columns]
        gone = [name for name in used if name not in given.columns]
        if len(gone) == len(used):
            raise TableError(f"{given.name} has none of the columns {_list(used)} that were fitted.")
        if gone:
            warnings.warn(
                f"{given.name} has no {_list(gone, 'column')}, which the fit used; every row gets the average there.",
                ColumnWarning,
                stacklevel=3,
            )
        new = [name for name in given.columns if name not in set(self._names)]
        if new:
            verb = "was" if len(new) == 1 else "were"
            warnings.warn(
                f"{_list(new, 'column')} of {given.name} {verb} not there in the fit and not used.",
                ColumnWarning,
                stacklevel=3,
            )
        return given


def _join(columns: Sequence[_Column], encoded: Sequence[Sequence[Piece]], n: int) -> Floats:
    """The balanced pieces side by side."""
    X = np.empty((n, sum(len(column.center) for column in columns)))
    placed: list[tuple[slice, Piece, Floats, Floats]] = []
    end = 0
    for column, pieces in zip(columns, encoded):
        start = end
        for piece in pieces:
            begin, end = end, end + piece.table.shape[1]
            center, spread = (values[begin - start : end - start] for values in (column.center, column.spread))
            placed.append((slice(begin, end), piece.balanced(center, spread), center, spread))
    for first in range(0, n, _ROWS):  # a few rows at a time, which stay in the cache until they are complete
        rows = slice(first, first + _ROWS)
        block = X[rows]
        for where, piece, center, spread in placed:
            if piece.codes is None:
                np.subtract(piece.table[rows], center, out=block[:, where])
                block[:, where] /= spread
            else:
                block[:, where] = piece.table[piece.codes[rows]]
    return X


def _with_indicator(pieces: Sequence[Piece], missing: Bools) -> list[Piece]:
    """The pieces, and one that says which cells are missing."""
    less = [piece._replace(share=piece.share * (1 - _INDICATOR)) for piece in pieces]
    return [*less, Piece(np.array([[0.0], [1.0]]), missing.astype(np.int32), _INDICATOR)]


def _find_informative(encoded: Mapping[str, Encoded]) -> set[str]:
    """Columns in which it matters whether a value is missing: another column is related to that."""
    gaps = {name: missing for name, (_, missing, _) in encoded.items() if missing.any()}
    if not gaps:
        return set()
    moments = {name: [piece.moments() for piece in pieces] for name, (pieces, _, _) in encoded.items()}
    found = set()
    for name, missing in gaps.items():
        n, share = len(missing), missing.mean()
        varies = any(variance.any() for _, variance in moments[name])
        if not varies:  # one level, or none: yes or no
            found.add(name)
            continue
        away = missing - share
        for other, (pieces, _, _) in encoded.items():
            if other == name:
                continue
            for piece, (_, variance) in zip(pieces, moments[other]):
                # The weights add up to 0, so the mean of the column does not matter.
                covariance = piece.sums(away) / n
                known = variance > 0
                related = covariance[known] ** 2 / (variance[known] * share * (1 - share))
                if len(related) and related.max() >= max(_RELATED**2, _SURE / n):
                    found.add(name)
    return found


def _gaps(encoder: Encoder, missing: Bools, indicator: bool) -> str:
    share = missing.mean()
    filled = "the median" if encoder.kind in ("number", "date") else "the average"
    also = "; a column says which, because it is related to other columns" if indicator else ""
    percent = "< 1" if share < 0.01 else f"{round(100 * share)}"
    return f"{missing.sum()} missing ({percent} %): filled with {filled}{also}."


def _trouble(encoder: Encoder, cells: Cells, bad: Bools, given: Given, place: str = "") -> str:
    """One sentence about cells that count as missing; ``place`` names the column where nothing else does."""
    first = int(np.flatnonzero(bad)[0])
    words = as_words(cells)
    value = words.levels[words.codes[first]] if words.codes[first] >= 0 else "?"
    value = value if len(value) <= _SHOWN else value[: _SHOWN - 1] + "…"
    count = int(bad.sum())
    cell, verb = ("1 cell", "counts") if count == 1 else (f"{count} cells", "count")
    return f"{cell}{place} ({given.where(first)}: '{short(value)}') {verb} as missing: {encoder.trouble}."


def _nothing_left(given: Given, plan: Sequence[ColumnPlan]) -> str:
    if given.n == 1:
        return f"{given.name} has 1 sample: there is nothing to compare it with."
    why = "; ".join(f"'{column.name}': {column.how}" for column in plan[:5]) + ("; …" if len(plan) > 5 else "")
    return (
        f"{given.name} has no column left to cluster by ({why}); say what a column is, such as {plan[0].name}:category."
    )


def _refuse_empty(given: Given) -> None:
    if not given.columns:
        raise ValueError(
            f"Found array with 0 feature(s) (shape=({given.n}, 0)) while a minimum of 1 is required by Rows."
        )
    if given.n == 0:
        raise ValueError(
            f"Found array with 0 sample(s) while a minimum of 1 is required by Rows ({given.name} is empty)."
        )


def _list(names: Sequence[str], noun: str = "") -> str:
    shown = ", ".join(f"'{name}'" for name in names[:5]) + (", …" if len(names) > 5 else "")
    return f"{noun}{'s' if len(names) > 1 else ''} {shown}" if noun else shown


def _restore_column(i: int, entry: Mapping[str, Any], arrays: Mapping[str, Array]) -> _Column:
    encoder = ENCODERS.get(entry["encoder"])
    if encoder is None:
        raise ValueError(f"'{entry['encoder']}' is not an encoder of columns.")
    own = {key.split(".", 1)[1]: array for key, array in arrays.items() if key.split(".", 1)[0] == str(i)}
    center, spread = own.pop("balance")
    found = encoder.from_state(entry["values"], own)
    return _Column(str(entry["name"]), found, bool(entry["indicator"]), center, spread)
