"""Every public name says what it does, with all parameters and an example that doctest runs."""

import inspect
from importlib import import_module

import pytest
from numpydoc.validate import validate

MODULES = [
    "",
    ".active",
    ".advice",
    ".catalogue",
    ".checks",
    ".clues",
    ".datasets",
    ".exceptions",
    ".explain",
    ".metrics",
    ".plots",
]
MODULES += [".store"]

# Left out of numpydoc's list: an extended summary, See Also and Yields are written where they help; parameters that are
# "as for" another function have their types there; "Clusters" is a noun here, not a verb in the third person.
LEFT_OUT = {"ES01", "PR04", "SA01", "SS05", "YD01"}
# Methods and properties may be too small for sections of their own; what they have must be right.
SECTIONS = {"EX01", "PR01", "RT01"}


def public():
    """Functions and classes by the name of their home, each once."""
    found = {}
    for module in MODULES:
        home = import_module(f"cluewise{module}")
        for name in home.__all__:
            thing = getattr(home, name)
            if inspect.isclass(thing) or inspect.isfunction(thing):
                found[f"{thing.__module__}.{thing.__qualname__}"] = thing
    return found


def members():
    """Public methods and properties that the public classes define themselves."""
    kinds = (property, classmethod, staticmethod)
    for path, thing in public().items():
        if inspect.isclass(thing):
            for name, value in vars(thing).items():
                if not name.startswith("_") and (isinstance(value, kinds) or inspect.isfunction(value)):
                    yield f"{path}.{name}"


def test_there_is_something_to_check():
    paths = public()
    assert {"cluewise.clues._clues.Clues", "cluewise.centroid._pck.PCKMeans"} <= paths.keys()
    assert "cluewise.clues._clues.Clues.sample" in members()


@pytest.mark.parametrize("path", public())
def test_public_name(path):
    thing = public()[path]
    left_out = set(LEFT_OUT)
    # Exceptions are raised and results are returned by the library; nobody calls their constructors.
    if inspect.isclass(thing) and not hasattr(thing, "card") and thing.__name__ not in ("Clues", "Card"):
        left_out.add("PR01")
    errors = [f"{code}: {message}" for code, message in validate(path)["errors"] if code not in left_out]
    assert not errors, f"{path}: {'; '.join(errors)}"


@pytest.mark.parametrize("path", list(members()))
def test_members_of_public_classes(path):
    errors = validate(path)["errors"]
    errors = [f"{code}: {message}" for code, message in errors if code not in LEFT_OUT | SECTIONS]
    assert not errors, f"{path}: {'; '.join(errors)}"


@pytest.mark.parametrize("path", public())
def test_example_is_one_that_doctest_runs(path):
    assert ">>>" in inspect.getdoc(public()[path]), f"{path} has no example"


@pytest.mark.parametrize("module", MODULES)
def test_everything_listed_exists(module):
    home = import_module(f"cluewise{module}")
    assert home.__doc__
    assert all(hasattr(home, name) for name in home.__all__)
    assert len(set(home.__all__)) == len(home.__all__)
