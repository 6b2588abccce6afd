"""
What do wrong clues cost?
=========================

People make errors, so an important question about a method is what it does with wrong clues: a method that trusts all
of them may do worse than K-means without clues. This script gives four methods clues of which up to 30 % are wrong, and
compares them with clustering without clues.
"""

# %%
# The experiment
# --------------
#
# Two data sets from scikit-learn, columns standardized, with either as many random links as there are rows, or
# labels for 20 % of the rows. A wrong link is a must-link instead of a cannot-link or vice versa; a wrong label
# is drawn at random from all classes. Every number is the mean over ten draws.

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
# :class:`~cluewise.COPKMeans` keeps every link, so it has no solution if links contradict each other: it raises
# :class:`~cluewise.Contradiction` or :class:`~cluewise.Infeasible` and names the links that conflict. Such a
# draw has no ARI.
#
# :class:`~cluewise.PCKMeans` may break a link for a price. The default price suits links of which nine in ten
# are right; a third of it suits links of which two in three are.


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
# Results
# -------

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
# Conclusions
# -----------
#
# - If every link is right, ``COPKMeans`` is among the best. If a few are wrong, it mostly has no solution, and
#   says so. If it has one, the result is bad, because it keeps wrong links as strictly as right ones. Use it
#   for links that are certain.
# - ``PCKMeans`` degrades slowly. With its default price it is better than no clues up to about one wrong link
#   in ten (wine), or even three in ten (breast cancer). A third of the price gives up much of the gain if links
#   are mostly right, and is never worse than no clues here.
# - A few labels have little effect here, good or bad. They fix their own rows; the other rows join the nearest
#   center, and K-means finds nearly the same centers without labels. Wrong labels do little harm to
#   ``SeededKMeans``, because labels only affect its initialization.
