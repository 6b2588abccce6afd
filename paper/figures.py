"""Draw the figure of the paper and write its tables, from what the experiments found: ``python paper/figures.py``.

Tables and the sentence about harm in ``paper.md`` are found by how they begin, and written anew.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import matplotlib.pyplot as plt

ROOT = Path(__file__).resolve().parents[1]
PAPER = ROOT / "paper" / "paper.md"
TABLE = ROOT / "experiments" / "results" / "front_door.md"
HISTORY = ROOT / "benchmarks" / "history.json"
SHOWN = {"Cluewise": "C3", "E2CP": "C0", "PCKMeans": "C2", "SpectralKernelKMeans": "C1", "KMeans": "0.6"}
"""Methods in the figure: ours, the best single rival, the one before, one that hardly uses clues, and none."""

COMPARED = ("Cluewise", "E2CP", "PCKMeans", "MPCKMeans", "PCCC", "LabelSpreading", "LogisticRegression", "KMeans")
"""Methods in the table: ours, single methods, and what scikit-learn has for labels and for nothing."""

GROUPS = {
    "pairs, all right": r"pairs, 0 % wrong",
    "pairs, 10 % wrong": r"pairs, 10 % wrong",
    "pairs, 20 % wrong": r"pairs, 20 % wrong",
    "pairs, 30 % wrong": r"pairs, 30 % wrong",
    "labels, all right": r"labels, 0 % wrong",
    "labels, 20 % wrong": r"labels, 20 % wrong",
    "no clues": r"no clues",
}
"""Lines of the table, and the settings whose mean they are."""

SPEED = {
    ("sweep", "PCKMeans, 100000 pairs"): "PCKMeans, an iteration, $10^6$ rows, $10^5$ pairs",
    ("sweep", "PCKMeans, 1000000 pairs"): "PCKMeans, an iteration, $10^6$ rows, $10^6$ pairs",
    ("linked", "LCVQE, 100000 rows, 10000 pairs"): "LCVQE, an iteration, $10^5$ rows, $10^4$ pairs",
    ("partition", "PartitionKMeans, 10% labelled"): "PartitionKMeans, an iteration, $10^6$ rows, a tenth labeled",
    ("preparing", "preparing 1000000 pairs"): "reading $10^6$ pairs, with their closure",
    ("mixture", "EquivalenceGMM full, must-links"): "EquivalenceGMM, an iteration, $10^5$ rows",
    ("grains", "rows that cluster"): "1,000 grains of $10^6$ rows",
    ("agglomerative", "ward, 10000 × 16, 2000 links"): "Ward's tree of $10^4$ rows with 2,000 links",
    ("memory", "PCKMeans, peak above X"): "PCKMeans, memory beyond the data",
}
"""Benchmarks in the table of speed, in words."""


def read_table(text: str, heading: str) -> tuple[list[str], list[list[str]]]:
    """Head and lines of the first table under a heading."""
    lines = text.split(f"## {heading}")[1].split("\n## ")[0].strip().splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    return cells[0], cells[2:]


def read_means(text: str) -> tuple[list[str], dict[str, list[float]]]:
    """Settings, and the mean ARI of each method in them; of pairs and of no clues, which all methods take."""
    head, rows = read_table(text, "Mean ARI")
    rows = [row for row in rows if "labels" not in row[0]]
    return [row[0] for row in rows], {
        name: [float(row[head.index(name)].split()[0]) for row in rows] for name in head[1:] if name in SHOWN
    }


def compare(text: str) -> str:
    """The table of methods: mean ARI over settings of a kind, the largest of each line in bold."""
    head, rows = read_table(text, "Mean ARI")
    lines = ["| clues | " + " | ".join(COMPARED) + " |", "|:--|" + "--:|" * len(COMPARED)]
    for words, pattern in GROUPS.items():
        some = [row for row in rows if re.search(pattern, row[0])]
        means = []
        for name in COMPARED:
            values = [row[head.index(name)].split() for row in some]
            means.append(sum(float(value[0]) for value in values) / len(values) if all(values) else None)
        best = max(round(mean, 2) for mean in means if mean is not None)
        shown = ["" if m is None else f"**{m:.2f}**" if round(m, 2) == best else f"{m:.2f}" for m in means]
        lines.append(f"| {words} | " + " | ".join(shown) + " |")
    return "\n".join(lines) + "\n"


def tell_harm(text: str) -> str:
    """How often clues do harm, in a sentence."""
    head, rows = read_table(text, "Goals")
    (last,) = [row for row in rows if row[0] == "all"]
    worse = float(last[head.index("worse than without clues, %")])
    harm, loss = float(last[head.index("harm, %")]), float(last[head.index("mean loss")])
    return (
        f"On the twelve sets, {worse:.0f} % of the results of `Cluewise` are worse than without clues, and\n"
        f"{harm:.0f} % are more than .02 below K-means, by {loss:.2f} on average; the attribute `harm_` estimates the\n"
        "probability, too low on sets unlike those it was fitted on.\n"
    )


def show_speed(entries: list[dict]) -> str:
    """The table of speed: the last ratio of each benchmark shown."""
    lines = ["| what | anchor | ratio | noise |", "|:--|:--|--:|--:|"]
    for (benchmark, name), words in SPEED.items():
        figure = [
            entry["figures"][benchmark][name] for entry in entries if name in entry["figures"].get(benchmark, {})
        ][-1]
        noise = f"{figure['noise']:.2f}" if "noise" in figure else ""
        lines.append(f"| {words} | {figure['against']} | {figure['ratio']:.2f} | {noise} |")
    return "\n".join(lines) + "\n"


def fill(paper: str) -> str:
    """The paper with numbers as they are now."""
    text = TABLE.read_text(encoding="utf-8")
    parts = {
        r"^\| clues \|.*\n(?:\|.*\n)+": compare(text),
        r"^\| what \|.*\n(?:\|.*\n)+": show_speed(json.loads(HISTORY.read_text(encoding="utf-8"))),
        r"^On the twelve sets, (?:.*\n)+?.*fitted on\.\n": tell_harm(text),
    }
    for pattern, words in parts.items():
        paper, count = re.subn(pattern, lambda _, words=words: words, paper, flags=re.MULTILINE)
        if count != 1:
            raise ValueError(f"the paper has {count} places for {words.splitlines()[0]!r}.")
    return paper


def draw(path: Path) -> None:
    """One panel for each number of pairs, with the share of wrong pairs along the axis."""
    settings, means = read_means(TABLE.read_text(encoding="utf-8"))
    amounts = list(dict.fromkeys(one.split(" pairs")[0] for one in settings if "pairs" in one))
    figure, panels = plt.subplots(1, len(amounts), figsize=(9, 2.8), sharey=True, layout="constrained")
    for amount, panel in zip(amounts, panels):
        where = [i for i, one in enumerate(settings) if one.startswith(f"{amount} pairs")]
        wrong = [int(settings[i].split(", ")[1].split(" %")[0]) for i in where]
        for name, color in SHOWN.items():
            panel.plot(wrong, [means[name][i] for i in where], color=color, label=name, marker="o", markersize=3)
        panel.set(title=f"{amount} pairs", xlabel="wrong pairs, %", xticks=wrong)
        panel.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("mean adjusted Rand index")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=len(SHOWN), frameon=False)
    figure.savefig(path, dpi=150, metadata={"Software": None})
    plt.close(figure)


if __name__ == "__main__":
    draw(PAPER.with_name("quality.png"))
    PAPER.write_text(fill(PAPER.read_text(encoding="utf-8")), encoding="utf-8")
