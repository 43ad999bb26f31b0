"""The table a command is about: a file, standard input or a saved index, read by the options."""

from __future__ import annotations

import inspect
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lookalike._runtime.text import short
from lookalike.cli.later import use_arrow_alone
from lookalike.cli.options import (
    File,
    Kinds,
    Missing,
    read_json,
    read_kinds,
    select_columns,
    split_label,
    split_pair,
)
from lookalike.cli.output import cut, note
from lookalike.cli.verbs import with_parameters
from lookalike.errors import InvalidInput, LookalikeError, suggest

if TYPE_CHECKING:
    from lookalike.index import Index
    from lookalike.table import Table

CELL = 24  # characters of a cell in a row in words
STDIN = "-"
PAGES = ("manifest.json", "plan.json")  # what tells the folder of an index from others
SAVED = ".lookalike"
# How files begin that are not text; the ending that read_table knows them by.
STARTS = ((b"\x1f\x8b", ".csv.gz"), (b"PAR1", ".parquet"), (b"ARROW1", ".arrow"))
OPERATORS = ("==", "!=", "<=", ">=", "=", "<", ">", "~")

Encoding = Annotated[
    str | None,
    typer.Option(
        "--encoding",
        metavar="NAME",
        help="Encoding of a CSV file, such as latin-1; UTF-8 unless given.",
        show_default=False,
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        "--delimiter",
        metavar="CHAR",
        help="The character between the fields of a CSV file; guessed unless given.",
        show_default=False,
    ),
]
Split = Annotated[
    list[str] | None,
    typer.Option(
        "--split",
        metavar="COLUMN=CHAR",
        help="A column of sets, and the character between the items: 'tags=;'. May be repeated.",
        show_default=False,
    ),
]
Filter = Annotated[
    list[str] | None,
    typer.Option(
        "--filter",
        metavar="CONDITION",
        help="Only rows that meet a condition: 'year>=1990', mpaa=PG, 'genre!=Drama', 'tags~red' "
        "(contains), 'budget=' (missing), or a JSON object. May be repeated; all must hold.",
        show_default=False,
    ),
]
NONE = inspect.Parameter.empty
PARAMETERS: dict[str, tuple[Any, Any]] = {
    "file": (File, NONE),
    "filter": (Filter, None),
    "kinds": (Kinds, None),
    "missing": (Missing, None),
    "split": (Split, None),
    "encoding": (Encoding, None),
    "delimiter": (Delimiter, None),
}


@dataclass(frozen=True)
class Loaded:
    """A table, and how its rows are called.

    Parameters
    ----------
    table : Table
    ids : list
        Of each row its number in the file, from 0, or its id in the saved index.
    name : str
        Of the file, for headings.
    index : Index or None
        The saved index that the table came from.
    """

    table: Table
    ids: list[Any]
    name: str
    index: Index | None = None

    def without_label(self, label: str | None, option: str = "--label") -> tuple[Loaded, Any]:
        """Take a column of known values out; return the rest, and its cells or None."""
        known = self if label is None else self.labelled(label, option)
        table, values = split_label(known.table, label, option)
        return Loaded(table, known.ids, self.name, self.index), values

    def labelled(self, label: str, option: str = "--label") -> Loaded:
        """Return the rows that have a label; how many have none is noted. A set may be empty."""
        import numpy as np

        table = self.table
        names = [column.name for column in table.columns + table.aside]
        if label not in names:
            raise InvalidInput(option, "a column of the table", repr(label), suggest(label, names))
        gaps = np.asarray(table[label].missing)
        if table[label].kind.name == "set" or not gaps.any():
            return self
        if gaps.all():
            who, hint = f"{option} {label}", "Choose another column"
            raise InvalidInput(who, "a column with values", "missing cells only", hint)
        at = np.flatnonzero(~gaps)
        lacking = int(gaps.sum())
        note(f"{lacking:,} row{'s' if lacking > 1 else ''} without {label!r} left out")
        return Loaded(table[at], [self.ids[i] for i in at.tolist()], self.name, self.index)

    def called(self, row: int) -> str:
        """Name a row, by its position: its id, behind its name where a column names the rows."""
        from lookalike.table.model.display import label_first

        first, id = label_first(self.table)[0], short(self.ids[row])
        named = first.kind.role == "name" and not first.missing[row]
        return f"{short(first.cell(row), CELL)} ({id})" if named else id

    def in_words(self, row: int, room: int) -> str:
        """Write a row, by its position, in a few words: what names it, then its other cells.

        Cells are cut at their usual length, unless there is room for all of them to be longer.
        """
        from lookalike.table.model.display import label_first

        record = self.table.record(row)
        known = [(c.name, record[c.name]) for c in label_first(self.table) if c.name in record]
        cells = [(name, cell) for name, cell in known if cell is not None]
        names = sum(len(name) + 3 for name, _ in cells)
        longest = max(CELL, (room - names) // max(1, len(cells)))
        return cut(", ".join(f"{n} {short(cell, longest)}" for n, cell in cells), room)

    def compared_by(self, columns: str | None) -> Loaded:
        """Return the table compared by the columns that ``--columns`` names."""
        return Loaded(select_columns(self.table, columns), self.ids, self.name, self.index)


@dataclass(frozen=True)
class Source:
    """Where the table is, and how it is to be read; the options that all verbs share."""

    file: str
    filter: list[str] | None = None
    kinds: list[str] | None = None
    missing: list[str] | None = None
    split: list[str] | None = None
    encoding: str | None = None
    delimiter: str | None = None

    @property
    def name(self) -> str:
        """What the table is called in headings."""
        return "standard input" if self.file == STDIN else self.file

    def load(self) -> Loaded:
        """Read the table, and keep the rows that ``--filter`` asks for."""
        import numpy as np

        index = None
        if self.is_saved:
            index = self.load_index()
            table, ids = index.table, index.ids
        else:
            table = self.read()
            ids = list(range(len(table)))
        if self.filter:
            from lookalike.index.filters import meets, read_conditions

            names = [column.name for column in table.columns + table.aside]
            kept = meets(table, read_conditions(parse_conditions(self.filter, table), names))
            if not kept.any():
                needed, hint = "rows that meet all conditions", "Take a condition out"
                raise InvalidInput("--filter", needed, f"none of {len(table):,}", hint)
            at = np.flatnonzero(kept)
            table, ids = table[at], [ids[i] for i in at.tolist()]
        return Loaded(table, ids, self.name, index)

    @property
    def is_saved(self) -> bool:
        """Whether the file is a saved index, or the folder of one."""
        return self.file.lower().endswith(SAVED) or is_index_folder(self.file)

    def load_index(self) -> Index:
        """Load a saved index; how its rows are read was decided when it was built."""
        from lookalike import Index, load

        for option in ("kinds", "missing", "split", "encoding", "delimiter"):
            if getattr(self, option) is not None:
                needed = "a table to read"
                hint = f"Give --{option} when the index is built"
                raise InvalidInput(f"--{option}", needed, f"the saved index {self.file!r}", hint)
        if is_index_folder(self.file):
            return Index.open(self.file)
        index = load(self.file)
        if not isinstance(index, Index):
            who, found = f"File {self.file!r}", f"a saved {type(index).__name__}"
            hint = "Make one with: lookalike index build TABLE -o NAME.lookalike"
            raise InvalidInput(who, "a saved index", found, hint)
        return index

    def read(self) -> Table:
        """Read the table without filtering its rows."""
        from lookalike.table import read_table

        use_arrow_alone()
        with self.at_path(self.file) as path:
            return read_table(
                path,
                kinds=self.given_kinds(),
                missing=self.missing or None,
                encoding=self.encoding,
                delimiter=self.delimiter,
            )

    def read_like(self, file: str, schema: Any, who: str) -> Table:
        """Read another file, as the table that was learned from was read."""
        from lookalike.table import as_table

        with self.at_path(file) as path:
            return as_table(path, schema, who=who, encoding=self.encoding, delimiter=self.delimiter)

    def given_kinds(self) -> dict[str, Any] | None:
        """Return what ``--kinds`` and ``--split`` say about columns."""
        kinds = dict(read_kinds(self.kinds) or {})
        for word in self.split or ():
            from lookalike.table import Kind, Reading

            column, mark = split_pair(word, "--split", "COLUMN=CHAR", "'tags=;'")
            kinds[column] = Kind("set", "given, split", reading=Reading("set", separator=mark))
        return kinds or None

    @contextmanager
    def at_path(self, file: str) -> Iterator[Path]:
        """Give the path of a file; standard input is put into one for a while."""
        if file != STDIN:
            yield Path(file).expanduser()
            return
        data = sys.stdin.buffer.read()
        with tempfile.TemporaryDirectory(prefix="lookalike-") as folder:
            path = Path(folder) / f"stdin{ending_of(data)}"
            path.write_bytes(data)
            try:
                yield path
            except LookalikeError as error:  # nobody knows the path
                if error.who != f"File {str(path)!r}":
                    raise
                raise error.by("standard input") from error


def is_index_folder(file: str) -> bool:
    """Whether a path is a folder that an index is kept in, or is being built in."""
    path = Path(file).expanduser()
    return path.is_dir() and any((path / name).is_file() for name in PAGES)


def ending_of(data: bytes) -> str:
    """Tell the format of a table by its content.

    Examples
    --------
    >>> ending_of(b'[{"a": 1}]'), ending_of(b'{"a": 1}'), ending_of(b"a,b")
    ('.json', '.jsonl', '.csv')
    """
    for start, ending in STARTS:
        if data.startswith(start):
            return ending
    if data.startswith(b"PK\x03\x04"):
        return ".xlsx" if b"[Content_Types].xml" in data[:4096] else SAVED
    head = data[:4096].removeprefix(b"\xef\xbb\xbf").lstrip()
    if head.startswith(b"["):
        return ".json"
    if head.startswith(b"{"):
        first = head.split(b"\n", 1)[0].rstrip()
        return ".jsonl" if first.endswith(b"}") else ".json"
    return ".csv"


def parse_conditions(words: list[str], table: Table) -> dict[str, Any]:
    """Read ``--filter`` as the library's conditions: column to operator and value.

    Examples
    --------
    >>> import lookalike as la
    >>> table = la.read_table({"year": [1990.0, 1999.5], "mpaa": ["PG", "R"]})
    >>> parse_conditions(["year>=1990", "year<2000", "mpaa=PG"], table)
    {'year': {'>=': 1990, '<': 2000}, 'mpaa': {'==': 'PG'}}
    """
    names = [column.name for column in table.columns + table.aside]
    found: dict[str, Any] = {}
    for word in words:
        if word.lstrip().startswith("{"):
            found |= read_json(word, "--filter")
            continue
        column, operator, value = _condition(word, names)
        if operator in found.setdefault(column, {}):
            hint = "Use one of them, or a JSON object with the operator in"
            raise InvalidInput(f"--filter {word}", "each condition once", f"{operator} twice", hint)
        found[column][operator] = _value(value, table[column].kind.name)
    return found


def _condition(word: str, names: list[str]) -> tuple[str, str, str]:
    """Split a condition at the operator; a name of a column may hold one itself."""
    for name in sorted(names, key=len, reverse=True):
        rest = word[len(name) :].lstrip() if word.startswith(name) else ""
        if rest.startswith(("=>", "=<")):
            meant = f"{name}{rest[1]}={rest[2:]}"
            known = " ".join(OPERATORS)
            needed = f"an operator ({known})"
            raise InvalidInput(f"--filter {word}", needed, rest[:2], f"Did you mean {meant!r}?")
        for operator in OPERATORS:
            if rest.startswith(operator):
                meant = {"=": "==", "~": "contains"}.get(operator, operator)
                return name, meant, rest[len(operator) :].strip()
    start = next((at for at, letter in enumerate(word) if letter in "=!<>~"), None)
    if start is None:
        hint = "Try 'year>=1990'"
        raise InvalidInput("--filter", "COLUMN, an operator and a value", repr(word), hint)
    name = word[:start].strip()
    raise InvalidInput("--filter", "a column of the table", repr(name), suggest(name, names))


def _value(text: str, kind: str) -> Any:
    if text == "":
        return None
    if kind == "number":
        try:
            number = float(text)
        except ValueError:
            return text  # a date, or a mistake that the library names
        return int(number) if number.is_integer() and "e" not in text.lower() else number
    return text


def takes_table(verb: Callable[..., None]) -> Callable[..., None]:
    """Give a verb the options about its table, in place of its first parameter, the ``source``."""
    first = next(iter(inspect.signature(verb).parameters))

    def run(given: dict[str, Any], rest: dict[str, Any]) -> None:
        verb(**{first: Source(**given)}, **rest)

    return with_parameters(verb, PARAMETERS, run, instead_of=first)
