"""cluewise: clustering with what people already know about their data.

Public names are loaded when they are first used, so that ``import cluewise`` stays light.
"""

from __future__ import annotations

from cluewise._version import __version__ as __version__

TYPE_CHECKING = False  # nor is typing imported: the command line wants to answer Ctrl-C from its first moment
if TYPE_CHECKING:
    from typing import Any

    from cluewise import active as active
    from cluewise import adapters as adapters
    from cluewise import checks as checks
    from cluewise import datasets as datasets
    from cluewise import exceptions as exceptions
    from cluewise import metrics as metrics
    from cluewise import plots as plots
    from cluewise import store as store
    from cluewise import web as web
    from cluewise.advice import ClueSearchCV as ClueSearchCV
    from cluewise.advice import check as check
    from cluewise.advice import compare as compare
    from cluewise.advice import propagate as propagate
    from cluewise.advice import suggest as suggest
    from cluewise.advice import suspects as suspects
    from cluewise.alternative import *
    from cluewise.base import Card as Card
    from cluewise.boosting import *
    from cluewise.catalogue import clusterers as clusterers
    from cluewise.centroid import *
    from cluewise.clues import Clues as Clues
    from cluewise.core.threads import threads as threads
    from cluewise.density import *
    from cluewise.ensemble import *
    from cluewise.exceptions import ClueError as ClueError
    from cluewise.exceptions import ClueWarning as ClueWarning
    from cluewise.exceptions import ColumnWarning as ColumnWarning
    from cluewise.exceptions import Contradiction as Contradiction
    from cluewise.exceptions import Infeasible as Infeasible
    from cluewise.exceptions import NotDescending as NotDescending
    from cluewise.exceptions import OtherRows as OtherRows
    from cluewise.exceptions import SoftClueWarning as SoftClueWarning
    from cluewise.exceptions import Undecided as Undecided
    from cluewise.exceptions import UnusedClueWarning as UnusedClueWarning
    from cluewise.exceptions import WorkersLost as WorkersLost
    from cluewise.explain import describe as describe
    from cluewise.explain import stability as stability
    from cluewise.front import Cluewise as Cluewise
    from cluewise.front import keep_ids as keep_ids
    from cluewise.graph import *
    from cluewise.hierarchy import *
    from cluewise.margin import *
    from cluewise.metric_learning import *
    from cluewise.mixture import *
    from cluewise.models import load as load
    from cluewise.models import save as save
    from cluewise.rows import Rows as Rows
    from cluewise.sketch import Grains as Grains
    from cluewise.spectral import *


def __getattr__(name: str) -> Any:
    from importlib import import_module

    from cluewise._homes import ROOMS, homes

    if name == "__all__":
        return sorted([*homes(), *ROOMS, "__version__"])
    if name in ROOMS:
        return import_module(f"cluewise.{name}")
    if name in homes():
        # Kept, so that the next use is a plain attribute.
        return globals().setdefault(name, getattr(import_module(homes()[name]), name))
    raise AttributeError(f"module 'cluewise' has no attribute {name!r}")


def __dir__() -> list[str]:
    names: list[str] = __getattr__("__all__")
    return names
