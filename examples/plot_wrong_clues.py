"""
What do wrong clues cost?
=========================

People err. So the first question about a method that takes clues is what it does with wrong ones: a method
that trusts them all may end up worse than K-means without any. This script gives four methods clues of which
up to 30 % are wrong, and asks whether clustering with clues is still better than clustering without.
"""

# %%
# The experiment
# --------------
#
# Two data sets that come with scikit-learn, columns standardized. Either as many random links as there are
# rows, or labels for 20 % of the rows. A wrong link says must for cannot or the other way round; a wrong
# label is drawn at random from all classes. Every number is the mean over ten draws.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.preprocessing import StandardScaler

import cluewise as cw
from cluewise.metrics import ari

sets = {"wine": load_wine(return_X_y=True), "breast cancer": load_breast_cancer(return_X_y=True)}
noises = [0, 0.05, 0.1, 0.2, 0.3]
seeds = range(10)

# %%
# :class:`~cluewise.COPKMeans` keeps every link, so it has no answer when links contradict each other: it
# raises :class:`~cluewise.Contradiction` or :class:`~cluewise.Infeasible`, and names the links that cannot
# all be right. Such a draw has no ARI.
#
# :class:`~cluewise.PCKMeans` may break a link for a price. The default price suits links of which nine in ten
# are right; a third of it, links of which two in three are.


def cautious(k, seed, X, clues):
    price = cw.PCKMeans(k, n_init=1, random_state=seed).fit(X, clues=clues).penalty_
    return cw.PCKMeans(k, penalty=price / 3, random_state=seed).fit(X, clues=clues)


with_links = {
    "PCKMeans": lambda k, seed, X, clues: cw.PCKMeans(k, random_state=seed).fit(X, clues=clues),
    "PCKMeans, a third of the penalty": cautious,
    "COPKMeans": lambda k, seed, X, clues: cw.COPKMeans(k, random_state=seed).fit(X, clues=clues),
}
with_labels = {
    "SeededKMeans": lambda k, seed, X, clues: cw.SeededKMeans(k, random_state=seed).fit(X, clues=clues),
    "ConstrainedKMeans": lambda k, seed, X, clues: cw.ConstrainedKMeans(k, random_state=seed).fit(X, clues=clues),
}


def score(fit, X, y, clues, seed):
    """ARI on the rows without a label; nan when the clues leave no answer."""
    try:
        model = fit(len(set(y)), seed, X, clues)
    except (cw.Contradiction, cw.Infeasible):
        return np.nan
    rows = clues.labels < 0
    return ari(y[rows], model.labels_[rows])


def measure(methods, X, y, **amount):
    """Mean ARI for every method and share of wrong clues, and how many draws had an answer."""
    scores = {name: np.empty((len(noises), len(seeds))) for name in methods}
    for i, noise in enumerate(noises):
        for seed in seeds:
            clues = cw.Clues.sample(y, noise=noise, label_noise=noise, random_state=seed, **amount)
            for name, fit in methods.items():
                scores[name][i, seed] = score(fit, X, y, clues, seed)
    return scores


# %%
# What came out
# -------------

looks = {
    "PCKMeans": ("#0072B2", "o", "solid"),
    "PCKMeans, a third of the penalty": ("#56B4E9", "o", "solid"),
    "COPKMeans": ("#E69F00", "s", "solid"),
    "SeededKMeans": ("#009E73", "^", "solid"),
    "ConstrainedKMeans": ("#CC79A7", "D", "solid"),
}
figure, axes = plt.subplots(2, 2, figsize=(10, 7), sharex=True, sharey="row", layout="constrained")
for row, (name, (X, y)) in zip(axes, sets.items()):
    X = StandardScaler().fit_transform(X)
    plain = np.mean([ari(y, KMeans(len(set(y)), n_init=10, random_state=seed).fit_predict(X)) for seed in seeds])
    print(f"{name}, no clues: {plain:.2f}")
    for ax, methods, amount in ((row[0], with_links, {"pairs": len(y)}), (row[1], with_labels, {"labels": 0.2})):
        ax.axhline(plain, color="0.4", linestyle="dotted", label="K-means, no clues")
        for method, scores in measure(methods, X, y, **amount).items():
            answered = np.isfinite(scores)
            means = np.array([s[a].mean() if a.any() else np.nan for s, a in zip(scores, answered)])
            color, marker, style = looks[method]
            ax.plot(np.multiply(noises, 100), means, color=color, marker=marker, linestyle=style, label=method)
            print(f"{name}, {method}:", " ".join(f"{mean:.2f}" for mean in means), end="")
            print("" if answered.all() else f" (answers to {', '.join(map(str, answered.sum(axis=1)))} of 10 draws)")
    row[0].set_ylabel(f"{name}\nARI, mean of ten draws")

for ax, title in zip(axes[0], ("as many links as rows", "labels for 20 % of the rows (ARI on the others)")):
    ax.set_title(title, loc="left", fontsize=11, fontweight="bold")
for ax in axes[1]:
    ax.set_xlabel("wrong clues (%)")
for ax in axes.flat:
    ax.spines[["top", "right"]].set_visible(False)
for ax in axes[0]:
    ax.legend(fontsize=8, frameon=False)
plt.show()

# %%
# What to take from it
# --------------------
#
# - If every link is right, ``COPKMeans`` is among the best. If a few are wrong, it mostly has no answer, and
#   tells you so. Where it has one, it is bad: it follows every wrong link as faithfully as the right ones.
#   Keep it for links that are certain.
# - ``PCKMeans`` falls slowly. With its default price it is better than no clues until about one link in ten
#   is wrong (wine), or even with three in ten (breast cancer). A third of the price gives away much of the
#   gain when links are mostly right, and is never worse than no clues here.
# - A few labels do little here, for better or worse. They speak of their own rows; the others go to the
#   nearest center, and K-means finds much the same centers by itself. ``SeededKMeans`` cannot be led far
#   astray, because labels only choose its start.
