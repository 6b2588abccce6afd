"""
Where do clues stop a tree?
===========================

A dendrogram merges clusters until one is left. Cannot-links forbid some merges: in
:class:`~cluewise.hierarchy.ConstrainedAgglomerative` every level of the tree keeps every clue, and the plot marks
forbidden merges.
"""

# %%
# The experiment
# --------------
#
# Wine, columns standardized, with single linkage. The distance between two clusters is that of their closest
# rows, so a few rows in between can chain separate clusters together. Sixty random pairs of rows are looked up
# in the true classes; they become must-links and cannot-links.

import matplotlib.pyplot as plt
import numpy as np
from scipy.cluster.hierarchy import dendrogram

import cluewise as cw
from cluewise.hierarchy import ConstrainedAgglomerative

wine = cw.datasets.load("wine", standardize=True)
clues = cw.Clues.sample(wine.y, pairs=60, random_state=0)
plain = ConstrainedAgglomerative(3, linkage="single").fit(wine.X)
constrained = ConstrainedAgglomerative(3, linkage="single", time_limit=None).fit(wine.X, clues=clues)

# %%
# The trees
# ---------
#
# SciPy's ``dendrogram`` draws ``linkage_``. Must-linked rows are merged first, at height 0. Merges that clues
# forbid come last, all at one height above the others (gray); ``forbidden_`` marks them. Colors show the three
# clusters.

COLORS = ["#0072B2", "#E69F00", "#009E73"]
n = len(wine.X)


def colors_of(model):
    """Color of every merge: that of its cluster, black between clusters, gray where clues forbid it."""
    row = list(range(n))  # one row below each node
    row += [0] * (n - 1)
    for i, (left, _) in enumerate(model.children_):
        row[n + i] = row[left]

    def color(node):
        if model.forbidden_[node - n]:
            return "0.75"
        return COLORS[model.labels_[row[node]]] if node - n < n - model.n_clusters_ else "black"

    return color


figure, axes = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained", sharey=True)
links = f"{len(clues.must)} must-, {len(clues.cannot)} cannot-links"
for ax, model, words in ((axes[0], plain, "no clues"), (axes[1], constrained, links)):
    with plt.rc_context({"lines.linewidth": 0.9}):
        dendrogram(model.linkage_, ax=ax, no_labels=True, link_color_func=colors_of(model))
    if model.forbidden_.any():
        top = model.distances_[-1]
        ax.axhline(top, color="0.75", linestyle="dotted")
        ax.text(0, 1.01 * top, f"forbidden: the tree ends at {model.k_min_} clusters", va="bottom", color="0.35")
    ax.set_ylim(top=1.08 * constrained.distances_[-1])
    sizes = " + ".join(map(str, np.bincount(model.labels_)))
    ax.set_title(f"{words}: {sizes} wines")
axes[0].set_ylabel("distance at which clusters are joined")
plt.show()

for words, model in (("no clues", plain), ("clues", constrained)):
    sizes = " ".join(map(str, np.bincount(model.labels_)))
    print(f"{words}: ARI {cw.metrics.ari(wine.y, model.labels_):.2f}, sizes {sizes}, ends at {model.k_min_}")
print("must-links join the wines into", constrained.k_max_, "clusters before the first merge")
for k in (3, 6, 12):
    print(f"broken at {k} clusters:", cw.metrics.broken(constrained.cut(n_clusters=k), clues))
few = [None, *(cw.Clues.sample(wine.y, pairs=20, random_state=seed) for seed in range(3))]
ward = [ConstrainedAgglomerative(3, time_limit=None).fit(wine.X, clues=some).labels_ for some in few]
print("Ward's linkage, no clues and three draws of 20 pairs:", *(f"{cw.metrics.ari(wine.y, y):.2f}" for y in ward))

# %%
# Conclusions
# -----------
#
# - Left: single linkage chains all wines but four into one cluster. Right: the same linkage finds the three
#   kinds of wine, because cannot-links cut the chains.
# - You can cut the tree at any level afterwards (``cut``), and each level keeps every clue.
# - ``k_min_`` is where merging the closest clusters ends. It is not the smallest possible number of clusters:
#   for a smaller ``n_clusters`` the method skips merges that lead into a dead end (``n_detours_``).
# - Clues do not always help. Ward's linkage does well on these wines without clues; with only 20 pairs it can
#   do worse, because a few hard links split clusters without telling where the other rows belong.
