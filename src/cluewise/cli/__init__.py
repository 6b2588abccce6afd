"""The command line. Nothing is imported before Ctrl-C is answered, and nothing heavy before the command is known."""

from __future__ import annotations

TYPE_CHECKING = False  # typing is not imported either
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

__all__ = ["app", "main"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its code: 0, 1 (check found a problem), 2 (bad input), 130 (Ctrl-C).

    Parameters
    ----------
    arguments : sequence of str, optional
        Words of the command line; those of the process by default.

    Examples
    --------
    >>> from cluewise.cli import main
    >>> main(["--version"])
    Traceback (most recent call last):
    ...
    SystemExit: 0
    """
    try:
        from cluewise.cli._interrupt import Interrupt

        with Interrupt(stay=arguments is None):
            if arguments is None:  # the process is ours
                _collect_garbage_rarely()
            from cluewise.cli._app import run

            run(arguments)
    except KeyboardInterrupt:  # a moment too early for the block
        raise SystemExit(130) from None


def _collect_garbage_rarely() -> None:
    """Save about a fifth of a short command: nearly everything it allocates is imported code, which is not garbage."""
    import atexit
    import gc

    gc.set_threshold(10_000)
    atexit.register(gc.freeze)  # no last collection: the process ends


def __getattr__(name: str) -> Any:
    if name == "app":
        from cluewise.cli._app import app

        return app
    raise AttributeError(f"module 'cluewise.cli' has no attribute {name!r}")
