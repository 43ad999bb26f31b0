"""Everything lookalike raises on purpose.

::

    LookalikeError
    ├── InvalidInput (ValueError)        data or parameters that cannot be used
    │   ├── TooFewRows                   n_neighbors or a height that the table cannot serve
    │   ├── TooLarge                     an answer that would not fit under the memory limit
    │   └── UndefinedMeasure             a pair of rows with nothing to compare
    ├── WrongType (TypeError)            a cell or an object of a type that cannot be read
    ├── UnreadableFile (ValueError)      a file that is damaged, or of another format
    │   └── MissingFile (FileNotFoundError)  a file that is not there
    ├── UnwritableFile (OSError)         a file that cannot be written where it should be
    ├── NoAnswer (TimeoutError)          a scheduler or a worker that does not answer in time
    └── MissingExtra (ImportError)       an optional dependency that is not installed

Every message has four parts: who, what was needed, what was found, what to do. ``message`` puts
them together, so that a reader always finds them in the same order, and the error keeps them apart
as well (``error.who``, ``error.needed``, ``error.found``, ``error.do``), so that a command line or
a service can say them in its own words.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

__all__ = [
    "ColumnsLeftOut",
    "InvalidInput",
    "LookalikeError",
    "LookalikeWarning",
    "Message",
    "MissingExtra",
    "MissingFile",
    "NoAnswer",
    "TooFewRows",
    "TooLarge",
    "UndefinedMeasure",
    "UnreadableFile",
    "UnwritableFile",
    "WrongType",
    "message",
    "missing_file",
    "name_some",
    "suggest",
]


LISTED = 12  # names that a message shows before it stops counting
ALIKE = 0.7  # how alike the name of a file must be to be proposed for one that is not there
KNOWN = "Known: "
CHOOSE = "Use one of them"  # the advice where the message has just listed all there is


class Message(str):
    """A message that also keeps its four parts.

    Parameters
    ----------
    text : str
    who, needed, found, do : str
        What ``message`` was given.

    Examples
    --------
    >>> told = message("Vote(k=50)", "at least 51 rows", "40", "Lower k to 39")
    >>> told.who, told.do
    ('Vote(k=50)', 'Lower k to 39')
    """

    def __new__(
        cls, text: str, who: str = "", needed: str = "", found: str = "", do: str = ""
    ) -> Message:
        """Make a string that knows its parts."""
        made = super().__new__(cls, text)
        made.who, made.needed, made.found, made.do = who, needed, found, do
        return made

    who: str
    needed: str
    found: str
    do: str


class LookalikeError(Exception):
    """Base of all errors that lookalike raises on purpose.

    Attributes
    ----------
    who, needed, found, do : str
        The four parts of the message; empty where it was written otherwise.
    """

    @property
    def parts(self) -> Message:
        """The message with its four parts."""
        first = self.args[0] if self.args else ""
        return first if isinstance(first, Message) else Message(str(self))

    @property
    def who(self) -> str:
        """What complains: a function, a class, a column, a file."""
        return self.parts.who

    @property
    def needed(self) -> str:
        """What was needed."""
        return self.parts.needed

    @property
    def found(self) -> str:
        """What was found instead."""
        return self.parts.found

    @property
    def do(self) -> str:
        """What to do about it."""
        return self.parts.do


class InvalidInput(LookalikeError, ValueError):
    """Data or parameters that cannot be used; the message says what to change."""


class TooFewRows(InvalidInput):
    """More rows are needed than the table has."""


class TooLarge(InvalidInput):
    """The answer would not fit under the memory limit."""


class UndefinedMeasure(InvalidInput):
    """A pair of rows has nothing to compare."""


class WrongType(LookalikeError, TypeError):
    """A cell or an object has a type that cannot be read."""


class UnreadableFile(LookalikeError, ValueError):
    """A file is not there, is damaged, or is of another format."""


class MissingFile(UnreadableFile, FileNotFoundError):
    """There is no file of this name."""


class UnwritableFile(LookalikeError, OSError):
    """A file cannot be written where it should be."""


class MissingExtra(LookalikeError, ImportError):
    """An optional dependency is not installed."""


class NoAnswer(LookalikeError, TimeoutError):
    """Another machine, or a program on this one, does not answer in time."""


class LookalikeWarning(UserWarning):
    """Something worth knowing that does not stop the work."""


class ColumnsLeftOut(LookalikeWarning):
    """A measure that cannot compare some kinds of column compares the others."""


def message(who: str, needed: str, found: str, do: str, *, problem: str | None = None) -> Message:
    """Put the four parts of an error together.

    Parameters
    ----------
    who, needed, found, do : str
        Advice that only lists what ``needed`` has listed already is not repeated.
    problem : str, optional
        The middle of the sentence, where "needs ..., found ..." is not what a person would say.

    Examples
    --------
    >>> message("NeighborVote(k=50)", "at least 51 rows", "40", "Lower k to 39 or add rows")
    'NeighborVote(k=50): needs at least 51 rows, found 40. Lower k to 39 or add rows.'
    >>> message("File 'a.csv'", "a file", "none", "Check the path", problem="file not found")
    "File 'a.csv': file not found. Check the path."
    """
    if do.startswith(KNOWN) and all(word in needed for word in do[len(KNOWN) :].split(", ")):
        do = CHOOSE
    end = "" if do.endswith((".", "?", "!")) else "."
    middle = f"needs {needed}, found {found}" if problem is None else problem
    return Message(f"{who}: {middle}. {do}{end}", who, needed, found, do)


def suggest(
    name: str, known: Iterable[str], also: Mapping[str, str | tuple[str, ...]] | None = None
) -> str:
    """Name the known word nearest to a mistyped one, or list what there is.

    Parameters
    ----------
    name : str
    known : words
    also : mapping of word to known word or words, optional
        What other libraries call it.

    Examples
    --------
    >>> suggest("euclidian", ["cityblock", "euclidean"])
    "Did you mean 'euclidean'?"
    >>> suggest("zzz", ["cityblock", "euclidean"])
    "Known: 'cityblock', 'euclidean'"
    >>> suggest("ordinal", ["number", "order"], {"ordinal": "order"})
    "Did you mean 'order'?"
    """
    words = [str(word) for word in known]
    meant = (also or {}).get(str(name).lower())
    if meant is None:
        meant = tuple(difflib.get_close_matches(str(name), words, n=1))
    near = (meant,) if isinstance(meant, str) else meant
    if near:
        return f"Did you mean {' or '.join(map(repr, near))}?"
    rest = ", ..." if len(words) > LISTED else ""
    return KNOWN + ", ".join(repr(word) for word in words[:LISTED]) + rest


def name_some(names: Sequence[str], most: int = 4) -> str:
    """Name the first few of many.

    Examples
    --------
    >>> name_some(["a", "b"]), name_some(["a", "b", "c", "d"], 2)
    ("'a', 'b'", "'a', 'b' and 2 more")
    """
    named = ", ".join(repr(name) for name in names[:most])
    return named + (f" and {len(names) - most:,} more" if len(names) > most else "")


def missing_file(path: Path) -> MissingFile:
    """Say that there is no such file, and which one may have been meant.

    Examples
    --------
    >>> print(missing_file(Path("nowhere/films.csv")))
    File 'nowhere/films.csv': file not found. There is no folder 'nowhere' either.
    """
    there = os.path.isdir(path.parent)
    beside = list(path.parent.iterdir()) if there and os.access(path.parent, os.R_OK) else []
    beside.sort(key=lambda p: p.suffix == path.suffix)
    names = {p.stem: p.name for p in beside}  # of two with one stem, the one that ends alike
    # The stems alone: ".csv" at the end makes any two names look alike.
    near = difflib.get_close_matches(path.stem, names, n=1, cutoff=ALIKE)
    do = "Check the path" if there else f"There is no folder {str(path.parent)!r} either"
    if near:
        do = f"Did you mean {str(path.parent / names[near[0]])!r}?"
    who = f"File {str(path)!r}"
    return MissingFile(message(who, "a file", "none", do, problem="file not found"))
