"""Settings of a project: a mapping that is kept in its tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from contextlib import AbstractContextManager
from typing import Any

from sqlalchemy import Connection, delete, func, insert, update
from sqlalchemy import select as pick

from cluewise.store._json import text_of, value_of
from cluewise.store._schema import settings

__all__ = ["Settings"]

Door = Callable[[], AbstractContextManager[Connection]]


class Settings(MutableMapping[str, Any]):
    """JSON values by name; every change is saved at once, and changes of other processes are seen at once.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from cluewise.store import Store
    >>> with Store.open(pathlib.Path(tempfile.mkdtemp()) / "iris.cluewise", create=True) as store:
    ...     store.settings["budget"] = 50
    ...     dict(store.settings)
    {'budget': 50}
    """

    def __init__(self, read: Door, write: Door) -> None:
        self._read, self._write = read, write

    def __getitem__(self, name: str) -> Any:
        with self._read() as connection:
            found = connection.execute(pick(settings.c.value).where(settings.c.name == name)).scalar()
        if found is None:
            raise KeyError(name)
        return value_of(found)

    def __setitem__(self, name: str, value: Any) -> None:
        if not isinstance(name, str):
            raise ValueError(f"the name of a setting is text, not {name!r}.")
        text = text_of(value, f"setting '{name}'")
        with self._write() as connection:
            changed = connection.execute(update(settings).where(settings.c.name == name).values(value=text))
            if not changed.rowcount:
                connection.execute(insert(settings).values(name=name, value=text))

    def __delitem__(self, name: str) -> None:
        with self._write() as connection:
            gone = connection.execute(delete(settings).where(settings.c.name == name)).rowcount
        if not gone:
            raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        with self._read() as connection:
            names = connection.execute(pick(settings.c.name).order_by(settings.c.name)).scalars().all()
        return iter(names)

    def __len__(self) -> int:
        with self._read() as connection:
            return int(connection.execute(pick(func.count()).select_from(settings)).scalar_one())

    def __repr__(self) -> str:
        return f"Settings({dict(self)!r})"
