"""
What makes a cluster?
=====================

A clustering is useful if you can say what its clusters are. :func:`cluewise.describe` compares each cluster with the
rest in the units of your table, and :func:`cluewise.stability` tells how reliable it is. The rows are wines of three
cultivars, which are known for a few of them.
"""

# %%
# Cluster the wines
# -----------------
#
# The columns are standardized for the fit. The description uses the table as it is.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

import cluewise as cw

wine = load_wine()
table = dict(zip(wine.feature_names, wine.data.T))
X = (wine.data - wine.data.mean(axis=0)) / wine.data.std(axis=0)
clues = cw.Clues.sample(wine.target, labels=0.1, pairs=40, noise=0.1, random_state=0)
model = cw.PCKMeans(3, random_state=0).fit(X, clues=clues)

# %%
# Describe them
# -------------

plain = cw.PCKMeans(3, random_state=0).fit(X)
found = cw.describe(model, table, clues=clues, without=plain.labels_)
print(found)

# %%
# The columns that distinguish the clusters most: median, quartiles, and the range from the 5th to the 95th percentile.

figure, axes = plt.subplots(2, 3, figsize=(11, 4), sharey=True, layout="constrained")
cw.plots.profiles(model, table, ax=axes)
plt.show()

# %%
# How well do rows fit?
# ---------------------
#
# Left, dots are rows tied by clues, red ones by a clue that the result breaks. Right, the true cultivars.

cultivar = np.array(["Barolo", "Grignolino", "Barbera"])
figure, axes = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
cw.plots.silhouettes(X, model.labels_, clues=clues, ax=axes[0])
cw.plots.confusion(cultivar[wine.target], model.labels_, ax=axes[1])
plt.show()

# %%
# How sure is it?
# ---------------
#
# Three clusters come back in nearly every part of the rows. With four, the method has to cut one of them, and does not
# always cut it in the same place.

for k in (3, 4):
    again = cw.PCKMeans(k, random_state=0).fit(X, clues=clues)
    sure = cw.stability(again, X, clues, n_resamples=30, random_state=0)
    print(f"{k} clusters come back in:", *sure.recovered)

# %%
figure, ax = plt.subplots(figsize=(7, 3), layout="constrained")
cw.plots.stability(sure, ax=ax)
plt.show()
