"""What a command works on: a file of data and options, or a project, which knows both."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from cluewise.workspace.data import Data

__all__ = ["Source", "open_source"]


class Source(NamedTuple):
    """Data and clues, with the options by which they were read."""

    path: Path  # of the data
    data: Data
    id_column: str | None
    raw: bool
    clusters: int | None


def open_source(
    command: str, path: Path | None, project: Path | None, clusters: int | None, options: dict[str, Any]
) -> Source:
    """The data of a file and the clues that options name, or those of a project.

    ``options`` are by their names in a project. What a project knows need not be said again, but must not differ.
    """
    from cluewise.workspace import projects

    if project is not None:
        found = projects.read_answered(project, path, options)
        count = found.clusters if clusters is None else clusters
        return Source(found.path, found.data, found.options["id"], found.options["raw"], count)
    if path is None:
        raise ValueError(f"Missing argument 'DATA'. See cluewise {command} --help.")
    return Source(path, projects.open_with(path, options), options["id"], options["raw"], clusters)
