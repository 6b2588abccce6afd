"""
How does Cluewise think?
========================

:class:`~cluewise.Cluewise` goes from rows and clues to clusters in four steps: grains, propagation, choice and doubt.
Here they are in pictures.
"""

# %%
# Rows and clues
# --------------
#
# Two moons and a blob between them: 3,000 rows in three classes, and 90 links, of which one in ten is wrong.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

import cluewise as cw

rng = np.random.default_rng(0)
moons, side = make_moons(2400, noise=0.12, random_state=0)
X = np.vstack([moons, rng.normal([0.5, 0.25], 0.09, size=(600, 2))])
y = np.append(side, np.full(600, 2))
clues = cw.Clues.sample(y, pairs=90, noise=0.1, random_state=1)

# %%
# Grains, and clusters without clues
# ----------------------------------
#
# Rows that lie close together become one grain, drawn larger the more rows it has. Neighboring grains form a graph; on
# it, and in the columns, several clusterings are made before any clue is read.

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
grains = cw.Grains(300, random_state=0).fit(X)
left.scatter(*X.T, s=1, color="0.8")
left.scatter(*grains.centers_.T, s=1.5 * grains.sizes_, color="#0072B2", alpha=0.6)
left.set_title("300 grains")
left.set_axis_off()
before = cw.Cluewise(3, random_state=0).fit(X)
cw.plots.map(X, before.labels_, ax=right)
right.set_title(f"without clues: ARI {cw.metrics.ari(y, before.labels_):.2f}")
plt.show()

# %%
# Propagation and choice
# ----------------------
#
# Clues propagate along the graph, which gives further clusterings. From the most promising ones, probabilities of the
# clusters are fitted to the clues. What predicts held-out clues best is taken, unless something simpler does nearly as
# well.

model = cw.Cluewise(3, random_state=0).fit(X, clues=clues)
print(model.choice_)
scores = {}
for plan, score in model.choice_.scores.items():
    step = "fitted to the clues" if plan.view else "as it is"
    scores.setdefault(plan.start, {}).setdefault(step, []).append(score)
starts = sorted(scores, key=lambda start: max(max(found) for found in scores[start].values()))

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
for step, color, marker in (("as it is", "#E69F00", "s"), ("fitted to the clues", "#0072B2", "o")):
    best = [max(scores[start].get(step, [np.nan])) for start in starts]
    left.plot(best, np.arange(len(starts)), linestyle="", color=color, marker=marker, label=step)
left.set_yticks(np.arange(len(starts)), starts)
left.set_xlabel("mean log-likelihood of held-out clues")
left.spines[["top", "right"]].set_visible(False)
left.legend(frameon=False)
left.set_title("how well each start predicts clues")
cw.plots.map(X, model.labels_, clues=clues, ax=right)
right.set_title(f"with clues: ARI {cw.metrics.ari(y, model.labels_):.2f}")
plt.show()

# %%
# Doubt
# -----
#
# Every clue is judged by a fit that did not see it. The share of right clues is estimated, and those that are probably
# wrong are named.

print(f"right clues, estimated: {model.trust_['sampled']['all']:.2f}; in truth: 0.90")
figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
cw.plots.suspects(model, n=12, ax=ax)
plt.show()

# %%
# Conclusions
# -----------
#
# - The graph sees the shape of the moons; the clues say that the blob is a class of its own.
# - No parameter was set but the number of clusters, and that could have been left out, too.
# - A wrong clue among nine right ones does little, and is likely to be found.
