"""``cluewise demo``: a real result in a few seconds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cluewise.cli import _options as opt

if TYPE_CHECKING:
    from cluewise._typing import Array, Floats
    from cluewise.clues import Clues

__all__ = ["demo"]

Out = Annotated[Path, typer.Option("--out", metavar="FOLDER", help="Where the files go.", rich_help_panel="Output")]

LABELS, PAIRS, NOISE, DRAWS = 0.1, 100, 0.1, 20
PENALTY = 1.0
"""The price of the original paper: clues of which one in ten is wrong do not deserve a higher one."""


def demo(out: Out = Path("demo"), quiet: opt.Quiet = False) -> None:
    """Show what clues do, on real data, with a picture.

    178 Italian wines from three growers, 13 measurements each. Of 18 wines the grower is known; of 100 pairs
    of wines somebody said whether they have the same grower, and was wrong in 10 cases.
    """
    import numpy as np
    from sklearn.datasets import load_wine

    from cluewise import plots, tables
    from cluewise.cli import _show
    from cluewise.cli._data import scaled
    from cluewise.clues import Clues
    from cluewise.metrics import broken

    plots.require_matplotlib()
    wine = load_wine()
    truth = np.array(["Barolo", "Grignolino", "Barbera"], dtype=object)[wine.target]
    ids = np.array([f"wine{i:03d}" for i in range(1, len(truth) + 1)], dtype=object)
    X = scaled(wine.data)
    clues = Clues.sample(truth, labels=LABELS, pairs=PAIRS, noise=NOISE, random_state=0)
    before, after = _fit(X, None), _fit(X, clues)

    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError:
        raise tables.FileError(f"'{out}' cannot be made a folder.") from None
    columns = {"id": ids} | dict(zip(wine.feature_names, wine.data.T))
    tables.write(out / "wine.csv", columns)
    tables.write(out / "truth.csv", {"id": ids, "label": truth})
    clues.write(out / "clues.csv", ids=ids)
    with tables.atomic(out / "wine.png") as aside:
        titles = [_title("Without clues", before, truth), _title("With clues", after, truth)]
        plots.compare(X, before, after, clues, truth=truth, titles=(titles[0], titles[1])).savefig(aside)
    if quiet:
        return

    _show.say(f"178 wines from 3 growers; known: {repr(clues).split(': ')[1][:-1]}. One pair in ten is wrong.")
    total = sum(_counts(clues))
    rows = [
        [name, *(text(labels) for labels in (before, after))]
        for name, text in {
            "agreement with the growers (ARI)": lambda labels: f"{_scores(truth, labels)[0]:.3f}",
            "the same by NMI": lambda labels: f"{_scores(truth, labels)[1]:.3f}",
            "wines with the wrong grower": lambda labels: str(_strays(truth, labels)),
            f"broken clues, of {total}": lambda labels: str(sum(_counts(broken(labels, clues)))),
        }.items()
    ]
    _show.table(["PCKMeans", "without clues", "with clues"], rows)
    _show.say(_again(X, truth, _scores(truth, before)[0]))
    _show.say(f"The picture is {out / 'wine.png'}; black rims are known wines, red lines broken clues.")
    _show.say("\nWhat to try next:")
    for words, command in _next(out):
        _show.say(f"  {command}\n      {words}")


def _fit(X: Floats, clues: Clues | None) -> Any:
    from cluewise.centroid import PCKMeans

    return PCKMeans(3, penalty=PENALTY, random_state=0).fit(X, clues=clues).labels_


def _scores(truth: Array, labels: Array) -> tuple[float, float]:
    from cluewise.metrics import ari, nmi

    return ari(truth, labels), nmi(truth, labels)


def _strays(truth: Array, labels: Array) -> int:
    from cluewise.metrics import accuracy

    return round(len(truth) * (1 - accuracy(truth, labels)))


def _title(words: str, labels: Array, truth: Array) -> str:
    return f"{words}: {_strays(truth, labels)} of {len(truth)} wrong"


def _counts(clues: Clues) -> tuple[int, int, int]:
    return len(clues.must), len(clues.cannot), int((clues.labels >= 0).sum())


def _again(X: Floats, truth: Array, plain: float) -> str:
    """One draw may be lucky, so here is what other draws of clues give."""
    import numpy as np

    from cluewise.clues import Clues

    found = np.array(
        [
            _scores(truth, _fit(X, Clues.sample(truth, labels=LABELS, pairs=PAIRS, noise=NOISE, random_state=s)))[0]
            for s in range(1, DRAWS + 1)
        ]
    )
    better, worse = int((found > plain).sum()), int((found < plain).sum())
    return (
        f"With {DRAWS} other draws of clues: ARI {found.mean():.3f} on average, from {found.min():.3f} to "
        f"{found.max():.3f}; {better} times better than without, {worse} times worse."
    )


def _next(out: Path) -> list[tuple[str, str]]:
    files = f"{out / 'wine.csv'} --clues {out / 'clues.csv'}"
    return [
        (
            "the same from files: clusters, summary and a map",
            f"cluewise fit {files} --penalty 1 --map {out / 'map.png'}",
        ),
        ("which of the clues contradict each other", f"cluewise check {files} -k 3"),
        ("whether they help on wines that they do not mention", f"cluewise compare {files} --penalty 1"),
        ("the other methods", "cluewise list"),
    ]
