"""What became of the columns of a table: as a table, and as a few words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cluewise.cli import _show

if TYPE_CHECKING:
    from cluewise.rows import Rows

__all__ = ["show_plan", "summarize"]

_NAMED = 5  # columns that a sentence names


def show_plan(rows: Rows, notes: Sequence[str]) -> None:
    """The plan for people: a line for each column, with what was found on the way, and notes about the file."""
    lines = [
        [plan.name, plan.kind, str(plan.width), "; ".join(part.rstrip(".") for part in (plan.how, *plan.notes))]
        for plan in rows.plan_
    ]
    _show.table(["column", "taken for", "width", "what became of it"], lines)
    for note in notes:
        _show.say(note)


def summarize(plan: Sequence[Mapping[str, Any]]) -> None:
    """Say which columns are not plain numbers, and which are left out."""
    kinds: dict[str, list[str]] = {}
    for column in plan:
        if column["kind"] != "number" or column["notes"] or column["how"] != "number":
            kinds.setdefault(column["kind"], []).append(column["name"])
    if not kinds:
        return
    said = "; ".join(f"{kind}: {_list(names)}" for kind, names in kinds.items())
    _show.say(f"Columns: {said} (--explain-columns says more).")


def _list(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")
