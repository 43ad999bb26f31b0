"""Options and arguments of commands, as typer reads them; those that several commands share."""

from __future__ import annotations

from typing import Annotated, Any

import typer


def option(flags: str, metavar: str | None, help: str, **more: Any) -> Any:
    """Return an option of a command.

    Parameters
    ----------
    flags : str
        Such as ``"--quiet -q"``.
    metavar : str or None
        None for a switch, which takes no value.
    help : str
    **more : as of ``typer.Option``
    """
    return typer.Option(*flags.split(), metavar=metavar, help=help, **more)


def argument(metavar: str, help: str) -> Any:
    """Return an argument, named by its metavar."""
    return typer.Argument(metavar=metavar, help=help, show_default=False)


# Not a filter of the rows, but how they are called from then on: the same for files and servers.
IdColumn = Annotated[
    str | None,
    option("--id-column", "COLUMN", "A column that names the rows; without it they are numbered."),
]
