"""Pictures of clusterings and clues; the only home of matplotlib (``pip install "cluewise[plot]"``).

Nothing here touches pyplot's global state: every function draws into the axes it is given or into a figure
of its own, and returns it. ``ax.figure.savefig("map.png")`` saves it.
"""

from cluewise.plots._compare import compare
from cluewise.plots._map import links, map
from cluewise.plots._style import require_matplotlib
from cluewise.plots._suspects import suspects
from cluewise.plots._trace import trace

__all__ = ["compare", "links", "map", "require_matplotlib", "suspects", "trace"]
