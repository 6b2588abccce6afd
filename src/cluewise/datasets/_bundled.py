"""The small data sets that come with scikit-learn."""

from __future__ import annotations

import numpy as np

from cluewise.datasets._dataset import Dataset, Listing

__all__ = ["BUNDLED", "bundled"]

BUNDLED = {
    "breast_cancer": Listing(569, 30, 2, "scikit-learn"),
    "digits": Listing(1797, 64, 10, "scikit-learn"),
    "iris": Listing(150, 4, 3, "scikit-learn"),
    "wine": Listing(178, 13, 3, "scikit-learn"),
}


def bundled(name: str) -> Dataset:
    """Load one of the sets in ``BUNDLED``."""
    import sklearn.datasets

    bunch = getattr(sklearn.datasets, f"load_{name}")()
    return Dataset(
        name,
        np.asarray(bunch.data, dtype=np.float64),
        np.asarray(bunch.target, dtype=np.int64),
        tuple(str(label) for label in bunch.target_names),
        tuple(str(column) for column in bunch.feature_names),
        "scikit-learn",
    )
