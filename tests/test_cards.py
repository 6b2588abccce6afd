"""What the cards say is true of the classes: papers exist, kinds exist, parameters are checked."""

import doctest
import inspect
import re
import sys
from dataclasses import MISSING, fields, replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from cluewise import Card, clusterers
from cluewise.checks import check_clusterer, laws_for

ROOT = Path(__file__).parents[1]
BIBLIOGRAPHY = ROOT / "references.bib"
CHANGES = ("shift", "scale", "rotation")


def skeleton():
    """The class of the file that CONTRIBUTING.md tells people to copy; it must pass whatever a method must pass."""
    spec = spec_from_file_location("skeleton", ROOT / "docs" / "skeleton.py")
    sys.modules["skeleton"] = module = module_from_spec(spec)  # so that it can be pickled
    spec.loader.exec_module(module)
    return module.PricedLabels


CLASSES = clusterers() | {"skeleton": skeleton()}


@pytest.fixture(scope="module")
def keys():
    return set(re.findall(r"@\w+\{(\w+),", BIBLIOGRAPHY.read_text()))


@pytest.mark.parametrize("name", CLASSES)
def test_paper_is_in_the_bibliography_and_cited(name, keys):
    card = CLASSES[name].card
    assert card.paper in keys
    assert f".. [{card.paper}]" in CLASSES[name].__doc__
    assert f"[{card.paper}]_" in inspect.getmodule(CLASSES[name]).__doc__
    assert card.equation


BAD_CARDS = {
    "accepts of a card cannot be 'link'; there are 'labels', 'must', ": {"accepts": frozenset({"link"})},
    "invariant of a card cannot be 'size'; there are 'shift', 'scale', 'rotation'.": {"invariant": frozenset({"size"})},
    "plain of a card cannot be 'dbscan'; there are 'k-means', ''.": {"plain": "dbscan"},
    "time_rows of a card cannot be 'n²'; there are 'linear', 'square'.": {"time_rows": "n²"},
    "time_columns of a card cannot be 'd²'; there are 'linear', 'square'.": {"time_columns": "d²"},
    "memory of a card cannot be 'n²'; there are 'rows', 'pairs', 'square'.": {"memory": "n²"},
    "a card needs a title: the method in a few words.": {"title": ""},
    "cost of a card begins with 'O(', not 'much'.": {"cost": "much"},
    "a card with hard=True accepts clues of the kind apart or avoid or ": {"hard": True, "accepts": frozenset()},
    "a card with mixes=True accepts clues of the kind cannot or must.": {"mixes": True},
    "a card with joins=True accepts clues of the kind cannot or must.": {"joins": True},
    "a card with judges=True accepts clues of the kind cannot or must.": {"judges": True},
    "a card with named=True accepts clues of the kind labels.": {"named": True},
}


@pytest.mark.parametrize(("words", "changes"), BAD_CARDS.items())
def test_a_card_that_cannot_be_is_refused(words, changes):
    with pytest.raises(ValueError, match=f"^{re.escape(words)}"):
        Card(**({"paper": "Basu2002", "title": "a method", "accepts": frozenset({"sizes"})} | changes))


def test_words_about_cost_drive_no_law():
    wordy = type("Wordy", (CLASSES["PCKMeans"],), {"card": replace(CLASSES["PCKMeans"].card, cost="O(n² d²)")})
    assert laws_for(wordy) == laws_for(CLASSES["PCKMeans"])
    assert wordy.card.memory == "rows"


def in_words(value):
    """A default, as the table in CONTRIBUTING.md writes it."""
    plain = {MISSING: "", True: "yes", False: "no", "": "none", (): "none", frozenset(CHANGES): "all three"}
    return plain.get(value, f"`{value}`")


def test_contributing_explains_every_field():
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    table = re.findall(r"^\| `(\w+)` \| ([^|]*?) ?\| [^|]{10,} \|$", text, re.MULTILINE)
    assert table == [(field.name, in_words(field.default)) for field in fields(Card)]


def test_aliases_name_one_clusterer():
    names = [alias.lower() for cls in CLASSES.values() for alias in (cls.__name__, *cls.card.aliases)]
    assert len(names) == len(set(names))


def test_a_card_cannot_be_changed():
    with pytest.raises(AttributeError):
        CLASSES["PCKMeans"].card.hard = True


@pytest.mark.parametrize("name", CLASSES)
def test_methods_are_there_as_the_card_says(name):
    cls = CLASSES[name]
    assert hasattr(cls, "predict") == cls.card.predicts
    assert ("sample_weight" in inspect.signature(cls.fit).parameters) >= cls.card.weights
    assert cls().__sklearn_tags__().input_tags.sparse == cls.card.sparse


@pytest.mark.parametrize("name", CLASSES)
def test_every_parameter_is_checked_and_documented(name):
    cls = CLASSES[name]
    parameters = list(inspect.signature(cls.__init__).parameters)[1:]
    assert set(cls._parameter_constraints) == set(parameters)
    documented = re.findall(r"^    (\w+) : ", cls.__doc__.split("Attributes\n")[0], re.MULTILINE)
    assert documented == parameters


@pytest.mark.parametrize("name", CLASSES)
def test_every_attribute_is_documented(name):
    cls = CLASSES[name]
    model = cls(2).fit([[0.0], [1.0], [5.0], [6.0]])
    computed = {a for a in dir(cls) if isinstance(getattr(cls, a), property)}  # when they are first read
    fitted = {a for a in {*vars(model), *computed} if a.endswith("_") and not a.startswith("_")} - {"n_features_in_"}
    attributes = cls.__doc__.split("Attributes\n")[1].split("Notes\n")[0].split("Raises\n")[0]
    assert fitted == set(re.findall(r"^    (\w+_) : ", attributes, re.MULTILINE))


@pytest.mark.parametrize("name", CLASSES)
def test_notes_hold_objective_table_and_deviations(name):
    notes = CLASSES[name].__doc__.split("Notes\n")[1]
    assert ".. math::" in notes
    assert "*Deviations.*" in notes
    assert "=====" in notes


@pytest.mark.parametrize("price", [0, 1, 30])
def test_skeleton_obeys_the_laws(price):
    check_clusterer(CLASSES["skeleton"](penalty=price), random_state=price)


def test_skeleton_is_what_it_says():
    example = doctest.DocTestFinder().find(CLASSES["skeleton"], globs={"PricedLabels": CLASSES["skeleton"]})
    assert [doctest.DocTestRunner().run(test).failed for test in example if test.examples] == [0]
    assert "docs/skeleton.py" in (ROOT / "CONTRIBUTING.md").read_text("utf-8")
