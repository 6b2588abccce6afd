"""The command line. Nothing heavy is imported before the command is known."""

from cluewise.cli._app import app, main

__all__ = ["app", "main"]
