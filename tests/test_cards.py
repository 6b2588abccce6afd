"""What the cards say is true of the classes: papers exist, kinds exist, parameters are checked."""

import inspect
import re
from pathlib import Path

import pytest

from cluewise import Card, clusterers
from cluewise.clues._clues import KINDS

BIBLIOGRAPHY = Path(__file__).parents[1] / "references.bib"
CLASSES = clusterers()


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
    assert card.title


@pytest.mark.parametrize("name", CLASSES)
def test_fields(name):
    card = CLASSES[name].card
    assert isinstance(card, Card)
    # What other methods build on takes no clues itself.
    assert card.accepts or name in ("DPMeans", "ApproxKernelKMeans", "InformationBottleneck")
    assert card.accepts <= set(KINDS)
    assert card.invariant <= {"shift", "scale", "rotation"}
    assert card.cost.startswith("O(")
    assert card.plain in ("", "k-means")


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
