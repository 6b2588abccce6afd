"""
Which of my clues are wrong?
============================

People and programs that answer questions about data err, and nobody knows how often. Some methods do not only
bear wrong links but judge them: they give every link a probability of being wrong. This script asks how well
they find the wrong ones.
"""

# %%
# The experiment
# --------------
#
# Wine, columns standardized, and 800 links of which 10 to 40 % are wrong. :class:`~cluewise.TVClust` learns how
# often must-links and cannot-links are right; :class:`~cluewise.RDPMeans` and :class:`~cluewise.PCCC` derive
# their doubts from what keeping a link costs. The area under the ROC curve (AUC) is the probability that a wrong
# link is more doubtful than a right one: 0.5 is guessing, 1 is perfect. Every number is the mean over three draws.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import roc_auc_score

import cluewise as cw

wine = cw.datasets.load("wine", standardize=True)
noises = [0.1, 0.2, 0.3, 0.4]
methods = {
    "TVClust": (lambda seed: cw.TVClust(random_state=seed), "#0072B2", "o"),
    "PCCC": (lambda seed: cw.PCCC(3, hard="infinite", time_limit=2, random_state=seed), "#E69F00", "s"),
    "RDPMeans": (lambda seed: cw.RDPMeans(3), "#009E73", "^"),
}


def lies(clues):
    """Which links are wrong: must-links, then cannot-links."""
    together = [wine.y[pairs[:, 0]] == wine.y[pairs[:, 1]] for pairs in (clues.must, clues.cannot)]
    return np.concatenate([~together[0], together[1]])


found = {name: np.zeros((len(noises), 3)) for name in methods}
for i, noise in enumerate(noises):
    for seed in range(3):
        clues = cw.Clues.sample(wine.y, pairs=800, noise=noise, random_state=seed)
        for name, (make, *_) in methods.items():
            doubt = make(seed).fit(wine.X, clues=clues).doubt_
            found[name][i, seed] = roc_auc_score(lies(clues), doubt)

# %%
# What came out
# -------------
#
# Left: how well wrong links are found. Right: the links that ``TVClust`` doubts most when three in ten are wrong.

figure, (ax, bars) = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
for name, (_, color, marker) in methods.items():
    means = found[name].mean(axis=1)
    ax.plot(np.multiply(noises, 100), means, color=color, marker=marker, label=name)
    print(f"{name}:", " ".join(f"{mean:.2f}" for mean in means))
ax.axhline(0.5, color="0.4", linestyle="dotted", label="guessing")
ax.set_xlabel("wrong links (%)")
ax.set_ylabel("AUC of the doubts, mean of three draws")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)

clues = cw.Clues.sample(wine.y, pairs=800, noise=0.3, random_state=0)
model = cw.TVClust(random_state=0).fit(wine.X, clues=clues)
cw.plots.suspects(model, n=12, ax=bars)
plt.show()

# %%
# How far can the links be trusted? ``TVClust`` says so without being told:

right = ~lies(clues)
print(f"must-links right: {right[: len(clues.must)].mean():.2f}, learned: {model.must_reliability_:.2f}")
print(f"cannot-links right: {right[len(clues.must) :].mean():.2f}, learned: {model.cannot_reliability_:.2f}")

# %%
# What to take from it
# --------------------
#
# - Wrong links can be found when there are several per row and the data have a say: two right links outvote a
#   wrong one. Look at the suspects first when you go through your clues again.
# - ``PCCC`` and ``RDPMeans`` were told how many kinds of wine there are, ``TVClust`` was not: it finds the number
#   of clusters, and how many links are wrong as well. It needs many links; its default priors were tuned on data
#   sets of which this is one.
# - The doubts of ``RDPMeans`` and ``PCCC`` cost little beside the fit, and are good enough to order a list.
# - Doubts are calibrated by how well a method predicts the links: a doubt of 90 % is not given lightly.
