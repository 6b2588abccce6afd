"""
One fit for every clue
======================

You often have several kinds of clues at once. In this example, guests are assigned to three tables: some friends must
sit together, some people must not, you have a hunch about one pair, and every table has between 18 and 22 seats.
:class:`~cluewise.PCCC` takes all of these clues in one fit.
"""

# %%
# The guests
# ----------
#
# Sixty guests with two interests. Without clues they would form groups of quite different sizes.

import matplotlib.pyplot as plt
import numpy as np

import cluewise as cw

rng = np.random.default_rng(3)
X = np.vstack(
    [
        rng.normal((0, 0), 1.0, size=(34, 2)),
        rng.normal((5, 0.5), 0.9, size=(16, 2)),
        rng.normal((2.5, 4), 0.8, size=(10, 2)),
    ]
)

# %%
# The clues
# ---------
#
# Certain clues have infinite weight; a hunch has a confidence. The members of two families should not share a
# table: an *apart* group says that no two of its members are in the same cluster.

families = np.full(60, -1)
families[[0, 1, 2]] = 0
families[[34, 35, 50]] = 1
certain = cw.Clues(
    60,
    must=[(3, 40), (3, 41)],
    cannot=[(5, 6), (51, 52)],
    must_weight=np.inf,
    cannot_weight=np.inf,
    apart=families,
    apart_weight=np.inf,
    sizes=(18, 22),
)
hunch = cw.Clues(60, must=[(10, 55)], confidence=0.6)

plain = cw.PCCC(3, random_state=0).fit(X)
model = cw.PCCC(3, hard="infinite", random_state=0).fit(X, clues=certain | hunch)

# %%
# The tables
# ----------

figure, axes = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
for ax, found, words in ((axes[0], plain, "no clues"), (axes[1], model, "all clues")):
    sizes = np.bincount(found.labels_, minlength=3)
    cw.plots.map(
        X, found.labels_, clues=certain | hunch, ax=ax, title=f"{words}: {', '.join(map(str, sorted(sizes)))} guests"
    )
plt.show()

print("sizes without clues:", *sorted(np.bincount(plain.labels_, minlength=3)))
print("sizes with clues:", *sorted(np.bincount(model.labels_, minlength=3)))
print("broken:", model.broken_)
print(f"at most {100 * model.gap_:.1f} % more expensive than the cheapest seating around these centers")

# %%
# Conclusions
# -----------
#
# - All certain clues hold: friends sit together, families are spread, tables have the right sizes. If that is
#   impossible, the fit raises an error before it starts and names the clues that conflict.
# - A hunch has a price: it is followed only if that is cheap.
# - ``gap_`` is a certificate: it bounds how far the seating may be from the best one for the final centers.
