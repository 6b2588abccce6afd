"""What dask's collections are, and how to compute them, without an import of dask before there are any.

On a cluster without workers dask waits forever and says nothing. So everything is computed here, and never by dask's
own ``compute``.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from time import monotonic
from typing import Any

from cluewise.exceptions import WorkersLost

__all__ = ["compute", "is_dask", "is_frame", "refuse_others"]

GLANCE, PATIENCE = 5, 300
"""Seconds after which workers are counted, and those in which there may be none."""

_WAYS = {"Series": "X.to_frame()", "Delayed": "dask.array.from_delayed", "Bag": "X.to_dataframe()"}
"""What makes an array or a data frame of other collections."""

_GONE = (
    "the dask cluster has dropped the work: its scheduler ended, was restarted, cannot be reached or has cancelled it; "
    "see that it runs, and try again."
)
_WHY = {
    "KilledWorker": "several workers in a row ended while they worked on the same chunk of rows; they may have run out "
    "of memory: make the chunks smaller (X.rechunk in Python), or give each worker more memory.",
    **dict.fromkeys(("CancelledError", "FutureCancelledError", "CommClosedError", "ClosedClientError"), _GONE),
}
"""What to say about errors of the package distributed, which may be missing, by their names."""


def is_dask(X: Any) -> bool:
    """Whether X is a dask array, data frame or another of dask's collections.

    Examples
    --------
    >>> import dask.array as da
    >>> is_dask([[1.0]]), is_dask(da.ones((4, 2)))
    (False, True)
    """
    return hasattr(type(X), "__dask_graph__") and X.__dask_graph__() is not None


def is_frame(X: Any) -> bool:
    """Whether X is a data frame of dask.

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> import pandas as pd
    >>> table = dd.from_pandas(pd.DataFrame({"a": [1.0, 2.0]}), npartitions=1)
    >>> is_frame(table), is_frame(table["a"])
    (True, False)
    """
    return hasattr(type(X), "to_dask_array") and X.ndim == 2


def refuse_others(X: Any, who: str = "cluewise") -> None:
    """Refuse dask's collections that are neither an array nor a data frame, and say how to make one of them.

    Examples
    --------
    >>> import dask.bag
    >>> refuse_others(dask.bag.from_sequence([1, 2]))
    Traceback (most recent call last):
    ...
    TypeError: X is a Bag; of dask's collections, cluewise takes data frames and arrays (use X.to_dataframe()).
    """
    kinds = type(X).__mro__  # a Delayed itself has attributes of any name
    if is_frame(X) or (hasattr(kinds[0], "map_blocks") and hasattr(kinds[0], "rechunk")):
        return
    name = next((kind.__name__ for kind in kinds if kind.__name__ in _WAYS), kinds[0].__name__)
    way = f" (use {_WAYS[name]})" if name in _WAYS else ""
    raise TypeError(f"X is a {name}; of dask's collections, {who} takes data frames and arrays{way}.")


def compute(*tasks: Any) -> Sequence[Any]:
    """What dask makes of each task: on the cluster of an active client, or else in this process.

    Examples
    --------
    >>> import dask.array as da
    >>> compute(da.ones(4).sum(), da.zeros(2))
    (np.float64(4.0), array([0., 0.]))
    """
    from dask import compute as compute_here
    from dask.base import get_scheduler

    client = getattr(get_scheduler(), "__self__", None)
    if not hasattr(client, "nthreads"):
        return compute_here(*tasks)
    try:
        return _wait(client, tasks)
    except Exception as error:
        why = _WHY.get(type(error).__name__)
        if why is None:  # a task's own
            raise
        raise WorkersLost(why) from error


def _wait(client: Any, tasks: Sequence[Any]) -> list[Any]:
    """What a cluster makes of the tasks; an error if it has lost all workers."""
    futures, found = client.compute(list(tasks)), []
    seen = monotonic()  # when there were workers
    try:
        for future in futures:
            glance = GLANCE
            while True:
                try:
                    found.append(future.result(timeout=glance))
                    break
                except TimeoutError:
                    if future.status == "error":  # that of a task
                        raise
                    if future.done():  # the result is on its way, and sets out anew
                        glance *= 2
                now = monotonic()
                seen = now if _has_workers(client) else seen
                if now - seen > PATIENCE:
                    raise WorkersLost(
                        f"the dask cluster has had no workers for {PATIENCE} seconds; start some, and try again."
                    )
        return found
    except BaseException:
        with suppress(Exception):  # of a cluster that is lost, which would hide the cause
            client.cancel(futures)
        raise
    finally:
        for future in futures:
            future.release()  # now, not when the garbage is collected


def _has_workers(client: Any) -> bool:
    try:
        return bool(client.nthreads())
    except Exception as error:  # whatever it is, it is no task's own
        raise WorkersLost(_GONE) from error
