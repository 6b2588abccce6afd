"""The settings of a project: a mapping that is stored with it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from sqlalchemy import Connection, Row, delete, func, insert, update
from sqlalchemy import select as pick

from cluewise.store._engine import damaged
from cluewise.store._json import checksum, text_of
from cluewise.store._schema import settings

__all__ = ["Settings", "settings_in"]

Transaction = Callable[[], AbstractContextManager[Connection]]


class Settings(MutableMapping[str, Any]):
    """JSON values by name. Changes are saved at once, and those of other processes are seen at once.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from cluewise.store import Store
    >>> with Store.open(pathlib.Path(tempfile.mkdtemp()) / "iris.cluewise", create=True) as store:
    ...     store.settings["budget"] = 50
    ...     dict(store.settings)
    {'budget': 50}
    """

    def __init__(self, name: str, read: Transaction, write: Transaction) -> None:
        self._name, self._read, self._write = name, read, write

    def claim(self, name: str, values: Mapping[str, Any]) -> bool:
        """Save several values in one step unless ``name`` exists; return whether they were saved.

        Of several processes that try, one gets True.
        """
        texts = {key: _text(key, value) for key, value in values.items()}
        with self._write() as connection:
            free = name not in self._texts(connection)
            if free:
                for key, text in texts.items():
                    _put(connection, key, text)
        return free

    @contextmanager
    def reading(self, name: str) -> Iterator[None]:
        """Turn into one sentence whatever goes wrong with a value that is not what cluewise saves under a name.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from cluewise.store import Store
        >>> with Store.open(pathlib.Path(tempfile.mkdtemp()) / "iris.cluewise", create=True) as store:
        ...     with store.settings.reading("people"):
        ...         dict(None)
        Traceback (most recent call last):
        ...
        cluewise.tables._columns.FileError: ... the setting 'people' is not what cluewise saves; ...
        """
        try:
            yield
        except (TypeError, LookupError, AttributeError, ArithmeticError, RecursionError) as error:
            raise damaged(self._name, f"the setting '{name}' is not what cluewise saves") from error

    def put(self, connection: Connection, name: str, value: Any) -> None:
        """Save a value within a transaction."""
        _put(connection, name, _text(name, value))

    def _texts(self, connection: Connection) -> dict[str, str]:
        """All values. They are few, and reading the whole table avoids an index that may be damaged."""
        return _checked(connection.execute(pick(settings)), self._name)

    def __getitem__(self, name: str) -> Any:
        with self._read() as connection:
            text = self._texts(connection)[name]
        try:
            return json.loads(text)
        except (TypeError, ValueError):  # damaged before there were checksums
            raise damaged(self._name, f"the setting '{name}' is not what was saved") from None

    def __setitem__(self, name: str, value: Any) -> None:
        text = _text(name, value)
        with self._write() as connection:
            _put(connection, name, text)

    def __delitem__(self, name: str) -> None:
        with self._write() as connection:
            gone = connection.execute(delete(settings).where(settings.c.name == name)).rowcount
        if not gone:
            raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        with self._read() as connection:
            return iter(sorted(self._texts(connection)))

    def __len__(self) -> int:
        with self._read() as connection:
            return len(self._texts(connection))

    def __repr__(self) -> str:
        return f"Settings({dict(self)!r})"


def settings_in(connection: Connection, project: str, short: int) -> dict[str, Any]:
    """The settings whose JSON text has fewer letters than ``short``."""
    rows = connection.execute(pick(settings).where(func.length(settings.c.value) < short))
    return {name: json.loads(text) for name, text in _checked(rows, project).items()}


def _checked(rows: Iterable[Row[Any]], project: str) -> dict[str, str]:
    """Texts of settings by name; refused unless all of them are as they were saved."""
    found = {}
    for row in rows:
        if row.crc32 != checksum(row.name, row.value):
            raise damaged(project, "a setting is not what was saved")
        found[row.name] = row.value
    return found


def _text(name: str, value: Any) -> str:
    if not isinstance(name, str):
        raise ValueError(f"the name of a setting is text, not {name!r}.")
    return text_of(value, f"setting '{name}'")


def _put(connection: Connection, name: str, text: str) -> None:
    new = {"value": text, "crc32": checksum(name, text)}
    if not connection.execute(update(settings).where(settings.c.name == name).values(new)).rowcount:
        connection.execute(insert(settings).values(name=name, **new))
