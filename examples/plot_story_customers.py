"""
Story: which customers get which campaign?
==========================================

A shop has three campaigns and a table of customers as it was exported: with gaps, amounts as text, a few very large
orders, and notes that people have typed. Members of a household get the same campaign, two rivals do not, and each
campaign has a budget. The table is made here: 240 customers of three kinds, which we know and the method does not.
"""

# %%
# The table
# ---------
#
# Students buy little, families more, offices much. No single column tells them apart.

import matplotlib.pyplot as plt
import numpy as np

import cluewise as cw

rng = np.random.default_rng(3)
n, kinds = 240, np.array(["students", "families", "offices"])
kind = rng.choice(3, size=n, p=[0.5, 0.3, 0.2])
cities = [["Leiden", "Leiden", "Delft"], ["Gouda", "Gouda", "Leiden"], ["Delft", "Delft", "Gouda"]]
subjects = [["coupon", "discount", "dorm"], ["toys", "shoes", "gift"], ["invoice", "VAT", "reception"]]
phrases = ["asked about the {}", "{}: call back", "problem with {} again", "please send {} today", "thanks for the {}"]


def write_note(k: int) -> str:
    return " and ".join(rng.choice(phrases).format(rng.choice(subjects[k])) for _ in range(2))


age = rng.normal(np.array([23, 40, 46])[kind], np.array([3, 6, 9])[kind])
spend = rng.lognormal(np.log([60, 250, 1200])[kind], np.array([0.5, 0.5, 1.0])[kind])
days = rng.gamma(2, np.array([150, 400, 600])[kind]).astype(int)
customers = {
    "id": [f"C{i:03d}" for i in range(n)],
    "age": ["" if rng.random() < 0.15 else f"{years:.0f}" for years in age],
    "spend": ["n/a" if rng.random() < 0.05 else f"€ {amount:,.2f}" for amount in spend],
    "city": [str(rng.choice(cities[k])) for k in kind],
    "joined": [str(np.datetime64("2024-12-31") - day) for day in days],
    "note": [write_note(k) if rng.random() < 0.6 else "" for k in kind],
}
for name, column in customers.items():
    print(f"{name:6}", *column[:4], sep=" | ")

# %%
# From columns to numbers
# -----------------------
#
# :class:`cluewise.Rows` recognizes what each column is, and says what it did about gaps and the long tail of ``spend``.
# By default every column counts the same. To us, the city and the day of joining matter less than age, spend and note.

rows = cw.Rows(weights={"joined": 0.3, "city": 0.3})
X = rows.fit_transform(customers)
print(rows.explain())

# %%
# The rules of the business
# -------------------------
#
# Ten pairs of accounts belong to one household each, and get one campaign. Two offices compete with each other and
# never get the same offer. A campaign pays off from 40 customers, and its budget covers at most 105.

rivals = np.flatnonzero(kind == 2)[1:3]
household = np.full(n, -1)
first, second = rng.permutation(np.flatnonzero(kind == 1))[:20].reshape(2, 10)
household[first] = household[second] = np.arange(10)
clues = cw.Clues(n, together=household, cannot=[rivals], sizes=(40, 105))
print(clues.explain(k=3))

# %%
# With and without the rules
# --------------------------
#
# :class:`cluewise.PCCC` is K-means that keeps every kind of rule.

plain = cw.PCCC(3, random_state=0).fit(X)
model = cw.PCCC(3, random_state=0).fit(X, clues=clues)
for name, found in (("without rules", plain.labels_), ("with rules", model.labels_)):
    split = np.count_nonzero(found[first] != found[second])
    rivalry = "together" if found[rivals[0]] == found[rivals[1]] else "apart"
    print(f"{name}: sizes {np.bincount(found)}, {split} of 10 households split, rivals {rivalry}, ", end="")
    print(f"ARI {cw.metrics.ari(kind, found):.2f}")

# %%
# Who are they?
# -------------
#
# The description uses the words and units of the table. It also names the rows that the rules have moved.

profiles = cw.describe(model, customers, clues=clues, without=plain.labels_)
print(profiles)

# %%
figure, axes = plt.subplots(1, 4, figsize=(12, 3), sharey=True, layout="constrained")
cw.plots.profiles(model, customers, ax=axes)
plt.show()

# %%
# How sure is it?
# ---------------
#
# Parts of the rows, 80 % each, are clustered again, with the rules among them and 80 % of the bounds.

smaller = cw.Clues(n, together=household, cannot=[rivals], sizes=(32, 84))
sure = cw.stability(model, X, smaller, n_resamples=30, random_state=0)
print(sure)

# %%
# The decision
# ------------
#
# Customers who stay in their cluster in nine of ten resamples get its campaign. Somebody checks the others.

certain = sure.rows >= 0.9
for profile in profiles:
    members = model.labels_ == profile.cluster
    sent = np.flatnonzero(members & certain)
    print(f"Campaign {profile.cluster}, {profile.name}: send to {len(sent)}, look at {np.sum(members & ~certain)}")
    print("  send to", ", ".join(customers["id"][row] for row in sent[:8]), "...")
true = np.array([np.bincount(kind[model.labels_ == c]).argmax() for c in range(3)])[model.labels_] == kind
print(f"right campaign: {true[certain].mean():.0%} of those sent, {true[~certain].mean():.0%} of those to look at")

# %%
figure, ax = plt.subplots(figsize=(7, 3), layout="constrained")
cw.plots.stability(sure, ax=ax)
plt.show()

# %%
# Conclusions
# -----------
#
# * The rules cost some rows their natural group: the budget of the students' campaign is smaller than their number.
# * The clusters of students and families come back in every resample. That of the offices is small, and in this table
#   less sure; with other seeds it comes back as well.
# * Most customers get their campaign without a manual check. The few whose cluster changes with the sample are the ones
#   worth a person's time.
