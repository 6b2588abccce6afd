"""What type checkers and editors know about estimators is what is there."""

from __future__ import annotations

import inspect
import warnings

import pytest
from numpydoc.docscrape import ClassDoc
from sklearn.base import BaseEstimator

import cluewise
import typed_project

ESTIMATORS = [
    one
    for one in (getattr(cluewise, name) for name in cluewise.__all__)
    if inspect.isclass(one) and issubclass(one, BaseEstimator)
]


def test_a_users_project_has_the_types_that_checkers_see():
    for value, kind in typed_project.main():
        assert isinstance(value, kind), (value, kind)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda one: one.__name__)
def test_documented_attributes_are_declared(estimator):
    """Or a checker would not know them: `self.labels_` is set by name, in one place for all clusterers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numpydoc reads entries of several names, and warns of them
        entries = ClassDoc(estimator)["Attributes"]
    documented = {name.strip() for entry in entries for name in entry.name.split(",")}
    declared = {name for base in estimator.__mro__ for name in inspect.get_annotations(base)}
    computed = {name for name, _ in inspect.getmembers(estimator, inspect.isdatadescriptor)}
    assert documented - declared - computed == set()
