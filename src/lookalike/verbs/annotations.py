"""How parameters of verbs are written in a shell and in a request, defined once per type.

Python passes the value itself; a shell knows text only, and a request what JSON holds. A verb
names the type, ``weights: Weights = None``, and all surfaces follow.
"""

import inspect
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, get_args, get_origin

from lookalike.errors import InvalidInput

MAX_QUOTED_LENGTH = 60  # characters of an argument in an error


@dataclass(frozen=True)
class Spelling:
    """How a type of parameter is written outside of Python.

    Parameters
    ----------
    json : type
        What a request may hold.
    flags : tuple of str
        Shell options; () is ``--name``.
    metavar : str
        Placeholder for the value in the help of the shell.
    help : str, optional
        The help of the shell; None: from the docstring of the verb.
    repeat : bool
        Whether the shell option may be given several times.
    parse : function, optional
        Parses the text of the shell, or a list of texts.
    least, most : int, optional
        The smallest and the largest number that is allowed.
    table : bool
        Whether it is another table: an argument of the shell; in a request records, or the name of
        another collection.
    argument : bool
        Whether it is an argument of the shell, by its place, instead of an option.
    """

    json: Any = str
    flags: tuple[str, ...] = ()
    metavar: str | None = None
    help: str | None = None
    repeat: bool = False
    parse: Callable[[Any], Any] | None = None
    least: int | None = None
    most: int | None = None
    table: bool = False
    argument: bool = False


def spelling_of(parameter: inspect.Parameter) -> Spelling:
    """Return how a parameter of a verb is written; a plain type needs no annotation."""
    hint = parameter.annotation
    for note in get_args(hint) if get_origin(hint) is Annotated else ():
        if isinstance(note, Spelling):
            return note
    return Spelling(json=hint)


def flag_of(parameter: inspect.Parameter) -> str:
    """Return the shell option of a parameter; of another table, an argument, its name.

    Examples
    --------
    >>> from lookalike.verbs import get_verb
    >>> parameters = inspect.signature(get_verb("search")).parameters
    >>> flag_of(parameters["weights"]), flag_of(parameters["k"]), flag_of(parameters["why"])
    ('--weight', '-k', '--why')
    """
    spelling = spelling_of(parameter)
    return parameter.name if spelling.table else flags_of(parameter.name, spelling)[0]


def flags_of(name: str, spelling: Spelling) -> tuple[str, ...]:
    """Return the shell options of a parameter.

    Examples
    --------
    >>> flags_of("max_seconds", Spelling()), flags_of("to", Spelling(flags=("-o", "--to")))
    (('--max-seconds',), ('-o', '--to'))
    """
    return spelling.flags or (f"--{name.replace('_', '-')}",)


def describe_parameters(verb: Callable[..., Any]) -> dict[str, str]:
    """Return the descriptions of all parameters from the docstring of a verb, a line each."""
    section = (inspect.getdoc(verb) or "").partition("Parameters\n----------\n")[2]
    section = re.split(r"\n\n[A-Z][a-z ]+\n-+\n", section)[0] + "\n"
    # numpydoc: "name, name : type", then indented lines.
    entry = re.compile(r"^(\w[\w, ]*?)(?: :[^\n]*)?\n((?:    [^\n]*\n?|\n)*)", re.M)
    return {
        name: " ".join(body.split()).replace("``", "")
        for names, body in entry.findall(section)
        for name in names.split(", ")
    }


# -- text of the shell -----------------------------------------------------------------------------


def read_weights(words: list[str] | None) -> dict[str, float] | None:
    """Read how much columns matter.

    Examples
    --------
    >>> read_weights(["genres=3", "budget=0"])
    {'genres': 3.0, 'budget': 0.0}
    """
    return _read_numbers(words, "--weight", "COLUMN=NUMBER", "year=3") or None


def read_limits(words: list[str] | None) -> float | dict[str, float] | None:
    """Read how far apart pairs may be: a distance, and differences in columns.

    Examples
    --------
    >>> read_limits(["0.2"]), read_limits(["age=2", "0.2"])
    (0.2, {'age': 2.0, '': 0.2})
    """
    needed, example = "NUMBER or COLUMN=NUMBER", "0.2 or age=2"
    limits = _read_numbers(words, "--max-distance", needed, example, alone=True)
    return limits.get("") if set(limits) <= {""} else limits


def _read_numbers(
    words: list[str] | None, option: str, needed: str, example: str, alone: bool = False
) -> dict[str, float]:
    """Read ``name=number``; ``alone`` says whether a number may come without a name."""
    numbers: dict[str, float] = {}
    for word in words or ():
        # At the last equals sign: a name may hold one itself. A number that float() takes but no
        # measure does, such as nan, is refused by the measure.
        name, _, number = word.rpartition("=")
        try:
            numbers[name] = float(number if name or alone else "")
        except ValueError:
            raise InvalidInput(option, needed, repr(word), f"Try {example}") from None
    return numbers


def read_marks(words: list[str] | None) -> list[Any] | None:
    """Read rows that are named, or given as records.

    Examples
    --------
    >>> read_marks(["17", '{"year": 1977}'])
    ['17', {'year': 1977}]
    """
    return [read_row(word) for word in words or ()] or None


def read_row(word: str) -> Any:
    """Read a row that is named, or given as a record.

    Examples
    --------
    >>> read_row("17"), read_row('{"year": 1977}')
    ('17', {'year': 1977})
    """
    return read_json(word, "--like") if word.lstrip().startswith(("{", "[")) else word


def split_pair(word: str, option: str, needed: str, example: str) -> tuple[str, str]:
    """Split ``name=value`` at the last equals sign; a name may hold one itself."""
    name, equals, value = word.rpartition("=")
    # An empty value is refused: "--weight year=" is a slip, which must not mean 0.
    if not equals or not name or not value:
        raise InvalidInput(option, needed, repr(word), f"Try {example}")
    return name, value


def read_json(text: str, who: str, wanted: type = dict) -> Any:
    """Read a JSON object or list that was given as an argument."""
    what = "a JSON object such as '{\"year\": 1977}'" if wanted is dict else "a JSON list"
    try:
        # Python's JSON reads NaN beyond the standard: it is a missing cell.
        value = json.loads(text, parse_constant=lambda w: None if w == "NaN" else float(w))
    except json.JSONDecodeError as error:
        # Counted from 1, as editors do.
        found = f"{_quote(text)} ({error.msg} at character {error.pos + 1})"
        hint = "Put names and strings in double quotes, and the whole in single quotes"
        raise InvalidInput(who, what, found, hint) from error
    except RecursionError as error:
        raise InvalidInput(who, what, "one nested too deeply", "Flatten it") from error
    if not isinstance(value, wanted):
        raise InvalidInput(who, what, _quote(text), "Write one")
    return value


def _quote(text: str) -> str:
    """Quote the beginning of an argument."""
    return repr(text if len(text) <= MAX_QUOTED_LENGTH else text[: MAX_QUOTED_LENGTH - 1] + "…")


# -- types of parameters ---------------------------------------------------------------------------

# Each is what Python takes, annotated with how the other surfaces write it. A verb that needs a
# parameter of its own defines its type beside itself.
Record = dict[str, Any]
Id = int | str

TableLike = Any
RowRef = Annotated[
    Any,
    Spelling(
        json=Id | Record | None,
        metavar="ROW",
        help="A row by its position, counted from 0 (of a saved index its id), by its name ('Toy "
        "Story', 'title=Toy Story'), or as a record ('{\"year\": 1977}').",
        parse=read_row,
    ),
]
LikeRows = Annotated[
    Any,
    Spelling(
        json=Id | Record | list[Id | Record] | None,
        metavar="JSON|ROW",
        help="A record to start from, such as '{\"year\": 1977}' (columns it does not name are "
        "missing); or a row that answers should be like.",
        repeat=True,
        parse=read_marks,
    ),
]
UnlikeRows = Annotated[Any, Spelling(json=Id | list[Id] | None, metavar="ROW", repeat=True)]
Weights = Annotated[
    Mapping[str, float] | None,
    Spelling(
        json=dict[str, float] | None,
        flags=("--weight",),
        metavar="COLUMN=NUMBER",
        help="How much a column matters: genres=3 counts three times, budget=0 not at all. "
        "Needs a measure that weighs columns, such as gower.",
        repeat=True,
        parse=read_weights,
    ),
]
Columns = Annotated[
    str | Sequence[str] | None, Spelling(json=str | list[str] | None, metavar="A,B")
]
Filter = Annotated[
    Any,
    Spelling(
        json=str | list[str] | Record | None,
        metavar="CONDITION",
        help="Only rows that meet a condition: 'year>=1990', mpaa=PG, 'genre!=Drama', 'tags~red' "
        "(contains), 'budget=' (missing), or a JSON object. All must hold.",
        repeat=True,
    ),
]
OtherTable = Annotated[Any, Spelling(json=list[Record] | str, metavar="OTHER", table=True)]
MaybeTable = Annotated[Any, Spelling(json=list[Record] | str | None, metavar="OTHER", table=True)]
PairLimits = Annotated[
    float | Mapping[str, float] | None,
    Spelling(
        json=float | dict[str, float] | None,
        metavar="NUMBER|COLUMN=NUMBER",
        help="Only pairs that are at most so far apart: 0.2 by the measure, age=2 in a column of "
        "numbers, or of dates in days. All must hold.",
        repeat=True,
        parse=read_limits,
    ),
]
MeasureLike = Annotated[
    Any,
    Spelling(
        json=str | None,
        metavar="NAME",
        help="How rows are compared: gower (any columns, missing cells too), auto (chosen by the "
        "columns, with the reason), ranked, vector, cosine, ratio (a forest), ...; options follow "
        "a colon: vector:metric=cosine, ratio:n_trees=200.",
    ),
]
Label = Annotated[Any, Spelling(json=str | None, metavar="COLUMN")]
Decisions = Annotated[Any, Spelling(json=list[Record] | None, metavar="FILE")]
Threshold = Annotated[float | None, Spelling(json=float | None, metavar="NUMBER", least=0)]
NewRows = Annotated[Any, Spelling(json=list[Record] | None, metavar="FILE")]
Target = Annotated[str, Spelling(metavar="COLUMN")]
Method = Annotated[str, Spelling(metavar="NAME")]
Count = Annotated[int, Spelling(json=int, metavar="N", least=1, flags=("-k",))]
Number = Annotated[int, Spelling(json=int, metavar="N", least=1, flags=("-n",))]
# 0 turns the cross-validation off.
Folds = Annotated[int, Spelling(json=int, metavar="N", least=0)]
# Fewer than 3 rows have no neighbors to rank.
Sample = Annotated[int | None, Spelling(json=int | None, metavar="N", least=3)]
Seconds = Annotated[float | None, Spelling(json=float | None, metavar="N", least=0)]
Seed = Annotated[int, Spelling(json=int, metavar="N", least=0, help="Seed for everything random.")]
