"""
Do a few clues change the picture?
==================================

Data can often be grouped in more than one way, and the data alone do not say which one you mean. Here are 300 rows in
four groups. If you want two clusters, should they be left and right, or top and bottom? Both are good answers. K-means
prefers left and right, because the groups are slightly farther apart in that direction. A dozen labels are usually
enough to get the other answer.
"""

# %%
# Four groups
# -----------
#
# We want clusters by height: class 0 is below, class 1 above.

import sys

import numpy as np

import cluewise as cw
from cluewise import plots
from cluewise.metrics import ari

rng = np.random.default_rng(7)
corners = [(-2.3, -1.9), (2.3, -1.9), (-2.3, 1.9), (2.3, 1.9)]
X = np.concatenate([rng.normal(corner, (0.75, 0.55), size=(75, 2)) for corner in corners])
height = np.repeat([0, 0, 1, 1], 75)

# %%
# Without clues and with twelve labels
# ------------------------------------
#
# Twelve rows are drawn at random and labeled; the other 288 are unlabeled. Without clues,
# :class:`~cluewise.ConstrainedKMeans` is plain K-means. With labels, the labeled rows keep their class, and the
# others join the nearest center.

clues = cw.Clues.sample(height, labels=12, random_state=1)
without = cw.ConstrainedKMeans(2, n_init=10, random_state=0).fit(X)
with_clues = cw.ConstrainedKMeans(2, random_state=0).fit(X, clues=clues)

print(clues)
for name, model in (("without clues", without), ("with 12 labels", with_clues)):
    print(f"{name}: ARI {ari(height, model.labels_):.2f}, objective {model.objective_:.0f}")

# %%
# The adjusted Rand index (ARI) is 1 if the clusters are the classes and about 0 if they are unrelated. The
# objective is the sum of squared distances that K-means minimizes. It is *larger* for the clusters we want: no
# number of restarts would find them, because K-means prefers the others.

figure = plots.compare(
    X,
    without.labels_,
    with_clues.labels_,
    clues,
    titles=("Without clues: left and right", "With 12 labels (black rims): top and bottom"),
)

# %%
# How often does it work?
# -----------------------
#
# One draw of twelve labels proves little. We repeat it with a hundred draws for each number of labels.

for m in (3, 6, 12, 24):
    draws = [cw.Clues.sample(height, labels=m, random_state=seed) for seed in range(100)]
    found = [ari(height, cw.ConstrainedKMeans(2, random_state=0).fit(X, clues=c).labels_) > 0.9 for c in draws]
    print(f"{m:2} labels: top and bottom in {sum(found)} of {len(found)} draws")

# %%
# Three labels may all be of one class, or may lead to initial centers on the left and right. A dozen is usually
# enough here. With more classes you need more: at least some for each class that you care about.
#
# ``python plot_why_clues.py picture.png`` writes the picture to a file.

if len(sys.argv) > 1:
    figure.savefig(sys.argv[1], dpi=100)
