"""Check that public words are spelled one way: ``python tools/words.py [ROOT]``.

Links are called ``must`` and ``cannot``, never ``ml`` and ``cl`` or ``must_link``. Public names are American,
as scikit-learn's are. No module is a drawer (``utils.py``): each function belongs to a noun.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

INSIDE = ("core", "kernels")  # no user types the names in these folders: either spelling is fine there
DRAWERS = ("utils", "util", "helpers", "common", "misc")
LINKS = re.compile(r"_?(ml|cl|(must|can(no)?t)_?links?)(_|$)")
BRITISH = re.compile(r"centre|colour|neighbour|behaviour|labell|(al|im|ard|ular)is(e|ing|ation)")
PROSE = {
    r"\b(must|cannot)_?links?\b": "write must and cannot in code, must-link and cannot-link in prose",
    r"\bML/CL\b|\b(ML|CL)[ -](links?|constraints?|pairs?)\b": "write must-link and cannot-link",
    r"(?i)\bcan('t|[ -]not)[ -]links?\b": "write cannot-link",
    r"\bClueWise\b|(?i:\bclue-wise\b)": "write cluewise",
}

Function = ast.FunctionDef | ast.AsyncFunctionDef
Found = Iterator[tuple[int, str]]


def main(root: Path) -> list[str]:
    """Every place under ``root`` that breaks a rule, as ``file:line: what is wrong``."""
    package = root / "src" / "cluewise"
    modules = {path: ast.parse(path.read_text("utf-8")) for path in sorted(package.rglob("*.py"))}
    outside = {path: tree for path, tree in modules.items() if path.relative_to(package).parts[0] not in INSIDE}
    public = {name for path, tree in outside.items() for name in exported(path, tree)}
    pages = [*root.glob("*.md"), *(root / "docs").rglob("*.md"), *(root / "docs").rglob("*.rst")]

    found = []
    for path, tree in modules.items():
        found += [(path, *place) for place in links(tree)]
        if path.stem in DRAWERS:
            found.append((path, 1, f"a module called {path.stem} is a drawer; name what it is about"))
    for path, tree in outside.items():
        found += [(path, *place) for place in british(tree, public, commands="cli" in path.parts)]
    for path in pages:
        if not {"_build", "auto_examples", "generated"} & set(path.parts):
            found += [(path, *place) for place in prose(path.read_text("utf-8"))]
    return [f"{path.relative_to(root)}:{line}: {words}" for path, line, words in sorted(found)]


def exported(path: Path, tree: ast.Module) -> Iterator[str]:
    """The names in ``__all__`` of a module that users import from."""
    if path.stem.startswith("_") and path.stem != "__init__":
        return
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            yield from (str(item.value) for item in ast.walk(node.value) if isinstance(item, ast.Constant))


def links(tree: ast.Module) -> Found:
    """Whatever the code itself names: arguments, variables, attributes, functions, classes."""
    for node in ast.walk(tree):
        match node:
            case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()):
                pass
            case ast.Attribute(attr=name, ctx=ast.Store()) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                pass
            case _:
                continue
        if LINKS.match(name):
            yield node.lineno, f"{name}: links are called must and cannot"


def british(tree: ast.Module, public: set[str], *, commands: bool) -> Found:
    """Public functions and classes, public methods, their arguments, and attributes of fitted estimators."""
    for top in tree.body:
        if not isinstance(top, Function | ast.ClassDef):
            continue
        if top.name not in public and not (commands and not top.name.startswith("_")):
            continue
        for node in [top, *(top.body if isinstance(top, ast.ClassDef) else [])]:
            for line, name in spoken(node):
                if BRITISH.search(name):
                    yield line, f"{name}: public names are American"


def spoken(node: ast.stmt) -> Found:
    """The names of a definition that its users write: its own, its arguments, the ``x_`` that it sets."""
    if not isinstance(node, Function | ast.ClassDef):
        return
    if not node.name.startswith("_"):
        yield node.lineno, node.name
    if isinstance(node, Function):
        if not node.name.startswith("_") or node.name == "__init__":
            yield from ((item.lineno, item.arg) for item in ast.walk(node.args) if isinstance(item, ast.arg))
        for item in ast.walk(node):
            if isinstance(item, ast.Attribute) and item.attr.endswith("_") and not item.attr.startswith("_"):
                yield item.lineno, item.attr


def prose(text: str) -> Found:
    """Lines of a page that use another word."""
    for number, line in enumerate(text.splitlines(), start=1):
        for pattern, advice in PROSE.items():
            for hit in re.finditer(pattern, line):
                yield number, f"{hit.group()}: {advice}"


if __name__ == "__main__":
    sys.exit("\n".join(main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))) or 0)
