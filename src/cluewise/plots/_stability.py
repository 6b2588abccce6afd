"""How often clusters come back."""

from __future__ import annotations

from typing import Any

import numpy as np

from cluewise._docs import documented
from cluewise.explain import RECOVERED, Stability
from cluewise.plots.style import GRAY, INK, get_axes, get_style, label_axes

__all__ = ["stability"]


@documented
def stability(found: Stability, *, ax: Any = None, title: str | None = None) -> Any:
    """Draw how similar the clusters of resamples are to each cluster.

    A dot for each resample, a line at the mean; to the right of the dashed line, the cluster has come back.

    Parameters
    ----------
    found : Stability
        What :func:`cluewise.stability` returned.
    {plot_ax}
    title : str, optional
        Title; by default, the number of resamples.

    Returns
    -------
    {axes}

    Examples
    --------
    >>> import cluewise as cw
    >>> X = [[0.0], [0.2], [0.4], [5.0], [5.2], [5.4]]
    >>> found = cw.stability(cw.PCKMeans(2, random_state=0), X, n_resamples=10, random_state=0)
    >>> ax = cw.plots.stability(found)
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['cluster 0', 'cluster 1']
    """
    k = len(found.clusters)
    axes = get_axes(ax, 6.4, 1.2 + 0.45 * k)
    spread = np.random.default_rng(0).uniform(-0.24, 0.24, len(found.similarity))  # so that equal dots are seen
    for place, cluster in enumerate(found.clusters.tolist()):
        color = get_style(cluster)[0]
        axes.scatter(found.similarity[:, place], place + spread, s=16, c=color, alpha=0.5, linewidths=0)
        axes.plot([found.jaccard[place]] * 2, [place - 0.33, place + 0.33], color=color, linewidth=3)
        words = f"{found.recovered[place]} of {found.drawn[place]}"
        axes.text(1.02, place, words, va="center", fontsize=9, color=INK, transform=axes.get_yaxis_transform())
    label_axes(axes, ("similarity to the cluster of all rows", ""), title or f"{len(found.similarity)} resamples")
    axes.text(1.02, 1.02, "back in", fontsize=8, color=GRAY, transform=axes.transAxes)
    axes.axvline(RECOVERED, color=GRAY, linewidth=1, linestyle=(0, (4, 3)), zorder=0)
    axes.set_xlim(min(0.4, float(np.nanmin(found.similarity)) - 0.05), 1.02)
    axes.set_ylim(k - 0.5, -0.5)
    axes.set_yticks(range(k), labels=[f"cluster {cluster}" for cluster in found.clusters.tolist()])
    axes.tick_params(axis="y", length=0)
    return axes
