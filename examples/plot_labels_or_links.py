"""
Should I ask for labels or for links?
=====================================

Suppose that someone who knows the data is willing to answer a number of questions. "Which class is this?" gives a
label, "are these two the same?" gives a link. The second is easier to answer: it requires neither the classes nor their
number. But which answers are worth more?
"""

# %%
# The experiment
# --------------
#
# Two data sets from scikit-learn, columns standardized: two classes (breast cancer) and five (the digits 0 to
# 4). All answers are right, and the rows and pairs to ask about are drawn at random. Every number is the mean
# over eight draws.

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.preprocessing import StandardScaler

import cluewise as cw
from cluewise.metrics import ari

sets = {
    "breast cancer, 2 classes": load_breast_cancer(return_X_y=True),
    "digits 0 to 4, 5 classes": load_digits(n_class=5, return_X_y=True),
}
shares = [0.02, 0.05, 0.1, 0.2, 0.5]
ways = {
    "labels, ConstrainedKMeans": ("labels", cw.ConstrainedKMeans, "#CC79A7", "D"),
    "links, PCKMeans": ("pairs", cw.PCKMeans, "#0072B2", "o"),
    "links, COPKMeans": ("pairs", cw.COPKMeans, "#E69F00", "s"),
}


def measure(X, y, kind, method, m):
    """Mean ARI over all rows, and over the rows that no clue mentions."""
    scores = []
    for seed in range(8):
        clues = cw.Clues.sample(y, **{kind: m}, random_state=seed)
        labels = method(len(set(y)), random_state=seed).fit_predict(X, clues=clues)
        scores.append((ari(y, labels), ari(y[clues.free], labels[clues.free])))
    return np.mean(scores, axis=0)


# %%
# Results
# -------
#
# Solid: all rows. Dotted: only rows that no clue mentions. The first point of each line is the method without
# clues.

figure, axes = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
for ax, (name, (X, y)) in zip(axes, sets.items()):
    X = StandardScaler().fit_transform(X)
    answers = [0, *(round(share * len(y)) for share in shares)]
    for way, (kind, method, color, marker) in ways.items():
        scores = np.array([measure(X, y, kind, method, m) for m in answers])
        ax.plot(answers, scores[:, 0], color=color, marker=marker, markersize=5)
        ax.plot(answers, scores[:, 1], color=color, linestyle="dotted")
        print(f"{name}, {way}:", " ".join(f"{s:.2f}" for s in scores[:, 0]))
        print(f"{name}, {way}, rows without a clue:", " ".join(f"{s:.2f}" for s in scores[:, 1]))
    ax.set_title(name, loc="left", fontsize=11, fontweight="bold")
    ax.set_xlabel("answers")
    ax.spines[["top", "right"]].set_visible(False)
axes[0].set_ylabel("ARI, mean of eight draws")
handles = [Line2D([], [], color=color, marker=marker, label=way) for way, (_, _, color, marker) in ways.items()]
handles.append(Line2D([], [], color="0.3", linestyle="dotted", label="only rows without a clue"))
figure.legend(handles=handles, loc="outside lower center", ncols=4, frameon=False, fontsize=9)
plt.show()

# %%
# Conclusions
# -----------
#
# - With two classes, a link is worth about as much as a label: a row that is not in one class is in the other.
#   With five classes most links are cannot-links, and each only excludes one class of five. A label is worth
#   much more.
# - With two classes most of the gain is on the rows that the clues mention. The other rows follow the centers,
#   and the centers move little. So ask about the rows that you care about. With the digits the centers do move,
#   and the other rows gain as well.
# - For the digits, up to one link per ten rows has no effect. With more, ``COPKMeans`` gains more than
#   ``PCKMeans``: all answers are right here, and ``COPKMeans`` assumes that they are.
#   :ref:`sphx_glr_auto_examples_plot_wrong_clues.py` shows the opposite case.
