"""
What else is in the data?
=========================

Sometimes a method finds the right clusters, but you know them already. The data here are pictures of disks, squares and
crosses in red, green and blue. K-means groups them by color. If the colors are known, what else is there?
"""

# %%
# Pictures with two groupings
# ---------------------------
#
# Three hundred pictures of 12 by 12 pixels. Color and shape are independent, and color dominates.

import matplotlib.pyplot as plt
import numpy as np

import cluewise as cw
from cluewise.metrics import nmi

X, color, shape = cw.datasets.make_two_sided("shapes", n_samples=300, dominance=4, random_state=0)

# %%
# A clustering to avoid
# ---------------------
#
# The colors are passed as a clustering to *avoid*. :class:`~cluewise.CondEns` clusters the pictures of each
# color separately and combines the results; without clues it is k-means.
# :class:`~cluewise.CoordinatedConditionalIB` finds clusters that are informative about the pixels given the
# color.

known = cw.Clues(300, avoid=color)
models = {
    "k-means, nothing known": cw.CondEns(3, random_state=0).fit(X),
    "CondEns, colors known": cw.CondEns(3, random_state=0).fit(X, clues=known),
    "CoordinatedConditionalIB, colors known": cw.CoordinatedConditionalIB(3, random_state=0).fit(X, clues=known),
}
for name, model in models.items():
    print(f"{name}: {nmi(color, model.labels_):.2f} {nmi(shape, model.labels_):.2f} (NMI with color, with shape)")
print("variation of information:", *(f"{model.variation_[0]:.2f}" for model in list(models.values())[1:]))

# %%
# One line of pictures for each cluster
# -------------------------------------
#
# The first fourteen members of each cluster.


def line_of(rows):
    """Pictures side by side, with a margin."""
    pictures = np.pad(X[rows].reshape(-1, 12, 12, 3), ((0, 0), (1, 1), (1, 1), (0, 0)), constant_values=1)
    return np.concatenate(list(pictures), axis=1)


figure, axes = plt.subplots(3, 1, figsize=(7, 6), layout="constrained")
for ax, (name, model) in zip(axes, models.items()):
    lines = [line_of(np.flatnonzero(model.labels_ == cluster)[:14]) for cluster in range(3)]
    ax.imshow(np.concatenate(lines))
    ax.set_title(name, loc="left", fontsize=11, fontweight="bold")
    ax.axis("off")
plt.show()

# %%
# Conclusions
# -----------
#
# - Without clues, every restart finds the dominant grouping. To find another one, pass the known grouping as a
#   clue.
# - ``CondEns`` works with any clusterer and any numeric data. It transfers what it learned about red pictures
#   to green ones, which is less reliable the farther apart the known groups are: here a few pictures are wrong.
# - ``CoordinatedConditionalIB`` is for counts and other nonnegative data.
# - For both, the clustering to avoid must be right. ``variation_`` measures how far the result is from it: at
#   most log 3 + log 3 = 2.20 for two clusterings into three clusters of equal size.
