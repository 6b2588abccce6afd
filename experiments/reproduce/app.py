"""The command line."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from .cells import Cell, Experiment
from .findings import Findings
from .parts import Section
from .report import write
from .results import gather
from .runner import Watch, run
from .tables import modules

__all__ = ["main", "options"]

HERE = Path(__file__).resolve().parents[1]


def options(argv: Sequence[str] | None) -> argparse.Namespace:
    """What the user wants."""
    parser = argparse.ArgumentParser(
        prog="python experiments/reproduce",
        description="Run every table and figure of the papers, and write a report. Stop it whenever you like: "
        "what is finished is not run again.",
    )
    parser.add_argument("--quick", action="store_true", help="a pass on a small scale, minutes instead of hours")
    parser.add_argument("--only", nargs="+", metavar="NAME", default=[], help="these papers or experiments; see --list")
    parser.add_argument("--repeats", type=int, metavar="N", help="stop after N repetitions of everything")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="cells at the same time")
    parser.add_argument("--results", type=Path, metavar="FOLDER", help="where finished cells are kept")
    parser.add_argument("--report", type=Path, metavar="FOLDER", help="where the report goes")
    parser.add_argument("--again", nargs="+", choices=["failed", "late"], default=[], help="run such cells once more")
    parser.add_argument("--no-run", action="store_true", help="write the report from what is there")
    parser.add_argument("--list", action="store_true", help="list papers and experiments")
    given = parser.parse_args(argv)
    results = HERE / "results" / ("reproduce-quick" if given.quick else "reproduce")
    given.results = given.results or results
    # A report of a quick pass, or of a part, is not the one that is kept in git.
    whole = not given.quick and not given.only
    given.report = given.report or (HERE / "report" if whole else given.results / "report")
    return given


def main(argv: Sequence[str] | None = None) -> int:
    """Run what is not finished, then write the report."""
    given = options(argv)
    papers = {module.__name__.rpartition(".")[2]: module for module in modules()}
    if given.list:
        for name, module in papers.items():
            print(f"{name}: {', '.join(experiment.name for experiment in module.EXPERIMENTS)}")  # noqa: T201
        return 0
    unknown = set(given.only) - {*papers, *(e.name for module in papers.values() for e in module.EXPERIMENTS)}
    if unknown:
        raise SystemExit(f"There is no {', '.join(sorted(unknown))}; --list shows what there is.")
    chosen: list[Experiment] = []
    pages: dict[str, tuple[list[Section], dict[str, Experiment]]] = {}
    for name, module in papers.items():
        mine = [e for e in module.EXPERIMENTS if not given.only or name in given.only or e.name in given.only]
        chosen += mine
        if mine:  # the report tells the whole of a paper, what has not been run included
            sections, told = pages.setdefault(module.SECTION.page, ([], {}))
            sections.append(module.SECTION)
            told.update({experiment.name: experiment for experiment in module.EXPERIMENTS})
    if not given.no_run:
        for experiment in chosen:  # a folder that is not there is said once, not by every cell
            next(iter(experiment.data.values()))()
        try:
            with progress() as watch:
                cells = [experiment.small() if given.quick else experiment for experiment in chosen]
                run(cells, given.results, jobs=given.jobs, repeats=given.repeats, again=given.again, watch=watch)
        except KeyboardInterrupt:
            print("Stopped. Run the same command again to go on.")  # noqa: T201
            return 130
        gather(given.results)
    troubles = 0
    for sections, told in pages.values():
        findings = Findings(given.results, told)
        troubles += len(findings.bad())
        print(write(sections, findings, given.report))  # noqa: T201
    # A cell without a result is a finding, but a quick pass is there to show that everything runs.
    return 1 if given.quick and troubles else 0


@contextmanager
def progress() -> Iterator[Watch]:
    """A bar on stderr: how many cells, how long still, the last one; ten lines in all where there is no screen."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = [BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), TextColumn("{task.description}")]
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=None)

        def watch(done: int, total: int, cell: Cell, status: str) -> None:
            words = " ".join([cell.experiment, cell.data, cell.setting, cell.method, str(cell.seed)])
            bar.update(task, total=total, completed=done, description=words)
            if status != "ok":
                console.print(f"{status}: {words}", highlight=False, markup=False)
            if not console.is_terminal and done * 10 // total > (done - 1) * 10 // total:
                console.print(f"{done} of {total} cells", highlight=False)

        yield watch
