"""The house: what is shared lives in `core`, and what is not lives with the method that uses it."""

import ast
from collections import defaultdict
from pathlib import Path

import pytest

import cluewise

ROOT = Path(cluewise.__file__).parent
MODULES = {
    ".".join(("cluewise", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__"): path
    for path in ROOT.rglob("*.py")
}


def imports_of(path):
    """Modules of the library that a file imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inside = f"{node.module}.{alias.name}"
                yield inside if inside in MODULES else node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def users():
    """Who imports each module."""
    found = defaultdict(set)
    for name, path in MODULES.items():
        for module in imports_of(path):
            found[module].add(name)
    return found


def test_core_holds_what_two_packages_use():
    """Directly or through other modules of core; a module of one package belongs to that package."""
    used_by = users()

    def packages(module, seen):
        found = set()
        for user in used_by[module] - seen:
            seen.add(user)
            inside = user.startswith("cluewise.core.")
            found |= packages(user, seen) if inside else {user.removeprefix("cluewise.").partition(".")[0]}
        return found

    # `find_twin` imports modules on_device by their names.
    others = ("__init__.py", "_on_device.py")
    core = [name for name, path in MODULES.items() if name.startswith("cluewise.core.") and path.name not in others]
    assert len(core) > 10
    assert {name for name in core if len(packages(name, set())) < 2} == set()


@pytest.mark.parametrize("package", ["cluewise.clues", "cluewise.exact"])
def test_private_modules_serve_their_own_package(package):
    inside = f"{package}."
    private = [name for name in MODULES if name.startswith(inside) and "._" in name]
    assert private
    used_by = users()
    assert {user for name in private for user in used_by[name] if not user.startswith(inside)} - {package} == set()
