"""``cluewise compare``: did the clues help?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from cluewise.cli import _options as opt

if TYPE_CHECKING:
    from cluewise.advice import Comparison, Outcome

__all__ = ["compare"]

Truth = Annotated[
    str | None,
    typer.Option("--truth", metavar="COLUMN", help="Column of DATA with the true classes.", rich_help_panel="Data"),
]
Splits = Annotated[int, typer.Option("--splits", metavar="N", min=0, help="Number of times that clues are held out.")]


def compare(
    data: opt.DataFile,
    clues: opt.ClueFile = None,
    clusters: opt.Clusters = None,
    method: opt.Method = None,
    penalty: opt.Penalty = None,
    seed: opt.Seed = 0,
    splits: Splits = 10,
    id_column: opt.IdColumn = None,
    columns: opt.Columns = None,
    ignore: opt.Ignore = None,
    kinds: opt.As = None,
    sheet: opt.Sheet = None,
    label_column: opt.LabelColumn = None,
    truth: Truth = None,
    raw: opt.Raw = False,
    explain: opt.Explain = False,
    json: opt.AsJson = False,
) -> None:
    """Say whether the clues help.

    Fits the method with and without the clues, and also with some of them held out.

    Example: cluewise compare wine.csv --clues clues.csv -k 3
    """
    from cluewise import advice
    from cluewise.cli import _columns, _method, _show
    from cluewise.workspace.data import name_rows, open_data
    from cluewise.workspace.names import split_names
    from cluewise.workspace.report import list_plan

    if truth is not None and truth == label_column:
        raise ValueError(f"--truth and --label-column both name '{truth}'; known labels are clues, and tell no truth.")
    left_out = [*split_names(ignore), *([] if truth is None else [truth])]
    opened = open_data(
        data,
        clues,
        id_column=id_column,
        columns=columns,
        ignore=left_out,
        label_column=label_column,
        kinds=kinds,
        sheet=sheet,
    )
    model = _method.build(opened.clues, method, clusters, seed, penalty)
    X, rows = _method.prepare(opened, model, raw)
    if explain and not json:
        _columns.show_plan(rows, opened.table.notes)
    with name_rows(opened):
        result = advice.compare(
            model,
            X,
            opened.clues,
            truth=None if truth is None else opened.table.columns[truth],
            n_splits=splits,
            random_state=seed,
        )
    if json:
        _show.say(_show.as_json(_as_data(result) | {"column_plan": list_plan(rows)}))
    else:
        _show.say(str(result))


def _as_data(result: Comparison) -> dict[str, Any]:
    return {
        "method": type(result.with_clues.model).__name__,
        "with": _side(result.with_clues),
        "without": _side(result.without),
        "moved": result.moved,
        "agreement": result.agreement,
        "gains": result.gains,
        "gain": result.gain,
        "gain_error": result.gain_error,
        "helped": result.helped,
    }


def _side(outcome: Outcome) -> dict[str, Any]:
    return {
        "satisfaction": outcome.satisfaction,
        "held_out": outcome.held_out,
        "objective": outcome.objective,
        "scores": outcome.scores,
    }
