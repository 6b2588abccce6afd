"""The objective over the iterations."""

from __future__ import annotations

from typing import Any

import numpy as np

from cluewise._docs import documented
from cluewise.plots.style import get_axes, get_style, label_axes

__all__ = ["trace"]


@documented
def trace(model: Any, *, ax: Any = None, title: str | None = None) -> Any:
    """Draw the objective after each iteration.

    Parameters
    ----------
    model : fitted clusterer
        A model with ``trace_``.
    {plot_ax}
    title : str, optional
        Title; the name of the method by default.

    Returns
    -------
    {axes}

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
    axes = get_axes(ax, 6.4, 3.6)
    values = np.asarray(model.trace_)
    axes.plot(np.arange(1, len(values) + 1), values, color=get_style(0)[0], marker="o", markersize=4, linewidth=1.6)
    label_axes(axes, ("iteration", "objective"), title or name)
    axes.xaxis.get_major_locator().set_params(integer=True)
    return axes
