"""
Which questions are worth asking?
=================================

Suppose that someone is willing to answer a hundred questions about 1,797 pictures of digits: do these two show the same
digit? Which hundred should you ask? If pairs are drawn at random, nine of ten answers are "no" and tell almost nothing.
A strategy that uses the data asks where an answer affects the most rows.
"""

# %%
# We compare three strategies. :class:`~cluewise.active.PairsAtStake` groups the rows and asks where an answer
# affects the most pairs of rows; it returns clusters itself. The answers to the other two, with everything that
# follows from them, are clues for :class:`~cluewise.PCKMeans`. Every number is the mean of three draws.

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np

import cluewise as cw
from cluewise import active

digits = cw.datasets.load("digits", standardize=True)
oracle = active.SimulatedOracle(digits.y)
budget, steps = 100, range(0, 101, 20)


def by_pckmeans(strategy, state, seed):
    model = cw.PCKMeans(10, random_state=seed).fit(digits.X, clues=state.clues.closed())
    return model.labels_


def by_itself(strategy, state, seed):
    return strategy.clustering(state, digits.X)


ways = {
    "pairs at random": (active.RandomPairs(), by_pckmeans),
    "several utilities": (active.CompositeQuestions(n_clusters=10), by_pckmeans),
    "pairs at stake": (active.PairsAtStake(), by_itself),
}
curves = {}
for name, (strategy, clusters_of) in ways.items():
    found = np.zeros((3, len(steps)))
    for seed in range(3):
        state = active.interview(strategy, digits.X, oracle, budget=budget, random_state=seed)
        for i, step in enumerate(steps):
            stage = replace(state, answers=state.answers[:step])
            found[seed, i] = cw.metrics.ari(digits.y, clusters_of(strategy, stage, seed))
    curves[name] = found.mean(axis=0)

# %%
# Without answers the two clusterers start from different results; compare how fast they improve.

fig, ax = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
for name, curve in curves.items():
    ax.plot(steps, curve, marker="o", label=name)
ax.set(xlabel="questions answered", ylabel="ARI to the true digits", ylim=(0, 1))
ax.legend(frameon=False)
plt.show()

# %%
# These are three draws on one data set, with an oracle that never errs: ``experiments/questions.py`` repeats the
# experiment on six sets. Wrong answers cost ``PairsAtStake`` more than soft methods.

for name, curve in curves.items():
    print(f"{name:18} {curve[0]:.2f} -> {curve[-1]:.2f}")
