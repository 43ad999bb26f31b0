"""Everything lookalike raises on purpose.

::

    LookalikeError
    ├── InvalidInput (ValueError)        data or parameters that cannot be used
    │   ├── TooFewRows                   n_neighbors or a height that the table cannot serve
    │   ├── TooLarge                     an answer that would not fit under the memory limit
    │   └── UndefinedMeasure             a pair of rows with nothing to compare
    ├── WrongType (TypeError)            a cell or an object of a type that cannot be read
    ├── UnreadableFile (ValueError)      a file that is damaged, or of another format
    │   └── MissingFile (FileNotFoundError)  a file that does not exist
    ├── UnwritableFile (OSError)         a file that cannot be written where it should be
    ├── NoAnswer (TimeoutError)          a scheduler or a worker that does not answer in time
    └── MissingExtra (ImportError)       an optional dependency that is not installed

An error is data: who complains, what was needed, what was found, and a hint what to do. A part may
name a parameter and a value to try (``Param``); Python, the shell and HTTP spell it each in its own
way (``error.text(spell)``), so no surface has to parse a sentence.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import ascii_lowercase
from typing import Any, Self

LISTED = 12  # names that a message shows before it stops counting
ALIKE = 0.7  # difflib ratio from which the name of another file is suggested for a missing one
KNOWN = "Known: "
CHOOSE = "Use one of them"  # the hint where the message has just listed all there is


@dataclass(frozen=True)
class Param:
    """A parameter named in an error, with a value to try where one is known.

    Parameters
    ----------
    name : str
        As in the function of the library, such as ``"encoding"``; empty for the function itself.
    value : object, optional
        A value to try, or the one that was refused.
    of : str
        The function or class it belongs to, where that has to be said.

    Examples
    --------
    >>> str(Param("encoding", "latin-1")), str(Param("weights", of="Index.search"))
    ("encoding='latin-1'", 'Index.search(weights=...)')
    """

    name: str
    value: Any = ...
    of: str = ""

    def __str__(self) -> str:
        """Spell it as Python does."""
        if not self.name:
            return self.of
        value = "..." if self.value is ... else repr(self.value)
        if self.of:
            return f"{self.of}({self.name}={value})"
        return self.name if self.value is ... else f"{self.name}={value}"


@dataclass(frozen=True)
class InPython:
    """Words for Python alone: a call to make, or a phrase that scikit-learn's checks look for."""

    text: str


Piece = str | Param | InPython
Part = Piece | tuple[Piece, ...]  # a part of an error: text, with parameters in it
Spell = Callable[[Param], str]


class Phrase(str):
    """A text with parameters in it: a str as Python spells it, which ``spelled`` spells anew.

    For notes and remarks, which are shown as they are in Python and kept in tables as text.

    Examples
    --------
    >>> phrase = Phrase("3 cells are '?': use ", Param("missing", ["?"]), " if that means missing")
    >>> print(phrase)
    3 cells are '?': use missing=['?'] if that means missing
    """

    parts: tuple[Piece, ...]

    def __new__(cls, *parts: Part) -> Phrase:
        """Spell the text as Python does, and keep its parts."""
        nested = (getattr(part, "parts", part) for part in parts)
        flat = [piece if isinstance(piece, tuple) else (piece,) for piece in nested]
        pieces: tuple[Piece, ...] = sum(flat, ())
        self = super().__new__(cls, spelled(pieces))
        self.parts = pieces
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the parts, as a str alone would lose them."""
        return Phrase, self.parts


class Parts:
    """What errors and warnings share: parts that every surface can put in its own words.

    Parameters
    ----------
    who, needed, found, hint : str, Param, InPython or a tuple of these
    problem : the same, optional
        The middle of the sentence, where "needs ..., found ..." is not what a person would say.

    Examples
    --------
    >>> error = InvalidInput("read_table", "text", "bytes", ("Use ", Param("encoding", "latin-1")))
    >>> print(error)
    read_table: needs text, found bytes. Use encoding='latin-1'.
    >>> error.text(lambda param: f"--{param.name} {param.value}" if param.name else "the table")
    'the table: needs text, found bytes. Use --encoding latin-1.'
    """

    def __init__(
        self,
        who: Part = "",
        needed: Part | None = None,
        found: Part = "",
        hint: Part = "",
        *,
        problem: Part | None = None,
    ) -> None:
        if needed is not None and isinstance(who, str) and is_code(who):
            who = Param("", of=who)
        # A single text is a message that was written as a whole.
        self.given = (who, needed, found, hint, problem)
        super().__init__(self.text())  # type: ignore[call-arg]

    def text(self, spell: Spell = str) -> str:
        """Return the message with its parameters spelled by a surface."""
        if self.given[1] is None:
            return spelled(self.given[0], spell)
        problem = self.given[4]
        middle = None if problem is None else spelled(problem, spell)
        return message(**self.words(spell), problem=middle)

    def words(self, spell: Spell = str) -> dict[str, str]:
        """Return who, needed, found and hint with their parameters spelled by a surface."""
        parts = ("", "", "", "") if self.given[1] is None else self.given[:4]
        names = ("who", "needed", "found", "hint")
        return {name: spelled(part or "", spell) for name, part in zip(names, parts, strict=True)}

    def by(self, who: Part) -> Self:
        """Return the same with another who, such as the file that was meant."""
        _, needed, found, hint, problem = self.given
        return type(self)(who, needed, found, hint, problem=problem)

    def phrase(self) -> Phrase:
        """Return the message as a text that other surfaces can spell anew, for a note."""
        who, needed, found, hint, problem = self.given
        if needed is None:
            return Phrase(who)
        middle = ("needs ", needed, ", found ", found) if problem is None else (problem,)
        return Phrase(who, ": ", *middle, ". " if spelled(hint) else ".", hint)

    # As Python spells them.
    who = property(lambda self: self.words()["who"], doc="What complains; empty for a plain text.")
    needed = property(lambda self: self.words()["needed"], doc="What was needed.")
    found = property(lambda self: self.words()["found"], doc="What was found instead.")
    hint = property(lambda self: self.words()["hint"], doc="What to do about it.")

    @property
    def params(self) -> tuple[Param, ...]:
        """The parameters that the hint names."""
        return tuple(piece for piece in Phrase(self.given[3]).parts if isinstance(piece, Param))


def spelled(part: Part, spell: Spell = str) -> str:
    """Return a part of an error, or a phrase, as text.

    Examples
    --------
    >>> spelled(("Lower ", Param("k"), " to 39"), lambda param: f"-{param.name}")
    'Lower -k to 39'
    >>> spelled(("Fit a measure", InPython(": Gower().fit(X)")), lambda param: param.name)
    'Fit a measure'
    """
    if isinstance(part, tuple):
        return "".join(spelled(piece, spell) for piece in part)
    if isinstance(part, Phrase):
        return spelled(part.parts, spell) if spell is not str else str(part)
    if isinstance(part, InPython):
        return part.text if spell is str else ""
    return spell(part) if isinstance(part, Param) else part


def is_code(who: str) -> bool:
    """Tell whether this is the name of a function or class, not a word of a sentence.

    Examples
    --------
    >>> [is_code(who) for who in ("Index.search", "read_table", "Gower", "report", "File 'a'")]
    [True, True, True, False, False]
    """
    return who.replace(".", "_").isidentifier() and bool(set(who) - set(ascii_lowercase))


class LookalikeError(Parts, Exception):
    """Base of all errors that lookalike raises on purpose; see ``Parts`` for its attributes."""


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
    """No file has this name."""


class UnwritableFile(LookalikeError, OSError):
    """A file cannot be written where it should be."""


class MissingExtra(LookalikeError, ImportError):
    """An optional dependency is not installed."""


class NoAnswer(LookalikeError, TimeoutError):
    """Another machine, or a program on this one, does not answer in time."""


class LookalikeWarning(Parts, UserWarning):
    """Something worth knowing that does not stop the work."""


class ColumnsLeftOut(LookalikeWarning):
    """A measure that cannot compare some kinds of column compares the others."""


def message(
    who: str, needed: str, found: str, hint: str = "", *, problem: str | None = None
) -> str:
    """Put the parts of an error together.

    Parameters
    ----------
    who, needed, found, hint : str
        A hint that only lists what ``needed`` has listed already is not repeated.
    problem : str, optional
        The middle of the sentence, where "needs ..., found ..." is not what a person would say.

    Examples
    --------
    >>> message("NeighborVote(k=50)", "at least 51 rows", "40", "Lower k to 39 or add rows")
    'NeighborVote(k=50): needs at least 51 rows, found 40. Lower k to 39 or add rows.'
    >>> message("File 'a.csv'", "a file", "none", "Check the path", problem="file not found")
    "File 'a.csv': file not found. Check the path."
    """
    if hint.startswith(KNOWN) and all(word in needed for word in hint[len(KNOWN) :].split(", ")):
        hint = CHOOSE
    end = "" if not hint or hint.endswith((".", "?", "!")) else "."
    middle = f"needs {needed}, found {found}" if problem is None else problem
    return f"{who}: {middle}. {hint}{end}".rstrip()


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
    words = [word for word in map(str, known) if word != str(name)]
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
    hint = "Check the path" if there else f"There is no folder {str(path.parent)!r} either"
    if near:
        hint = f"Did you mean {str(path.parent / names[near[0]])!r}?"
    return MissingFile(f"File {str(path)!r}", "a file", "none", hint, problem="file not found")
