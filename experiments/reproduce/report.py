"""The report: every section, a summary above them and, below, what does not reproduce and why."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from .document import Block, Bullets, Grid, Heading, Text, to_html, to_markdown
from .findings import Findings
from .parts import Section, Verdict, count_of

__all__ = ["write"]

SHOWN = 12  # cells that are named in one sentence


def write(sections: Sequence[Section], findings: Findings, folder: Path) -> Path:
    """Write a page, as Markdown and as HTML, and its figures; returns the path of the first."""
    folder.mkdir(parents=True, exist_ok=True)
    (page,) = {section.page for section in sections}
    blocks = list((_papers if page == Section.page else _own)(sections, findings, folder))
    (folder / f"{page}.html").write_text(to_html(blocks), encoding="utf-8")
    path = folder / f"{page}.md"
    path.write_text(to_markdown(blocks), encoding="utf-8")
    return path


def _own(sections: Sequence[Section], findings: Findings, folder: Path) -> Iterable[Block]:
    """Something that no paper has printed."""
    for section in sections:
        yield Heading(1, section.title)
        yield Text(section.about)
        for part in section.parts:
            yield from part.blocks(findings, folder)
    yield Heading(2, "How it was run")
    yield _origin(findings)
    yield from _progress(findings)
    yield from _bad(findings)


def _origin(findings: Findings) -> Text:
    by = ", ".join(findings.origin()) or "(nothing has been run)"
    return Text(f"Written by `python experiments/reproduce`; run with cluewise {by}.")


def _papers(sections: Sequence[Section], findings: Findings, folder: Path) -> Iterable[Block]:
    verdicts = [[v for part in section.parts for v in part.verdicts(findings)] for section in sections]
    yield Heading(1, "Every table and figure of the papers, beside ours")
    yield Text(
        "Every number below comes from our runs or from the papers. "
        "✓ within the stated tolerance, ✗ outside, – not comparable or not run. A reason never changes a verdict."
    )
    yield _origin(findings)
    yield Heading(2, "Summary")
    yield Grid(
        ["paper", "printed numbers with a rule", "within tolerance", "claims that hold", "our own checks that hold"],
        [
            *(_summary(section.title, found) for section, found in zip(sections, verdicts)),
            *([_summary("All", [v for found in verdicts for v in found])] if len(sections) > 1 else []),
        ],
    )
    yield from _progress(findings)
    for section in sections:
        yield Heading(2, section.title)
        yield Text(section.about)
        for part in section.parts:
            yield from part.blocks(findings, folder)
    yield Heading(2, "What does not reproduce, and why")
    for section, found in zip(sections, verdicts):
        yield Heading(3, section.title)
        yield Bullets([*_outside(found), *section.notes] or ["Everything that was compared does."])
        left = list(_left_out(found))
        if left:
            yield Text("Not compared:")
            yield Bullets(left)
    yield from _bad(findings)


def _summary(title: str, found: Sequence[Verdict]) -> list[str]:
    judged = {
        kind: [v.ok for v in found if v.kind == kind and v.ok is not None] for kind in ("number", "claim", "check")
    }
    held = [count_of(verdicts) if verdicts else "–" for verdicts in judged.values()]
    return [title, str(len(judged["number"])), *held]


def _progress(findings: Findings) -> Iterable[Block]:
    rows = []
    for name, experiment in findings.experiments.items():
        states = findings.states(name)
        done = sum(states.values())
        total = max(sum(1 for _ in experiment.cells()), done)  # a rival that was there then may not be now
        rows.append([f"`{name}`", experiment.title, f"{done} of {total}"])
        rows[-1] += [str(states["failed"]), str(states["late"])]
    yield Text("How much of it has been run, in cells (one cell is one method on one draw of clues):")
    yield Grid(["experiment", "what", "finished", "failed", "stopped at the time limit"], rows)


def _outside(found: Sequence[Verdict]) -> Iterable[str]:
    """Numbers and claims that do not hold, those with the same reason in one sentence."""
    for (part, why), group in _grouped(v for v in found if v.ok is False and v.kind == "number").items():
        yield f"{part}: {len(group)} outside ({_named(group)}). {why or 'No reason is known'}."
    for verdict in found:
        if verdict.ok is False and verdict.kind != "number":
            why = (verdict.why or "No reason is known").rstrip(".")
            yield f"{verdict.part}: “{verdict.what}” does not hold here. {why}."


def _left_out(found: Sequence[Verdict]) -> Iterable[str]:
    for (part, why), group in _grouped(v for v in found if v.ok is None).items():
        yield f"{part}: {len(group)} ({_named(group)}): {why}."


def _grouped(found: Iterable[Verdict]) -> dict[tuple[str, str], list[Verdict]]:
    groups: dict[tuple[str, str], list[Verdict]] = {}
    for verdict in found:
        groups.setdefault((verdict.part, verdict.why.rstrip(".")), []).append(verdict)
    return groups


def _named(group: Sequence[Verdict]) -> str:
    more = f" and {len(group) - SHOWN} more" if len(group) > SHOWN else ""
    return "; ".join(v.what for v in group[:SHOWN]) + more


def _bad(findings: Findings) -> Iterable[Block]:
    bad = findings.bad()
    if bad:
        yield Heading(2, "Cells without a result")
        yield Grid(
            ["experiment", "method", "what happened", "cells", "as in"],
            [
                [f"`{name}`", method, kind, str(len(why)), "" if why[0] in kind else why[0]]
                for (name, method, kind), why in sorted(bad.items())
            ],
        )
