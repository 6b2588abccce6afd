"""The directive ``bibliography``: references.bib as a list that pages can link to by key."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

BIB = Path(__file__).resolve().parents[2] / "references.bib"
TEX = {r"\&": "&", r"{\u{a}}": "ă", r"{\"o}": "ö", "--": "–"}
TEX |= {r"{\"e}": "ë", r"{\'e}": "é", r"{\`o}": "ò", r"{\'a}": "á", r"{\v{c}}": "č", r"{\'c}": "ć"}


def entries(text: str) -> dict[str, dict[str, str]]:
    """The entries of a BibTeX file by key; a field stands on one line, as in ours."""
    found: dict[str, dict[str, str]] = {}
    for line in text.splitlines():
        if head := re.match(r"@(\w+)\{(\w+),", line):
            found[head[2]] = {"type": head[1]}
        elif field := re.match(r"\s+(\w+)\s*=\s*\{(.*)\},?$", line):
            value = field[2]
            for tex, letter in TEX.items():
                value = value.replace(tex, letter)
            found[next(reversed(found))][field[1]] = value
    return found


def authors(field: str) -> str:
    """``Basu, Sugato and Mooney, Raymond J.`` as people write it: Sugato Basu and Raymond J. Mooney."""
    names = [" ".join(reversed(name.split(", ", 1))) for name in field.split(" and ")]
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


def where(entry: dict[str, str]) -> str:
    """Where it was published, the year last."""
    journal = " ".join(filter(None, [entry.get("journal"), entry.get("volume")]))
    if "number" in entry and journal:
        journal += f" ({entry['number']})"
    report = f"report {entry['number']}" if "number" in entry and not journal else ""
    place = [
        entry.get("booktitle"), journal, entry.get("publisher"), entry.get("institution"), report,
        entry.get("howpublished"), entry.get("pages") and f"pages {entry['pages']}", entry["year"],
    ]  # fmt: skip
    return ", ".join(filter(None, place)) + "."


class Bibliography(SphinxDirective):
    """All entries of references.bib; the key in lower case is the target of a link."""

    def run(self) -> list[nodes.Node]:
        """Write one paragraph per entry."""
        self.env.note_dependency(str(BIB))
        labels = self.env.get_domain("std")
        listed = nodes.definition_list()
        for key, entry in entries(BIB.read_text("utf-8")).items():
            target = key.lower()
            labels.anonlabels[target] = self.env.docname, target
            labels.labels[target] = self.env.docname, target, key
            words = nodes.paragraph("", f"{authors(entry['author'])}. ")
            words += nodes.emphasis("", f"{entry['title']}.")
            words += nodes.Text(f" {where(entry)}")
            if "note" in entry:
                words += nodes.Text(f" {entry['note']}.")
            term = nodes.term("", key, ids=[target])
            listed += nodes.definition_list_item("", term, nodes.definition("", words))
        return [listed]


def setup(app: Any) -> dict[str, bool]:
    """Tell Sphinx about the directive."""
    app.add_directive("bibliography", Bibliography)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
