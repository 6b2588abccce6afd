"""
Story: match the products of two catalogues
===========================================

Two shops merge, and want to know which of their products are the same. The names are spelled differently, the prices
differ a little, and some products are in one catalogue only. No shop lists a product twice, so a group has at most one
product of each shop. The catalogues are made here, so that we can count what is found.
"""

# %%
# The catalogues
# --------------
#
# Shop A is tidy. Shop B shortens brands, writes models in its own way, omits colors and makes typos.

import matplotlib.pyplot as plt
import numpy as np

import cluewise as cw

rng = np.random.default_rng(1)
brands = ["Arno", "Belvia", "Cortina", "Dunlo", "Elara", "Fjord"]
things = ["kettle", "toaster", "lamp", "speaker", "blender", "heater"]
colors = ["black", "white", "red", "steel"]


def mistype(word: str) -> str:
    at = rng.integers(len(word) - 1)
    return word[:at] + word[at + 1] + word[at] + word[at + 2 :] if rng.random() < 0.12 else word


def respell(brand: str, thing: str, model: int, color: str) -> str:
    brand = brand.upper() if rng.random() < 0.5 else f"{brand[:3]}."
    words = [brand, thing, f"{model / 1000:.1f}k" if rng.random() < 0.3 else str(model)]
    words += [color] if rng.random() < 0.7 else []
    return " ".join(mistype(word) for word in rng.permutation(words).tolist())


products = {(str(rng.choice(brands)), str(rng.choice(things)), 100 * int(rng.integers(10, 60))) for _ in range(150)}
entries = []
for number, (brand, thing, model) in enumerate(sorted(products)):
    color, value = str(rng.choice(colors)), rng.lognormal(3.5, 0.5)
    if rng.random() < 0.8:
        entries.append(("A", f"{brand} {thing} {model} {color}", f"{value:.2f}", number))
    if rng.random() < 0.8:
        other = f"{value * rng.normal(1, 0.04):.2f} EUR"
        entries.append(("B", respell(brand, thing, model, color), other, number))
for entry in entries[:6]:
    print(*entry[:3], sep=" | ")

# %%
# From names to numbers
# ---------------------
#
# The text is compared by words and by groups of characters, so that a mistyped word still counts. It says more than the
# price, and gets more weight.

shop, name, price, product = (np.array(column) for column in zip(*entries))
n = len(entries)
rows = cw.Rows(kinds={"name": "text"}, weights={"name": 4}, n_components=60)
X = rows.fit_transform({"name": name, "price": price})
print(rows.explain())

# %%
# What we know
# ------------
#
# The shop is an ``apart`` group: no two products of shop A are the same, and none of shop B. Somebody has confirmed
# twelve matches. They also tell how different two spellings of one product can be.

first, second = np.triu_indices(n, k=1)
same = product[first] == product[second]
matches = np.column_stack([first, second])[same]
confirmed = matches[rng.choice(len(matches), 12, replace=False)]
distance = np.linalg.norm(X[confirmed[:, 0]] - X[confirmed[:, 1]], axis=1)
limit = distance.max()
print(f"{n} products, {len(matches)} true matches; confirmed ones are {distance.min():.1f} to {limit:.1f} apart")
clues = cw.Clues(n, must=confirmed, apart=shop)
print(clues)

# %%
# Find the matches
# ----------------
#
# :class:`cluewise.ConstrainedAgglomerative` joins the closest groups first, never breaks a clue, and needs no number of
# groups: it stops at the largest distance that was confirmed. The confirmed matches do not count in the numbers.

known = np.zeros((n, n), dtype=bool)
known[tuple(confirmed.T)] = True
new = ~known[first, second]


def match(clues: cw.Clues, limit: float) -> np.ndarray:
    model = cw.ConstrainedAgglomerative(None, linkage="complete", distance_threshold=limit).fit(X, clues=clues)
    return model.labels_[first] == model.labels_[second]


def rate(found: np.ndarray) -> tuple[float, float]:
    right = np.sum(found & same & new)
    return right / max(np.sum(found & new), 1), right / np.sum(same & new)


plain = cw.Clues(n, must=confirmed)
for words, used in (("without the shops", plain), ("at most one of each shop", clues)):
    found = match(used, limit)
    precision, recall = rate(found)
    print(f"{words}: {np.sum(found & new)} new matches, precision {precision:.2f}, recall {recall:.2f}")

# %%
# What should somebody check?
# ---------------------------
#
# A match is doubtful if another product of the other shop is nearly as close as the one that was taken. We divide the
# two distances; the larger this ratio, the sooner the match should be checked.

found = np.flatnonzero(match(clues, limit) & new)
far = np.where(shop[:, None] == shop, np.inf, np.linalg.norm(X[:, None] - X, axis=2))
taken = far[first[found], second[found]]
far[first[found], second[found]] = far[second[found], first[found]] = np.inf
nearest = np.minimum(far[first[found]].min(axis=1), far[second[found]].min(axis=1))
order = np.argsort(-taken / nearest, kind="stable")
check, accept = found[order[:30]], found[order[30:]]
for pair in check[:6]:
    print(f"{name[first[pair]]:32} {name[second[pair]]:28}", "same" if same[pair] else "not the same")
print(f"right: {same[check].sum()} of the {len(check)} to check, {same[accept].sum()} of the other {len(accept)}")

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.8), layout="constrained")
limits = np.linspace(0.3, 4, 25)
for words, used, color in (("without the shops", plain, "#D55E00"), ("at most one of each shop", clues, "#0072B2")):
    precision, recall = np.transpose([rate(match(used, at)) for at in limits])
    left.plot(recall, precision, ".-", color=color, label=words)
    left.plot(*rate(match(used, limit))[::-1], "o", color=color, ms=10, mfc="none")
left.set(xlabel="recall", ylabel="precision", ylim=(0, 1.03), title="as the largest distance grows; circles: ours")
left.legend()
ratio, is_right = taken / nearest, same[found]
right.hist([ratio[is_right], ratio[~is_right]], bins=20, stacked=True, color=["#0072B2", "#D55E00"])
right.axvline(np.sort(ratio)[-30], color="0.4", ls="--")
right.legend(["to check: right of here", "the same product", "not the same"])
right.set(xlabel="distance taken / nearest alternative", ylabel="matches")
plt.show()

# %%
# Conclusions
# -----------
#
# * One rule, "no shop lists a product twice", removes most of the wrong matches and costs no right ones.
# * A few confirmed matches tell where to stop. Nobody has to know the number of groups. A larger distance would find a
#   few more matches, and nearly as many wrong ones.
# * The ratio of distances tells which matches to check by hand first. The others are nearly all right; here all of
#   them, with other seeds about nine in ten. Check a few of them before you merge the rest.
