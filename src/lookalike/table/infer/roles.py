"""Columns that name rows instead of describing them, and columns that say nothing.

Identifiers and names differ in every row; codes are categories written in digits; constants and
copies tell no two rows apart.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pyarrow.compute as pc

from lookalike.table.formats import arrow
from lookalike.table.formats.raw import Raw, Words
from lookalike.table.infer import thresholds
from lookalike.table.infer.vocabulary import name_words, patterns, vocabulary
from lookalike.table.model.kind import RECORD, Kind
from lookalike.table.model.table import CODED, Column

_TOKEN = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


@dataclass(frozen=True)
class Guess:
    """A kind, and whether the column is better set aside.

    ``raw`` holds the cells as they were read where that is not as they came; ``proves`` names the
    decimal separator or the order of day and month that this column settles for others, ``open``
    says that another column may settle it for this one.
    """

    kind: Kind
    aside: bool = False
    raw: Raw | None = None
    proves: str = ""
    open: bool = False

    def with_kind(self, **changes: Any) -> Self:
        """Return the guess with some fields of its kind changed."""
        return replace(self, kind=replace(self.kind, **changes))


def guess_of(kind: Kind, raw: Raw | None = None) -> Guess:
    """Set objects aside: they need a distance that only the caller can give."""
    if kind.name != "object":
        return Guess(kind, raw=raw)
    reason = f"{kind.reason}, which need a distance of their own"
    return Guess(replace(kind, reason=reason, role=RECORD), aside=True)


def set_aside_constant(raw: Raw, kind: Kind, otherwise: str = "") -> Guess:
    """Set a column of one value aside, where there are rows enough to believe it."""
    missing = raw.rows - raw.count
    if raw.rows < thresholds.MIN_ROWS_FOR_CONSTANT or raw.count < 2:
        return Guess(replace(kind, reason=otherwise or kind.reason))
    also = f", and {missing:,} missing" if missing else ""
    kind = replace(kind, reason=kind.reason + also, role="constant", close=kind.label)
    return Guess(kind, aside=True)


# -- what the name of a column says ----------------------------------------------------------------


def is_key_name(name: str) -> bool:
    """Whether a column's name says that its integers name something: a row, a key, a code."""
    return is_code_name(name) or may_count_rows(name) or is_identifier_name(name)


def is_id_name(name: str) -> bool:
    """Whether a column's name says that it names the rows: a key, or their number."""
    return is_row_name(name) or is_identifier_name(name)


def is_identifier_name(name: str) -> bool:
    """Whether a column's name says that it is a key."""
    last = (_tokens(name) or [""])[-1]
    return _is(name, "id") or last in name_words()["keys"] or _ends_in_id(last)


def is_joined_id(name: str) -> bool:
    """Whether a name is that of a thing and "id" in one word; some are scales, such as partyid."""
    return _ends_in_id((_tokens(name) or [""])[-1])


def _ends_in_id(word: str) -> bool:
    """Whether a word is that of a thing and "id": geonameid, caseid, but not valid or unpaid."""
    joined = len(word) > 4 and word.endswith("id") and not word.endswith("paid")
    return joined and word not in name_words()["not_ids"]


def is_row_name(name: str) -> bool:
    """Whether a column's name says that it counts the rows."""
    return _is(name, "row")


def may_count_rows(name: str) -> bool:
    """Whether consecutive integers count the rows under this name, which alone says little."""
    return is_row_name(name) or _is(name, "counter")


def _is(name: str, what: str) -> bool:
    return re.search(patterns("roles")[what], name) is not None


def is_code_name(name: str) -> bool:
    """Whether a column's name says that its digits are a name: zip, phone, store_id, account_no."""
    tokens = _tokens(name)
    while len(tokens) > 1 and tokens[-1].isdigit():
        tokens.pop()  # the second of them: cowcode2
    *before, last = tokens or [""]
    words = name_words()
    if last in words["codes"] or last.endswith(("code", "fips")):
        return True
    # Account no, phone number.
    numbered = last in ("number", "num") and not words["numbered"].isdisjoint(before[-1:])
    if numbered or (before and last in ("no", "nr")):
        return True
    # Written as one word: "schoolid", "patnr".
    ends = ("id", "no", "nr", "num", "code")
    return any(last.removesuffix(end) in words["owners"] for end in ends if last.endswith(end))


def says_name(name: str) -> bool:
    """Whether a column's name says that its words are names: title, name, artist."""
    return (_tokens(name) or [""])[-1] in name_words()["names"]


def says_part_of_name(name: str) -> str:
    """Return which part of a person's name a column's name promises: "first", "last" or ""."""
    bare = "".join(_tokens(name)).removesuffix("name")
    return next((part for part in ("first", "last") if bare in name_words()[f"{part}_names"]), "")


def names_things(name: str) -> bool:
    """Whether a column's name is that of things which are often numbered: subject, region, race."""
    # One word: "mpg_city" and "YearsAtCompany" are amounts.
    tokens = _tokens(name)
    return len(tokens) == 1 and tokens[0] in name_words()["things"]


def says_date(name: str) -> bool:
    """Whether a column's name says that it holds dates."""
    tokens = _tokens(name)
    return not name_words()["dates"].isdisjoint(tokens) or (tokens or [""])[-1].endswith("date")


def find_period(name: str, low: float, high: float, wide: bool = True) -> float:
    """Return after how much numbers come round, by the name of their column; 0 if they do not.

    Within half of the period nothing is nearer the other way round: such numbers are left alone,
    if they have to be ``wide``.

    Examples
    --------
    >>> find_period("dep_hour", 0, 23), find_period("dep_hour", 9, 17), find_period("hours", 0, 23)
    (24.0, 0.0, 0.0)
    """
    tokens = _tokens(name)
    ends = {"".join(tokens[at:]) for at in range(len(tokens))} if "per" not in tokens else set()
    for cycle in vocabulary().cycles:
        first, last = cycle["span"]
        around = 2 * (high - low) > cycle["period"] or not wide
        if around and first <= low and high <= last and not ends.isdisjoint(cycle["names"]):
            return float(cycle["period"])
    return 0.0


def find_places(raws: Sequence[Raw]) -> list[tuple[Raw, Raw]]:
    """Return pairs of columns that are named alike but for latitude and longitude.

    Examples
    --------
    >>> names = ["from_lat", "from_lng", "to_lat", "delta_lat", "delta_lng"]
    >>> [[raw.name for raw in pair] for pair in find_places([Raw(name, ()) for name in names])]
    [['from_lat', 'from_lng']]
    """
    words = name_words()
    found: tuple[dict[Any, Raw], dict[Any, Raw]] = ({}, {})
    for raw in raws:
        tokens = _tokens(raw.name)
        for named, side in zip(("latitudes", "longitudes"), found, strict=True):
            at = [i for i, token in enumerate(tokens) if token in words[named]]
            # A change of latitude is no place.
            if len(at) == 1 and words["changes"].isdisjoint(tokens):
                side[(at[0], *tokens[: at[0]], *tokens[at[0] + 1 :])] = raw
    latitudes, longitudes = found
    return [(raw, longitudes[rest]) for rest, raw in latitudes.items() if rest in longitudes]


def is_zero_padded_count(name: str, distinct: Any) -> bool:
    """Whether digits such as "01" to "12" are counts under a name such as "month"."""
    narrow = pc.max(pc.utf8_length(distinct)).as_py() <= 2
    return narrow and not name_words()["counts"].isdisjoint(_tokens(name))


def _tokens(name: str) -> list[str]:
    """Cut a name into lower-case words: "userId" is user, id."""
    return [token.lower() for token in _TOKEN.findall(name)]


def looks_like_codes(distinct: Any) -> bool:
    """Whether every string is a short code: no space, at least one digit."""
    # 40 holds a UUID or a SHA-1 digest; dots and colons appear in addresses and version numbers.
    forms = r"^[A-Za-z0-9_.:/\-]{1,40}$", r"[0-9]"
    return all(arrow.all_match(distinct, form) for form in forms)


def name_reason(words: Words) -> tuple[str, float] | None:
    """Say why the strings are names of the rows, and how sure that is; None where they are not."""
    n, count = len(words), words.count
    if what := address_kind(words):
        return what, 0.95
    length = pc.mean(pc.utf8_length(words.distinct)).as_py()
    spaces = pc.mean(pc.count_substring(words.distinct, " ")).as_py()
    if length > thresholds.MAX_MEAN_NAME_LENGTH or spaces > thresholds.MAX_MEAN_NAME_SPACES:
        return None
    if arrow.all_match(words.distinct, patterns("roles", "shapes")["dna"]):
        return None
    least = thresholds.MIN_SHARE_OF_NAMES
    named = says_name(words.name) and count >= 5 and (n > 20 or n == count)
    if named and n / count >= least["named"]:
        return f"named {words.name!r}", 0.9
    if count >= thresholds.MIN_ROWS_FOR_PATTERN and n / count >= least["unnamed"]:
        return "nearly a different one in every row", 0.7
    last = (_tokens(words.name) or [""])[-1]
    return ("names of persons", 0.8) if _are_persons(words.distinct, last) else None


def _are_persons(distinct: Any, last: str) -> bool:
    """Whether strings are names of persons, by their shape and the column's name or first names."""
    # A seat may be vacant, and some have one name.
    shaped = arrow.matches(distinct, patterns("roles", "shapes")["person"])
    if len(distinct) < 5 or shaped.mean() < thresholds.MIN_SHARE_OF_PERSONS:
        return False
    if last in name_words()["persons"]:
        return True
    firsts = [word.split(" ", 1)[0].casefold() for word in distinct.to_pylist()]
    known = sum(first in name_words()["given"] for first in firsts)
    return known >= thresholds.MIN_SHARE_OF_FIRST_NAMES * len(firsts)


def are_labels(distinct: Any) -> bool:
    """Whether every string is made of capitalised words, as places and brands are, not prose."""
    return arrow.all_match(distinct, patterns("roles", "shapes")["label"])


def address_kind(words: Words) -> str:
    """Say which sort of address every string is, and "" where they are none or mostly repeat."""
    if words.count < 3 or 2 * len(words) <= words.count:
        return ""
    addresses = patterns("roles", "addresses").items()
    return next((what for what, form in addresses if arrow.all_match(words.distinct, form)), "")


# -- numbers that mean something else --------------------------------------------------------------


def sentinel_note(
    values: np.ndarray, times: np.ndarray | None = None
) -> tuple[str, tuple[float, ...]]:
    """Warn of a number that likely means "missing", such as -999 (a sentinel).

    It must come at least twice (once where nothing else is negative), lie at an end, and far from
    everything else; 998 and 997 beside a 999 are taken for reasons why a value is missing.

    Parameters
    ----------
    values : array of numbers
    times : int64 array, optional
        How many rows have each of them; None: one each.

    Returns
    -------
    note : str, empty where nothing is to be said
    sentinels : the numbers
    """
    count = len(values) if times is None else int(times.sum())
    if count < thresholds.MIN_CELLS_FOR_SENTINEL:
        return "", ()
    for value in (float(values.min()), float(values.max())):
        if value not in thresholds.SENTINELS:
            continue
        hit = values == value
        # Reasons why a value is missing are numbered downwards.
        if value > 0:
            hit |= np.isin(values, (value - 1, value - 2))
        cells = int(hit.sum() if times is None else times[hit].sum())
        rest = values[~hit]
        if cells <= thresholds.MAX_SENTINEL_SHARE * count and _is_far(value, cells, rest):
            sentinels = np.unique(values[hit])[::-1].tolist()
            named = " or ".join(f"{value:g}" for value in sentinels)
            span = f"{float(rest.min()):g} to {float(rest.max()):g}"
            return f"{cells:,} cells are {named}, far from the rest ({span})", tuple(sentinels)
    return "", ()


def _is_far(value: float, cells: int, rest: np.ndarray) -> bool:
    """Whether a known sentinel in so many cells lies far from the rest."""
    low, high = float(rest.min()), float(rest.max())
    if cells < 2 and (value not in thresholds.SURE_SENTINELS or low < 0):
        return False
    # Three different values, at least.
    if not ((rest > low) & (rest < high)).any():
        return False
    if value > 0:
        return value > high + 2 * (high - low) > high
    # A negative number among others must be farther away.
    if low < 0:
        return value < low - 5 * (high - low)
    known = value in thresholds.SURE_SENTINELS or (value == -1 and low > 0)
    return known or value < low - 2 * (high - low) or (value <= -9 and value < -high / 2)


# -- copies ----------------------------------------------------------------------------------------


def find_copies(columns: Sequence[Column]) -> dict[str, str]:
    """Find columns whose every cell is that of an earlier column.

    Returns
    -------
    mapping of the later column's name to the earlier one's
    """
    long = len(columns) > 0 and len(columns[0]) >= thresholds.MIN_ROWS_FOR_PATTERN
    looked_at = {c.name: c for c in columns if long and c.values.ndim == 1}
    return match_earlier(
        looked_at,
        lambda name: key_of_cells(looked_at[name]),
        lambda _, name: tells_rows_apart(looked_at[name]),
    )


def match_earlier(
    names: Iterable[str], key: Callable[[str], Any], same: Callable[[str, str], bool]
) -> dict[str, str]:
    """Return for each name that is the same as an earlier one the first such; keys must agree."""
    copies: dict[str, str] = {}
    firsts: dict[Any, list[str]] = {}
    for name in names:
        earlier = firsts.setdefault(key(name), [])
        original = next((other for other in earlier if same(other, name)), None)
        if original is None:
            earlier.append(name)
        else:
            copies[name] = original
    return copies


def key_of_cells(column: Column) -> Any:
    """Return what two columns have in common where every cell is the same, and only there.

    Of numbers and codes a hash, so that a thousand sparse columns are not compared pair by pair.
    """
    kind, cells = column.kind, column.values
    if kind.name in ("text", "set"):
        return kind.name, tuple(cells)
    if kind.name not in ("number", *CODED):
        return object()  # like no other
    # One bit pattern for all NaN, and for 0.0 and -0.0, as equal cells must have equal bytes.
    is_number = kind.name == "number"
    cells = np.where(np.isnan(cells), np.nan, cells + 0.0) if is_number else cells.astype(np.int64)
    digest = hashlib.blake2b(np.ascontiguousarray(cells).data, digest_size=16).digest()
    return kind.name, kind.source, kind.levels, digest


def tells_rows_apart(column: Column) -> bool:
    """Whether the cells vary so much that being equal is not chance."""
    if column.kind.name not in ("number", *CODED):
        return True
    _, counts = np.unique(column.values[: thresholds.ROWS_TO_SHOW_VARIETY], return_counts=True)
    # Two rare flags agree by chance; values that differ often do not.
    return len(counts) >= 5 or (len(counts) > 1 and sorted(counts)[-2] >= 10)
