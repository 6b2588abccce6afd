"""The commands, and what happens when one of them fails."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from io import TextIOWrapper
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from cluewise._version import __version__
from cluewise.cli import _interrupt, _show
from cluewise.cli._ask import ask
from cluewise.cli._check import check
from cluewise.cli._compare import compare
from cluewise.cli._datasets import datasets
from cluewise.cli._demo import demo
from cluewise.cli._fit import fit
from cluewise.cli._list import methods
from cluewise.cli._predict import predict
from cluewise.cli._rescue import rescue
from cluewise.cli._show import standard_output
from cluewise.cli._update import update
from cluewise.cli._warmup import warmup
from cluewise.cli._web import web
from cluewise.exceptions import WorkersLost
from cluewise.kernels import watch_compilation

__all__ = ["app", "run"]

BAD_INPUT = 2
_HALF_LINE = 1000  # letters of a message

# Older versions of typer use click, newer ones carry it inside; this is the same class in both.
_UsageError: type[Any] = typer.BadParameter.__bases__[0]


@contextmanager
def _one_sentence() -> Iterator[None]:
    """Answer a mistake of the user with one sentence, never with a traceback."""
    try:
        yield
    except typer.Exit:
        raise
    except (Exception, KeyboardInterrupt) as error:
        # After Ctrl-C every error is taken for its consequence: imports that it stops fail in many ways.
        if isinstance(error, KeyboardInterrupt) or _interrupt.heard():
            _say("interrupted; no file is half-written.")
            raise typer.Exit(_interrupt.INTERRUPTED) from None
        sentence = _sentence(error)
        if sentence is None:
            raise
        _say(sentence)
        raise typer.Exit(BAD_INPUT) from None


def _sentence(error: Any) -> str | None:
    """What to say about an error; None if it is not the user's."""
    if isinstance(error, _UsageError):
        where = error.ctx.command_path if error.ctx is not None else "cluewise"
        return f"{error.format_message().rstrip('.')}. See {where} --help."
    if isinstance(error, BrokenPipeError):  # whoever reads our output has seen enough
        return None
    if isinstance(error, MemoryError):
        return "there is not enough memory for this."
    if isinstance(error, OSError) and error.strerror:  # our own errors name the file in words
        return f"{error.strerror.lower()}{f': {error.filename!r}' if error.filename else ''}."
    return str(error) if isinstance(error, (OSError, ValueError, ImportError, WorkersLost)) else None


@contextmanager
def _short_warnings() -> Iterator[None]:
    """Show each warning that is meant for users once, as one line."""

    def show(message: Any, category: type[Warning], *_: Any) -> None:
        if issubclass(category, (UserWarning, RuntimeWarning)):
            _say(f"warning: {message}")

    with warnings.catch_warnings():
        for category in (UserWarning, RuntimeWarning):
            warnings.simplefilter("once", category)
        warnings.showwarning = show  # type: ignore[assignment]
        yield


@contextmanager
def _compilation_told(wanted: bool) -> Iterator[None]:
    """Say on a terminal, once, that kernels are compiled, which nobody expects of a fit of a few rows."""
    told = False

    def tell(begins: bool) -> None:
        nonlocal told
        if begins and not told:
            told = True
            _say("compiling what this needs; this takes some seconds, once after installation …")

    with watch_compilation(tell) if wanted and _show.is_watched() else nullcontext():
        yield


def _say(words: str) -> None:
    """One line on standard error, without characters that would overwrite it, and not too long to read."""
    line = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in " ".join(words.split()))
    if len(line) > 2 * _HALF_LINE:
        line = f"{line[:_HALF_LINE]} … {line[-_HALF_LINE:]}"
    typer.echo(f"cluewise: {line}", err=True)


class Commands(TyperGroup):
    """Commands whose mistakes are answered with one sentence."""

    make_context = _one_sentence()(standard_output()(TyperGroup.make_context))  # --help and --version answer here

    @_one_sentence()
    @_short_warnings()
    def invoke(self, ctx: Any) -> Any:
        """Run a command; a person who waits is told when it compiles."""
        with _compilation_told({"--quiet", "-q"}.isdisjoint(ctx.args)):
            return super().invoke(ctx)


_COMMANDS: dict[str, Callable[..., None]] = {
    "fit": fit,
    "predict": predict,
    "ask": ask,
    "web": web,
    "check": check,
    "compare": compare,
    "update": update,
    "rescue": rescue,
    "list": methods,
    "datasets": datasets,
    "demo": demo,
    "warmup": warmup,
}

app = typer.Typer(
    cls=Commands,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _name, _command in _COMMANDS.items():
    app.command(_name)(_command)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"cluewise {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _cluewise(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Cluster data with what people already know about it: labels, links, groups.

    Start with: cluewise demo
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def _open_streams() -> None:
    """Open closed standard streams; otherwise the next file that is opened would take their place."""
    while (handle := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(handle)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115


def _keep_stderr() -> None:
    """Give standard error a file number of its own.

    Threads that read Parquet hold back for a moment what is written to the usual one; after Ctrl-C they may still do.
    """
    if isinstance(sys.stderr, TextIOWrapper):
        own = os.dup(sys.stderr.fileno())
        sys.stderr = open(own, "w", buffering=1, encoding=sys.stderr.encoding, closefd=False)  # noqa: SIM115


def run(arguments: Sequence[str] | None) -> None:
    """Run a command and exit with its code."""
    _open_streams()
    if arguments is None:  # the process is ours
        _keep_stderr()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without "…" is not a reason to fail
    if sys.stdout is None:
        _say("standard output is closed; send it to a file or to /dev/null.")
        raise SystemExit(BAD_INPUT)
    app(args=None if arguments is None else list(arguments), prog_name="cluewise")
