"""Arguments that several commands share, each said once, and how they are read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lookalike.cli.output import Output
from lookalike.errors import InvalidInput, suggest

if TYPE_CHECKING:
    from lookalike.table import Table

File = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="A table (.csv .tsv .jsonl .json .parquet .arrow .feather, each also with .gz; .xlsx)"
        ", a saved index (.lookalike), or - for standard input.",
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
        help="A value to treat as missing, such as '?' or -999. May be repeated.",
        show_default=False,
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        metavar="ADDRESS",
        help="For an index in a folder: let the workers of this Dask scheduler do the work, such "
        "as tcp://scheduler:8786.",
        show_default=False,
    ),
]
Form = Annotated[
    Output,
    typer.Option(
        "--output",
        "-o",
        metavar="FORM",
        help="table for people; csv, json or parquet for programs; safe-csv for spreadsheets.",
    ),
]
MeasureName = Annotated[
    str,
    typer.Option(
        "--measure",
        metavar="NAME",
        help="How rows are compared: auto (chosen by the columns, with the reason), gower (any "
        "columns, gaps too), ranked, vector, cosine, ratio (a forest), ...; options follow a "
        "colon: vector:metric=cosine.",
    ),
]


def _measure_option(default: str) -> Any:
    return typer.Option(
        "--measure",
        metavar="NAME",
        help="How rows are compared: gower (any columns, gaps too), auto (chosen by the columns, "
        "with the reason), ranked, vector, cosine, ratio (a forest), ...; options follow a colon: "
        f"vector:metric=cosine, ratio:n_trees=200. Unless given, that of a saved index, else "
        f"{default}.",
        show_default=False,
    )


MeasureChoice = Annotated[str | None, _measure_option("gower")]
MeasureOrAuto = Annotated[str | None, _measure_option("auto")]
Weight = Annotated[
    list[str] | None,
    typer.Option(
        "--weight",
        metavar="COLUMN=NUMBER",
        help="How much a column matters: genres=3 counts three times, budget=0 not at all. "
        "May be repeated. Needs a measure that weighs columns, such as gower.",
        show_default=False,
    ),
]
Columns = Annotated[
    str | None,
    typer.Option(
        "--columns",
        metavar="A,B",
        help="Compare by these columns only; the others are still shown.",
        show_default=False,
    ),
]
Label = Annotated[
    str | None,
    typer.Option(
        "--label",
        metavar="COLUMN",
        help="A column of known classes: not compared, but the answer is scored against it.",
        show_default=False,
    ),
]
Neighbors = Annotated[
    int, typer.Option("-k", metavar="N", min=1, help="How many neighbors to look at.")
]
Seed = Annotated[
    int, typer.Option("--seed", metavar="N", min=0, help="Seed for everything random.")
]
Html = Annotated[
    str | None,
    typer.Option(
        "--html", metavar="FILE", help="Also write the answer as one HTML page.", show_default=False
    ),
]


def check_page(path: str | None) -> None:
    """Say before the work begins if the page of ``--html`` cannot be written."""
    if path is not None:
        from lookalike._runtime.files import check_writable

        check_writable(path)


def read(file: str, kinds: list[str] | None, missing: list[str] | None) -> Table:
    """Read the table a command is about."""
    from lookalike.table import read_table

    return read_table(file, kinds=read_kinds(kinds), missing=missing or None)


def select_columns(table: Table, columns: str | None) -> Table:
    """Return the table compared by the columns that ``--columns`` names."""
    if columns is None:
        return table
    every = [column.name for column in table.columns + table.aside]
    # A column name may itself hold a comma; then it is named alone.
    names = [columns] if columns in every else [name.strip() for name in columns.split(",")]
    names = [name for name in names if name]
    for name in names or [columns]:
        if name not in every:
            hint = suggest(name, every)
            raise InvalidInput("--columns", "columns of the table", repr(name), hint)
    return table.compare_by(names)


def split_label(table: Table, label: str | None, option: str = "--label") -> tuple[Table, Any]:
    """Take a column of known classes out of the table; return the rest, and its cells or None.

    A column of sets stays a list of sets: a row may have several labels.
    """
    if label is None:
        return table, None
    if len(table.columns + table.aside) == 1:
        hint = "Name a table with more columns"
        alone = "it is the only column, and there is nothing to compare besides it"
        raise InvalidInput(f"{option} {label}", "other columns", "none", hint, problem=alone)
    if table[label].kind.name == "set":
        return table.drop(label), [cell or frozenset() for cell in table[label].values]
    from lookalike.table.model.targets import split_target

    return split_target(table, label, f"{option} {label}")


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
        name, kind = split_pair(word, "--kinds", "COLUMN=KIND or a JSON object", "size=category")
        kinds[name] = kind
    return kinds or None


def read_weights(words: list[str] | None) -> dict[str, float] | None:
    """Read how much columns matter.

    Examples
    --------
    >>> read_weights(["genres=3", "budget=0"])
    {'genres': 3.0, 'budget': 0.0}
    """
    weights: dict[str, float] = {}
    for word in words or ():
        name, number = split_pair(word, "--weight", "COLUMN=NUMBER", "year=3")
        try:
            weights[name] = float(number)
        except ValueError:
            raise InvalidInput("--weight", "COLUMN=NUMBER", repr(word), "Try year=3") from None
    return weights or None


def split_pair(word: str, option: str, needed: str, example: str) -> tuple[str, str]:
    """Split ``name=value`` at the last equals sign; a name may hold one itself."""
    name, equals, value = word.rpartition("=")
    if not equals or not name or not value:
        raise InvalidInput(option, needed, repr(word), f"Try {example}")
    return name, value


def read_json(text: str, who: str, wanted: type = dict) -> Any:
    """Read a JSON object or list that was given as an argument."""
    what = "a JSON object such as '{\"year\": 1977}'" if wanted is dict else "a JSON list"
    try:
        value = json.loads(text, parse_constant=_constant)
    except json.JSONDecodeError as error:
        found = f"{_quote(text)} ({error.msg} at character {error.pos + 1})"
        hint = "Put names and strings in double quotes, and the whole in single quotes"
        raise InvalidInput(who, what, found, hint) from error
    except RecursionError as error:
        raise InvalidInput(who, what, "one nested too deeply", "Flatten it") from error
    if not isinstance(value, wanted):
        raise InvalidInput(who, what, _quote(text), "Write one")
    return value


def _constant(word: str) -> float | None:
    """Read the words that Python's JSON has beyond the standard: NaN is a gap."""
    return None if word == "NaN" else float(word)


def _quote(text: str) -> str:
    """Quote the beginning of an argument."""
    return repr(text if len(text) <= 60 else text[:59] + "…")
