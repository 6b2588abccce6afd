"""What is run for Table 4 and Figure 4 of seed 001: counts of visual words."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from cluewise import DPMeans, RDPMeans

from ...cells import Experiment, Problem
from ...sets import paper_set
from .runs import dp, drawn, none, pairs, rdp

__all__ = ["IMAGES", "TABLE_4_RATE", "WORDS", "WORD_RATES"]

WORDS = "surfbow_caltech10"
WORD_RATES = (0, 0.0025, 0.005, 0.0075, 0.01, 0.02, 0.03, 0.04, 0.05, 0.06)
TABLE_4_RATE = 0.01
SMOOTHING = 0.3


def kl_means(p: Problem) -> Any:
    """K-means with Kullback-Leibler divergence from random rows; means are its best centers too."""
    rng = np.random.default_rng(drawn(p))
    X = (p.X + SMOOTHING) / (p.X.sum(axis=1, keepdims=True) + SMOOTHING * p.X.shape[1])
    centers = X[rng.choice(len(X), p.k, replace=False)]
    z = np.full(len(X), -1)
    for _ in range(300):
        old, z = z, (X @ np.log(centers).T).argmax(axis=1)  # what is left of Σ x log(x/c) when only c changes
        if (z == old).all():
            break
        kept = [X[z == h].mean(axis=0) if (z == h).any() else X[rng.integers(len(X))] for h in range(p.k)]
        centers = np.array(kept)
    return z


def plain(p: Problem) -> Any:
    """K-means from random rows: in 800 columns, centers in the bounding box would be far from everything."""
    return KMeans(p.k, init="random", n_init=1, random_state=drawn(p)).fit_predict(p.X)


def kl_dp(p: Problem) -> Any:
    """DP-means with Kullback-Leibler divergence."""
    model = DPMeans(p.k, divergence="kl", smoothing=SMOOTHING, order="random", random_state=drawn(p))
    return model.fit(p.X).labels_


def kl_rdp(p: Problem) -> Any:
    """RDP-means with Kullback-Leibler divergence, for which there is no published profile."""
    model = RDPMeans(p.k, divergence="kl", smoothing=SMOOTHING, order="random", random_state=drawn(p))
    return model.fit(p.X, clues=p.clues).labels_


IMAGES = Experiment(
    name="seed001_images",
    title="Table 4 and Figure 4 on surfbow_caltech10 instead of ImageNet",
    data={WORDS: paper_set(WORDS)},
    settings={f"r={rate:g}": partial(pairs, right=1, rate=rate) if rate else none for rate in WORD_RATES},
    methods={
        "DP-means Gaussian": dp, "DP-means Multinomial": kl_dp, "K-means Gaussian": plain,
        "K-means Multinomial": kl_means, "RDP-means Gaussian": rdp, "RDP-means Multinomial": kl_rdp,
    },
    seeds=10,
    only=lambda data, setting, method: method.startswith("RDP") or setting == "r=0",
    quick={"settings": ["r=0", "r=0.06"], "methods": ["DP-means Multinomial", "RDP-means Gaussian"], "seeds": 1},
)  # fmt: skip
