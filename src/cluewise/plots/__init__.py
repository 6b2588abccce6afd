"""Plots of clusterings and clues; they need matplotlib (``pip install "cluewise[plot]"``).

No function uses pyplot's global state: each draws into the axes it is given or into a new figure, and returns it.
``ax.figure.savefig("map.png")`` saves it.
"""

from cluewise.plots._compare import compare
from cluewise.plots._confusion import confusion
from cluewise.plots._map import links, map
from cluewise.plots._profiles import profiles
from cluewise.plots._silhouettes import silhouettes
from cluewise.plots._stability import stability
from cluewise.plots._suspects import suspects
from cluewise.plots._trace import trace
from cluewise.plots.style import require_matplotlib

__all__ = [
    "compare",
    "confusion",
    "links",
    "map",
    "profiles",
    "require_matplotlib",
    "silhouettes",
    "stability",
    "suspects",
    "trace",
]
