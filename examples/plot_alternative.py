"""
What else is in the data?
=========================

Sometimes the clusters that a method finds are right, and known to everybody. Here are pictures of disks, squares and
crosses in red, green and blue. K-means sorts them by color. We know the colors; what else is there?
"""

# %%
# Pictures with two sides
# -----------------------
#
# Three hundred pictures of 12 by 12 pixels. Color and shape have nothing to do with each other, and most of the light
# is in the color.

import matplotlib.pyplot as plt
import numpy as np

import cluewise as cw
from cluewise.metrics import nmi

X, color, shape = cw.datasets.make_two_sided("shapes", n_samples=300, dominance=4, random_state=0)

# %%
# A clustering to avoid
# ---------------------
#
# The colors go into the clues as a clustering to *avoid*. :class:`~cluewise.CondEns` clusters the pictures of each
# color by themselves and combines what it finds; without clues it is k-means.
# :class:`~cluewise.CoordinatedConditionalIB` asks what clusters tell about the pixels once the color is known.

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
# What to take from it
# --------------------
#
# - What dominates is found first, with any number of restarts. To find something else one has to say what is known.
# - ``CondEns`` takes any clusterer and any numbers. It carries what it learned about red pictures over to green ones,
#   and that is less reliable the farther the known groups are apart: here a few pictures are wrong.
# - ``CoordinatedConditionalIB`` is for counts and other numbers that are never negative.
# - Both want a clustering to avoid that is right. ``variation_`` tells how far away the result is: at most
#   log 3 + log 3 = 2.20 for three clusters beside three of equal size.
