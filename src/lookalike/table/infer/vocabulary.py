"""Words that mean something in tables everywhere: missing, yes and no, calendars, units, scales.

The words themselves are TOML files in ``data``: ``words.toml``, ``scales.toml`` (teach the library
a scale there) and ``names.toml`` (words in names of columns). They have the form that ``fold``
gives them: lower case, one space between words, no dots or apostrophes. ``dates.toml``,
``numbers.toml``, ``bands.toml`` and ``roles.toml`` have patterns. Each file is read when the first
column asks for it.
"""

import re
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from itertools import chain
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lookalike.table.formats import arrow

# Read as missing among words too, in exactly this spelling: R and pandas write missing cells so.
MISSING = ("NA", "NaN", "nan", "NULL", "null")


def read_data(name: str) -> dict[str, Any]:
    """Return a file of words, by its name without the ending; callers keep what they make of it."""
    import tomllib

    text = resources.files("lookalike.table").joinpath("data", f"{name}.toml").read_text("utf-8")
    return tomllib.loads(text)


@cache
def vocabulary() -> Any:
    """Return the words of ``data/words.toml``, which says what each is for, as attributes."""
    words = read_data("words")
    words["currency"] = f"(?:{'|'.join(words.pop('currencies'))})"
    words |= {name: frozenset(words[name]) for name in ("missing", "marks", "units")}
    return SimpleNamespace(**words)


@cache
def name_words() -> dict[str, frozenset[str]]:
    """Return the words in names of columns that say what the cells are (``data/names.toml``)."""
    words = {what: frozenset(listed) for what, listed in read_data("names").items()}
    return words | {"owners": words["owners"] | words["numbered"]}


@cache
def patterns(topic: str, part: str = "forms") -> dict[str, str]:
    """Return patterns by name, in the order of their file, such as ``data/dates.toml``.

    Made once, as months have many spellings; ``@name@`` in them is replaced by a piece of the file,
    or by words that several files name.
    """
    words, data = vocabulary(), read_data(topic)
    pieces = data["pieces"] | {"currency": words.currency}
    for calendar in ("months", "weekdays"):
        # The longest spelling first: "sep" would leave the "tember" of "september" over.
        spellings = (sorted(level, key=len, reverse=True) for level in getattr(words, calendar))
        pieces[calendar] = "|".join(chain.from_iterable(spellings))
    forms = {}
    for name, pattern in data[part].items():
        while (filled := re.sub(r"@(\w+)@", lambda found: pieces[found[1]], pattern)) != pattern:
            pattern = filled
        forms[name] = pattern
    return forms


@dataclass(frozen=True)
class Scale:
    """Levels from low to high, and what else must be seen before they are believed.

    ``least`` levels must be there, one of ``needs`` among them; the column's name must match
    ``name``; an ``open`` scale is said to be close to a category; the levels of a ``cycle`` come
    round. ``rank`` is the level of each spelling, counted from 0.
    """

    what: str
    levels: tuple[tuple[str, ...], ...]
    least: int = 2
    needs: frozenset[str] = frozenset()
    name: str = ""
    open: bool = False
    cycle: bool = False
    rank: dict[str, int] = field(init=False, default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        for rank, spellings in enumerate(self.levels):
            self.rank.update(dict.fromkeys(spellings, rank))

    def suits(self, column: str) -> bool:
        """Whether the name of a column lets the scale be believed."""
        return not self.name or re.search(self.name, column, re.IGNORECASE) is not None


@cache
def known_scales() -> tuple[Scale, ...]:
    """Return the scales in the order in which they are tried; the file is read once."""
    words = vocabulary()
    calendars = (Scale(w, getattr(words, w), 3, cycle=True) for w in ("weekdays", "months"))
    entries = read_data("scales")["scale"]
    for entry in entries:
        entry["levels"] = tuple(tuple(level.split("|")) for level in entry["levels"])
        entry["needs"] = frozenset(entry.get("needs", ()))
    return (*calendars, *(Scale(**entry) for entry in entries))


def fold(word: str) -> str:
    """Bring the spellings of a word together (case folding): "Very_High" is "very high"."""
    plain = re.sub(r"[.'’]", "", word.casefold())
    return re.sub(r"[\s_/]+|(?<=\w)-(?=\w)", " ", plain).strip()


# Bytes; the longest word for missing has 20 characters.
MAX_BYTES_OF_MISSING = 80


def means_missing(distinct: Any) -> np.ndarray:
    """Return which strings say that a cell is missing, such as "n/a", "-" or "unknown"."""
    # Long texts are not folded for nothing: no such word has more bytes.
    if len(distinct) and pc.min(pc.binary_length(distinct)).as_py() > MAX_BYTES_OF_MISSING:
        return np.zeros(len(distinct), dtype=bool)
    known = pa.array(sorted(vocabulary().missing), pa.large_string())
    return arrow.to_numpy(pc.is_in(pc.utf8_lower(distinct), value_set=known))


def missing_words(distinct: Any) -> tuple[str, ...]:
    """Return which of the words NA, NaN and null mean "missing" beside the others.

    NA is a word where all others are two capital letters as well: it may be Namibia among
    countries, or North America among continents.

    Parameters
    ----------
    distinct : Arrow array of strings, trimmed
    """
    found = pc.is_in(distinct, value_set=pa.array(MISSING, pa.large_string()))
    gone = set(distinct.filter(found).to_pylist())
    # Among codes of two capitals NA is Namibia, or North America.
    if "NA" in gone:
        others = distinct.filter(pc.invert(found))
        if len(others) and arrow.all_match(others, r"^[A-Z]{2}$"):
            gone.remove("NA")
    return tuple(sorted(gone))
