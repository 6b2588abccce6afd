"""Reads every page that was built: links lead somewhere, and nothing is loaded from the network."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from sphinx.errors import ExtensionError

# What a browser fetches by itself, without a click.
LOADS = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src", "video": "src"}


class Page(HTMLParser):
    """The ids of a page, where it leads, and what it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take down one element."""
        found = dict(attrs)
        self.ids |= {name for name in (found.get("id"), found.get("name") if tag == "a" else None) if name}
        if tag == "a" and found.get("href"):
            self.links.append(str(found["href"]))
        if found.get(LOADS.get(tag, "")):
            self.loads.append(str(found[LOADS[tag]]))
        self.loads += re.findall(r"url\(['\"]?([^)'\"]+)", found.get("style") or "")


def faults(folder: Path, names: Iterable[str]) -> Iterator[str]:
    """Everything that is wrong with the pages of these names in a folder, in one sentence each."""
    paths = [folder / f"{name}.html" for name in sorted(names)]
    pages = {path: Page(path.read_text("utf-8")) for path in paths}
    for path, page in pages.items():
        name = path.relative_to(folder)
        yield from (f"{name} loads {target} from the network." for target in page.loads if _is_remote(target))
        for target in {*page.links, *page.loads}:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            found = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not found.exists():
                yield f"{name} leads to {target}, which is not there."
            elif parts.fragment and found in pages and unquote(parts.fragment) not in pages[found].ids:
                yield f"{name} leads to {target}, but there is no such place on that page."
    for path in folder.rglob("*.css"):
        for target in re.findall(r"(?:url\(|@import )['\"]?([^)'\";]+)", path.read_text("utf-8")):
            if _is_remote(target):
                yield f"{path.relative_to(folder)} loads {target} from the network."


def _is_remote(target: str) -> bool:
    return target.startswith("//") or urlsplit(target).scheme in {"http", "https"}


def check(app: Any, error: Exception | None) -> None:
    """Fail if there is any fault."""
    if error is not None or app.builder.format != "html":
        return
    names = {*app.env.found_docs, "genindex", "search"}  # files of an earlier build may lie beside them
    if found := list(faults(Path(app.outdir), names)):
        raise ExtensionError("\n".join(found))


def setup(app: Any) -> dict[str, bool]:
    """Have the pages read when they are there."""
    app.connect("build-finished", check, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
