"""What a section of the report is made of: comparisons, claims and tables, each declared beside its experiment.

Every part has ``blocks(findings, folder)``, what the reader sees, and ``verdicts(findings)``, what counts in
the summary.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from .document import Block, Grid, Heading, Text
from .findings import Findings, Missing, Where
from .published import Printed, printed

__all__ = [
    "MARK",
    "Beside",
    "Claim",
    "Claims",
    "Comparison",
    "Part",
    "Reason",
    "Section",
    "Table",
    "Verdict",
    "count_of",
]

MARK = {True: "✓", False: "✗", None: "–"}
NOT_RUN = "not run"


class Verdict(NamedTuple):
    """How one printed number, or one claim, fared; None: it cannot be compared."""

    kind: str  # "number", "claim" of the paper, or "check" of ours
    part: str
    what: str
    ok: bool | None
    why: str


class Part(Protocol):
    """Something that the report shows under a title."""

    @property
    def title(self) -> str:
        """Its heading."""

    def blocks(self, findings: Findings, folder: Path) -> list[Block]:
        """What the reader sees; figures go into the folder."""

    def verdicts(self, findings: Findings) -> list[Verdict]:
        """What counts in the summary."""


@dataclass(frozen=True)
class Section:
    """All that a paper has printed, and what we say about it."""

    title: str
    about: str
    parts: Sequence[Part]
    notes: Sequence[str] = ()  # what does not reproduce, beyond numbers and claims
    page: str = "report"  # the name of the document; all papers are in one


class Reason(NamedTuple):
    """Why some printed numbers differ, or cannot be compared; it never changes a verdict."""

    why: str
    of: Callable[[Printed], bool]


class Line(NamedTuple):
    """One printed number beside ours."""

    number: Printed
    ours: str
    difference: str
    allowed: str
    ok: bool | None
    defaults: str
    runs: str
    why: str


@dataclass(frozen=True)
class Comparison:
    """Printed numbers beside ours, each with a verdict where there is a rule.

    ``where`` tells which of our cells a printed number stands for (None: none of them), ``measure`` our column and the
    factor for a printed metric, ``tolerance`` how far ours may be away (None: there is no rule), ``rule`` the same in
    words. ``defaults`` names the cells that show what the library does by itself.
    """

    title: str
    published: str
    where: Callable[[Printed], Where | None]
    measure: Mapping[str, tuple[str, float]]
    tolerance: Callable[[Printed], float | None]
    rule: str
    defaults: Callable[[Printed], Where | None] = lambda number: None
    reasons: Sequence[Reason] = ()
    digits: int = 2

    def lines(self, findings: Findings) -> list[Line]:
        """One for each printed number of our metrics."""
        return [self._line(n, findings) for n in printed(self.published) if n.metric in self.measure]

    def _line(self, number: Printed, findings: Findings) -> Line:
        column, factor = self.measure[number.metric]
        where, allowed = self.where(number), self.tolerance(number) if number.sound else None
        ours, mean = self._shown(findings, where, column, factor)
        difference = None if mean is None or number.mean is None else mean - number.mean
        known = next((reason.why for reason in self.reasons if reason.of(number)), "")
        if mean is None:
            ok, why = None, known if where is None else NOT_RUN
        elif difference is None or allowed is None:
            ok, why = None, known or number.flag or "no rule says how close it should be"
        else:
            # A hair of slack: a difference that equals the tolerance in print must not fail by rounding.
            ok, why = abs(difference) <= allowed + 1e-9, known
        return Line(
            number,
            ours,
            "" if difference is None else f"{round(difference, self.digits) + 0.0:+.{self.digits}f}",
            "" if allowed is None else f"{allowed:g}",
            ok,
            self._shown(findings, self.defaults(number), column, factor)[0],
            "" if where is None else findings.runs(where),
            why,
        )

    def _shown(self, findings: Findings, where: Where | None, column: str, factor: float) -> tuple[str, float | None]:
        if where is None:
            return "", None
        try:
            mean, std = factor * findings.mean(where, column), factor * findings.std(where, column)
        except Missing:
            return "", None
        return f"{mean:.{self.digits}f}" + (f" ± {std:.{self.digits}f}" if std > 0 else ""), mean

    def blocks(self, findings: Findings, folder: Path) -> list[Block]:
        """The rule, then all numbers."""
        lines = self.lines(findings)
        shown = any(line.defaults for line in lines)
        several = len({line.number.metric for line in lines}) > 1
        header = ["data", "setting", "method", *(["measure"] if several else []), "published", "ours"]
        header += ["difference", "allowed", "verdict", *(["library defaults"] if shown else []), "repetitions"]
        rows = [
            [
                line.number.data, line.number.setting, line.number.method, *([line.number.metric] if several else []),
                self._print(line.number), line.ours, line.difference, line.allowed, MARK[line.ok],
                *([line.defaults] if shown else []), line.runs,
            ]
            for line in lines
        ]  # fmt: skip
        compared = [line.ok for line in lines if line.ok is not None]
        total = f"Within: {count_of(compared)}." if compared else "None of these numbers has been compared."
        return [Heading(3, self.title), Text(f"Rule: {self.rule} {total}"), Grid(header, rows)]

    def _print(self, number: Printed) -> str:
        if number.mean is None:
            return "unreadable"
        spread = "" if number.std is None else f" ± {number.std:.{self.digits}f}"
        return f"{number.mean:.{self.digits}f}{spread}" + ("" if number.sound else " (misprint)")

    def verdicts(self, findings: Findings) -> list[Verdict]:
        """One for each printed number."""
        several = len(self.measure) > 1
        return [
            Verdict("number", self.title, " ".join(n[1:4]) + (f" ({n.metric})" if several else ""), line.ok, line.why)
            for line in self.lines(findings)
            for n in [line.number]
        ]


class Claim(NamedTuple):
    """A sentence of a paper; ``check`` returns whether it holds here, and the numbers that say so."""

    says: str
    check: Callable[[Findings], tuple[bool, str]]
    why: str = ""  # where it does not hold: the reason, if one is known


@dataclass(frozen=True)
class Claims:
    """Sentences of a paper, or of ours, each with a verdict."""

    title: str
    claims: Sequence[Claim]
    kind: str = "claim"

    def _checked(self, findings: Findings) -> list[tuple[Claim, bool | None, str]]:
        found: list[tuple[Claim, bool | None, str]] = []
        for claim in self.claims:
            try:
                ok, numbers = claim.check(findings)
            except Missing as missing:
                found.append((claim, None, f"{NOT_RUN}: {missing}"))
            else:
                found.append((claim, bool(ok), numbers))
        return found

    def blocks(self, findings: Findings, folder: Path) -> list[Block]:
        """A table of sentences."""
        rows = [[claim.says, numbers, MARK[ok]] for claim, ok, numbers in self._checked(findings)]
        who = "the paper says" if self.kind == "claim" else "we ask"
        return [Heading(3, self.title), Grid([who, "here", "verdict"], rows)]

    def verdicts(self, findings: Findings) -> list[Verdict]:
        """One for each sentence."""
        return [
            Verdict(self.kind, self.title, claim.says, ok, NOT_RUN if ok is None else claim.why)
            for claim, ok, _ in self._checked(findings)
        ]


@dataclass(frozen=True)
class Table:
    """A table of our own numbers."""

    title: str
    about: str
    build: Callable[[Findings], Grid]

    def blocks(self, findings: Findings, folder: Path) -> list[Block]:
        """What it shows, then the table."""
        try:
            body: Block = self.build(findings)
        except Missing as missing:
            body = Text(f"Not run: {missing}.")
        return [Heading(3, self.title), Text(self.about), body]

    def verdicts(self, findings: Findings) -> list[Verdict]:
        """None."""
        return []


@dataclass(frozen=True)
class Beside(Table):
    """A table of ours beside printed numbers that no rule compares; the summary names these, and why."""

    published: str = ""
    of: Callable[[Printed], bool] = lambda number: True
    why: Callable[[Printed], str] = lambda number: "no rule says how close it should be"

    def verdicts(self, findings: Findings) -> list[Verdict]:
        """One for each printed number: left out."""
        numbers = [number for number in printed(self.published) if self.of(number)]
        return [Verdict("number", self.title, " ".join(n[1:4]), None, self.why(n)) for n in numbers]


def count_of(verdicts: Sequence[bool]) -> str:
    """As in "34 of 35 (97 %)"."""
    return f"{sum(verdicts)} of {len(verdicts)} ({100 * sum(verdicts) / len(verdicts):.0f} %)"
