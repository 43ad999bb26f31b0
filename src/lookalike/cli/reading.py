"""Reading the table of a command: a file, standard input or a saved index, and its options."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from lookalike.errors import InvalidInput, LookalikeError
from lookalike.verbs.annotations import Spelling, read_json, split_pair
from lookalike.verbs.source import SAVED, TableSource, is_saved_index, load_index

if TYPE_CHECKING:
    from lookalike.index import Index
    from lookalike.table import Schema, Table

# Magic numbers of formats that are not text, and the ending that read_table knows them by.
MAGIC_NUMBERS = ((b"\x1f\x8b", ".csv.gz"), (b"PAR1", ".parquet"), (b"ARROW1", ".arrow"))

STDIN = "-"  # as the name of a file

Scheduler = Annotated[
    str | None,
    Spelling(
        metavar="ADDRESS",
        help="For an index in a folder: let the workers of this Dask scheduler do the work, such "
        "as tcp://scheduler:8786.",
    ),
]
# Not a filter of the rows, but how they are called from then on: the same for files and servers.
IdColumn = Annotated[
    str | None,
    Spelling(metavar="COLUMN", help="A column that names the rows; without it they are numbered."),
]


@dataclass(frozen=True)
class ReadOptions:
    """Options of how a table is read, which are not parameters of a verb.

    Parameters
    ----------
    kinds : list of str, optional
        What a column holds, where the guess is wrong: size=category, 'size=["S", "M"]' for levels
        from low to high, id=aside to leave it out; or one JSON object for several.
    missing : list of str, optional
        A value that means missing, such as '?' or -999.
    split : list of str, optional
        A column of sets, and the character between the items: 'tags=;'.
    encoding : str, optional
        Encoding of a CSV file, such as latin-1; UTF-8 unless given.
    delimiter : str, optional
        The character between fields of a CSV file; guessed unless given.
    label_column : str, optional
        The column that rows are shown and found by; chosen if not.
    """

    kinds: Annotated[list[str] | None, Spelling(metavar="COLUMN=KIND", repeat=True)] = None
    missing: Annotated[list[str] | None, Spelling(metavar="TOKEN", repeat=True)] = None
    split: Annotated[list[str] | None, Spelling(metavar="COLUMN=CHAR", repeat=True)] = None
    encoding: Annotated[str | None, Spelling(metavar="NAME")] = None
    delimiter: Annotated[str | None, Spelling(metavar="CHAR")] = None
    label_column: Annotated[str | None, Spelling(metavar="COLUMN")] = None

    @property
    def of_text(self) -> dict[str, Any]:
        """The options of a CSV file, as ``read_table`` takes them."""
        return {"encoding": self.encoding, "delimiter": self.delimiter}

    def read_kinds(self) -> dict[str, Any] | None:
        """Return the kinds of columns from ``--kinds`` and ``--split``.

        Examples
        --------
        >>> words = ["zip=category", '{"size": ["S", "M"]}', 'mood=["low", "high"]']
        >>> ReadOptions(words).read_kinds()
        {'zip': 'category', 'size': ['S', 'M'], 'mood': ['low', 'high']}
        """
        kinds: dict[str, Any] = {}
        for word in self.kinds or ():
            if word.lstrip().startswith("{"):
                kinds |= read_json(word, "--kinds")
                continue
            # Before the split at the last equals sign: a level may hold one.
            name, _, levels = word.partition("=[")
            if levels:
                kinds[name] = read_json("[" + levels, f"--kinds {name}", list)
                continue
            needed = "COLUMN=KIND or a JSON object"
            name, kind = split_pair(word, "--kinds", needed, "size=category")
            kinds[name] = kind
        # After --kinds, which may name the same column: the separator is the more specific wish.
        for word in self.split or ():
            from lookalike.table import Kind, Reading

            column, mark = split_pair(word, "--split", "COLUMN=CHAR", "'tags=;'")
            kinds[column] = Kind("set", "given, split", reading=Reading("set", separator=mark))
        return kinds or None


class FileSource(TableSource):
    """A table that a command names, and how it is to be read.

    Parameters
    ----------
    file : str
        A table (.csv .tsv .jsonl .json .parquet .arrow .feather .npy, each also with .gz; .xlsx), a
        saved index (.lookalike), or - for standard input.
    reading : ReadOptions, optional
    """

    def __init__(
        self,
        file: Annotated[str, Spelling(metavar="FILE", argument=True)],
        reading: ReadOptions | None = None,
    ) -> None:
        super().__init__(file, "standard input" if file == STDIN else file)
        self.file, self.reading = file, reading or ReadOptions()

    def check_exists(self) -> None:
        """Refuse a file that does not exist; standard input does."""
        if self.file != STDIN:
            super().check_exists()

    @cached_property
    def index(self) -> Index | None:
        """The saved index; how its rows are read was decided when it was built."""
        if not is_saved_index(self.file):
            return None
        for name, value in vars(self.reading).items():
            if value is not None:
                found, hint = f"the saved index {self.file!r}", "Give it when the index is built"
                raise InvalidInput(f"--{name.replace('_', '-')}", "a table to read", found, hint)
        return load_index(self.file)

    def read(self, lazy: bool = False) -> Any:
        """Read the table; lazily, as a ``LazyTable``, its rows stay in their Parquet files."""
        from lookalike.table import read_table

        kinds, missing = self.reading.read_kinds(), self.reading.missing or None
        options = self.reading.of_text | {"label_column": self.reading.label_column, "lazy": lazy}
        with self.at_path(self.file) as path:
            return read_table(path, kinds=kinds, missing=missing, **options)

    def beside(self, other: Any) -> FileSource:
        """Return another file, read by the same options; a saved index has its own."""
        source = FileSource(other, None if is_saved_index(other) else self.reading)
        source.check_exists()
        return source

    def read_like(self, rows: Any, schema: Schema, who: str) -> Table:
        """Read another file as the table was read."""
        from lookalike.table import as_table

        with self.at_path(rows) as path:
            return as_table(path, schema, who=who, **self.reading.of_text)

    @contextmanager
    def at_path(self, file: str) -> Iterator[Path]:
        """Yield the path of a file; standard input is written to a temporary one."""
        if file != STDIN:
            yield Path(file).expanduser()
            return
        # Readers need to seek, and know a format by its ending: a pipe has neither.
        data = sys.stdin.buffer.read()
        with tempfile.TemporaryDirectory(prefix="lookalike-") as folder:
            path = Path(folder) / f"stdin{ending_of(data)}"
            path.write_bytes(data)
            try:
                yield path
            # The temporary path means nothing to the user.
            except LookalikeError as error:
                if error.who != f"File {str(path)!r}":
                    raise
                raise error.by("standard input") from error


def need_shards(file: str) -> None:
    """Refuse ``--scheduler`` for anything but an index with shards, which workers can share."""
    # The manifest is written last: a folder without one is still being built.
    if not (Path(file).expanduser() / "manifest.json").is_file():
        hint = "Make one with: lookalike index build FILES -o FOLDER --shards"
        needed = "the folder of an index, whose shards are distributed"
        raise InvalidInput("--scheduler", needed, repr(file), hint)


def ending_of(data: bytes) -> str:
    """Return the file ending for the format of some content.

    Examples
    --------
    >>> ending_of(b'[{"a": 1}]'), ending_of(b'{"a": 1}'), ending_of(b"a,b")
    ('.json', '.jsonl', '.csv')
    """
    for start, ending in MAGIC_NUMBERS:
        if data.startswith(start):
            return ending
    if data.startswith(b"PK\x03\x04"):  # both are zip archives
        return ".xlsx" if b"[Content_Types].xml" in data[:4096] else SAVED
    head = data[:4096].removeprefix(b"\xef\xbb\xbf").lstrip()
    if head.startswith(b"["):
        return ".json"
    if head.startswith(b"{"):
        return ".jsonl" if head.split(b"\n", 1)[0].rstrip().endswith(b"}") else ".json"
    return ".csv"
