"""
Where do clues stop a tree?
===========================

A dendrogram goes on joining until one cluster is left. Cannot-links say where it must not: with
:class:`~cluewise.hierarchy.ConstrainedAgglomerative` every level of the tree keeps every clue, and what must not be
joined is marked in the picture.
"""

# %%
# The experiment
# --------------
#
# Wine, columns standardized, and single linkage, which is known for its chains: two clusters are as close as their
# closest rows, so a few rows in between join what is apart. Sixty random pairs of rows are looked up in the true
# classes; they become must-links and cannot-links.

import matplotlib.pyplot as plt
import numpy as np
from scipy.cluster.hierarchy import dendrogram

import cluewise as cw
from cluewise.hierarchy import ConstrainedAgglomerative

wine = cw.datasets.load("wine", standardize=True)
clues = cw.Clues.sample(wine.y, pairs=60, random_state=0)
plain = ConstrainedAgglomerative(3, linkage="single").fit(wine.X)
told = ConstrainedAgglomerative(3, linkage="single").fit(wine.X, clues=clues)

# %%
# The trees
# ---------
#
# ``linkage_`` is what SciPy's ``dendrogram`` draws. Must-links are joined first, at height 0. Unions that clues forbid
# stand at the end, all at one height above the others (gray); ``forbidden_`` marks them. Colors are the three clusters.

COLORS = ["#0072B2", "#E69F00", "#009E73"]
n = len(wine.X)


def painted(model):
    """Color of every union: that of its cluster, black between clusters, gray where clues forbid it."""
    row = list(range(n))  # a row of each node
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
for ax, model, words in ((axes[0], plain, "no clues"), (axes[1], told, links)):
    with plt.rc_context({"lines.linewidth": 0.9}):
        dendrogram(model.linkage_, ax=ax, no_labels=True, link_color_func=painted(model))
    if model.forbidden_.any():
        top = model.distances_[-1]
        ax.axhline(top, color="0.75", linestyle="dotted")
        ax.text(0, 1.01 * top, f"forbidden: the tree ends at {model.k_min_} clusters", va="bottom", color="0.35")
    ax.set_ylim(top=1.08 * told.distances_[-1])
    sizes = " + ".join(map(str, np.bincount(model.labels_)))
    ax.set_title(f"{words}: {sizes} wines")
axes[0].set_ylabel("distance at which clusters are joined")
plt.show()

for words, model in (("no clues", plain), ("clues", told)):
    sizes = " ".join(map(str, np.bincount(model.labels_)))
    print(f"{words}: ARI {cw.metrics.ari(wine.y, model.labels_):.2f}, sizes {sizes}, ends at {model.k_min_}")
print("must-links join the wines into", told.k_max_, "clusters before the first union")
for k in (3, 6, 12):
    print(f"broken at {k} clusters:", cw.metrics.broken(told.cut(n_clusters=k), clues))
few = [None, *(cw.Clues.sample(wine.y, pairs=20, random_state=seed) for seed in range(3))]
ward = [ConstrainedAgglomerative(3).fit(wine.X, clues=some).labels_ for some in few]
print("Ward's linkage, no clues and three draws of 20 pairs:", *(f"{cw.metrics.ari(wine.y, y):.2f}" for y in ward))

# %%
# What to take from it
# --------------------
#
# - Left, all wines but four are one cluster: the chain has swallowed everything. Right, the same linkage finds the
#   three kinds of wine, because the chains meet cannot-links.
# - The tree is cut at any level afterwards (``cut``), and each level keeps every clue.
# - ``k_min_`` is where joining the closest clusters ends. That is not the smallest number of clusters that is
#   possible: for a smaller ``n_clusters`` the method leaves out unions that lead into a dead end (``n_detours_``).
# - Clues do not always help. Ward's linkage is good on these wines without any; with only 20 pairs it can come out
#   worse, because hard links that are few in number tear clusters apart without telling where the rest belongs.
