"""``cluewise demo``: a real result in a few seconds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cluewise.cli import _options as opt

if TYPE_CHECKING:
    from cluewise.cli._wine import Wine

__all__ = ["demo"]

Out = Annotated[Path, typer.Option("--out", metavar="FOLDER", help="Where the files go.", rich_help_panel="Output")]


def demo(out: Out = Path("demo"), quiet: opt.Quiet = False) -> None:
    """Show what clues do, on real data, with a picture.

    178 Italian wines of three kinds, 13 measurements each. The kind of 18 wines is known. For 100 pairs somebody
    said whether both are of the same kind, and was wrong in 10 cases.
    """
    from cluewise.cli import _wine

    wine = _wine.make()
    _write(wine, out)
    if _can_draw():
        _draw(wine, out)
    if not quiet:
        _tell(wine, out)


def _can_draw() -> bool:
    """Whether there can be pictures; who tries the demo first, as by ``pipx run cluewise demo``, has no matplotlib."""
    from importlib.util import find_spec

    return find_spec("matplotlib") is not None


def _write(wine: Wine, out: Path) -> None:
    from cluewise import tables

    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError:
        raise tables.FileError(f"'{out}' cannot be made a folder.") from None
    tables.write(out / "wine.csv", wine.columns)
    tables.write(out / "truth.csv", {"id": wine.ids, "label": wine.truth})
    tables.write(out / "clues.csv", wine.lines())


def _draw(wine: Wine, out: Path) -> None:
    from cluewise import plots, tables

    count = len(wine.truth)
    titles = (
        f"Without clues: {wine.strays(wine.before)} of {count} wrong",
        f"With clues: {wine.strays(wine.after)} of {count} wrong",
    )
    picture = plots.compare(wine.X, wine.before, wine.after, wine.clues, truth=wine.truth, titles=titles)
    with tables.atomic(out / "wine.png") as aside, tables.writing(out / "wine.png"):
        picture.savefig(aside)


def _tell(wine: Wine, out: Path) -> None:
    from cluewise._extras import install
    from cluewise.cli import _show, _wine
    from cluewise.metrics import ari
    from cluewise.workspace.report import percent

    known = repr(wine.clues).split(": ")[1].removesuffix(")")
    _show.say(f"{len(wine.truth)} wines of 3 kinds. Known: {known}; one link in ten is wrong.")
    before, after = wine.scores(wine.before), wine.scores(wine.after)
    _show.table(["Cluewise", "without clues", "with clues"], [[name, before[name], after[name]] for name in before])
    shares = {
        kind: (wine.trust[kind], 1 - wine.wrong(wine.clues.only([kind])) / len(getattr(wine.clues, kind)))
        for kind in ("must", "cannot")
    }
    found = ", ".join(f"{kind}-links {percent(a)} (truth {percent(b)})" for kind, (a, b) in shares.items())
    _show.say(f"Trust found, the share of clues that seem right: {found}.")
    others, plain = _wine.other_draws(wine), ari(wine.truth, wine.before)
    _show.say(
        f"With {len(others)} other draws of clues: ARI {others.mean():.3f} on average ({others.min():.3f} to "
        f"{others.max():.3f}), {(others > plain).sum()} times better than without clues, "
        f"{(others < plain).sum()} times worse."
    )
    if _can_draw():
        _show.say(f"The picture: {out / 'wine.png'} (black rims: labels; red: broken clues; crosses: wrong cluster).")
    else:
        _show.say(f"The files are in {out}; there is a picture, too, after: {install('plot')}")
    _show.say("\nWhat to try next:")
    for words, command in _next(out):
        _show.say(f"  {_program()} {command}\n      {words}")


def _program() -> str:
    """How this program was called, if ``cluewise`` alone would not find it."""
    import os
    import shutil
    import sys

    called = Path(sys.argv[0])
    if called.stem != "cluewise" or not called.exists():
        return "cluewise"
    found = shutil.which("cluewise")
    if found is not None and Path(found).samefile(called):
        return "cluewise"
    near = os.path.relpath(called)
    return _quoted(called if near.startswith("..") else Path(near))


def _next(out: Path) -> list[tuple[str, str]]:
    """Commands that work on the files of the demo."""
    files = f"{_quoted(out / 'wine.csv')} --clues {_quoted(out / 'clues.csv')}"
    fit = ("the same from files: clusters and summary", f"fit {files} -k 3")
    if _can_draw():
        picture = _quoted(out / "map.png")
        fit = ("the same from files: clusters, summary and a map", f"fit {files} -k 3 --map {picture}")
    return [
        fit,
        ("what the clues are worth, and which contradict each other", f"check {files} -k 3"),
        ("whether they help on wines that they do not mention", f"compare {files} -k 3 --splits 5"),
        ("questions about the wines, for a person who knows them", f"ask {_quoted(out / 'wine.csv')} -k 3"),
        ("all methods, and which clues they use", "list"),
    ]


def _quoted(path: Path) -> str:
    import shlex

    return shlex.quote(str(path))
