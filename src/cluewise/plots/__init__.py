"""Plots of clusterings and clues; they need matplotlib (``pip install "cluewise[plot]"``).

No function uses pyplot's global state: each draws into the axes it is given or into a new figure, and returns it.
``ax.figure.savefig("map.png")`` saves it.
"""

from cluewise.plots._compare import compare
from cluewise.plots._map import links, map
from cluewise.plots._style import require_matplotlib
from cluewise.plots._suspects import suspects
from cluewise.plots._trace import trace

__all__ = ["compare", "links", "map", "require_matplotlib", "suspects", "trace"]
