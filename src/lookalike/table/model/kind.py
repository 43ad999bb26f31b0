"""What a column holds: its kind, the reason for it, and how its text was read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from lookalike._runtime.text import plain
from lookalike.errors import Param, Phrase
from lookalike.saving.encode import saveable
from lookalike.saving.fields import (
    Choice,
    Fields,
    Integer,
    Maybe,
    Plain,
    Real,
    Saved,
    Text,
    TupleOf,
)
from lookalike.table.infer.reading import Reading

KINDS = (
    "number",
    "category",
    "order",
    "flag",
    "text",
    "set",
    "sequence",
    "series",
    "histogram",
    "vector",
    "graph",
    "object",
)
SPELLINGS: dict[str, tuple[str, str, Reading | None]] = {
    "date": ("number", "date", None),
    "dmy": ("number", "date", Reading("date", form="dmy")),
    "mdy": ("number", "date", Reading("date", form="mdy")),
    "time": ("number", "time", None),
    "decimal_comma": ("number", "", Reading("number", decimal=",")),
    "decimal_point": ("number", "", Reading("number", decimal=".")),
    "code": ("category", "code", None),
    "month": ("order", "month", None),
    "weekday": ("order", "weekday", None),
    "name": ("text", "name", None),
}
"""More words that ``kinds=`` takes: kind, role, and how the text is to be read where it matters."""


RECORD = "record"  # the role of objects, which are set aside until a measure brings a distance


@saveable
@dataclass(frozen=True)
class Kind:
    """What a column holds, and the reason for thinking so.

    Parameters
    ----------
    name : str
        One of ``KINDS``.
    reason : str
        A sentence a person can read, such as "7 distinct strings in 58,788 rows".
    levels : tuple
        Category values in code order; ordered levels from low to high; (no, yes) of a flag.
    source : str
        Where a number came from when that matters for reading new rows: "datetime", "duration" or
        "".
    width : int
        Bins of a histogram or entries of a vector, which new rows must have too; 0 for other kinds.
    role : str
        What the cells mean where the kind alone does not say: "date" or "time" (numbers in
        seconds), "code" (categories written in digits), "month" or "weekday" (levels in a circle),
        "answer" (a flag written as yes or no, whose no says as much as its yes);
        of columns set aside "name", "identifier", "constant", "copy", "empty" or "record" (waiting
        for somebody to bring a distance).
    confidence : float
        From 0 to 1: how sure the guess is; 1 where nothing was guessed.
    close : str
        The second reading, as it may be given in ``kinds=``; "" where none comes close.
    note : str
        What a person should know about the guess, such as a sentinel among the values.
    gaps : tuple
        Values that may stand for missing, as ``missing=`` takes them.
    reading : Reading, optional
        How the text of the cells was read, where they were text.
    """

    FIELDS: ClassVar[Fields] = {
        "name": Choice(*KINDS),
        "reason": Text(),
        "levels": TupleOf(Plain()),
        "source": Choice("", "datetime", "duration"),
        "width": Integer(0, high=2**31),
        "role": Text(),
        "confidence": Real(0.0, 1.0),
        "close": Text(),
        "note": Text(),
        "gaps": TupleOf(Plain()),
        "reading": Maybe(Saved("Reading")),
    }

    name: str
    reason: str = "given"
    levels: tuple[Any, ...] = ()
    source: str = ""
    width: int = 0
    role: str = ""
    confidence: float = 1.0
    close: str = ""
    note: str = ""
    gaps: tuple[Any, ...] = ()
    reading: Reading | None = None

    @property
    def label(self) -> str:
        """The word that ``kinds=`` takes: the role where there is one, else the kind."""
        return self.role if self.role in SPELLINGS else self.name

    @property
    def remark(self) -> str:
        """The note, with what to give where values may stand for missing."""
        if not self.gaps:
            return self.note
        gaps = Param("missing", [plain(gap) for gap in self.gaps])
        return Phrase(f"{self.note}: use ", gaps, " if that means missing")

    @property
    def takes_new_levels(self) -> bool:
        """Whether new rows may have other levels: of an order that the caller did not declare.

        Such cells keep what is written in them, and are compared as missing ones.
        """
        return self.name == "order" and self.reading is not None and self.reading.what == "level"

    def paste(self, column: str, to: str | None = None) -> Param:
        """Return what to give to have the column read otherwise.

        Parameters
        ----------
        column : str
            The name of the column.
        to : str, optional
            The other kind; by default the second reading, or "aside" where there is none.

        Examples
        --------
        >>> print(Kind("category", role="code", close="number").paste("zip"))
        kinds={'zip': 'number'}
        """
        return Param("kinds", {column: to or self.close or "aside"})

    def __str__(self) -> str:
        return f"{self.label}: {self.reason}"
