"""Every private scikit-learn name that cluewise leans on, in one place.

They behave the same on scikit-learn 1.6 to 1.9.
"""

from __future__ import annotations

from sklearn.base import _fit_context as fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight as check_sample_weight

__all__ = ["Interval", "StrOptions", "check_sample_weight", "fit_context"]
