"""
Which questions are worth asking?
=================================

Somebody is willing to answer a hundred questions about 1 797 pictures of digits: do these two show the same digit?
Which hundred? Drawn at random, nine of ten answers are "no" and teach nearly nothing. A strategy that looks at the
data asks where an answer moves most rows.
"""

# %%
# Three ways to ask. :class:`~cluewise.active.PairsAtStake` gathers rows into groups and asks where most pairs of rows
# may change sides; it says itself what the clusters are. The answers of the other two are clues for
# :class:`~cluewise.PCKMeans`, with everything that follows written out.

from dataclasses import replace

import matplotlib.pyplot as plt

import cluewise as cw
from cluewise import active

digits = cw.datasets.load("digits", standardize=True)
oracle = active.SimulatedOracle(digits.y)
budget, steps = 100, range(0, 101, 20)


def by_pckmeans(strategy, state):
    model = cw.PCKMeans(10, random_state=0).fit(digits.X, clues=state.clues.closed())
    return model.labels_


def by_itself(strategy, state):
    return strategy.clustering(state, digits.X)


ways = {
    "pairs at random": (active.RandomPairs(), by_pckmeans),
    "several utilities": (active.CompositeQuestions(n_clusters=10), by_pckmeans),
    "pairs at stake": (active.PairsAtStake(), by_itself),
}
curves = {}
for name, (strategy, clusters_of) in ways.items():
    state = active.interview(strategy, digits.X, oracle, budget=budget, random_state=0)
    stages = [replace(state, answers=state.answers[:step]) for step in steps]
    curves[name] = [cw.metrics.ari(digits.y, clusters_of(strategy, stage)) for stage in stages]

# %%
# With no question at all the two clusterers start from different places; what counts is how fast they learn.

fig, ax = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
for name, curve in curves.items():
    ax.plot(steps, curve, marker="o", label=name)
ax.set(xlabel="questions answered", ylabel="ARI to the true digits", ylim=(0, 1))
ax.legend(frameon=False)
plt.show()

# %%
# One draw, one data set, and an oracle that never errs: ``experiments/questions.py`` repeats this on six sets. People
# who err cost ``PairsAtStake`` more than soft methods.

for name, curve in curves.items():
    print(f"{name:18} {curve[0]:.2f} -> {curve[-1]:.2f}")
