"""Options and arguments of commands, as typer reads them; those that several commands share."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, Any

import typer

STDIN = "-"  # as the name of a file


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


def member(
    metavar: str | None, help: str, default: Any = None, flags: str = "", **more: Any
) -> Any:
    """Return an option of a group, a field of its dataclass.

    Parameters
    ----------
    metavar, help, **more : as of ``option``
    default : object
    flags : str
        As of ``option``; empty: the name of the field. A switch needs flags, or has two.
    """
    return field(default=default, metadata={"option": option(flags, metavar, help, **more)})


def argument(metavar: str, help: str) -> Any:
    """Return an argument, named by its metavar."""
    return typer.Argument(metavar=metavar, help=help, show_default=False)


Explore = Annotated[
    bool,
    option(
        "--explore",
        None,
        "Write the explorer page instead: one file in which rows can be searched, weighed and "
        "explained without a server (5,000 rows unless --sample is given).",
    ),
]
# Not a filter of the rows, but how they are called from then on: the same for files and servers.
IdColumn = Annotated[
    str | None,
    option("--id-column", "COLUMN", "A column that names the rows; without it they are numbered."),
]
