"""Every private scikit-learn name that cluewise leans on, in one place.

They behave the same on scikit-learn 1.6 to 1.9.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight as check_sample_weight

__all__ = ["Interval", "StrOptions", "check_sample_weight", "fit_context"]

F = TypeVar("F", bound=Callable[..., Any])


def fit_context(*, prefer_skip_nested_validation: bool) -> Callable[[F], F]:
    """scikit-learn's decorator of ``fit``, with types: users' editors and checkers see what ``fit`` returns."""
    decorate = _fit_context(prefer_skip_nested_validation=prefer_skip_nested_validation)
    return cast("Callable[[F], F]", decorate)
