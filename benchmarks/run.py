"""Run all benchmarks, or those that are named: ``python benchmarks/run.py sweep memory``.

Prints a table of ratios, writes the same as JSON into ``benchmarks/results``, and adds the figures that have a goal to
``benchmarks/history.json``.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from time import perf_counter

import history
from measuring import Figure

NAMES = (
    "sweep",
    "preparing",
    "memory",
    "growth",
    "digits",
    "startup",
    "threads",
    "partition",
    "linked",
    "sized",
    "mixture",
    "gibbs",
    "tvclust",
    "consensus",
    "scsc",
    "agglomerative",
    "dbscan",
    "spectral",
    "grains",
    "metric",
    "metric_growth",
    "ask",
    "columns",
    "chunks",
    "cluster",
    "correlation",
    "door",
)
RESULTS = Path(__file__).parent / "results"
PACKAGES = ("cluewise", "numpy", "scipy", "scikit-learn", "numba")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Speed and memory as ratios to an anchor of the same run.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which ones: {', '.join(NAMES)} (default: all)")
    parser.add_argument("--tiny", action="store_true", help="toy sizes, to see that everything runs")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder for the JSON file")
    parser.add_argument("--history", type=Path, default=history.FILE, help="file that collects the figures of all runs")
    given = parser.parse_args(arguments)
    for name in given.names:
        if name not in NAMES:
            parser.error(f"there is no benchmark {name!r}; there are {', '.join(NAMES)}.")
    state = history.measured_state()  # before a long run, in which somebody may go on working
    figures = {}
    for name in given.names or NAMES:
        begin = perf_counter()
        module = import_module(name)
        figures[name] = module.measure(**(module.TINY if given.tiny else module.FULL))
        print(table(f"{name}: {module.__doc__.splitlines()[0]}", figures[name]))
        print(f"({perf_counter() - begin:.0f} s)\n", flush=True)
    given.results.mkdir(parents=True, exist_ok=True)
    path = given.results / f"{datetime.now():%Y%m%d-%H%M%S}.json"
    path.write_text(json.dumps({"machine": machine(), "tiny": given.tiny, "figures": as_json(figures)}, indent=1))
    print(f"written to {path}")
    if given.tiny:
        print("not added to the history: toy sizes")
    elif state is None:
        print("not added to the history: src is not as committed")
    else:
        added = history.add(state, figures, given.history)
        print(f"{added} figures added to {given.history}, for commit {state['commit']}")


def table(title: str, figures: list[Figure]) -> str:
    lines = [title, f"{'':40} {'ours':>12} {'anchor':>12} {'ratio':>8} {'goal':>7} {'':8} {'noise':>6}  against"]
    for f in figures:
        goal = "" if f.goal is None else f"{f.goal:.2f}"
        noise = "" if f.noise is None else f"{f.noise:.2f}"
        numbers = f"{f.ours:9.4g} {f.unit:2} {f.anchor:9.4g} {f.unit:2} {f.ratio:8.3f}"
        lines.append(f"{f.name:40} {numbers} {goal:>7} {f.verdict:8} {noise:>6}  {f.against}")
    return "\n".join(lines)


def as_json(figures: dict[str, list[Figure]]) -> dict[str, list[dict]]:
    return {
        name: [asdict(f) | {"ratio": f.ratio, "verdict": f.verdict} for f in found] for name, found in figures.items()
    }


def machine() -> dict[str, object]:
    """What the numbers depend on, and how busy the machine was."""
    return {
        "platform": platform.platform(),
        "processor": platform.machine(),
        "cores": os.cpu_count(),
        "load": os.getloadavg() if hasattr(os, "getloadavg") else None,
        "python": platform.python_version(),
        "versions": {package: version(package) for package in PACKAGES},
    }


if __name__ == "__main__":
    main()
