"""The report of a fit as text for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cluewise.cli import _columns
from cluewise.cli._clusters import tell
from cluewise.cli._show import say, table
from cluewise.clues import Clues
from cluewise.clues.words import plural
from cluewise.workspace.report import KINDS, count_clues, in_words, percent

if TYPE_CHECKING:
    from cluewise.explain import Description

__all__ = ["summarize"]

_LISTED = 5  # broken clues and suspects


def summarize(facts: dict[str, Any], clues: Clues, found: Description | None, *, raw: bool) -> None:
    """Print a report for people; ``raw`` where they asked for columns as they are."""
    how = "standardized" if facts["standardized"] else "as they are"
    if not raw and not facts["standardized"]:
        how += " (counts are not standardized)"
    rows = facts["rows"]
    say(
        f"{facts['method']}: {plural(rows, 'row')} of {facts['data']} in {plural(facts['clusters'], 'cluster')}"
        f"{' and noise' if facts['noise'] else ''}, by {plural(len(facts['columns']), 'column')} {how}."
    )
    _columns.summarize(facts["column_plan"])
    labelled = any(facts["classes"])
    lines = []
    for cluster, size, classes in zip(facts["ids"], facts["sizes"], facts["classes"]):
        known = ", ".join(f"{name} {count}" for name, count in classes.items())
        name = facts["names"].get(str(cluster), "")
        lines.append([f"{cluster} {name}".rstrip(), str(size), percent(size / rows), *([known] if labelled else [])])
    if facts["noise"]:
        lines.append(["noise", str(facts["noise"]), percent(facts["noise"] / rows), *([""] if labelled else [])])
    table(["cluster", "rows", "share", *(["known labels"] if labelled else [])], lines)
    if found is not None:
        tell(found, facts["names"])
    if facts["satisfaction"]:
        given = count_clues(clues)
        table(
            ["clues", "given", "kept"],
            [[KINDS[kind], str(given.get(kind, "")), percent(kept)] for kind, kept in facts["satisfaction"].items()],
        )
    if len(facts["variation"]):
        apart = ", ".join(f"{nats:.3g}" for nats in facts["variation"])
        which = "clustering" if len(facts["variation"]) == 1 else "clusterings"
        say(f"Variation of information with the {which} to avoid: {apart} nats (0: the same).")
    if facts["broken"]:
        _list_broken(facts["broken"])
    for entry in facts["suspects"][:_LISTED]:
        doubt = "over 99 %" if entry["doubt"] > 0.99 else percent(entry["doubt"])
        say(f"Probably wrong ({doubt}): {in_words(entry)}.")
    if facts["choice"] is not None:
        _tell_choice(facts)
    cost = f"{facts['seconds']:.2f} s, seed {facts['seed']}"
    if facts["objective"] is None:
        say(f"Time {cost}.")
    else:
        say(f"Objective {facts['objective']:.6g} after {plural(facts['iterations'], 'iteration')} ({cost}).")
    if facts["unsure"]:
        say(f"Least sure: {', '.join(facts['unsure'])}.")


def _tell_choice(facts: dict[str, Any]) -> None:
    """What was chosen and why, how far the clues can be trusted, and what they may have spoiled."""
    choice = facts["choice"]
    if choice["tried"]:
        say(f"Chosen: {choice['reason']}. {len(choice['tried'])} settings were compared on held-out clues.")
    else:
        say(f"Chosen: {choice['taken']['start']}; {choice['reason']}.")
    for source, shares in facts["trust"].items():
        kinds = ", ".join(f"{KINDS[kind]} {percent(share)}" for kind, share in shares.items() if kind != "all")
        say(f"Trust in {source}: {percent(shares['all'])} seem right ({kinds}).")
    if facts["harm_unknown"] is not None:
        say(f"Whether the clues made the result worse was not estimated: {facts['harm_unknown']}.")
    elif choice["tried"]:
        say(f"Probability that the clues made the result worse: {percent(facts['harm'])}.")


def _list_broken(entries: list[dict[str, Any]]) -> None:
    say(f"{len(entries)} {'clue is' if len(entries) == 1 else 'clues are'} broken:")
    dearest = sorted(entries, key=lambda entry: -entry.get("cost", 0.0))
    for entry in dearest[:_LISTED]:
        say(f"  {in_words(entry)}")
    if len(entries) > _LISTED:
        say(f"  … and {len(entries) - _LISTED} more (--report FILE lists all).")
