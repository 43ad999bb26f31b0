"""Columns that name rows instead of describing them, and columns that say nothing.

Identifiers and names differ in every row; codes are categories written in digits; constants and
copies tell no two rows apart.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import pyarrow.compute as pc

from lookalike.table._data import read_data
from lookalike.table.formats.neutral import Words, all_match
from lookalike.table.model.loading import CODED
from lookalike.table.model.table import Column

ROWS = 20  # rows from which chance no longer explains a copy, or strings without a repeat
TELLING = 10_000  # rows that show how much a column varies
SHORT = 40  # characters on average: longer strings are text to be compared, not names
SURE = (-999, -9999, -99999, -999999)  # hardly ever a quantity where nothing else is negative
SENTINELS = (-1, -9, -99, -999, -9999, -99999, -999999, 99, 999, 9999, 99999, 999999, 9999999)

_ID = re.compile(
    r"(^|[\s_.\-])(id|ids|uuid|guid|key|identifier)$|[a-z](Id|ID|Key|Uuid|UUID)$|^id$|^ID$|^Id$",
    re.ASCII,
)
_ROW = re.compile(
    r"^(unnamed(: ?\d+|_\d+)?|index|idx|row|rows|row[\s_.]?(names?|id|index|nr|no|num|number)|nr|"
    r"no|#|level_0|__index_level_\d+__|obs|observation)$",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_PATTERNS = {
    "e-mail addresses": r"^[^@\s]+@[^@\s]+\.[A-Za-z]{2,}$",
    "web addresses": r"^(?:https?|ftp)://\S+$|^www\.\S+$",
    "UUIDs": r"^\{?[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\}?$",
    "file paths": r"^(?:[A-Za-z]:\\|/|\./|~/|\.\./)\S.*[/\\.]\S+$|^[\w\-./ ]+/[\w\-. ]+\.\w{1,5}$",
}


@cache
def _words() -> dict[str, frozenset[str]]:
    """Return the words in names of columns that say something, from ``data/names.toml``."""
    words = {what: frozenset(listed) for what, listed in read_data("names").items()}
    return words | {"owners": words["owners"] | words["numbered"]}


def is_identifier_name(name: str) -> bool:
    """Whether a column's name says that it is a key."""
    return bool(_ID.search(name))


def is_row_name(name: str) -> bool:
    """Whether a column's name says that it counts the rows."""
    return bool(_ROW.match(name))


def is_code_name(name: str) -> bool:
    """Whether a column's name says that its digits are a name: zip, phone, store_id, account_no."""
    tokens = _tokens(name)
    if not tokens:
        return False
    if tokens[-1] in _words()["codes"] or tokens[-1].endswith("code"):
        return True
    if any(
        tokens[-1].removesuffix(end) in _words()["owners"]
        for end in ("id", "no", "nr", "num", "code")
        if tokens[-1].endswith(end) and tokens[-1] != end
    ):
        return True
    if len(tokens) > 1 and tokens[-1] in ("no", "nr"):
        return True
    return (
        len(tokens) > 1 and tokens[-1] in ("number", "num") and tokens[-2] in _words()["numbered"]
    )


def names_things(name: str) -> bool:
    """Whether a column's name is that of things which are often numbered: subject, region, race."""
    tokens = _tokens(name)  # one word: "mpg_city" and "YearsAtCompany" are amounts
    return len(tokens) == 1 and tokens[0] in _words()["things"]


def says_date(name: str) -> bool:
    """Whether a column's name says that it holds dates."""
    tokens = _tokens(name)
    return bool(tokens) and (
        not _words()["dates"].isdisjoint(tokens) or tokens[-1].endswith("date")
    )


def is_zero_padded_count(name: str, distinct: Any) -> bool:
    """Whether digits such as "01" to "12" are counts under a name such as "month"."""
    narrow = pc.max(pc.utf8_length(distinct)).as_py() <= 2
    return narrow and not _words()["counts"].isdisjoint(_tokens(name))


def _tokens(name: str) -> list[str]:
    """Cut a name into lower-case words: "userId" is user, id."""
    return [token.lower() for token in _TOKEN.findall(name)]


def looks_like_codes(distinct: Any) -> bool:
    """Whether every string is a short code: no space, at least one digit."""
    # 40 holds a UUID or a SHA-1 digest; dots and colons appear in addresses and version numbers.
    code = pc.match_substring_regex(distinct, r"^[A-Za-z0-9_.:/\-]{1,40}$")
    digit = pc.match_substring_regex(distinct, r"[0-9]")
    return bool(pc.all(pc.and_(code, digit)).as_py())


def name_reason(words: Words) -> tuple[str, float] | None:
    """Say why the strings are names of the rows, and how sure that is; None where they are not."""
    n, count = len(words), words.count
    what = address_kind(words)
    if what:
        return what, 0.95
    length = pc.mean(pc.utf8_length(words.distinct)).as_py()
    if length > SHORT or _is_sequence(words.distinct):
        return None
    spaces = pc.mean(pc.count_substring(words.distinct, " ")).as_py()
    if spaces > 6:
        return None
    tokens = _tokens(words.name)
    named = bool(tokens) and tokens[-1] in _words()["names"]
    if named and count >= 5 and n >= 0.6 * count and (n > 20 or n == count):
        return f"named {words.name!r}", 0.9
    if count >= ROWS and n >= 0.9 * count:
        return "nearly a different one in every row", 0.7
    return None


def address_kind(words: Words) -> str:
    """Say which sort of address every string is, and "" where they are none or mostly repeat."""
    if words.count < 3 or 2 * len(words) <= words.count:
        return ""
    for what, pattern in _PATTERNS.items():
        if all_match(words.distinct, pattern):
            return what
    return ""


def _is_sequence(distinct: Any) -> bool:
    """Whether strings are spelled from very few letters, as DNA is."""
    return bool(pc.all(pc.match_substring_regex(distinct, r"^[ACGTUNacgtun\-]{4,}$")).as_py())


# -- numbers that mean something else --------------------------------------------------------------


def sentinel_note(
    values: np.ndarray, times: np.ndarray | None = None
) -> tuple[str, tuple[float, ...]]:
    """Warn of a number that likely stands for "missing", such as -999 (a sentinel).

    It must come at least twice (once where nothing else is negative), lie at an end, and far from
    everything else; 998 and 997 beside a 999 are taken for reasons why a value is missing.

    Parameters
    ----------
    values : array of numbers
    times : int64 array, optional
        How many rows have each of them; None: one each.

    Returns
    -------
    note : str, empty if there is none
    gaps : the numbers
    """
    count = len(values) if times is None else int(times.sum())
    if count < 10:
        return "", ()
    low, high = float(values.min()), float(values.max())
    for value in (low, high):
        if value not in SENTINELS:
            continue
        at = values == value
        if value > 0:
            at |= np.isin(values, (value - 1, value - 2))
        cells, rest = int(at.sum() if times is None else times[at].sum()), values[~at]
        if not len(rest) or cells > 0.95 * count:
            continue
        if cells < 2 and (value not in SURE or rest.min() < 0):
            continue
        bottom, top = float(rest.min()), float(rest.max())
        if not ((rest > bottom) & (rest < top)).any():  # three different values, at least
            continue
        width = top - bottom
        if value < 0:
            far = bottom >= 0 and (value < bottom - 2 * width or (value <= -9 and value < -top / 2))
            far = far or (bottom >= 0 and value in SURE)
            far = far or (value == -1 and bottom > 0)
            far = far or value < bottom - 5 * width
        else:
            far = value > top + 2 * width and width > 0
        if far:
            gaps = np.unique(values[at])[::-1].tolist()
            named = " or ".join(f"{gap:g}" for gap in gaps)
            note = f"{cells:,} cells are {named}, far from the rest ({bottom:g} to {top:g})"
            return note, tuple(gaps)
    return "", ()


# -- copies ----------------------------------------------------------------------------------------


def find_copies(columns: Sequence[Column]) -> dict[str, str]:
    """Find columns whose every cell is that of an earlier column.

    Returns
    -------
    mapping of the later column's name to the earlier one's
    """
    copies: dict[str, str] = {}
    first: dict[Any, list[Column]] = {}
    for column in columns:
        if len(column) < ROWS or column.values.ndim != 1:
            continue
        key = (column.kind.name, column.kind.source, glance(column), _digest(column))
        for earlier in first.setdefault(key, []):
            if same_cells(earlier, column) and tells_rows_apart(column):
                copies[column.name] = earlier.name
                break
        else:
            first[key].append(column)
    return copies


def glance(column: Column) -> str:
    """Return some cells of a column in words: columns that are the same have the same ones."""
    rows = [*range(0, ROWS), len(column) - 1]
    return str([column.cell(row) for row in rows])


def _digest(column: Column) -> str:
    """Return a hash of all cells, so that a thousand sparse columns are not compared pair by pair.

    Columns that are the same have the same hash: -0 and 0 are one number, so are all gaps.
    """
    if column.kind.name not in ("number", *CODED):
        return ""
    if column.kind.name == "number":
        cells = np.where(np.isnan(column.values), np.nan, column.values + 0.0)
    else:
        cells = column.values.astype(np.int64)
    return hashlib.blake2b(np.ascontiguousarray(cells).data, digest_size=16).hexdigest()


def same_cells(a: Column, b: Column) -> bool:
    """Whether two columns of one kind have the same cells."""
    if a.kind.name == "number":
        return bool(np.array_equal(a.values, b.values, equal_nan=True))
    if a.kind.name in CODED:
        return a.kind.levels == b.kind.levels and bool(np.array_equal(a.values, b.values))
    return a.kind.name in ("text", "set") and bool(np.array_equal(a.values, b.values))


def tells_rows_apart(column: Column) -> bool:
    """Whether the cells vary so much that being equal is not chance."""
    if column.kind.name not in ("number", *CODED):
        return True
    _, counts = np.unique(column.values[:TELLING], return_counts=True)
    return len(counts) >= 5 or (len(counts) > 1 and sorted(counts)[-2] >= 10)
