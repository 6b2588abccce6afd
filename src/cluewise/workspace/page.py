"""The report of a fit as one page of HTML that needs nothing else: no network, no scripts, no fonts."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from cluewise.clues import Clues
from cluewise.clues.words import plural, tell_clues
from cluewise.plots.style import get_style
from cluewise.workspace._svg import draw_bar, draw_effect, draw_map
from cluewise.workspace.data import Data
from cluewise.workspace.report import KINDS, count_clues, in_words, percent

if TYPE_CHECKING:
    from cluewise._typing import Floats, Ints
    from cluewise.explain import Description, Profile

__all__ = ["write_page"]

_LISTED = 30  # broken clues, suspects and changed rows
_QUESTIONS = 8

# Control characters, halves of surrogate pairs and U+FFFE, U+FFFF: XML has no way to write most of them, and a page is
# easier to check if it is well-formed.
_FORBIDDEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")

# Nothing may be loaded from anywhere, and nothing can run, whatever a cell of the data holds.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"

_STYLE = """
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 60rem; padding: 2rem 1.25rem 4rem; background: #fff; color: #222;
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .25rem; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 2.2rem 0 .6rem; padding-bottom: .25rem; border-bottom: 1px solid #ddd; }
h3 { font-size: 1.05rem; margin: 0 0 .3rem; overflow-wrap: anywhere; }
p, ul { margin: .4rem 0; }
ul { padding-left: 1.2rem; }
li { overflow-wrap: anywhere; }
.lead { color: #555; margin-bottom: 1rem; }
.note { color: #666; font-size: .88rem; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; margin: .4rem 0; }
th { text-align: left; font-weight: 600; color: #555; border-bottom: 1px solid #ccc; padding: .25rem .5rem .25rem 0; }
td { border-bottom: 1px solid #eee; padding: .25rem .5rem .25rem 0; vertical-align: top; overflow-wrap: break-word; }
.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
th.n { text-align: right; }
.wide { overflow-x: auto; }
.fixed { table-layout: fixed; }
.fixed th:first-child { width: 32%; }
.fixed th:last-child { width: 24%; }
.rows th { overflow-wrap: anywhere; vertical-align: bottom; }
.rows td { min-width: 3.2em; }
.rows td:first-child, .rows td:nth-child(2), .rows td:last-child { white-space: nowrap; }
.bar { display: block; width: 100%; min-width: 5rem; height: .7rem; margin-top: .4rem; }
.map { display: block; width: 100%; height: auto; border: 1px solid #ddd; border-radius: 4px; background: #fcfcfc; }
.tag { font: 700 20px system-ui, sans-serif; fill: #222; stroke: #fff; stroke-width: 4px; paint-order: stroke;
  text-anchor: middle; dominant-baseline: central; }
.chip { display: inline-block; min-width: 1.6em; padding: 0 .35em; border-radius: .3em; color: #222; font-weight: 700;
  text-align: center; border: 2px solid; background: #fff; }
.card { border: 1px solid #ddd; border-left-width: 6px; border-radius: 4px; padding: .8rem 1rem; margin: .9rem 0; }
.rule { background: #f6f6f6; border-radius: 4px; padding: .3rem .6rem; overflow-wrap: anywhere; }
code, pre { font: .88rem ui-monospace, Consolas, monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
pre { background: #f6f6f6; border-radius: 4px; padding: .6rem .8rem; margin: .4rem 0; }
@media print {
  body { max-width: none; padding: 0; font-size: 9.5pt; }
  .map { max-height: 11cm; }
  .card, .map, table { break-inside: avoid; }
  h2, h3 { break-after: avoid; }
  * { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
}
"""


def write_page(
    facts: dict[str, Any], data: Data, X: Floats, labels: Ints, broken: Clues, found: Description | None
) -> str:
    """The whole page; ``facts`` is the report as data, and ``labels`` are the ids of the clusters of the rows."""
    title = f"Clusters of {facts['data']}"
    parts = [
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"/>',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}"/>',
        '<meta name="viewport" content="width=device-width, initial-scale=1"/>',
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>",
        f"<h1>{escape(title)}</h1>",
        f'<p class="lead">{plural(facts["rows"], "row")} in {plural(facts["clusters"], "cluster")}',
        f" and {plural(facts['noise'], 'row')} of noise" if facts["noise"] else "",
        f", by {plural(len(facts['columns']), 'column')}, with {escape(facts['method'])}.</p>",
        *_show_map(data, X, labels, broken),
    ]
    if found is not None:
        parts += [*_show_sizes(facts, found), "<h2>What makes each cluster</h2>"]
        for profile in found:
            parts += _show_profile(profile, data, facts["names"])
        parts += [f'<p class="note">{escape(words)}</p>' for words in found.sampled]
    parts += [*_show_clues(facts, data, found), *_show_suspects(facts)]
    if found is not None:
        parts += _show_questions(found, facts)
    parts += [*_show_stability(facts), *_show_making(facts), "</body></html>\n"]
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", "".join(parts))


def _give_title(profile: Profile, names: dict[str, str]) -> str:
    """The name that a cluster has, if any, and the one that is suggested; ``names`` are by id."""
    name = names.get(str(profile.cluster))
    return profile.name if name is None else f"{name} ({profile.name})"


def _chip(cluster: int) -> str:
    color = get_style(cluster)[0]
    return f'<span class="chip" style="border-color: {color}">{"noise" if cluster < 0 else cluster}</span>'


def _table(header: Sequence[str], rows: Iterable[Sequence[str]], numbers: Sequence[int] = (), look: str = "") -> str:
    """A table; its cells are HTML already."""
    mark = [' class="n"' if j in numbers else "" for j in range(len(header))]
    head = "".join(f"<th{m}>{name}</th>" for m, name in zip(mark, header))
    head = f"<thead><tr>{head}</tr></thead>" if any(header) else ""
    body = "".join("<tr>" + "".join(f"<td{m}>{cell}</td>" for m, cell in zip(mark, row)) + "</tr>" for row in rows)
    return f'<div class="wide"><table class="{look}">{head}<tbody>{body}</tbody></table></div>'


def _list(items: Sequence[str]) -> str:
    """A list of texts, the first ones if there are many."""
    shown = "".join(f"<li>{escape(item)}</li>" for item in items[:_LISTED])
    rest = len(items) - _LISTED
    return f"<ul>{shown}</ul>" + (f'<p class="note">… and {rest} more.</p>' if rest > 0 else "")


def _show_map(data: Data, X: Floats, labels: Ints, broken: Clues) -> Iterator[str]:
    pairs = np.concatenate([broken.must, broken.cannot])
    picture, words = draw_map(X, labels, data.clues.tied, pairs, data.name)
    yield f"<h2>Map</h2>{picture}"
    if data.clues.kinds:
        words += " Rows with a dark rim are tied by clues"
        words += "; red lines are broken links." if len(pairs) else "."
    yield f'<p class="note">{escape(words)}</p>'


def _show_sizes(facts: dict[str, Any], found: Description) -> Iterator[str]:
    sure = {line["cluster"]: line for line in (facts.get("stability") or {"clusters": []})["clusters"]}
    labelled, classes = any(facts["classes"]), dict(zip(facts["ids"], facts["classes"]))
    rows = []
    for profile in found:
        line = [
            _chip(profile.cluster),
            escape(_give_title(profile, facts["names"])),
            str(profile.size),
            percent(profile.share),
            draw_bar(profile.share, get_style(profile.cluster)[0]),
        ]
        if labelled:
            known = classes[profile.cluster]
            line.append(escape(", ".join(f"{name}: {count}" for name, count in known.items())))
        if sure:
            own = sure[profile.cluster]
            line.append(f"{own['recovered']} of {own['drawn']}")
        rows.append(line)
    header = ["cluster", "name" if facts["names"] else "suggested name", "rows", "share", ""]
    header += (["known labels"] if labelled else []) + (["comes back in"] if sure else [])
    yield "<h2>Sizes</h2>"
    yield _table(header, rows, (2, 3))
    if found.noise:
        yield f"<p>{plural(found.noise, 'row')} in no cluster (noise).</p>"


def _show_profile(profile: Profile, data: Data, names: dict[str, str]) -> Iterator[str]:
    color = get_style(profile.cluster)[0]
    yield f'<section class="card" style="border-left-color: {color}">'
    yield f"<h3>{_chip(profile.cluster)} {escape(_give_title(profile, names))}</h3>"
    yield f'<p class="note">{escape(profile.summary)}</p>'
    if profile.differences:
        rows = [
            [escape(difference.column), escape(difference.comparison), draw_effect(difference.effect, color)]
            for difference in profile.differences
        ]
        yield _table(["column", "cluster against the rest", "less · more"], rows, look="fixed")
    else:
        yield "<p>No column distinguishes it from the rest.</p>"
    for column, words in profile.words.items():
        if words:
            yield f"<p>Words in {escape(column)}: {escape(', '.join(words))}</p>"
    if profile.rule is not None:
        yield f'<p class="rule">Rule: {escape(str(profile.rule))}</p>'
    shown = [difference.column for difference in profile.differences]
    lines = [("typical", row, "") for row in profile.typical]
    lines += [("borderline", row, f"near {_chip(other)}") for row, other in zip(profile.borderline, profile.neighbors)]
    rows = [
        [what, escape(profile.row_name(row)), *(escape(_cell(data, name, row)) for name in shown), near]
        for what, row, near in lines
    ]
    yield _table(["", "row", *map(escape, shown), ""], rows, look="rows")
    yield "</section>"


def _cell(data: Data, column: str, row: int) -> str:
    value = data.table.columns[column][row]
    if isinstance(value, (float, np.floating)):
        return "–" if np.isnan(value) else f"{value:.6g}"
    text = " ".join(str(value).split())
    return (text if len(text) <= 80 else text[:79] + "…") or "–"


def _show_clues(facts: dict[str, Any], data: Data, found: Description | None) -> Iterator[str]:
    yield "<h2>Clues</h2>"
    if not facts["satisfaction"]:
        yield "<p>There were no clues about rows.</p>"
        return
    given = count_clues(data.clues)
    rows = [[KINDS[kind], str(given.get(kind, "")), percent(kept)] for kind, kept in facts["satisfaction"].items()]
    yield _table(["clues", "given", "kept"], rows, (1, 2))
    if facts["broken"]:
        yield f"<p>{plural(len(facts['broken']), 'clue')} {'is' if len(facts['broken']) == 1 else 'are'} broken:</p>"
        yield _list([in_words(entry) for entry in facts["broken"]])
    else:
        yield "<p>No clue is broken.</p>"
    for source, shares in facts["trust"].items():
        yield f"<p>Trust in {escape(source)}: {percent(shares['all'])} of its clues seem right.</p>"
    if facts["harm_unknown"] is not None:
        yield f"<p>Whether the clues made the result worse was not estimated: {escape(facts['harm_unknown'])}.</p>"
    elif facts["harm"] is not None and facts["choice"] is not None and facts["choice"]["tried"]:
        yield f"<p>Probability that the clues made the result worse: {percent(facts['harm'])}.</p>"
    if found is not None and found.changes is not None:
        changes = found.changes
        yield f"<p>Because of the clues, {plural(len(changes.rows), 'row')} changed cluster.</p>"
        if changes.decided.kinds:
            decided = escape(tell_clues(changes.decided))
            yield f"<p>Clues that decided (kept, but broken without clues): {decided}.</p>"
        moved = [
            f"{data.name(int(row))}: from the cluster that matches {a} to {b}"
            for row, a, b in zip(changes.rows, changes.before, changes.after)
        ]
        if moved:
            yield _list(moved)


def _show_suspects(facts: dict[str, Any]) -> Iterator[str]:
    if facts["suspects"]:
        yield "<h2>Clues that are probably wrong</h2>"
        yield _list([f"{percent(min(s['doubt'], 0.99))}: {in_words(s)}" for s in facts["suspects"]])


def _show_questions(found: Description, facts: dict[str, Any]) -> Iterator[str]:
    """Questions about borderline rows: where do they belong?"""
    if len(found) < 2:
        return
    asked = []
    for place in range(max(len(profile.borderline) for profile in found)):
        for profile in found:
            if place < len(profile.borderline):
                row, other = profile.borderline[place], found[profile.neighbors[place]]
                asked.append(
                    f"Does {profile.row_name(row)} belong with {profile.row_name(profile.typical[0])} (cluster "
                    f"{profile.cluster}) or with {other.row_name(other.typical[0])} (cluster {other.cluster})?"
                )
    yield "<h2>What to ask next</h2><p>These rows are the least sure, so answers about them are likely to help. "
    yield f"<code>cluewise ask {escape(shlex.quote(facts['data']))}</code> asks, and keeps the answers.</p>"
    yield "<ul>" + "".join(f"<li>{escape(words)}</li>" for words in asked[:_QUESTIONS]) + "</ul>"


def _show_stability(facts: dict[str, Any]) -> Iterator[str]:
    yield "<h2>How sure</h2>"
    sure = facts.get("stability")
    if sure is None:
        yield "<p>Stability was not measured.</p>"
        return
    yield f"<p>The method clustered {plural(sure['resamples'], 'random part')} of {sure['rows']} rows each. A cluster "
    yield "comes back if a cluster of the part shares at least three quarters of all rows that are in either.</p>"
    rows = [
        [
            _chip(line["cluster"]),
            f"{line['recovered']} of {line['drawn']}",
            f"{line['jaccard']:.2f}",
            draw_bar(line["jaccard"], get_style(line["cluster"])[0]),
        ]
        for line in sure["clusters"]
    ]
    yield _table(["cluster", "comes back in", "mean similarity", ""], rows, (1, 2))
    if sure["failed"]:
        yield f"<p>{plural(sure['failed'], 'part')} could not be clustered.</p>"
    if facts["unsure"]:
        yield f"<p>Least sure rows: {escape(', '.join(facts['unsure']))}.</p>"


def _show_making(facts: dict[str, Any]) -> Iterator[str]:
    yield "<h2>How it was made</h2>"
    scale = "standardized" if facts["standardized"] else "as they are"
    parameters = ", ".join(f"{name}={value!r}" for name, value in facts["parameters"].items())
    lines = [
        ("cluewise", facts["cluewise"]),
        ("method", f"{facts['method']}({parameters})"),
        ("seed", str(facts["seed"])),
        ("columns", f"{', '.join(facts['columns'])} ({scale})"),
        ("time", f"{facts['seconds']:.2f} s"),
    ]
    if facts["choice"] is not None:
        lines.append(("choice", facts["choice"]["reason"]))
    yield _table(["", ""], [[escape(name), escape(value)] for name, value in lines])
    plan = facts.get("column_plan")
    if plan:
        yield "<p>What became of each column:</p>"
        header = list(plan[0])
        yield _table([escape(name) for name in header], [[escape(_plain(c.get(h, ""))) for h in header] for c in plan])
    yield f"<p>To repeat it:</p><pre>{escape(facts['command'])}</pre>"


def _plain(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return " ".join(map(str, value))
    return str(value)
