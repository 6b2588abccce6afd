"""All clusterers of the library: by name or alias, and by the clues that they accept."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from functools import cache
from importlib import import_module

from cluewise._homes import FAMILIES, homes
from cluewise.base import Clusterer

__all__ = ["clusterers", "get"]


@cache
def _all() -> tuple[type[Clusterer], ...]:
    """Every clusterer, sorted by name; importing all families takes a while."""
    families = [import_module(f"cluewise.{name}") for name in FAMILIES]
    public = [vars(family)[name] for family in families for name in family.__all__]
    found = {cls for cls in public if isinstance(cls, type) and issubclass(cls, Clusterer)}
    return tuple(sorted(found, key=lambda cls: cls.__name__))


def clusterers(
    *, accepts: Iterable[str] = (), hard: bool | None = None, predicts: bool | None = None
) -> dict[str, type[Clusterer]]:
    """List the clusterers that accept the given kinds of clues.

    Parameters
    ----------
    accepts : iterable of str, default=()
        Kinds of clues that the method has to use, such as "labels" or "cannot".
    hard : bool, optional
        Only methods that never break a clue (True) or that may break some (False).
    predicts : bool, optional
        Only methods with (True) or without (False) ``predict``.

    Returns
    -------
    dict
        Classes by name, in alphabetical order.

    Examples
    --------
    >>> import cluewise as cw
    >>> hard = cw.clusterers(accepts=["cannot"], hard=True)
    >>> "COPKMeans" in hard, "PCKMeans" in hard
    (True, False)
    """
    kinds = frozenset(accepts)
    return {
        c.__name__: c
        for c in _all()
        if kinds <= c.card.accepts
        and (hard is None or c.card.hard == hard)
        and (predicts is None or c.card.predicts == predicts)
    }


def get(name: str) -> type[Clusterer]:
    """Look up a clusterer by its name or an alias, ignoring case.

    Parameters
    ----------
    name : str
        Name of the class or one of the aliases on its card.

    Returns
    -------
    type
        The class.

    Examples
    --------
    >>> from cluewise.catalogue import get
    >>> get("pck-means").__name__
    'PCKMeans'
    """
    # A class that goes by its own name is found without importing the other families.
    own = {public.lower(): public for public in homes()}.get(name.lower())
    cls = getattr(import_module(homes()[own]), own) if own else None
    if isinstance(cls, type) and issubclass(cls, Clusterer):
        return cls
    names = {alias.lower(): c for c in _all() for alias in (c.__name__, *c.card.aliases)}
    if name.lower() not in names:
        close = get_close_matches(name.lower(), names, n=1)
        hint = f"; did you mean {names[close[0]].__name__}?" if close else "."
        raise ValueError(f"there is no clusterer {name!r}{hint} `cluewise list` shows all of them.")
    return names[name.lower()]
