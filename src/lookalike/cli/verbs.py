"""How a function becomes a verb: its help with examples, its mistakes, options all verbs have."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from lookalike.cli.output import quiet
from lookalike.errors import suggest

Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet", "-q", help="Print the answer and errors only: no notes, warnings or progress."
    ),
]
Memory = Annotated[
    str | None,
    typer.Option(
        "--memory",
        metavar="SIZE",
        help="Most memory that one matrix may take, such as 8GB; 2GB unless given.",
        show_default=False,
    ),
]
COMMON: dict[str, tuple[Any, Any]] = {"quietly": (Quiet, False), "memory": (Memory, None)}

# What typer says about a value, and how a person would say it.
USAGE = (
    (r"^Value error, ", ""),
    (r"^Input should be greater than or equal to (\S+)$", r"needs at least \1"),
    (r"^Input should be less than or equal to (\S+)$", r"needs at most \1"),
    (r"^Input should be a valid integer.*$", "needs an integer"),
    (r"^Input should be a valid number.*$", "needs a number"),
)


def in_usage(text: str, found: object = None) -> str:
    """Return what typer says about the value of an option, in words, with the nearest known one.

    Examples
    --------
    >>> in_usage("Input should be greater than or equal to 1", 0)
    "needs at least 1, found '0'."
    >>> in_usage("Value error, 'jsn' is not one of 'csv', 'json'.")
    "'jsn' is not one of 'csv', 'json'. Did you mean 'json'?"
    """
    for pattern, to in USAGE:
        text = re.sub(pattern, to, text)
    if text.startswith("needs "):
        return f"{text}, found {str(found)!r}." if found is not None else f"{text}."
    told = re.fullmatch(r"'(?P<word>[^']*)' is not one of (?P<known>.*)\.", text)
    if told:
        near = suggest(told["word"], re.findall(r"'([^']*)'", told["known"]))
        text += f" {near}" if near.startswith("Did you mean") else ""
    return text


class Verb(TyperCommand):
    """A verb that says in words what is wrong with an option."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read options and arguments."""
        try:
            return super().parse_args(ctx, args)
        except typer.BadParameter as error:
            errors: list[Any] = getattr(error.__cause__, "errors", list)()
            found = errors[0].get("input") if errors else None
            error.message = in_usage(error.message, found)
            raise

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options; a switch shows no type, since it takes no value."""
        return _without_types(super().get_params(ctx))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the words of the line of usage: FILE, not {FILE}, and dots once."""
        pieces = (re.sub(r"^\{(.*)\}", r"\1", word) for word in super().collect_usage_pieces(ctx))
        return [re.sub(r"\.{3}(\]?)\.{3}$", r"...\1", word) for word in pieces]


class Group(TyperGroup):
    """A verb with verbs of its own, which it names when it is given none of them."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the verb that is meant."""
        try:
            return super().resolve_command(ctx, args)
        except typer.BadParameter:
            raise
        except Exception as error:
            text = getattr(error, "message", "")
            if text.startswith("No such command") and "Did you mean" not in text:
                error.message = f"{text} Known: {', '.join(self.list_commands(ctx))}."  # type: ignore[attr-defined]
            raise

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options; a switch shows no type, since it takes no value."""
        return _without_types(super().get_params(ctx))


def _without_types(params: list[Any]) -> list[Any]:
    for param in params:
        if param.param_type_name == "argument":  # its name says it: FILE, not FILE <str>
            param.display_type_rich = lambda ctx: None
        elif getattr(param, "is_flag", False) and param.metavar is None:
            param.metavar = ""
    return params


def add_verb(
    app: typer.Typer,
    name: str,
    verb: Callable[..., None],
    examples: tuple[str, ...],
    panel: str | None = None,
) -> None:
    """Make a function a command of the program.

    Parameters
    ----------
    app : the program, or a group of its commands
    name : str
    verb : function whose parameters are the options
    examples : commands that stand at the end of its help
    panel : heading that it stands under in the help of the program
    """

    def run(given: dict[str, Any], rest: dict[str, Any]) -> None:
        from lookalike._runtime.config import config

        settings: dict[str, Any] = {"progress": False} if given["quietly"] else {}
        if given["memory"] is not None:
            settings["memory_limit"] = given["memory"]
        with quiet(given["quietly"]), config(**settings):
            verb(**rest)

    lines = "\n\n".join(f"  {line}" for line in examples)
    epilog = f"For example:\n\n{lines}" if examples else None
    about = _in_lines(verb.__doc__ or "")
    make = app.command(name=name, cls=Verb, help=about, epilog=epilog, rich_help_panel=panel)
    make(with_parameters(verb, COMMON, run))


def _in_lines(text: str) -> str:
    """Return a docstring with a line for each paragraph, for the terminal to break."""
    return "\n\n".join(" ".join(part.split()) for part in inspect.cleandoc(text).split("\n\n"))


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
