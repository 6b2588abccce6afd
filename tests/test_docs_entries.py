"""Docstring entries that are shared: filled in where a line asks for one, and nowhere else."""

import inspect

import pytest
from sklearn.base import BaseEstimator

import cluewise
from cluewise import catalogue
from cluewise._docs import ENTRIES, PLACE, documented, fill
from cluewise.active import strategies


def test_a_line_of_its_own_is_replaced_with_its_margin():
    text = "Parameters\n----------\n    {y}\n    {link_limit 7}\n    x : {one, two}\n    {y} and more\n"
    assert fill(text) == (
        "Parameters\n----------\n    y : ignored\n        Present for API consistency with scikit-learn.\n"
        "    limit : int, default=7\n"
        "        Maximum number of links of each kind; a random sample is taken of more.\n"
        "    x : {one, two}\n    {y} and more\n"
    )


def test_an_entry_that_does_not_exist_fails_where_the_class_is_defined():
    with pytest.raises(KeyError, match="nonesuch"):

        @documented
        def asks():
            """{nonesuch}"""


def test_classes_and_methods_are_filled_in_and_properties_left_alone():
    @documented
    class Example:
        """{y}"""

        def method(self):
            """{clues}"""

        @property
        def size(self):
            """{y}"""

    assert Example.__doc__ == ENTRIES["y"]
    assert Example.method.__doc__ == ENTRIES["clues"]


def test_no_public_docstring_shows_a_placeholder_or_an_open_default():
    public = [*catalogue.clusterers(), *strategies(), *(getattr(cluewise, name) for name in cluewise.__all__)]
    for one in {thing for thing in public if inspect.isclass(thing)}:
        described = [one, *(method for _, method in inspect.getmembers(one, inspect.isfunction))]
        for thing in described:
            text = thing.__doc__ or ""
            assert not PLACE.search(text), thing
            assert not issubclass(one, BaseEstimator) or "default=@" not in text, thing
