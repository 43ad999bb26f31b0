"""How a function becomes a verb: its examples in the help, and the options that every verb has."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Annotated, Any, get_type_hints

import typer

from lookalike.cli.output import quiet

__all__ = ["add_verb", "with_parameters"]

Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="No notes, warnings or progress: the answer and errors."),
]
Memory = Annotated[
    str | None,
    typer.Option(
        "--memory",
        metavar="SIZE",
        help="The most that one matrix may take, such as 8GB; 2GB unless given",
        show_default=False,
    ),
]
COMMON: dict[str, tuple[Any, Any]] = {"quietly": (Quiet, False), "memory": (Memory, None)}


def add_verb(
    app: typer.Typer, name: str, verb: Callable[..., None], examples: tuple[str, ...]
) -> None:
    """Make a function a command of the program.

    Parameters
    ----------
    app : the program, or a group of its commands
    name : str
    verb : function whose parameters are the options
    examples : commands that stand at the end of its help
    """

    def run(given: dict[str, Any], rest: dict[str, Any]) -> None:
        from lookalike._config import config

        settings: dict[str, Any] = {"progress": False} if given["quietly"] else {}
        if given["memory"] is not None:
            settings["memory_limit"] = given["memory"]
        with quiet(given["quietly"]), config(**settings):
            verb(**rest)

    lines = "\n\n".join(f"  {line}" for line in examples)
    epilog = f"For example:\n\n{lines}" if examples else None
    app.command(name=name, epilog=epilog)(with_parameters(verb, COMMON, run))


def with_parameters(
    verb: Callable[..., None],
    more: Mapping[str, tuple[Any, Any]],
    run: Callable[[dict[str, Any], dict[str, Any]], None],
    instead_of: str | None = None,
) -> Callable[..., None]:
    """Return a function with further parameters, as typer reads them.

    Parameters
    ----------
    verb : function
    more : mapping of parameter to (annotation, default); ``inspect.Parameter.empty`` for none
    run : function of the values of these parameters, and of those of the verb
    instead_of : parameter of the verb that they take the place of
    """
    hints = get_type_hints(verb, include_extras=True)
    own = [
        p.replace(annotation=hints[p.name], kind=inspect.Parameter.KEYWORD_ONLY)
        for p in inspect.signature(verb).parameters.values()
        if p.name != instead_of
    ]
    added = [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
        )
        for name, (annotation, default) in more.items()
    ]
    first = [p for p in added if p.default is p.empty]  # an argument stands before the options
    every = [*first, *own, *(p for p in added if p.default is not p.empty)]

    @functools.wraps(verb)
    def wrapper(**values: Any) -> None:
        given = {name: values.pop(name) for name in more}
        run(given, values)

    del wrapper.__wrapped__  # its signature is the one below, not that of the verb
    wrapper.__signature__ = inspect.Signature(every)  # type: ignore[attr-defined]
    wrapper.__annotations__ = {p.name: p.annotation for p in every}
    return wrapper
