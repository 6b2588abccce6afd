"""``cluewise check``: a doctor for clues."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from cluewise.cli import _options as opt

if TYPE_CHECKING:
    from cluewise.cli._data import Data

__all__ = ["check"]

CONTRADICTORY = 1


def check(
    data: opt.DataFile,
    clues: opt.ClueFile = None,
    clusters: opt.Clusters = None,
    id_column: opt.IdColumn = None,
    columns: opt.Columns = None,
    ignore: opt.Ignore = None,
    label_column: opt.LabelColumn = None,
    json: opt.AsJson = False,
) -> None:
    """Say whether the clues make sense.

    What there is, whether it contradicts itself, and with -k whether that many clusters can satisfy it.

    Exit code 0: they can be satisfied as far as is known; 1: they cannot; 2: bad input.

    Example: cluewise check wine.csv --clues clues.csv -k 3
    """
    from cluewise.cli import _method, _outputs, _show
    from cluewise.cli._data import names_in, open_data

    opened = open_data(
        data, clues, id_column=id_column, columns=columns, ignore=names_in(ignore), label_column=label_column
    )
    k = None if clusters is None else _method.count_clusters(opened.clues, clusters)
    found = _diagnosis(opened, k)
    if json:
        _show.say(_outputs.as_json(found))
    else:
        _show.say(opened.clues.explain(k))
        who = opened.who(found["rows_named"])
        if who:
            _show.say(f"({who[0].upper()}{who[1:]}.)")
    if found["satisfiable"] is False:
        raise typer.Exit(CONTRADICTORY)


def _diagnosis(opened: Data, k: int | None) -> dict[str, Any]:
    """The same as `Clues.explain`, as data."""
    from cluewise.cli._data import mentioned
    from cluewise.exceptions import Contradiction, Infeasible

    clues = opened.clues
    why, rows = None, set()
    for conflict in clues.contradictions[:5]:
        rows |= set(mentioned(Contradiction("", [conflict])))
    satisfiable: bool | None = not clues.contradictions
    if k is not None and satisfiable:
        try:
            clues.require(k)
            satisfiable = clues.feasible(k)
        except Infeasible as error:
            satisfiable, why = False, str(error)
            rows |= set(mentioned(error))
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
        "clusters": k,
        "satisfiable": satisfiable,
        "why": why,
        "contradictions": [
            {
                "rows": [opened.name(conflict.first), opened.name(conflict.second)],
                "kind": conflict.kind,
                "source": conflict.source,
                "chain": [[opened.name(a), opened.name(b), why] for a, b, why in conflict.chain],
            }
            for conflict in clues.contradictions
        ],
        "rows_named": sorted(rows),
    }
