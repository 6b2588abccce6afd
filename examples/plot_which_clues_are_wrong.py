"""
Which of my clues are wrong?
============================

People and programs that answer questions about data make errors, and nobody knows how often. Some methods not only
tolerate wrong links but also judge them: they estimate the probability that each link is wrong. How well do they find
the wrong links?
"""

# %%
# The experiment
# --------------
#
# Wine, columns standardized, and 800 links of which 10 to 40 % are wrong. :class:`~cluewise.TVClust` learns how
# often must-links and cannot-links are right; :class:`~cluewise.RDPMeans` and :class:`~cluewise.PCCC` derive
# their doubts from the cost of keeping a link. The area under the ROC curve (AUC) is the probability that a
# wrong link is more doubtful than a right one: 0.5 is chance, 1 is perfect. Every number is the mean over three
# draws.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import roc_auc_score

import cluewise as cw

wine = cw.datasets.load("wine", standardize=True)
noises = [0.1, 0.2, 0.3, 0.4]
methods = {
    "TVClust": (lambda seed: cw.TVClust(random_state=seed), "#0072B2", "o"),
    "PCCC": (lambda seed: cw.PCCC(3, hard="infinite", random_state=seed), "#E69F00", "s"),
    "RDPMeans": (lambda seed: cw.RDPMeans(3), "#009E73", "^"),
}


def wrong_links(clues):
    """Which links are wrong: must-links, then cannot-links."""
    together = [wine.y[pairs[:, 0]] == wine.y[pairs[:, 1]] for pairs in (clues.must, clues.cannot)]
    return np.concatenate([~together[0], together[1]])


found = {name: np.zeros((len(noises), 3)) for name in methods}
for i, noise in enumerate(noises):
    for seed in range(3):
        clues = cw.Clues.sample(wine.y, pairs=800, noise=noise, random_state=seed)
        for name, (make, *_) in methods.items():
            doubt = make(seed).fit(wine.X, clues=clues).doubt_
            found[name][i, seed] = roc_auc_score(wrong_links(clues), doubt)

# %%
# Results
# -------
#
# Left: AUC of the doubts. Right: the links that ``TVClust`` doubts most if three in ten are wrong.

figure, (ax, bars) = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
for name, (_, color, marker) in methods.items():
    means = found[name].mean(axis=1)
    ax.plot(np.multiply(noises, 100), means, color=color, marker=marker, label=name)
    print(f"{name}:", " ".join(f"{mean:.2f}" for mean in means))
ax.axhline(0.5, color="0.4", linestyle="dotted", label="chance")
ax.set_xlabel("wrong links (%)")
ax.set_ylabel("AUC of the doubts, mean of three draws")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)

clues = cw.Clues.sample(wine.y, pairs=800, noise=0.3, random_state=0)
model = cw.TVClust(random_state=0).fit(wine.X, clues=clues)
cw.plots.suspects(model, n=12, ax=bars)
plt.show()

# %%
# ``TVClust`` also estimates how often links are right:

right = ~wrong_links(clues)
print(f"must-links right: {right[: len(clues.must)].mean():.2f}, learned: {model.must_reliability_:.2f}")
print(f"cannot-links right: {right[len(clues.must) :].mean():.2f}, learned: {model.cannot_reliability_:.2f}")

# %%
# Conclusions
# -----------
#
# - Wrong links can be found if there are several links per row and the data support them: two right links
#   outvote a wrong one. Check the suspects first when you review your clues.
# - ``PCCC`` and ``RDPMeans`` are given the number of clusters. ``TVClust`` is not: it estimates the number of
#   clusters and the share of wrong links. It needs many links; its default priors were tuned on data sets that
#   include this one.
# - The doubts of ``RDPMeans`` and ``PCCC`` cost little compared with the fit, and are good enough to rank
#   links.
# - Doubts are calibrated by how well a method predicts the links, so take a doubt of 90 % seriously.
