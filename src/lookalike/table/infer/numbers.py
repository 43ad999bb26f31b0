"""Numbers: as people write them, as cells hold them, and what a column of them is.

The reading of a text column (money, separators, percent, units) is decided from all its distinct
strings together: "1,067" alone may be a thousand or one and a bit, but beside "12,5" it may not.
"""

import decimal
import numbers
import re
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lookalike.errors import InvalidInput, Param, Phrase, WrongType
from lookalike.table.formats import arrow
from lookalike.table.formats.raw import Raw, Words, of_arrow, of_values, short_number, written
from lookalike.table.infer import dates, roles, thresholds
from lookalike.table.infer.roles import Guess
from lookalike.table.infer.vocabulary import means_missing, patterns, vocabulary
from lookalike.table.model.kind import CYCLE, Kind, Reading, join_notes
from lookalike.table.model.table import Column

# As programs write numbers.
PLAIN = Reading("number")
_MARKS = {"": "", " ": " \u00a0\u202f", "'": "'’", ".": ".", ",": ","}  # what groups digits


# -- the reading of all strings --------------------------------------------------------------------


def find_numbers(words: Words, prefer: str = "") -> dates.Found | None:
    """Find the one reading under which every string is a number; None where no reading fits.

    Parameters
    ----------
    words : Words
        Without the words that mean missing.
    prefer : {"", ".", ","}
        The decimal separator to choose where the strings allow both.
    """
    if (plain := _plain(words.distinct)) is not None:
        if prefer == "," and arrow.all_match(words.distinct, patterns("numbers")["grouped"]):
            return _read(words, replace(PLAIN, decimal=",", thousands="."), open_to=".")
        return dates.Found(PLAIN, plain)
    bare, marks, below = _without_marks(words.distinct)
    if marks:
        return _read_marked(words, bare, marks, below, prefer)
    for some in (words.distinct[: arrow.MAX_SAMPLE_STRINGS], words.distinct):
        parts = pc.extract_regex(some, patterns("numbers")["number"])
        if parts.null_count:
            return None
    # Either alone decides nothing: "1,5 kg" needs both.
    around, style = _find_affixes(parts), _find_style(parts.field("body"), prefer)
    if around is None or style is None:
        return None
    currency, unit, note = around
    mark, thousands, open_to = style
    reading = replace(PLAIN, decimal=mark, thousands=thousands, currency=currency, unit=unit)
    return _read(words, reading, note, open_to)


def _without_marks(distinct: Any, marks: str = "[<") -> tuple[Any, str, np.ndarray]:
    """Take off the brackets of "[98]" and the sign of "<0.006".

    Returns
    -------
    bare : Arrow array of strings
    found : those of the marks that some string has
    below : boolean array, where the number is a limit of detection
    """
    bare, found = distinct, ""
    for mark, name in (("[", "bracketed"), ("<", "below")):
        pattern = patterns("numbers")[name]
        hit = arrow.matches(distinct, pattern) & (mark in marks)
        if hit.any():
            taken = pc.replace_substring_regex(bare, pattern, r"\1")
            bare, found = pc.if_else(pa.array(hit), taken, bare), found + mark
    return bare, found, hit


def _read_marked(
    words: Words, bare: Any, marks: str, below: np.ndarray, prefer: str
) -> dates.Found | None:
    """Read numbers of which some have brackets, or are limits of detection."""
    found = None if below.all() else find_numbers(replace(words, distinct=bare), prefer)
    if found is None:
        return None
    cells = _halve(found.cells, below)
    # A half that is also measured would make one cell of two.
    limits, measured = (arrow.to_numpy(cells)[hit] for hit in (below, ~below))
    if np.isin(limits, measured).any():
        return None
    note = "numbers are read without their brackets" if "[" in marks else ""
    if "<" in marks:
        first = words.distinct[int(np.argmax(below))].as_py()
        note = join_notes(note, f"{first!r}, a limit of detection, is read as half of it")
    note, reading = join_notes(found.note, note), replace(found.reading, marks=marks)
    return replace(found, reading=reading, cells=cells, note=note)


def _halve(cells: Any, below: np.ndarray) -> Any:
    """Return numbers with half of each limit of detection."""
    if not below.any():
        return cells
    cells = cells.cast(pa.float64(), safe=False)
    return pc.if_else(pa.array(below), pc.multiply(cells, 0.5), cells)


def are_measured(cells: Any) -> bool:
    """Whether numbers are measurements rather than the bounds of a few bands, as in <5, 5, 6."""
    if len(cells) > thresholds.FEW_STRINGS:
        return True
    # The halves of limits prove nothing.
    doubled = 2.0 * arrow.to_numpy(cells)
    return bool((doubled != np.floor(doubled)).any())


def _find_style(bodies: Any, prefer: str) -> tuple[str, str, str] | None:
    """Find the decimal separator, what groups thousands, and the other separator that would do."""
    known = patterns("numbers", "styles").items()
    styles = [(style[0], style[1:]) for style, form in known if arrow.all_match(bodies, form)]
    if not styles:
        return None
    first = styles[0]
    other = next((style for style in styles if style[0] != first[0]), None)
    # Plain numbers stay so, unless a comma is proven and all may be thousands.
    if other and first == (".", ""):
        grouped = prefer == "," and arrow.all_match(bodies, patterns("numbers")["grouped"])
        return (",", ".", other[0]) if grouped else (*first, "")
    if other is None:
        return *first, ""
    return *(other if first[1] and prefer == other[0] else first), other[0]


def _find_affixes(parts: Any) -> tuple[str, str, str] | None:
    """Find the one currency and the one unit, and a note on both; None where there are several."""
    after = parts.field("after")
    currency_after = pc.match_substring_regex(after, rf"^{vocabulary().currency}$")
    money = {word for word in parts.field("before").unique().to_pylist() if word}
    money |= set(after.filter(currency_after).unique().to_pylist())
    units = set(after.unique().to_pylist()) - money - {""}
    if len(money) > 1:
        return None
    currency = min(money, default="")
    if currency and units and {unit.casefold() for unit in units} <= set(vocabulary().multiples):
        return currency, "", f"{', '.join(sorted(units))} after an amount multiplies it"
    near = after.filter(pc.equal(parts.field("space"), ""))
    found = _find_unit(units, set(near.unique().to_pylist()), pc.sum(pc.equal(after, "")).as_py())
    if found is None:
        return None
    unit, note = found
    return currency, unit, join_notes(note, f"amounts in {currency}" if currency else "")


def _find_unit(units: set[str], near: set[str], n_without: int) -> tuple[str, str] | None:
    """Return the one unit and a note on it; None where they are several, or none is known.

    Parameters
    ----------
    units : what stands after the numbers
    near : those of them with no space before
    n_without : distinct strings that have no unit
    """
    if not units:
        return "", ""
    if len({_singular(unit) for unit in units}) > 1:
        return None
    if not all(_is_unit(unit, spaced=unit not in near) for unit in units):
        return None
    unit = min(units, key=lambda word: (len(word), word))
    if n_without and unit.casefold() not in vocabulary().units:
        return None
    rest = f"; {n_without} distinct cells have none" if n_without else ""
    return unit, f"the unit {unit!r} is left out{rest}"


def _is_unit(word: str, spaced: bool) -> bool:
    units = vocabulary().units
    if word.casefold() in units or _singular(word) in units:
        return spaced or len(word) > 1 or not word.isupper()  # 1A, 2A are not amperes
    letters = re.sub(r"[ /.]", "", word)
    plain = len(letters) >= 3 and letters.isalpha() and letters.islower()
    return spaced and plain and word.count(" ") <= 1


def _singular(unit: str) -> str:
    """Return a unit in the singular, without case."""
    unit = unit.casefold().strip(".")
    return unit[:-1] if len(unit) > 3 and unit.endswith("s") else unit


def _read(words: Words, reading: Reading, note: str = "", open_to: str = "") -> dates.Found | None:
    cells, fits = parse_numbers(words.distinct, reading)
    if not fits.all():
        return None
    if open_to:
        at = int(np.argmax(arrow.matches(words.distinct, r"\d[.,]\d")))
        shown, value = words.distinct[at].as_py(), cells[at].as_py()
        note = join_notes(note, f"{shown!r} is read as {value:.10g}")
    decides = (reading.decimal == "," or reading.thousands) and not open_to
    return dates.Found(reading, cells, note, open_to, reading.decimal if decides else "")


def misfit_numbers(distinct: Any) -> np.ndarray:
    """Return which strings are no plain number, money or percentage."""
    amounts = arrow.matches(distinct, patterns("numbers")["amount"])
    return ~(amounts & arrow.matches(distinct, r"\d"))


# -- parsing by a known reading --------------------------------------------------------------------


def parse_numbers(distinct: Any, reading: Reading) -> tuple[Any, np.ndarray]:
    """Read strings by a reading that is known already.

    Returns
    -------
    cells : Arrow array of int64 or float64, missing where a string does not fit
    fits : boolean array
    """
    if reading.marks:
        bare, _, below = _without_marks(distinct, reading.marks)
        cells, fits = parse_numbers(bare, replace(reading, marks=""))
        return _halve(cells, below), fits
    plain = _plain(distinct) if reading.decimal == "." else None
    if plain is not None and not reading.currency and not reading.unit:
        return plain, np.ones(len(distinct), dtype=bool)
    parts = pc.extract_regex(distinct, patterns("numbers")["number"])
    bodies = parts.field("body")
    for mark in _MARKS.get(reading.thousands, ""):
        bodies = pc.replace_substring(bodies, mark, "")
    if reading.decimal == ",":
        bodies = pc.replace_substring(bodies, ",", ".")
    factors = _factors(parts, reading)
    plain_form = patterns("numbers", "styles")["."]
    whole = pc.fill_null(pc.match_substring_regex(bodies, plain_form), False)
    fits = arrow.to_numpy(whole) & ~arrow.to_numpy(pc.is_null(parts)) & ~np.isnan(factors)
    nothing = pa.scalar("", pa.large_string())
    full = pc.binary_join_element_wise(bodies, parts.field("exponent"), nothing)
    full = pc.if_else(pa.array(fits), full, pa.scalar(None, full.type))
    values = arrow.to_numpy(full.cast(pa.float64())) * factors
    values = np.where(_is_negative(parts), -values, values)
    cells = pa.array(values, mask=~fits)
    if fits.all() and not pc.any(pc.match_substring(full, ".")).as_py() and are_integers(values):
        cells = cells.cast(pa.int64())
    return cells, fits


def are_integers(values: np.ndarray) -> bool:
    """Whether floats are integers, and none is so large that a digit may have been lost."""
    largest = np.abs(values).max(initial=0)
    return bool((values == np.floor(values)).all() and largest < thresholds.MAX_EXACT_INTEGER)


def read_amount(digits: str, multiple: str = "") -> float:
    """Return the number that one amount in a band is: "1,000" with "k" is a million.

    Which separator is the decimal one cannot be asked of a whole column here, so one comma alone
    is, unless three digits follow each of them.
    """
    if digits == "Inf":
        return np.inf
    if re.fullmatch(r"\d{1,3}(,\d{3})+(\.\d+)?", digits):
        digits = digits.replace(",", "")
    elif digits.count(",") == 1:
        digits = digits.replace(",", ".")
    value = float(digits.replace(",", "") if digits.count(".") <= 1 else digits.replace(".", ""))
    return value * {"k": 1e3, "m": 1e6}.get(multiple.lower(), 1.0)


def _factors(parts: Any, reading: Reading) -> np.ndarray:
    """Return what each number is multiplied with: NaN where its affixes are not of the reading."""
    # "day" and "days" are one unit.
    known = {_singular(word) for word in ("", reading.unit, reading.currency)}
    multiples = vocabulary().multiples if reading.currency else {}

    def factor(after: str) -> float:
        return 1.0 if _singular(after) in known else multiples.get(after.casefold(), np.nan)

    factors = arrow.map_distinct(parts.field("after"), factor, 1.0)
    if reading.currency:
        expected = pa.array(["", reading.currency, None], pa.large_string())
        before = pc.is_in(parts.field("before"), value_set=expected)
        factors[~arrow.to_numpy(before)] = np.nan
    return factors


def _is_negative(parts: Any) -> np.ndarray:
    """Return which numbers are below 0: a minus before or after the currency, or brackets."""
    # Spreadsheets write a minus sign or an en dash for the hyphen.
    dashes = pa.array(["-", "−", "–"], pa.large_string())
    signs = [pc.is_in(parts.field(name), value_set=dashes) for name in ("sign", "again")]
    bracket = pc.fill_null(pc.equal(parts.field("open"), "("), False)
    return np.logical_xor.reduce([arrow.to_numpy(hit) for hit in (*signs, bracket)])


def _plain(distinct: Any) -> Any:
    """Read strings that programs write; None where one of them is not."""
    for kind in (pa.int64(), pa.float64()):
        try:
            # A failing cast looks at every string before it says so: a few are tried first.
            distinct[: arrow.MAX_SAMPLE_STRINGS].cast(kind)
            return distinct.cast(kind)
        except pa.ArrowInvalid:
            continue
    return None


# -- cells as numbers ------------------------------------------------------------------------------


def read_number(raw: Raw, kind: Kind, fitted: bool) -> Column:
    """Read the cells of a number column."""
    raw, reading = _as_text_if_dates(raw, kind, fitted), kind.reading
    if raw.is_text:
        raw, reading = _read_text_as(raw, kind, fitted)
    values, source = _floats(raw)
    # Memory shared with the source; kernels want arrays of one sort.
    if not values.flags.writeable:
        values = values.copy()
    if not fitted:
        role = kind.role or {"datetime": "date", "duration": "time"}.get(source, "")
        kind = replace(kind, source=source or kind.source, role=role, reading=reading)
    elif source and source != kind.source:
        needed = f"{kind.source or 'plain number'}s, as in the fitted table"
        hint = "Give the column the type it had before"
        raise InvalidInput(f"Column {raw.name!r}", needed, f"{source}s", hint)
    return Column(raw.name, kind, values)


def _as_text_if_dates(raw: Raw, kind: Kind, fitted: bool) -> Raw:
    """Return numbers as they are written where they may be dates such as 20200924."""
    if raw.declared and not raw.is_text and pa.types.is_dictionary(raw.type):
        raw = of_arrow(raw.name, raw.cells.dictionary_decode()).neutral()
    compact = kind.role == "date" and (not fitted or (kind.reading or Reading()).form)
    if compact and raw.is_arrow and arrow.is_number(raw.type) and raw.count:
        text = [None if value is None else written(value) for value in raw.values()]
        return of_values(raw.name, text)
    return raw


def _floats(raw: Raw) -> tuple[np.ndarray, str]:
    """Return the cells as floats, and what they are where they were dates or durations."""
    if not raw.is_arrow:
        return floats_of_objects(raw), ""
    if pa.types.is_null(raw.type):
        return np.full(len(raw), np.nan), ""
    if pa.types.is_temporal(raw.type):
        return dates.to_seconds(raw.cells)
    if arrow.is_numeric(raw.type):
        # safe=False: integers beyond 2**53 are rounded, which the kind's note says
        kind = raw.type if pa.types.is_floating(raw.type) else pa.float64()
        return arrow.to_numpy(raw.cells.cast(kind, safe=False)), ""
    rows = np.flatnonzero(raw.present())
    hint = Phrase("Leave it to be guessed, or use ", Param("kinds", {raw.name: "object"}))
    raise raw.error(rows, raw.cells[int(rows[0])].as_py(), "numbers", hint, WrongType)


def floats_of_objects(raw: Raw) -> np.ndarray:
    """Return Python's numbers as floats, NaN where one is missing."""
    real = numbers.Real | decimal.Decimal | np.bool_ | None
    if bad := [row for row, cell in enumerate(raw.cells) if not isinstance(cell, real)]:
        cell = raw.cells[bad[0]]
        hint = f"The argument must be a string or a real number, not {type(cell).__name__!r}"
        raise raw.error(bad, cell, "numbers", hint, WrongType)
    return np.array([np.nan if cell is None else float(cell) for cell in raw.cells], np.float64)


# -- text as the numbers or dates that a kind asks for ---------------------------------------------


def _read_text_as(raw: Raw, kind: Kind, fitted: bool = False) -> tuple[Raw, Reading | None]:
    """Read a text column as numbers or dates, as its kind asks; say which cell does not fit.

    Parameters
    ----------
    raw : Raw
        A text column.
    kind : Kind
        Of name "number"; its reading, its role and its source say what the text should be.
    fitted : bool
        Whether the kind was fitted on other rows, which changes the advice alone.

    Returns
    -------
    raw : Raw
        Typed cells.
    reading : Reading or None
        How they were read; None where numbers are written plainly.
    """
    # Asked for numbers, a column may still hold words such as "n/a".
    every = raw.strings()
    words = every.where(~means_missing(every.distinct))
    if len(words) == 0:
        return Raw(raw.name, pa.nulls(len(raw), pa.float64())), kind.reading
    date = kind.role in ("date", "time") or kind.source in ("datetime", "duration")
    known = kind.reading or Reading(decimal="")
    found = _parse_known(words, known)
    if found is None and not date:
        found = find_numbers(words, known.decimal)
    found = found or dates.find_dates(words, known.form, compact=date)
    if found is None:
        raise _misfit(raw, words, kind, date, fitted)
    return raw.spread(words, found.cells), None if found.reading == PLAIN else found.reading


def _parse_known(words: Words, known: Reading) -> dates.Found | None:
    """Read words by a known reading; None where it says nothing, or one word does not fit."""
    if known == PLAIN or not (known.form or known.what == "number"):
        return None
    # The caller may have given an order of day and month, or a decimal comma, and no more.
    found = dates.find_dates(words, known.form) if known.form in dates.ORDERS else None
    if known.decimal == "," and not known.thousands:
        found = find_numbers(words, ",")
    if found and (found.reading.form, found.reading.decimal) == (known.form, known.decimal):
        return found
    cells, fits = (dates.parse_dates if known.form else parse_numbers)(words.distinct, known)
    return dates.Found(known, cells) if fits.all() else None


def _misfit(raw: Raw, words: Words, kind: Kind, date: bool, fitted: bool) -> Exception:
    """Name the first cell that is not what the others are."""
    known = kind.reading or Reading()
    if known.form if date else known.what == "number":
        _, fits = (dates.parse_dates if date else parse_numbers)(words.distinct, known)
    else:
        find = partial(dates.find_dates, compact=True) if date else find_numbers
        alone = (words.distinct[at : at + 1] for at in range(len(words)))
        fits = np.array([find(Words.once(words.name, word)) is not None for word in alone])
    rows, first, every = raw.misfits(words, fits)
    text = Param("kinds", {raw.name: "text"})
    hint = Phrase("Use ", Param("missing", [first]), " or ", text)
    if every and date:
        hint = Phrase("Write them alike, for example 2020-09-24, or use ", text)
    # How cells are read was settled by the fitted table.
    if fitted:
        hint = Phrase("Write it as the fitted cells are written, or leave it missing")
    return raw.error(rows, first, "dates" if date else "numbers", hint)


# -- what a column of numbers is -------------------------------------------------------------------


def infer_numbers(raw: Raw) -> Guess:
    """Say what a column of numbers is: a quantity, a code, an identifier, a date, one value."""
    values = arrow.to_numpy(raw.cells.drop_null())
    if pa.types.is_floating(raw.type):
        values = values[~np.isnan(values)]
    if values.min() == values.max():
        return roles.set_aside_constant(
            raw, Kind("number", f"one value, {short_number(values[0])}")
        )
    whole = pa.types.is_integer(raw.type)
    if not whole and (roles.is_key_name(raw.name) or roles.says_date(raw.name)):
        whole = are_integers(values)
        # Missing cells made floats of integers; names and dates need their digits back.
        values = values.astype(np.int64) if whole else values
    return (_infer_integers(raw, values) if whole else None) or _quantity(raw, values, whole)


def are_degrees(latitude: Raw, longitude: Raw) -> bool:
    """Whether two columns of numbers are within the latitudes and longitudes of the earth."""
    spans = zip((latitude, longitude), ((-90, 90), (-180, 360)), strict=True)
    ends = [(pc.min_max(raw.cells).as_py(), span) for raw, span in spans]
    return all(low <= found["min"] and found["max"] <= high for found, (low, high) in ends)


def _quantity(raw: Raw, values: np.ndarray, whole: bool) -> Guess:
    """Say from where to where numbers go, and what may be wrong with them."""
    low, high = values.min(), values.max()
    reason = f"values from {short_number(low)} to {short_number(high)}"
    if raw.count <= thresholds.MAX_CELLS_TO_COUNT_DISTINCT:
        reason = f"{_distinct(raw, values):,} distinct {reason}"
    times = None if raw.times is None else raw.times[raw.present()]
    note, sentinels = roles.sentinel_note(values, times)
    if whole and max(abs(int(low)), abs(int(high))) > thresholds.MAX_EXACT_INTEGER:
        note, sentinels = "beyond 2**53, where the last digits are rounded", ()
    sure = 0.8 if note else 1.0
    kind = Kind("number", reason, note=note, missing_values=sentinels, confidence=sure)
    if period := roles.find_period(raw.name, float(low), float(high)):
        reason = f"{reason}, which come round after {period:g}"
        kind = replace(kind, reason=reason, role=f"{CYCLE}{period:g}", close="number")
        kind = replace(kind, confidence=min(sure, 0.9))
    if roles.names_things(raw.name) and low >= 0:
        # At least three integers, and each comes twice on average.
        some = values[: thresholds.MAX_CELLS_TO_COUNT_DISTINCT]
        if (some == np.floor(some)).all() and 3 <= _distinct(raw, values) <= raw.count / 2:
            kind = replace(kind, confidence=0.8, close="code")
    return Guess(kind)


def _distinct(raw: Raw, values: np.ndarray) -> int:
    return len(np.unique(values)) if raw.distinct is None else raw.distinct


class _Integers(NamedTuple):
    """What decides whether integers are names: both ends, distinct ones, what floats would lose."""

    low: int
    high: int
    distinct: int
    large: bool
    lossy: bool
    why: str


def _infer_integers(raw: Raw, values: np.ndarray) -> Guess | None:
    """Recognize integers that are names or dates; None for quantities."""
    low, high = int(values.min()), int(values.max())
    first, last = thresholds.COMPACT_DATES
    if roles.says_date(raw.name) and first <= low and high <= last:
        # 20200924 is a date.
        digits = _as_integers(raw).cast(pa.large_string()).dictionary_encode()
        text = replace(raw, cells=digits)
        if guess := dates.guess_dates(text, text.strings(), compact=True):
            return guess.with_kind(close="number", confidence=0.9)
    large, key = (
        max(abs(low), abs(high)) > thresholds.MAX_EXACT_INTEGER,
        roles.is_key_name(raw.name),
    )
    if not (large or key):
        return None
    # Two integers that are one float would become equal rows.
    lossy = large and len(np.unique(values)) > len(np.unique(values.astype(np.float64)))
    why = f"named {raw.name!r}" if key else "too long to be a quantity"
    facts = _Integers(low, high, _distinct(raw, values), large, lossy, why)
    return _identifier(raw, facts) or _nearly_identifier(raw, facts) or _code(raw, facts)


def _code(raw: Raw, facts: _Integers) -> Guess | None:
    """Say why integers are categories written in digits; None where they are not."""
    many = facts.distinct > thresholds.FEW_STRINGS and roles.is_joined_id(raw.name)
    # 0 and 1 say no and yes under any name.
    named = (many or roles.is_code_name(raw.name)) and (facts.low, facts.high) != (0, 1)
    if not facts.lossy and not (named and facts.distinct < raw.count):
        return None
    reason = f"{facts.distinct:,} distinct integers in {raw.rows:,} rows, {facts.why}"
    kind = Kind("category", reason, role="code", confidence=0.8, close="number")
    return Guess(kind, raw=replace(raw, cells=_as_integers(raw)))


def _identifier(raw: Raw, facts: _Integers) -> Guess | None:
    """Say why integers that differ in every row name the rows; None where they do not."""
    if facts.distinct < max(2, raw.rows):
        return None
    if (guess := _row_number(raw, facts)) is not None:
        return guess
    # Keys by name, or too long for anything else.
    many = raw.count >= thresholds.MIN_ROWS_FOR_PATTERN
    long = facts.lossy or (facts.large and many and not roles.says_date(raw.name))
    coded = raw.count >= thresholds.MIN_ROWS_FOR_CONSTANT and roles.is_code_name(raw.name)
    if not (long or coded or roles.is_identifier_name(raw.name)):
        return None
    reason = f"{facts.distinct:,} distinct integers in as many rows, {facts.why}"
    guess = _aside(reason, confidence=0.9, close="code")
    if not facts.large:
        return guess
    # Kept as text to the last digit, which a float would lose.
    text = replace(raw, cells=raw.cells.cast(pa.large_string()).dictionary_encode())
    return replace(guess.with_kind(name="text"), raw=text)


def _nearly_identifier(raw: Raw, facts: _Integers) -> Guess | None:
    """Set keys aside that hardly repeat, or are missing in some rows: no category, no amount."""
    many = raw.count >= thresholds.MIN_ROWS_FOR_PATTERN
    hardly = facts.distinct >= thresholds.MIN_SHARE_OF_NAMES["unnamed"] * raw.count
    if facts.large or facts.low < 0 or not (many and hardly and roles.is_id_name(raw.name)):
        return None
    filled = "" if raw.count == raw.rows else f"{raw.count:,} of "
    reason = f"{facts.distinct:,} distinct integers in {filled}{raw.rows:,} rows, {facts.why}"
    return _aside(reason, confidence=0.8, close="code")


def _row_number(raw: Raw, facts: _Integers) -> Guess | None:
    """Say that integers count the rows, or number them with gaps; None where they do not."""
    name, span = raw.name, facts.high - facts.low
    many = raw.count >= thresholds.MIN_ROWS_FOR_PATTERN
    counted = many and facts.low in (0, 1) and roles.may_count_rows(name)
    if span == raw.count - 1 and (counted or roles.is_id_name(name)):
        reason = f"consecutive integers from {facts.low} to {facts.high}, named {name!r}"
        return _aside(reason, confidence=0.95)
    if many and roles.is_row_name(name) and facts.low >= 0 and span >= raw.count:
        reason = f"{facts.distinct:,} distinct integers, named {name!r}"
        return _aside(reason, confidence=0.9, close="number")
    return None


def _aside(reason: str, confidence: float, close: str = "") -> Guess:
    reason = f"identifier: {reason}"
    kind = Kind("number", reason, role="identifier", confidence=confidence, close=close)
    return Guess(kind, aside=True)


def _as_integers(raw: Raw) -> Any:
    if pa.types.is_integer(raw.type):
        return raw.cells
    missing = pa.array(~raw.present())
    return pc.if_else(missing, pa.scalar(None, raw.type), raw.cells).cast(pa.int64())
