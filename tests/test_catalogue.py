"""The catalogue finds clusterers by what they take and by whatever people call them; public names have one home."""

import ast
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest

import cluewise as cw
from cluewise import _homes
from cluewise._homes import FAMILIES, ROOMS, homes
from cluewise.base import Clusterer
from cluewise.catalogue import clusterers, get
from cluewise.clues import KINDS

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "cluewise"


def test_every_public_clusterer_is_there():
    public = {name: getattr(cw, name) for name in cw.__all__}
    found = {name: cls for name, cls in public.items() if isinstance(cls, type) and issubclass(cls, Clusterer)}
    del found["Cluewise"]  # stands above the methods that it chooses from
    assert dict(clusterers()) == found
    assert list(clusterers()) == sorted(found)


@pytest.mark.parametrize("hard", [None, True, False])
@pytest.mark.parametrize("predicts", [None, True, False])
def test_filters_go_by_the_cards(hard, predicts):
    for accepts in ([], *([kind] for kind in KINDS), ["cannot", "labels"]):
        found = clusterers(accepts=accepts, hard=hard, predicts=predicts)
        for name, cls in clusterers().items():
            card = cls.card
            wanted = set(accepts) <= card.accepts and hard in (None, card.hard) and predicts in (None, card.predicts)
            assert (name in found) == wanted


@pytest.mark.parametrize("kind", KINDS)
def test_there_is_a_method_for_every_kind_of_clue(kind):
    assert clusterers(accepts=[kind])


@pytest.mark.parametrize("name", clusterers())
def test_get_by_name_or_alias(name):
    cls = clusterers()[name]
    for alias in (name, *cls.card.aliases):
        assert get(alias) is get(alias.upper()) is get(alias.lower()) is cls


@pytest.mark.parametrize("name", ["Clues", "metrics", "DistBoost", "__version__"])
def test_other_public_names_are_no_clusterers(name):
    with pytest.raises(ValueError, match=f"no clusterer '{name}'"):
        get(name)


def test_a_typo_gets_a_hint():
    with pytest.raises(ValueError, match=r"no clusterer 'PCKMean'; did you mean PCKMeans\?"):
        get("PCKMean")
    with pytest.raises(ValueError, match="no clusterer 'xyzzy'"):
        get("xyzzy")


def test_a_name_loads_its_own_family_only():
    code = "import sys; from cluewise.catalogue import get; get('PCKMeans'); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert {name for name in (*FAMILIES, "advice") if f"cluewise.{name}" in loaded} == {"centroid"}


# --- public names -----------------------------------------------------------------------------------------------


def test_public_names_are_those_of_the_families():
    listed = [(name, home) for home in map("cluewise.{}".format, FAMILIES) for name in import_module(home).__all__]
    families = dict(listed)
    assert len(families) == len(listed)  # no name twice
    assert families.items() <= homes().items()
    assert cw.__all__ == dir(cw) == sorted({*homes(), *ROOMS, "__version__"})
    for name in cw.__all__:
        assert getattr(cw, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'xyzzy'"):
        cw.xyzzy  # noqa: B018


def test_errors_and_warnings_are_public_names_too():
    assert {homes()[name] for name in cw.exceptions.__all__} == {"cluewise.exceptions"}
    assert cw.ClueError is cw.exceptions.ClueError


def test_every_package_with_methods_is_a_family():
    """One whose classes have cards must be named in FAMILIES and in the layers of pyproject.toml."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    (layers,) = [contract["layers"] for contract in contracts if contract["type"] == "layers"]
    assert set(FAMILIES) <= {name.strip(" ()") for layer in layers for name in layer.split("|")}
    written = {
        path.relative_to(SOURCE).parts[0]
        for path in SOURCE.rglob("*.py")
        if "\n    card = Card(" in path.read_text("utf-8")
    }
    assert written == {*FAMILIES, "front"}


def test_type_checkers_see_the_same_names():
    """`cluewise/__init__.py` imports for type checkers what it loads by name at run time."""
    tree = ast.parse(Path(cw.__file__).read_text("utf-8"))
    (twin,) = [node for node in tree.body if isinstance(node, ast.If)]
    shown = {}
    for node in twin.body:
        if isinstance(node, ast.ImportFrom) and node.module.startswith("cluewise"):
            for alias in node.names:
                names = import_module(node.module).__all__ if alias.name == "*" else [alias.name]
                shown |= dict.fromkeys(names, node.module)
    assert shown == homes() | dict.fromkeys(ROOMS, "cluewise")


def test_names_are_found_without_sources(monkeypatch):
    monkeypatch.setattr(_homes, "find_spec", lambda name: SimpleNamespace(loader=None))
    assert _homes._listed("cluewise.centroid") == tuple(import_module("cluewise.centroid").__all__)


def test_import_is_light():
    code = "import sys; old = {*sys.modules}; import cluewise; print(*{*sys.modules} - old)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "cluewise" in loaded
    assert not {"sklearn", "numpy", "numba", "typing", "ast"} & set(loaded)
