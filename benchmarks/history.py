"""The history of the figures that have a goal: one entry for each state of the library that was measured.

An entry belongs to the last commit that changed ``src``, and is of that commit's date. A run adds its figures to the
entry of its commit and machine, or replaces them, so that a few benchmarks at a time make a whole entry.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from measuring import Figure

FILE = Path(__file__).with_name("history.json")
ROOT = FILE.parents[1]
SAME = ("commit", "machine")  # what runs of one entry have in common


def measured_state() -> dict[str, str] | None:
    """Commit, date, version and machine; None where ``src`` is not as committed, or there is no git."""
    try:
        if _ask_git("status", "--porcelain", "--", "src"):
            return None
        commit, date = _ask_git("log", "-1", "--format=%h %cs", "--abbrev=10", "--", "src").split()
    except (OSError, subprocess.CalledProcessError, ValueError):
        return None
    from cluewise import __version__

    return {"commit": commit, "date": date, "version": __version__, "machine": describe_machine()}


def describe_machine() -> str:
    """The machine in words, without its name: cores, processor, system, Python."""
    system = f"{platform.system()}, Python {'.'.join(platform.python_version_tuple()[:2])}"
    return f"{os.cpu_count()} cores, {_name_processor()}, {system}"


def add(state: dict[str, str], figures: dict[str, list[Figure]], path: Path = FILE) -> int:
    """Write the figures that have a goal into the history; returns how many there are."""
    entries = read(path)
    entry = next((one for one in entries if all(one[key] == state[key] for key in SAME)), None)
    if entry is None:
        entry = {**state, "figures": {}}
        entries.append(entry)
    for name, found in figures.items():
        kept = {of: _keep(f) for of, f in name_figures(found) if f.goal is not None}
        if kept:
            entry["figures"][name] = kept
    write(entries, path)
    return sum(f.goal is not None for found in figures.values() for f in found)


def name_figures(figures: list[Figure]) -> Iterator[tuple[str, Figure]]:
    """Each figure with a name of its own: a detail, which begins with a space, also has that of the figure above."""
    above = ""
    for figure in figures:
        is_detail = figure.name.startswith(" ")
        above = above if is_detail else figure.name
        yield f"{above}: {figure.name.strip()}" if is_detail else figure.name, figure


def read(path: Path = FILE) -> list[dict[str, Any]]:
    """All entries, in the order in which they were begun."""
    return json.loads(path.read_text("utf-8")) if path.exists() else []


def write(entries: list[dict[str, Any]], path: Path = FILE) -> None:
    """One line for each figure, so that a diff shows what a run has changed."""
    shown = []
    for entry in entries:
        head = [f"  {_spell(key)}: {_spell(value)}" for key, value in entry.items() if key != "figures"]
        benchmarks = []
        for name, figures in entry["figures"].items():
            lines = [f"    {_spell(of)}: {_spell(figure)}" for of, figure in figures.items()]
            benchmarks.append(f"   {_spell(name)}: {{\n" + ",\n".join(lines) + "\n   }")
        head.append('  "figures": {\n' + ",\n".join(benchmarks) + "\n  }")
        shown.append(" {\n" + ",\n".join(head) + "\n }")
    path.write_text("[\n" + ",\n".join(shown) + "\n]\n", "utf-8")


def _keep(figure: Figure) -> dict[str, Any]:
    """What is kept of a figure: no seconds, which say nothing on another machine."""
    assert figure.goal is not None
    kept = {"ratio": _short(figure.ratio), "goal": _short(figure.goal), "against": figure.against}
    return kept if figure.noise is None else kept | {"noise": _short(figure.noise)}


def _spell(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _short(number: float) -> float:
    return float(f"{number:.3g}")


def _name_processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.machine()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())


def _ask_git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()
