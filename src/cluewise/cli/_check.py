"""``cluewise check``: a doctor for clues."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from cluewise.cli import _options as opt

if TYPE_CHECKING:
    from cluewise.advice import Diagnosis
    from cluewise.workspace.data import Data

__all__ = ["check"]

CONTRADICTORY = 1
_AT_ONCE = 10  # rows that are named together


def check(
    data: opt.ProjectOrDataFile = None,
    project: opt.ProjectFile = None,
    clues: opt.ClueFile = None,
    clusters: opt.Clusters = None,
    method: opt.Method = None,
    penalty: opt.Penalty = None,
    seed: opt.Seed = 0,
    id_column: opt.IdColumn = None,
    columns: opt.Columns = None,
    ignore: opt.Ignore = None,
    kinds: opt.As = None,
    sheet: opt.Sheet = None,
    label_column: opt.LabelColumn = None,
    raw: opt.Raw = False,
    explain: opt.Explain = False,
    json: opt.AsJson = False,
) -> None:
    """Say whether the clues make sense, and whether they will help.

    Reports the clues, contradictions among them, how well they fit the data, how many of them seem right, and how
    likely the method does worse with the clues than without; with -k also whether that many clusters can satisfy them.
    With --project, the clues are the answers of `cluewise ask`.

    Exit code 0: the clues can be satisfied, as far as is known; 1: they cannot; 2: bad input.

    Example: cluewise check wine.csv --clues clues.csv -k 3
    """
    from cluewise.advice import check as examine
    from cluewise.cli import _columns, _method, _show
    from cluewise.cli._source import open_source
    from cluewise.workspace.report import list_plan

    options = {
        "clues": clues,
        "id": id_column,
        "columns": columns,
        "ignore": ignore,
        "as": kinds,
        "sheet": sheet,
        "label_column": label_column,
        "raw": raw,
    }
    source = open_source("check", data, project, clusters, options)
    opened, clusters, raw = source.data, source.clusters, source.raw
    classes = len({*opened.clues.labels[opened.clues.labels >= 0].tolist()})
    count = classes if clusters is None and method is None and classes > 1 else clusters
    model = _method.build(opened.clues, method, count, seed, penalty) if opened.clues.kinds else None
    k = None if count is None else _method.count_clusters(opened.clues, count)
    X, columns_used = opened.encode(raw=raw) if model is None else _method.prepare(opened, model, raw)
    if explain and not json:
        _columns.show_plan(columns_used, opened.table.notes)
    found = examine(opened.clues, X, estimator=model, n_clusters=k, random_state=seed)
    rows = _rows_of_trouble(found)
    if json:
        facts = _as_data(found, opened, rows) | {"column_plan": list_plan(columns_used)}
        _show.say(_show.as_json(facts))
    else:
        _show.say(str(found))
        if not opened.clues.kinds:
            _show.say("(Clues come from a file, --clues, or from a column of the data, --label-column.)")
        who = _names(found, opened, rows)
        if who:
            _show.say(f"({who[0].upper()}{who[1:]}.)")
    if found.contradictions or (found.satisfiable is False and clusters is not None):
        raise typer.Exit(CONTRADICTORY)


def _rows_of_trouble(found: Diagnosis) -> list[int]:
    """Rows of the first contradictions, of the impossibility, and of the clashes and repairs that the page shows."""
    from cluewise.exceptions import Contradiction, Infeasible
    from cluewise.workspace.data import rows_of

    rows = found.shown_rows
    for conflict in found.contradictions[:5]:
        rows |= set(rows_of(Contradiction("", [conflict])))
    if found.why and found.n_clusters is not None:
        try:
            found.clues.require(found.n_clusters)
        except Infeasible as error:
            rows |= set(rows_of(error))
    return sorted(rows)


def _names(found: Diagnosis, opened: Data, rows: list[int]) -> str:
    """What the rows of the page are called: all of clashes and repairs, and of the others as many as make ten."""
    page = found.shown_rows
    others = [row for row in rows if row not in page]
    room = max(0, _AT_ONCE - len(page))
    first = sorted(page | set(others[:room]))
    words = [opened.describe(first[start : start + _AT_ONCE]) for start in range(0, len(first), _AT_ONCE)]
    return ", ".join(filter(None, words)) + (", …" if any(words) and len(others) > room else "")


def _as_data(found: Diagnosis, opened: Data, rows: list[int]) -> dict[str, Any]:
    """The page as data."""
    clues, name, trial = found.clues, opened.name, found.trial
    return {
        "rows": clues.n,
        "labels": int((clues.labels >= 0).sum()),
        "must": len(clues.must),
        "cannot": len(clues.cannot),
        "together": sum(len(group.weights) for group in clues.together),
        "apart": sum(len(group.weights) for group in clues.apart),
        "partitions": len(clues.partitions),
        "sizes": clues.sizes is not None,
        "avoid": len(clues.avoid),
        "tied": len(clues.tied),
        "components": clues.n_components,
        "clusters": found.n_clusters,
        "satisfiable": found.satisfiable,
        "why": found.why or None,
        "contradictions": [
            {
                "rows": [name(conflict.first), name(conflict.second)],
                "kind": conflict.kind,
                "source": conflict.source,
                "chain": [[name(a), name(b), why] for a, b, why in conflict.chain],
            }
            for conflict in found.contradictions
        ],
        "rows_named": rows,
        "repairs": found.repairs,
        "unrepaired": found.unrepaired,
        "method": found.method,
        "unused": found.unused,
        "coverage": found.coverage,
        "component_sizes": found.components,
        "redundancy": found.redundancy,
        "degeneracy": found.degeneracy,
        "informativeness": found.informativeness,
        "trust": found.trust,
        "coherence": found.coherence,
        "agreement": found.agreement,
        "predictability": found.predictability,
        "clashes": [
            {
                "must": [name(row) for row in clash.must],
                "cannot": [name(row) for row in clash.cannot],
                "sources": [clash.must_source, clash.cannot_source],
                "overlap": clash.overlap,
            }
            for clash in found.clashes
        ],
        "trial": None if trial is None else trial._asdict(),
        "harm": found.harm,
        "harmful": found.harmful,
        "reasons": found.reasons,
        "recommendation": found.recommendation,
        "advice": found.advice,
    }
