"""Properties that are computed when they are first asked for."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Self, TypeVar, overload

__all__ = ["lazy"]

T = TypeVar("T")


class lazy(cached_property[T]):  # noqa: N801, it is used as `cached_property` is
    """`functools.cached_property` without the lock that it takes in Python 3.11.

    That lock is one for all instances of a class: threads wait for each other, and in a process that is forked while
    another thread holds it, for ever. Here two threads that ask at once may compute the same value twice; both are
    given the one that was ready first.
    """

    @overload
    def __get__(self, instance: None, owner: type[Any] | None = None) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type[Any] | None = None) -> T: ...

    def __get__(self, instance: Any, owner: type[Any] | None = None) -> Any:
        if instance is None:
            return self
        assert self.attrname is not None  # set with the class
        return instance.__dict__.setdefault(self.attrname, self.func(instance))
