"""How to install optional packages: from where cluewise itself came."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

__all__ = ["install"]


def install(extra: str) -> str:
    """Say which command installs an extra; pip finds cluewise on an index only if it came from one.

    Examples
    --------
    >>> from cluewise._extras import install
    >>> install("web")
    '...pip install ..."'
    """
    origin = _read_origin()
    return f'{_find_pip()} install {"-e " if _is_editable(origin) else ""}"{_name_requirement(origin, extra)}"'


def _read_origin() -> dict[str, Any]:
    """Read where pip found cluewise; installers write nothing for a package from an index."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        found = json.loads(distribution("cluewise").read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        return {}
    return found if isinstance(found, dict) and isinstance(found.get("url"), str) else {}


def _is_editable(origin: dict[str, Any]) -> bool:
    return bool(origin.get("dir_info", {}).get("editable"))


def _name_requirement(origin: dict[str, Any], extra: str) -> str:
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    url = origin.get("url", "")
    if "vcs_info" in origin:
        return f"cluewise[{extra}] @ {origin['vcs_info'].get('vcs', 'git')}+{url}"
    if not url.startswith("file:"):
        return f"cluewise[{extra}]"
    path = Path(url2pathname(urlsplit(url).path))
    if not path.exists():  # a wheel that was thrown away
        return f"cluewise[{extra}]"
    return f"{_shorten(path)}[{extra}]"


def _find_pip() -> str:
    """Name the pip of this Python, as it can be called from here."""
    pip = shutil.which("pip")
    if pip is not None and Path(pip).parent == Path(sys.executable).parent:
        return "pip"
    return f"{_shorten(Path(sys.executable))} -m pip"


def _shorten(path: Path) -> str:
    """Write a path relative to the current folder if it is inside, and so that a shell does not take it for a name."""
    try:
        inside = path.relative_to(Path.cwd())
    except (OSError, ValueError):
        return str(path)
    return "." if inside == Path() else os.path.join(".", inside)
