"""How a function becomes a command: a verb from its signature and docstring, others as they are."""

import inspect
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from lookalike.cli.output import Form, be_quiet, check_page, compile_note, write_result
from lookalike.cli.reading import FileSource
from lookalike.verbs import annotations as args
from lookalike.verbs import get_verb, module_of


@dataclass(frozen=True)
class CommonOptions:
    """Options that every command has.

    Parameters
    ----------
    quietly : bool
        Print the answer and errors only: no notes, warnings or progress.
    memory : str, optional
        Most memory that one matrix may take, such as 8GB; 2GB unless given.
    """

    quietly: Annotated[bool, args.Spelling(flags=("--quiet", "-q"))] = False
    memory: Annotated[str | None, args.Spelling(metavar="SIZE")] = None


class _PlainTypes:
    """Help without types that say nothing."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options; a switch shows no type, since it takes no value."""
        params: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for param in params:
            if param.param_type_name == "argument":  # its name says it: FILE, not FILE <str>
                param.display_type_rich = lambda ctx: None
            elif getattr(param, "is_flag", False) and param.metavar is None:
                param.metavar = ""
        return params


class Verb(_PlainTypes, TyperCommand):
    """A command, in whose line of usage nothing is said twice."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the words of the line of usage: FILE, not {FILE}, and dots once."""
        # typer puts braces around required arguments, and its dots behind those of the metavar.
        pieces = (re.sub(r"^\{(.*)\}", r"\1", word) for word in super().collect_usage_pieces(ctx))
        return [re.sub(r"\.{3}(\]?)\.{3}$", r"...\1", word) for word in pieces]


class Group(_PlainTypes, TyperGroup):
    """A command with subcommands, which it lists when it is given an unknown one."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the subcommand."""
        try:
            return super().resolve_command(ctx, args)
        except typer.BadParameter:
            raise
        except Exception as error:  # click's UsageError, which typer has a copy of its own of
            text = getattr(error, "message", "")
            if text.startswith("No such command") and "Did you mean" not in text:
                error.message = f"{text} Known: {', '.join(self.list_commands(ctx))}."  # type: ignore[attr-defined]
            raise


REQUIRED = inspect.Parameter.empty
KEYWORD = inspect.Parameter.KEYWORD_ONLY
Explore = Annotated[
    bool,
    args.Spelling(
        help="Write the explorer page instead: one file in which rows can be searched, weighed and "
        "explained without a server (5,000 rows unless --sample is given).",
    ),
]
# Options of one verb in the shell, beside those that all verbs have, and their defaults.
EXTRA_OPTIONS: dict[str, dict[str, Any]] = {"report": {"explore": (Explore, False)}}


def add_verb(app: typer.Typer, verb: str) -> None:
    """Make a verb a command: its options are the parameters of its function.

    Parameters
    ----------
    app : the program
    verb : str
        One of ``lookalike.verbs.VERBS``.
    """
    ask, module = get_verb(verb), module_of(verb)
    # The table is FileSource in a shell: a path with options of how it is read.
    own = [*inspect.signature(ask).parameters.values()][1:]  # the first is the table

    def question(
        source: FileSource, output: str | None, explore: bool = False, **values: Any
    ) -> None:
        # Before any work.
        form = check_page(output or str(getattr(module, "OUTPUT", "text")), source.file)
        source.check_exists()
        with compile_note():
            if explore:
                from lookalike.cli.serving import write_explorer

                return write_explorer(source, form, **values)
            result = ask(source, **values)
        write_result(result, form)

    more = EXTRA_OPTIONS.get(verb, {}) | {"output": (Form, None)}
    parameters = [
        inspect.Parameter("source", KEYWORD, annotation=FileSource),
        *(p.replace(kind=KEYWORD) for p in own),
        *(inspect.Parameter(n, KEYWORD, default=d, annotation=a) for n, (a, d) in more.items()),
    ]
    # typer reads the signature: this one makes it the command of the verb.
    question.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    question.__annotations__ = {p.name: p.annotation for p in parameters}
    question.__doc__ = ask.__doc__
    add_command(app, verb, question, module.EXAMPLES, module.HEADING)


def add_command(
    app: typer.Typer,
    name: str,
    command: Callable[..., None],
    examples: tuple[str, ...],
    panel: str | None = None,
) -> None:
    """Make a function a command of the program, with the options that all commands have.

    Parameters
    ----------
    app : the program, or a group of its commands
    name : str
    command : function
        Its parameters are the options, described in its docstring, with types as those of verbs
        have. A class of this package, such as ``FileSource``, is a group of options, the parameters
        of its constructor.
    examples : tuple of str
        Commands at the end of its help.
    panel : str, optional
        Its heading in the help of the program.
    """
    hints, texts = get_type_hints(command, include_extras=True), args.describe_parameters(command)
    groups: dict[str, Any] = {}
    options: list[inspect.Parameter] = []
    for parameter, option in inspect.signature(command).parameters.items():
        option = option.replace(annotation=hints[parameter], kind=KEYWORD)
        if _is_group(option.annotation):
            groups[parameter] = option.annotation
        else:
            options.append(option)

    def run(**given: Any) -> None:
        from lookalike._runtime.config import config

        common = _gather(CommonOptions, given)
        settings: dict[str, Any] = {"progress": False} if common.quietly else {}
        settings |= {} if common.memory is None else {"memory_limit": common.memory}
        # They apply to the reading of values as well, which the memory limit is for.
        be_quiet(common.quietly)
        with config(**settings):
            given |= {name: _gather(group, given) for name, group in groups.items()}
            given |= {option.name: _value(option, given[option.name]) for option in options}
            command(**given)

    inside = [option for group in (*groups.values(), CommonOptions) for option in _members(group)]
    # The file comes first in the help, the question next, how the file is read last.
    first, last = ([p for p in inside if (p.default is REQUIRED) == due] for due in (True, False))
    every = [*first, *(_option(one, texts.get(one.name, "")) for one in options), *last]
    run.__signature__ = inspect.Signature(every)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in every}
    epilog = "\n\n  ".join(["For example:", *examples]) if examples else None
    text = _about(command)
    app.command(name=name, cls=Verb, help=text, epilog=epilog, rich_help_panel=panel)(run)


def _about(command: Callable[..., None]) -> str:
    """Return what a docstring says before its parameters; the terminal breaks the lines."""
    text = inspect.cleandoc(command.__doc__ or "").partition("\nParameters\n---")[0]
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))


def _is_group(hint: Any) -> bool:
    """Whether a type is a group of options."""
    # Types of options are builtins; a class of this package can only be a group.
    return isinstance(hint, type) and hint.__module__.startswith("lookalike.cli.")


def _fields(group: Any) -> list[inspect.Parameter]:
    """Return the parameters of a group's constructor, with their types resolved."""
    hints = get_type_hints(group.__init__, include_extras=True)
    every = inspect.signature(group).parameters.values()
    return [field.replace(annotation=hints[field.name], kind=KEYWORD) for field in every]


def _members(group: Any) -> list[inspect.Parameter]:
    """Return the options of a group, those of groups within it included."""
    texts, found = args.describe_parameters(group), list[inspect.Parameter]()
    for one in _fields(group):
        inner = _bare(one.annotation)
        found += _members(inner) if _is_group(inner) else [_option(one, texts[one.name])]
    return found


def _gather(group: Any, given: dict[str, Any]) -> Any:
    """Return a group made of the options that were given, which are taken out."""
    each = ((one.name, _bare(one.annotation)) for one in _fields(group))
    return group(**{n: _gather(i, given) if _is_group(i) else given.pop(n) for n, i in each})


def _option(parameter: inspect.Parameter, text: str) -> inspect.Parameter:
    """Return a parameter as typer reads an option."""
    spelling, hint = args.spelling_of(parameter), _bare(parameter.annotation)
    # Text unless it is a number, a switch or a list: the verb reads measures, rows and filters.
    kind = hint if hint in (int, float, bool, list[str]) else str
    about, words = spelling.help or text, get_args(hint) if get_origin(hint) is Literal else ()
    metavar = "|".join(words) if words else spelling.metavar
    if spelling.repeat:
        kind, about = list[str], f"{about} May be repeated."
    note: Any = typer.Argument(metavar=metavar, help=about, show_default=False)
    if not (spelling.table or spelling.argument):
        note = typer.Option(
            *args.flags_of(parameter.name, spelling),
            metavar=metavar,
            help=about,
            parser=partial(_read, kind, words, spelling) if words or kind in (int, float) else None,
            show_default=parameter.default not in (None, REQUIRED),
        )
    kind = kind | None if parameter.default is None else kind
    return parameter.replace(annotation=Annotated[kind, note])


def _read(kind: Any, words: tuple[str, ...], spelling: args.Spelling, text: Any) -> Any:
    """Read a number, or one of a few words; anything else is wrong usage."""
    from lookalike.saving.fields import Choice, Integer, Real

    low, high = spelling.least, spelling.most
    field: Any = Choice(*words) if words else Integer(low, high)
    if kind is float:
        field = Real(-inf if low is None else low)
    value = text
    with suppress(ValueError):
        value = kind(text)
    if not field.fits(value):
        near = field.hint(value)
        also = f" {near}" if near.startswith("Did you mean") else ""
        raise typer.BadParameter(f"needs {field.describe()}, found {str(text)!r}.{also}")
    return value


def _bare(hint: Any) -> Any:
    """Return a type without its annotations, and without the None that it may be."""
    hint = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    some = [kind for kind in get_args(hint) if kind is not type(None)]
    return some[0] if len(some) == 1 and type(None) in get_args(hint) else hint


def _value(parameter: inspect.Parameter, given: Any) -> Any:
    """Return the value of a parameter for what the shell has, None where an option is not given."""
    parse = args.spelling_of(parameter).parse
    given = None if given == [] else given  # an option that may be repeated, and was not given
    return parse(given) if parse is not None and given is not None else given
