"""How the objective fell."""

from __future__ import annotations

from typing import Any

import numpy as np

from cluewise.plots._style import dress, look, new_figure

__all__ = ["trace"]


def trace(model: Any, *, ax: Any = None, title: str | None = None) -> Any:
    """Draw the objective after each iteration.

    Parameters
    ----------
    model : fitted clusterer
        Anything with ``trace_``.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    title : str, optional
        Title; the name of the method by default.

    Returns
    -------
    matplotlib Axes
        Where it was drawn.

    Examples
    --------
    >>> from cluewise import PCKMeans, plots
    >>> model = PCKMeans(2, random_state=0).fit([[0.0], [1.0], [8.0], [9.0]])
    >>> plots.trace(model).get_xlabel()
    'iteration'
    """
    name = type(model).__name__
    if not hasattr(model, "trace_"):
        raise ValueError(f"this {name} has no trace; fit it first.")
    axes = new_figure(6.4, 3.6).add_subplot() if ax is None else ax
    values = np.asarray(model.trace_)
    axes.plot(np.arange(1, len(values) + 1), values, color=look(0)[0], marker="o", markersize=4, linewidth=1.6)
    dress(axes, ("iteration", "objective"), title or name)
    axes.xaxis.get_major_locator().set_params(integer=True)
    return axes
