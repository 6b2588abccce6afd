"""``cluewise fit``: cluster the rows of a file with clues."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cluewise.cli import _options as opt

if TYPE_CHECKING:
    from cluewise._typing import Floats
    from cluewise.workspace.data import Data

__all__ = ["fit"]

Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="FILE",
        help="Rows with their clusters; by default DATA-clusters.csv. A new folder if DATA is one or a pattern.",
        rich_help_panel="Output",
    ),
]
Report = Annotated[
    Path | None,
    typer.Option(
        "--report",
        metavar="FILE",
        help="Everything about the fit: a page (HTML), or data (JSON).",
        rich_help_panel="Output",
    ),
]
Map = Annotated[
    Path | None,
    typer.Option("--map", metavar="FILE", help="A picture: PNG, PDF, SVG or JPG.", rich_help_panel="Output"),
]
MapColumns = Annotated[
    str | None,
    typer.Option(
        "--map-columns",
        metavar="A,B",
        help="Axes of the picture; by default two principal components.",
        rich_help_panel="Output",
    ),
]
Save = Annotated[
    Path | None,
    typer.Option(
        "--save", metavar="FILE", help="The model, for `cluewise predict` and --keep-ids.", rich_help_panel="Output"
    ),
]
KeepIds = Annotated[
    Path | None,
    typer.Option(
        "--keep-ids",
        metavar="MODEL",
        help="Give clusters the ids and names of those of a saved model that they share most rows with; rows are "
        "matched by name, or else by position.",
        rich_help_panel="Output",
    ),
]

Auto = Annotated[
    bool,
    typer.Option(
        "--auto",
        help="Choose by how well held-out clues are predicted: as by default, or, with --method A,B or --method all, "
        "among these methods and numbers of clusters.",
    ),
]
TimeLimit = Annotated[
    float | None,
    typer.Option(
        "--time-limit", metavar="SECONDS", help="Stop comparing after so many seconds, and use the best so far."
    ),
]


def fit(
    context: typer.Context,
    data: opt.ProjectOrDataFiles = None,
    project: opt.ProjectFile = None,
    clues: opt.ClueFile = None,
    clusters: opt.Clusters = None,
    method: opt.Method = None,
    penalty: opt.Penalty = None,
    auto: Auto = False,
    time_limit: TimeLimit = None,
    seed: opt.Seed = 0,
    id_column: opt.IdColumn = None,
    columns: opt.Columns = None,
    ignore: opt.Ignore = None,
    kinds: opt.As = None,
    sheet: opt.Sheet = None,
    label_column: opt.LabelColumn = None,
    raw: opt.Raw = False,
    explain: opt.Explain = False,
    out: Out = None,
    report: Report = None,
    picture: Map = None,
    map_columns: MapColumns = None,
    save: Save = None,
    keep_ids: KeepIds = None,
    raw_cells: opt.RawCells = False,
    scheduler: opt.Scheduler = None,
    json: opt.AsJson = False,
    quiet: opt.Quiet = False,
) -> None:
    """Cluster the rows of a file, and write each row with its cluster.

    With --project, cluster by the answers of `cluewise ask`; the project knows the data and how to read them.

    Example: cluewise fit wine.csv --clues clues.csv --map wine.png
    """
    from time import perf_counter

    from cluewise import tables
    from cluewise.tables.parts import is_in_parts

    if data is not None and is_in_parts(data):
        from cluewise.cli._parts import fit_parts

        fit_parts(context)
        return
    if scheduler is not None:
        raise ValueError("--scheduler is for rows in parts: a folder, or a pattern such as 'rows-*.parquet'.")
    from cluewise.cli import _columns, _files, _method, _show
    from cluewise.cli._source import open_source
    from cluewise.cli._summary import summarize
    from cluewise.workspace.clusters import describe_clusters
    from cluewise.workspace.data import add_columns, name_rows, stem_of
    from cluewise.workspace.report import report as make_report

    _files.check_suffix(out, _files.TABLES)
    if picture is not None:
        from cluewise.plots import require_matplotlib

        _files.check_suffix(picture, _files.PICTURES)
        require_matplotlib()
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
    source = open_source("fit", data, project, clusters, options)
    opened, clusters, raw = source.data, source.clusters, source.raw
    earlier = None
    if save is not None or keep_ids is not None:
        from cluewise.cli import _saved

        earlier = None if keep_ids is None else _saved.open_model(keep_ids)
    axes = None if map_columns is None else _axes(opened, map_columns)
    candidates = method if auto else None
    if candidates is not None:
        from cluewise.cli import _auto

        model = _auto.probe(candidates, penalty)
    else:
        model = _method.build(opened.clues, method, clusters, seed, penalty, time_limit)
    target = source.path.with_name(f"{stem_of(source.path)}-clusters.csv") if out is None else out
    targets = {"--out": target, "--report": report, "--map": picture, "--save": save}
    with _files.open_outputs(targets, (source.path, project, clues)) as asides:
        X, rows = _method.prepare(opened, model, raw)
        if explain and not json:
            _columns.show_plan(rows, opened.table.notes)
        began = perf_counter()
        with name_rows(opened):
            if candidates is not None:
                found = _auto.choose(X, opened.clues, clusters, candidates, seed, time_limit, quiet=quiet)
                model = found.best
            else:
                with _watch(model, quiet):
                    model.fit(X, clues=opened.clues)
        facts = make_report(model, opened, seconds=perf_counter() - began, seed=seed, rows=rows)
        if candidates is not None:
            facts["auto"] = _auto.as_data(found)
        facts["command"] = opt.repeat(context)
        shown, new = model.labels_, {"cluster": model.labels_}
        if save is not None or keep_ids is not None:
            named = _saved.find_clusters(model, opened, earlier)
            shown, new = named.number(model.labels_), named.columns(model.labels_)
            facts |= {"ids": named.ids, "names": {str(number): name for number, name in named.names.items()}}
        page = report is not None and report.suffix.lower() in (".html", ".htm")
        described = None
        if page:
            from cluewise.workspace.again import look_twice
            from cluewise.workspace.page import write_page
        if json or report is not None or not quiet:
            without = None
            if page:
                with _wait("Clustering parts of the rows again …", quiet):
                    without = look_twice(facts, model, X, opened.clues)
            described = describe_clusters(model, opened, facts["ids"], without)
            facts["profiles"] = [] if described is None else described.to_dict()["profiles"]
        facts["output"] = {option: str(path) for option, path in targets.items() if path is not None}
        if hasattr(model, "margin_"):
            new["margin"] = model.margin_
        with tables.writing(target):
            tables.write(asides["--out"], add_columns(opened.table, new), raw_cells=raw_cells)
        if report is not None:
            with tables.writing(report):
                text = (
                    write_page(facts, opened, X, shown, model.broken_, described)
                    if page
                    else _show.as_json(facts) + "\n"
                )
                asides["--report"].write_text(text, encoding="utf-8")
        if picture is not None:
            with tables.writing(picture):
                _draw(X if axes is None else axes, opened, shown, asides["--map"])
        if save is not None:
            with tables.writing(save):
                _saved.save(asides["--save"], model, opened, rows, source.id_column, named.names)
    if json:
        _show.say(_show.as_json(facts))
    elif not quiet:
        if candidates is not None:
            _auto.show(found)
        summarize(facts, opened.clues, described, raw=raw)
        _show.say(f"Written: {', '.join(facts['output'].values())}.")


def _watch(model: Any, quiet: bool) -> AbstractContextManager[Any]:
    """Show on a terminal that a long fit goes on."""
    from cluewise.cli import _show
    from cluewise.cli._cards import DEFAULT

    if quiet or not _show.is_watched():
        return nullcontext()
    from cluewise.cli._progress import Bar, show_status

    if type(model).__name__ == DEFAULT:
        return show_status("Comparing clusterings …")
    model.set_callbacks(Bar())
    return nullcontext()


def _wait(words: str, quiet: bool) -> AbstractContextManager[Any]:
    """Say on a terminal what takes long."""
    from cluewise.cli import _show
    from cluewise.cli._progress import show_status

    return nullcontext() if quiet or not _show.is_watched() else show_status(words)


def _axes(opened: Data, value: str) -> dict[str, Floats]:
    """The two columns that the map shows; missing numbers at the median."""
    import numpy as np

    from cluewise.workspace.names import split_names

    names, numbers = split_names(value), opened.numbers()
    for name in names:
        if name not in numbers:
            what = "a column of numbers" if name in opened.columns else "one of the columns that are clustered"
            raise ValueError(f"--map-columns: '{name}' is not {what}.")
    if len(names) != 2:
        raise ValueError(f"--map-columns names {len(names)} columns; a map has two.")
    finite = {name: np.isfinite(numbers[name]) for name in names}
    return {name: np.where(finite[name], numbers[name], np.median(numbers[name][finite[name]])) for name in names}


def _draw(X: Floats | dict[str, Floats], opened: Data, labels: Any, path: Path) -> None:
    import numpy as np

    from cluewise import plots

    names = list(X) if isinstance(X, dict) else opened.columns
    points = np.column_stack(list(X.values())) if isinstance(X, dict) else X
    ax = plots.map(points, labels, clues=opened.clues, title=Path(opened.table.name).stem)
    if len(names) <= 2 and points.shape[1] == len(names):
        ax.set_xlabel(names[0])
        if len(names) == 2:
            ax.set_ylabel(names[1])
    ax.figure.savefig(path)
