"""Arguments that several verbs share, and how they are read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lookalike.cli.output import Output
from lookalike.errors import InvalidInput, message, suggest

if TYPE_CHECKING:
    from lookalike.table import Table

__all__ = ["File", "Form", "Kinds", "Missing", "read", "read_json", "read_kinds", "take_label"]

File = Annotated[
    str,
    typer.Argument(
        help="A table: .csv .tsv .jsonl .json .parquet .arrow .feather, each also with .gz.",
        show_default=False,
    ),
]
Kinds = Annotated[
    list[str] | None,
    typer.Option(
        "--kinds",
        metavar="COLUMN=KIND",
        help='What a column holds, where the guess is wrong: size=category, \'size=["S", "M"]\' '
        "for levels from low to high, id=aside to leave it out; or one JSON object for several. "
        "May be repeated.",
        show_default=False,
    ),
]
Missing = Annotated[
    list[str] | None,
    typer.Option(
        "--missing",
        metavar="TOKEN",
        help="A cell that means there is none, such as '?' or -999. May be repeated.",
        show_default=False,
    ),
]
Form = Annotated[
    Output, typer.Option("--output", "-o", help="A table for people, or csv or json for programs.")
]


def read(file: str, kinds: list[str] | None, missing: list[str] | None) -> Table:
    """Read the table a command is about."""
    from lookalike.table import read_table

    return read_table(file, kinds=read_kinds(kinds), missing=missing or None)


def take_label(table: Table, label: str | None) -> tuple[Table, Any]:
    """Take a column of known classes out of the table; return the rest, and its cells or None.

    A column of sets stays a list of sets: a row may have several labels.
    """
    if label is None:
        return table, None
    names = [column.name for column in table.columns + table.aside]
    if label not in names:
        do = suggest(label, names)
        raise InvalidInput(message("--label", "a column of the table", repr(label), do))
    if table[label].kind.name == "set":
        return table.drop(label), [cell or frozenset() for cell in table[label].values]
    from lookalike.table.targets import split_target

    return split_target(table, label, f"--label {label}")


def read_kinds(words: list[str] | None) -> dict[str, Any] | None:
    """Read what the user says about columns.

    Examples
    --------
    >>> read_kinds(["zip=category", '{"size": ["S", "M"]}', 'mood=["low", "high"]'])
    {'zip': 'category', 'size': ['S', 'M'], 'mood': ['low', 'high']}
    """
    kinds: dict[str, Any] = {}
    for word in words or ():
        if word.lstrip().startswith("{"):
            kinds |= read_json(word, "--kinds")
            continue
        name, _, levels = word.partition("=[")
        if levels:
            kinds[name] = read_json("[" + levels, f"--kinds {name}", list)
            continue
        name, found, kind = word.rpartition("=")
        if not found or not name or not kind:
            raise InvalidInput(
                message("--kinds", "COLUMN=KIND or a JSON object", repr(word), "Try size=category")
            )
        kinds[name] = kind
    return kinds or None


def read_json(text: str, who: str, wanted: type = dict) -> Any:
    """Read a JSON object or list that was given as an argument."""
    what = "a JSON object such as '{\"year\": 1977}'" if wanted is dict else "a JSON list"
    try:
        value = json.loads(text, parse_constant=_constant)
    except json.JSONDecodeError as error:
        found = f"{short_of(text)} ({error.msg} at character {error.pos + 1})"
        do = "Put names and strings in double quotes, and the whole in single quotes"
        raise InvalidInput(message(who, what, found, do)) from error
    except RecursionError as error:
        raise InvalidInput(message(who, what, "one nested too deeply", "Flatten it")) from error
    if not isinstance(value, wanted):
        raise InvalidInput(message(who, what, short_of(text), "Write one"))
    return value


def _constant(word: str) -> float | None:
    """Read the words that Python's JSON has beyond the standard: NaN is a gap."""
    return None if word == "NaN" else float(word)


def short_of(text: str) -> str:
    """Quote the beginning of an argument."""
    return repr(text if len(text) <= 60 else text[:59] + "…")
