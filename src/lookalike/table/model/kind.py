"""What a column holds: its kind, the reason for it, and how its text was read."""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from lookalike._runtime.text import plain
from lookalike.errors import InvalidInput, Param, Phrase, WrongType, suggest
from lookalike.saving import fields
from lookalike.saving.encode import saveable
from lookalike.saving.fields import Fields
from lookalike.table.infer.vocabulary import read_data

# Names of the ways to write dates; ``data/dates.toml`` has a pattern for each.
DATE_FORMS = tuple(
    "ymd, dmy, mdy, month day year, day month year, year month day, year-month, month/year, "
    "month year, year month, week, quarter, quarter year, compact, days, clock".split(", ")
)


@saveable
@dataclass(frozen=True)
class Reading:
    """How written cells become values (the parser's settings, decided once from all cells).

    Parameters
    ----------
    what : str
        "number", "date", "time", "mark" (an x or nothing), "set", "list" (in brackets), "level" (an
        order that the caller did not declare), or "" where cells stay words.
    decimal : str
        The decimal separator of numbers.
    thousands : str
        What groups the digits of large numbers; "" for nothing.
    currency : str
        Symbol or code beside the amounts.
    unit : str
        What follows every number, such as "kg" or "%".
    form : str
        How dates are written: "ymd", "dmy", "mdy", or another of ``DATE_FORMS``.
    separator : str
        What stands between the items of a set.
    marks : str
        What some numbers have around them: "[" (brackets, left out), "<" (a limit of detection, of
        which a half is taken), or both.
    missing_words : tuple of str
        Words that were read as missing.
    """

    FIELDS: ClassVar[Fields] = {
        "what": fields.Choice("", "number", "date", "time", "mark", "set", "list", "level"),
        "decimal": fields.Choice(".", ","),
        "form": fields.Choice("", *DATE_FORMS),
        **dict.fromkeys(("thousands", "currency", "unit", "separator", "marks"), fields.Text()),
        "missing_words": fields.TupleOf(fields.Text()),
    }

    what: str = ""
    decimal: str = "."
    thousands: str = ""
    currency: str = ""
    unit: str = ""
    form: str = ""
    separator: str = ""
    marks: str = ""
    missing_words: tuple[str, ...] = ()


KINDS = tuple(
    "number category order flag text set sequence series histogram vector graph object".split()
)
# More words that ``kinds=`` takes: kind, role, and how the text is to be read where it matters.
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
    "cycle": ("order", "cycle", None),
    "name": ("text", "name", None),
    "place": ("vector", "place", None),
    "document": ("text", "document", None),
}
# The role of pairs of latitude and longitude, in one column or joined from two.
PLACE = "place"
# The role of texts that are long enough to be compared by their words.
DOCUMENT = "document"
EARTH_RADIUS = 6371.0088  # kilometers, the mean of the three semi-axes (IUGG)
# "cycle" with what comes round: a period ("cycle:24"), or the levels in turn ("cycle:N,E,S,W").
CYCLE = "cycle:"
# Of times of day, which are kept in seconds.
CLOCK = f"{CYCLE}86400"
# The role of objects, which are set aside until a measure brings a distance.
RECORD = "record"
# The role of a column that names the rows: every word in it is a name, "null" and a blank, too.
ID = "id"
# Roles of columns that were set aside by a guess, and are compared when the caller names them.
GUESSED_ASIDE = ("name", "identifier", "constant", "copy", RECORD)


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
        seconds), "code" (categories written in digits), "month", "weekday" or "cycle" (levels in a
        circle), "cycle:24" (numbers that come round after 24), "place" (latitude and longitude);
        "answer" (a flag written as yes or no, whose no says as much as its yes);
        "document" (a long text, compared by its words);
        "id" (names of the rows, in which no word means missing);
        of columns set aside "name", "identifier", "constant", "copy", "empty" or "record" (which
        needs a distance from the caller).
    confidence : float
        From 0 to 1: how sure the guess is; 1 where nothing was guessed.
    close : str
        The second reading, as it may be given in ``kinds=``; "" where none comes close.
    note : str
        What a person should know about the guess, such as a sentinel among the values.
    missing_values : tuple
        Values that may mean missing, as ``missing=`` takes them.
    reading : Reading, optional
        How the text of the cells was read, where they were text.
    names_rows : bool
        Whether the caller chose the column as the label of the rows.
    parts : tuple of str
        The columns that are compared as one with this one, itself included: the latitude and the
        longitude of a place. () where it is compared alone.
    """

    FIELDS: ClassVar[Fields] = {
        "name": fields.Choice(*KINDS),
        **dict.fromkeys(("reason", "role", "close", "note"), fields.Text()),
        **dict.fromkeys(("levels", "missing_values"), fields.TupleOf(fields.Plain())),
        "source": fields.Choice("", "datetime", "duration"),
        "width": fields.Integer(0, high=2**31),
        "confidence": fields.Real(0.0, 1.0),
        "reading": fields.Maybe(fields.Saved("Reading")),
        # Files of before have none.
        "names_rows": fields.Sometimes(fields.Flag()),
        "parts": fields.Sometimes(fields.TupleOf(fields.Text())),
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
    missing_values: tuple[Any, ...] = ()
    reading: Reading | None = None
    names_rows: bool = False
    parts: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """The word that ``kinds=`` takes: the role where there is one, else the kind."""
        if self.role == CLOCK:
            return "cycle"
        if self.parts:
            return PLACE
        return self.role if self.role in SPELLINGS or self.period else self.name

    @property
    def period(self) -> float:
        """After how much the numbers come round; 0 where they do not.

        Examples
        --------
        >>> Kind("number", role="cycle:24").period, Kind("number").period
        (24.0, 0.0)
        """
        return period_of(self.role)

    @property
    def remark(self) -> str:
        """The note, with what to give where values may mean missing."""
        if not self.missing_values:
            return self.note
        values = Param("missing", [plain(value) for value in self.missing_values])
        return Phrase(f"{self.note}: use ", values, " if that means missing")

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
            The other kind; by default the second reading, or "aside" where none comes close.

        Examples
        --------
        >>> print(Kind("category", role="code", close="number").paste("zip"))
        kinds={'zip': 'number'}
        """
        return Param("kinds", {column: to or self.close or "aside"})

    def __str__(self) -> str:
        return f"{self.label}: {self.reason}"


# Names of rows: cells as they are, no word means missing. As written, "007" and "7" are texts; the
# ids of an index are numbers where the column holds numbers, as Python callers write them.
ROW_NAMES = Kind("object", "names the rows", role=ID)
ROW_IDS = replace(ROW_NAMES, reading=Reading("number"))


def period_of(role: str) -> float:
    """Return the period that a role names, "cycle:24"; 0 where it names none."""
    try:
        period = float(role.removeprefix(CYCLE)) if role.startswith(CYCLE) else 0.0
    except ValueError:
        return 0.0
    return period if 0 < period < math.inf else 0.0


ASIDE = "aside"
KNOWN = (*KINDS, *SPELLINGS, ASIDE)


def missing_tokens(missing: Any) -> tuple[Any, ...]:
    """Read ``missing=``."""
    if isinstance(missing, str | int | float | None):
        return () if missing is None else (missing,)
    if isinstance(missing, Iterable):
        return tuple(missing)
    hint = ("Pass for example ", Param("missing", ["?"]))
    needed = "a list of strings or numbers"
    raise WrongType(Param("missing", of="read_table"), needed, type(missing).__name__, hint)


def given_kinds(kinds: Mapping[Any, Any] | None, names: Sequence[str]) -> dict[str, Kind | None]:
    """Check what the caller says about columns; a position may take the place of a name."""
    if kinds is None:
        return {}
    who = Param("kinds", of="read_table")
    if not isinstance(kinds, Mapping):
        hint = ("Pass for example ", Param("kinds", {"size": "category"}))
        raise WrongType(who, "a mapping of column to kind", type(kinds).__name__, hint)
    chosen: dict[str, Kind | None] = {}
    for key, given in kinds.items():
        if parts := _parts_of(key, given, names):
            reason = f"given, {' and '.join(map(repr, parts))} in degrees"
            chosen |= dict.fromkeys(parts, Kind("number", reason, parts=parts))
            continue
        name = str(key)
        if isinstance(key, int | np.integer) and name not in names:
            name = names[int(key)] if -len(names) <= key < len(names) else name
        if name not in names:
            raise InvalidInput(who, "columns of the table", repr(key), suggest(name, names))
        chosen[name] = given_kind(name, given)
    return chosen


def _parts_of(key: Any, given: Any, names: Sequence[str]) -> tuple[str, ...]:
    """Return the latitude and the longitude that a key names: ("lat", "lon"), or "lat,lon"."""
    if isinstance(key, str) and key in names:
        return ()
    who, several = Param("kinds", of="read_table"), isinstance(key, tuple)
    parts = tuple(str(part).strip() for part in (key if several else str(key).split(",")))
    if len(parts) != 2 or given != PLACE:
        if not several:
            return ()
        found = repr({key: given})
        hint = ("Pass for example ", Param("kinds", {("lat", "lon"): PLACE}))
        raise InvalidInput(who, "two columns and the kind 'place', or one column", found, hint)
    for part in parts:
        if part not in names:
            raise InvalidInput(who, "columns of the table", repr(part), suggest(part, names))
    return parts


def given_kind(name: str, given: Any) -> Kind | None:
    """Read what the caller says about a column: kind, levels, or None to set it aside."""
    if given is None or (isinstance(given, str) and given == ASIDE):
        return None
    who = Param("kinds", {name: given}, of="read_table")
    if isinstance(given, list | tuple | np.ndarray):
        levels = tuple(given.tolist() if isinstance(given, np.ndarray) else given)
        needed = "at least two levels that differ, from low to high"
        return _given_levels(levels, 2, who, needed, "Name every level once")
    if isinstance(given, str):
        given = _given_word(given, who)
    if not isinstance(given, Kind):
        needed = "the name of a kind, or a list of levels from low to high"
        hint = "Known: " + ", ".join(map(repr, KNOWN))
        raise WrongType(who, needed, type(given).__name__, hint)
    if given.name not in KINDS:
        who = Param("kinds", {name: given.name}, of="read_table")
        others = {word: tuple(kind.split()) for kind, w in read_data("kinds").items() for word in w}
        hint = suggest(given.name, KNOWN, others)
        raise InvalidInput(who, "a known kind", repr(given.name), hint)
    return given


def _given_levels(levels: tuple[Any, ...], least: int, who: Param, needed: str, hint: str) -> Kind:
    nested = not all(isinstance(level, Hashable) for level in levels)
    if nested or len(set(levels)) < max(least, len(levels)):
        raise InvalidInput(who, needed, repr(levels), hint)
    return Kind("order", f"given, {len(levels)} levels", levels)


def _given_word(word: str, who: Param) -> Kind:
    """Read the name of a kind, a period ("cycle:24") or levels in turn ("cycle:N,E,S,W")."""
    kind, role, reading = SPELLINGS.get(word, (word, "", None))
    if not word.startswith(CYCLE):
        return Kind(kind, role=role, reading=reading)
    if period_of(word):
        return Kind("number", role=word)
    levels = tuple(level.strip() for level in word.removeprefix(CYCLE).split(",") if level.strip())
    needed = "a period above 0, or three levels or more, each once"
    order = _given_levels(levels, 3, who, needed, "Write 'cycle:24' or 'cycle:N,E,S,W'")
    return replace(order, role="cycle")


def read_as_text(kinds: Mapping[Any, Any] | None) -> set[str]:
    """Name the columns that a CSV file must return as they are written ("007", not 7)."""
    given = kinds.items() if isinstance(kinds, Mapping) else ()
    return {str(name) for name, kind in given if _stays_text(kind)}


def _stays_text(given: Any) -> bool:
    given = Kind(given) if isinstance(given, str) else given
    if isinstance(given, Kind):
        if given.role == ID:
            return given.reading is None
        if given.name in ("text", "sequence") or (given.name == "category" and not given.levels):
            return True
        given = given.levels
    return isinstance(given, Iterable) and any(isinstance(level, str) for level in given)


def join_notes(*notes: str) -> str:
    """Put notes together, without the empty ones."""
    return "; ".join(note for note in notes if note)
