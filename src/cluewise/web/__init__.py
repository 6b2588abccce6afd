"""A page in the browser where people answer questions and watch the clusters change."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cluewise.web._app import make_app as make_app
    from cluewise.web._serve import serve as serve
    from cluewise.web._session import Session as Session
    from cluewise.web._widget import widget as widget

__all__ = ["Session", "make_app", "serve", "widget"]

_HOMES = {"Session": "_session", "make_app": "_app", "serve": "_serve", "widget": "_widget"}


def __getattr__(name: str) -> Any:
    # Only what is used is loaded: the command line asks for the page without FastAPI, too, to say what is missing.
    if name not in _HOMES:
        raise AttributeError(f"module 'cluewise.web' has no attribute {name!r}")
    return getattr(import_module(f"cluewise.web.{_HOMES[name]}"), name)
