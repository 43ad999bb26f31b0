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
    └── MissingExtra (ImportError)       an optional dependency that is not installed

Every message has four parts: who, what was needed, what was found, what to do. ``message`` puts
them together, so that a reader always finds them in the same order.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = [
    "InvalidInput",
    "LookalikeError",
    "LookalikeWarning",
    "MissingExtra",
    "MissingFile",
    "TooFewRows",
    "TooLarge",
    "UndefinedMeasure",
    "UnreadableFile",
    "UnwritableFile",
    "WrongType",
    "message",
    "suggest",
]


LISTED = 12  # names that a message shows before it stops counting


class Message(str):
    """A message that remembers its four parts.

    Attributes
    ----------
    who, needed, found, do : str
    """

    who: str
    needed: str
    found: str
    do: str


class LookalikeError(Exception):
    """Base of all errors that lookalike raises on purpose."""

    @property
    def parts(self) -> dict[str, str] | None:
        """Who, needed, found and do, for programs; None if the message was not made of parts."""
        text = self.args[0] if self.args else None
        if not isinstance(text, Message):
            return None
        return {name: getattr(text, name) for name in ("who", "needed", "found", "do")}


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


class LookalikeWarning(UserWarning):
    """Something worth knowing that does not stop the work."""


def message(who: str, needed: str, found: str, do: str) -> Message:
    """Put the four parts of an error together.

    Examples
    --------
    >>> message("NeighborVote(k=50)", "at least 51 rows", "40", "Lower k to 39 or add rows")
    'NeighborVote(k=50): needs at least 51 rows, found 40. Lower k to 39 or add rows.'
    """
    end = "" if do.endswith((".", "?", "!")) else "."
    text = Message(f"{who}: needs {needed}, found {found}. {do}{end}")
    text.who, text.needed, text.found, text.do = who, needed, found, do
    return text


def suggest(name: str, known: Iterable[str]) -> str:
    """Name the known word nearest to a mistyped one, or list what there is.

    Examples
    --------
    >>> suggest("euclidian", ["cityblock", "euclidean"])
    "Did you mean 'euclidean'?"
    >>> suggest("zzz", ["cityblock", "euclidean"])
    "Known: 'cityblock', 'euclidean'"
    """
    words = [str(word) for word in known]
    near = difflib.get_close_matches(str(name), words, n=1)
    if near:
        return f"Did you mean {near[0]!r}?"
    rest = ", ..." if len(words) > LISTED else ""
    return "Known: " + ", ".join(repr(word) for word in words[:LISTED]) + rest
