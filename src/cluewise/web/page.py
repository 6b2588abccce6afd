"""What the page needs: its built files, which come with the wheel, and the packages of an extra."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from cluewise._extras import install
from cluewise.tables import FileError

__all__ = ["STATIC", "check_page", "check_server"]

STATIC = Path(__file__).parent / "static"


def check_page(name: str = "index.html") -> None:
    """Refuse to go on without the page, and say where it comes from.

    Parameters
    ----------
    name : str, default="index.html"
        The file that is needed.

    Examples
    --------
    >>> from cluewise.web import page
    >>> page.check_page("never.html")
    Traceback (most recent call last):
    ...
    cluewise.tables._columns.FileError: the page is not built: `make page` builds it in a checkout; the wheel has it.
    """
    if not (STATIC / name).is_file():
        raise FileError("the page is not built: `make page` builds it in a checkout; the wheel has it.")


def check_server() -> None:
    """Refuse to go on without the packages of a server.

    Examples
    --------
    >>> from cluewise.web import page
    >>> page.check_server()
    """
    if not all(map(find_spec, ("fastapi", "uvicorn", "websockets"))):
        raise ImportError(f"the page needs FastAPI, uvicorn and websockets: {install('web')}.")
