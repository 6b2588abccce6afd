"""Draw the figure of the paper from the tables of the experiments: ``python paper/figures.py``."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "experiments" / "results" / "front_door.md"
SHOWN = {"Cluewise": "C3", "E2CP": "C0", "PCKMeans": "C2", "SpectralKernelKMeans": "C1", "KMeans": "0.6"}
"""Methods in the figure: ours, the best single rival, the one before, one that hardly uses clues, and none."""


def read_means(text: str) -> tuple[list[str], dict[str, list[float]]]:
    """Settings, and the mean ARI of each method in them; of pairs and of no clues, which all methods take."""
    lines = text.split("## Mean ARI")[1].split("## ")[0].strip().splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    head, *rows = [cells[0], *cells[2:]]
    rows = [row for row in rows if "labels" not in row[0]]
    return [row[0] for row in rows], {
        name: [float(row[head.index(name)].split()[0]) for row in rows] for name in head[1:] if name in SHOWN
    }


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
    draw(Path(__file__).with_name("quality.png"))
