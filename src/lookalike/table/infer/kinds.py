"""What a column holds, with a reason that a person can read.

Cells are brought to one neutral form first (``formats/raw.py``), so that a file, a frame and a list
of the same cells end alike. Then the rules, in order; the first that fits decides (the numbers in
them are in ``thresholds.py``):

1. Every cell missing: set aside.
2. An order declared by the source (ordered categories of pandas or Arrow, polars Enum): order.
3. Text is read as what all of its cells are in one reading, where "n/a", "-", "?" and "unknown" are
   missing cells: true/false; digits with leading zeros are a code, and so are digits alone that a
   source with types keeps as text; numbers (money, thousands, decimal comma, percent, one unit,
   brackets, limits of detection); dates, times and durations; yes/no and its like: flag; an x or
   nothing: flag; words of one known scale (``data/scales.toml``), each on a level of its own,
   numbered answers, bands: order; lists in brackets (``lists.py``): rules 7 and 8; items between
   separators that come again in other cells: set.
4. Other strings, without the words NA, NaN and null (missing cells, except NA where all others are
   two capital letters too): identifier (set aside) without a repeat under a name such as "id", or
   where all are codes; name (set aside, to show and to search by) where nearly every row has
   another one and they are short, or they are e-mail or web addresses, UUIDs, paths, persons;
   category where they come twice or more on average; text when they are more than 20 characters
   long on average, or half of them contain a space and not all their words are capitalised, or more
   than 20 are distinct and hardly one repeats; else category. Texts of 100 characters or more on
   average are documents, which are compared by their words. Where most of them are numbers or
   dates, the note says so.
5. Numbers: number; under a name such as "hour", "month", "wday" or "wind_dir", within one period
   and over more than half of it, they come round (cycle). Never order or flag, whatever the values:
   a 0/1 column is a number until ``kinds=`` says otherwise. Integers under a name such as
   "store_id", "zip" or "account_no" are a code (category) where they repeat and an identifier (set
   aside) where they do not, as are those under a name such as "index" or "rownames", or "case"
   where they count them; 20200924 is a date under such a name. Under a name such as "subject" or
   "region" they stay numbers, with the code as the second reading. Two columns named alike but for
   "lat" and "lon", all of whose numbers are degrees, are compared as one (place).
6. True/false: flag. Dates, times and durations: number in seconds, with the role date or time.
   Strings that the source stores as categories without an order are read like other text; numbers
   and dates that it declares to be categories stay so.
7. Lists of numbers, all of one length from 2: histogram where nothing is negative and all sums
   agree within 1 %, else vector. Of several lengths: series, except integers that never repeat in a
   row and come twice or more on average: set.
8. Lists of strings: set where no row repeats one, else sequence. Lists of lists: sequence of sets.
9. Sets: set. Graphs (``nodes`` and ``edges``): graph. Anything else, such as records, is an object:
   set aside until a measure brings a distance for it (``compare_also``).
10. One value in ten rows or more, and exact copies of another column in twenty rows or more: set
    aside.
"""

from __future__ import annotations

import datetime as dt
import decimal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from numbers import Number
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lookalike.table.formats import arrow
from lookalike.table.formats.raw import Raw, Words, of_array
from lookalike.table.infer import dates, levels, lists, numbers, roles, thresholds
from lookalike.table.infer.roles import Guess, guess_of
from lookalike.table.infer.vocabulary import MISSING, means_missing, missing_words, vocabulary
from lookalike.table.model.cells import is_graph
from lookalike.table.model.kind import DOCUMENT, Kind, Reading, join_notes

EMPTY = Guess(Kind("object", "every cell is missing", role="empty"), aside=True)


def infer(raw: Raw, prefer: str = "") -> Guess:
    """Say what a column holds, and why.

    Parameters
    ----------
    raw : Raw
    prefer : {"", ",", ".", "dmy", "mdy"}
        What other columns of the table prove, where this one alone is open.

    Returns
    -------
    Guess
        Its kind may have no levels yet; those are learned when the cells are converted.
    """
    raw = raw.neutral()
    if not raw.present().any():
        return EMPTY
    if not raw.is_arrow:
        return _objects(raw)
    if raw.declared in ("order", "enum"):
        kind = Kind("order", f"{len(raw.words):,} ordered levels declared by the source")
        unsure = replace(kind, confidence=0.7, close="category")
        return Guess(unsure if raw.declared == "enum" else kind)
    if raw.is_text:
        return infer_text(_in_order_of_rows(raw), prefer)
    if raw.declared:
        return Guess(Kind("category", f"{len(raw.words):,} categories declared by the source"))
    for is_of_type, infer_type in _BY_TYPE:
        if is_of_type(raw.type):
            return infer_type(raw)
    return guess_of(Kind("object", f"cells of type {raw.type}"))


def infer_flag(raw: Raw) -> Guess:
    """Say that a column is true or false, or only one of them."""
    cells = raw.cells.drop_null()
    if len(cells.unique()) > 1:
        return Guess(Kind("flag", "true/false"))
    kind = Kind("flag", f"one value, {str(cells[0].as_py()).lower()}")
    return roles.set_aside_constant(raw, kind, "true/false")


def _has_graphs(kind: Any) -> bool:
    return pa.types.is_struct(kind) and {"nodes", "edges"} <= {field.name for field in kind}


_BY_TYPE: tuple[tuple[Callable[[Any], bool], Callable[[Raw], Guess]], ...] = (
    (pa.types.is_boolean, infer_flag),
    (pa.types.is_temporal, dates.infer_dates),
    (arrow.is_number, numbers.infer_numbers),
    (arrow.is_list, lambda raw: guess_of(lists.kind_of_lists(raw.cells))),
    (_has_graphs, lambda raw: Guess(Kind("graph", "records with nodes and edges"))),
)


def infer_columns(raws: Sequence[Raw]) -> dict[str, Guess]:
    """Say what each column holds; what one leaves open, another may settle.

    A column of "24/09/2020" proves that days come first, also for the "03/04/2020" beside it.
    """
    guesses = {raw.name: infer(raw) for raw in raws}
    for pair in ((",", "."), dates.ORDERS):
        proven = {guess.proves for guess in guesses.values() if guess.proves in pair}
        if len(proven) == 1:
            settled = proven.pop()
            for raw in raws:
                guesses[raw.name] = _settle(raw, guesses[raw.name], settled)
    return _with_places(raws, guesses)


def _with_places(raws: Sequence[Raw], guesses: dict[str, Guess]) -> dict[str, Guess]:
    """Return the guesses, with a latitude and a longitude as one place."""
    numeric = {name for name, g in guesses.items() if g.kind.name == "number" and not g.aside}
    plain = [raw for raw in raws if raw.name in numeric and not guesses[raw.name].kind.source]
    for latitude, longitude in roles.find_places(plain):
        parts = (latitude.name, longitude.name)
        cells = [guesses[raw.name].raw or raw for raw in (latitude, longitude)]
        for name in parts if numbers.are_degrees(*cells) else ():
            kind = guesses[name].kind
            reason = f"{kind.reason}, {' and '.join(map(repr, parts))} in degrees"
            found = {"role": "", "confidence": min(kind.confidence, 0.9), "close": "number"}
            guesses[name] = guesses[name].with_kind(reason=reason, parts=parts, **found)
    return guesses


def _settle(raw: Raw, guess: Guess, settled: str) -> Guess:
    """Guess again where a column left open what another one proves."""
    comma = settled == "," and guess.kind.name == "number" and raw.is_text
    if not guess.open and not comma:
        return guess
    again = infer(raw, settled)
    if again.kind.reading == guess.kind.reading and not guess.open:
        return guess
    return again.with_kind(note=f"{again.kind.note}, as another column is", confidence=0.8)


def _in_order_of_rows(raw: Raw) -> Raw:
    """Return declared categories as the strings they are: how they are stored says nothing."""
    if not raw.declared:
        return raw
    used, first = np.unique(arrow.to_numpy(raw.cells.drop_null().indices), return_index=True)
    return raw.with_order(used[np.argsort(first)])


def _objects(raw: Raw) -> Guess:
    """Say what Python objects are, by their types."""
    cells = [cell for cell in raw.cells if cell is not None]
    types = {type(cell) for cell in cells}

    def every(*classes: Any) -> bool:
        return all(issubclass(kind, classes) for kind in types)

    if every(set, frozenset):
        distinct = len(frozenset().union(*cells))
        return Guess(Kind("set", f"sets, {distinct:,} distinct items in all"))
    if all(map(is_graph, cells)):
        return Guess(Kind("graph", "cells with nodes and edges"))
    if every(Number, decimal.Decimal):
        values = numbers.floats_of_objects(raw)
        return numbers.infer_numbers(of_array(raw.name, values))
    names = ", ".join(sorted(kind.__name__ for kind in types))
    if every(str, Number, decimal.Decimal, dt.date, dt.time, dt.timedelta, np.generic):
        what = f"mixed types ({names})" if len(types) > 1 else f"type {names}"
        return Guess(Kind("category", f"{len(set(cells)):,} distinct values of {what}"))
    if types <= {list, tuple, np.ndarray}:
        if not any(isinstance(item, Mapping | np.ndarray) for cell in cells for item in cell):
            return Guess(Kind("sequence", "lists of mixed items"))
    return guess_of(Kind("object", f"cells of type {names}"))


# -- text: the recognizers, in the order in which they are tried -----------------------------------


def infer_text(raw: Raw, prefer: str = "") -> Guess:
    """Say what a column of strings holds.

    Parameters
    ----------
    raw : Raw
        A text column in its neutral form.
    prefer : str
        What other columns of the table prove; see ``kinds.infer``.
    """
    words = raw.strings()
    missing = means_missing(words.distinct)
    if not missing.any() or missing.all():
        return _first(_RECOGNIZERS, raw, words, prefer) or _words(raw, words)
    # "none" may be the lowest level.
    if (guess := _levels(raw, words, prefer)) is not None:
        return guess
    guess = _first(_RECOGNIZERS[:-1], raw, words.where(~missing), prefer)
    # Any word may be an item of a set: "none" says that there are none.
    if guess is None:
        missing &= np.array([word.casefold() != "none" for word in words.distinct.to_pylist()])
        guess = _set(raw, words.where(~missing), prefer)
    if guess is None:
        return _words(raw, words)
    return _with_missing(guess, words.where(missing)) if missing.any() else guess


def _first(recognizers: Sequence[Recognizer], raw: Raw, words: Words, prefer: str) -> Guess | None:
    guesses = (recognize(raw, words, prefer) for recognize in recognizers)
    return next((guess for guess in guesses if guess is not None), None)


def _words(raw: Raw, words: Words) -> Guess:
    """Say what strings are that stay strings; NA and its like are missing cells."""
    if not (listed := missing_words(words.distinct)):
        return _strings(raw, words)
    missing, raw = np.isin(words.distinct.to_pylist(), listed), raw.without(listed)
    if missing.all():
        return replace(EMPTY, raw=raw)
    guess = _with_missing(_strings(raw, words.where(~missing)), words.where(missing))
    kind = guess.kind
    if "NA" in listed and kind.name == "category":
        note = f"{kind.note} (the kind 'code' keeps the words)"
        return guess.with_kind(note=note, close=kind.close or "code")
    return guess


def _with_missing(guess: Guess, missing: Words) -> Guess:
    """Say which words were read as missing; not that NA is, among numbers."""
    listed = tuple(sorted(set(missing.distinct.to_pylist())))
    if guess.kind.name == "number" and set(listed) <= set(MISSING):
        return guess
    shown = ", ".join(repr(word) for word in listed[:3])
    cells = f"{missing.count:,} cell{'' if missing.count == 1 else 's'}"
    note = join_notes(guess.kind.note, f"{cells} {shown} read as missing")
    reading = replace(guess.kind.reading or Reading(), missing_words=listed)
    guess = guess.with_kind(reading=reading, note=note, confidence=min(guess.kind.confidence, 0.9))
    if missing.count > 0.5 * (missing.rows or 1):
        return guess.with_kind(confidence=0.6, close=guess.kind.close or "category")
    return guess


# -- read as something typed -----------------------------------------------------------------------


def _truth(raw: Raw, words: Words, prefer: str) -> Guess | None:
    lower = pc.utf8_lower(words.distinct[:7])
    if len(words) > 6 or not set(lower.to_pylist()) <= {"true", "false"}:
        return None
    typed = raw.spread(words, pc.equal(lower, "true"))
    return replace(infer_flag(typed), raw=typed)


def _padded(raw: Raw, words: Words, prefer: str) -> Guess | None:
    """Digits that are a name, not an amount: after a zero, very many, or text where numbers go."""
    if not arrow.all_match(words.distinct, r"^\d+$") or not (why := _why_names(raw, words)):
        return None
    n, rows = len(words), words.rows
    reason = f"{n:,} distinct digit strings in {rows:,} rows, {why}"
    if n == 1:
        return _constant(raw, words)
    note = f"pass kinds={{{raw.name!r}: 'number'}} to compare them as numbers"
    note = note if why == TEXT_BY_CHOICE else ""
    if n == words.count == rows and rows >= thresholds.MIN_ROWS_FOR_PATTERN:
        return _identifier(reason, close="number" if note else "code").with_kind(note=note)
    return Guess(Kind("category", reason, role="code", confidence=0.9, close="number", note=note))


TEXT_BY_CHOICE = "kept as text where numbers could be"


def _why_names(raw: Raw, words: Words) -> str:
    """Say why digits are a name; "" where they may be an amount."""
    if arrow.matches(words.distinct, r"^\d{19}").any():
        return "too long to be a quantity"
    if arrow.matches(words.distinct, r"^0\d+$").any():  # as in 02139, but not months 01 to 12
        counts = roles.is_zero_padded_count(raw.name, words.distinct)
        return "" if counts else "some with leading zeros"
    # A frame whose cells are digits beside "n/a" has no other type for them.
    chosen = raw.typed and words.count == raw.count
    compact = roles.says_date(raw.name) and arrow.all_match(words.distinct, r"^\d{8}$")
    return TEXT_BY_CHOICE if chosen and not compact else ""


def _number(raw: Raw, words: Words, prefer: str) -> Guess | None:
    compact = roles.says_date(raw.name) and arrow.all_match(words.distinct, r"^\d{8}$")  # 20200924
    if compact and (guess := _date(raw, words, prefer)) is not None:
        return guess.with_kind(close="number", confidence=0.9)
    # As pandas writes durations of whole days; people write "1 day", with the day as a unit.
    if arrow.all_match(words.distinct, r"^-?\d+ days$"):
        return _date(raw, words, prefer)
    found = numbers.find_numbers(words, prefer if prefer in (",", ".") else "")
    if found is None or pc.all(pc.is_null(found.cells, nan_is_null=True)).as_py():  # "NAN" alone
        return None
    if "<" in found.reading.marks and not numbers.are_measured(found.cells):
        return None
    typed = raw.spread(words, found.cells)
    guess = numbers.infer_numbers(typed)
    kind = _with_reading(guess.kind, found)
    return Guess(kind, guess.aside, guess.raw or typed, found.proves, bool(found.open))


def _with_reading(kind: Kind, found: dates.Found) -> Kind:
    """Say how numbers were written, and what would be another way to read them."""
    reading, sure = found.reading, min(kind.confidence, 0.95)
    if reading != numbers.PLAIN:
        unit = reading.unit or reading.currency
        reason = f"{kind.reason} {unit}" if unit and not kind.role else kind.reason
        note = join_notes(kind.note, found.note)
        kind = replace(kind, reason=reason, reading=reading, note=note, confidence=sure)
    if found.open:
        other = "decimal_comma" if found.open == "," else "decimal_point"
        kind = replace(kind, confidence=0.6, close=other)
    return kind


def _date(raw: Raw, words: Words, prefer: str) -> Guess | None:
    return dates.guess_dates(raw, words, prefer, compact=roles.says_date(raw.name))


# -- flags -----------------------------------------------------------------------------------------


def _flag(raw: Raw, words: Words, prefer: str) -> Guess | None:
    # "Yes" beside "yes" is a third answer until its writer says otherwise.
    if len(words) != 2:
        return None
    written = {levels.without_number(word).casefold(): word for word in words.written.to_pylist()}
    for no, yes in vocabulary().flags:
        if written.keys() == {no, yes}:
            pair = written[no], written[yes]
            kind = Kind("flag", f"{pair[0]} or {pair[1]}", pair, confidence=0.95, close="category")
            # "No" in words is an answer as good as "yes"; false may only mean that nothing is set.
            return Guess(replace(kind, role="" if yes == "true" else "answer"))
    return None


def _mark(raw: Raw, words: Words, prefer: str) -> Guess | None:
    if len(words) != 1 or words.count == words.rows or words.rows < 5:
        return None
    word = words.written[0].as_py()
    if word.strip().casefold() not in vocabulary().marks or raw.count != words.count:
        return None
    kind = Kind("flag", f"{word!r} or nothing", ("", word), confidence=0.8, close="category")
    note = f"a cell without {word!r} is read as no"
    return Guess(replace(kind, note=note, reading=Reading("mark")))


# -- order, sets -----------------------------------------------------------------------------------


def _levels(raw: Raw, words: Words, prefer: str) -> Guess | None:
    kind = levels.find_levels(raw.name, _few(words))
    return None if kind is None else Guess(kind)


def _ranked(raw: Raw, words: Words, prefer: str) -> Guess | None:
    kind = levels.find_numbered(_few(words)) or levels.find_bands(_few(words))
    return None if kind is None else Guess(kind)


def _few(words: Words) -> dict[str, int]:
    """Return words and their counts; none where they are too many to be levels."""
    return words.counted() if len(words) <= thresholds.MAX_LEVELS else {}


def _list(raw: Raw, words: Words, prefer: str) -> Guess | None:
    if (cells := lists.find_lists(words)) is None:
        return None
    kind = lists.kind_of_lists(cells)
    kind = replace(kind, reason=f"written {kind.reason}", confidence=0.95, close="text")
    return roles.guess_of(replace(kind, reading=Reading("list")), raw.spread(words, cells))


def _set(raw: Raw, words: Words, prefer: str) -> Guess | None:
    kind = lists.find_sets(words)
    return None if kind is None else Guess(kind)


# A recognizer takes the column, its distinct strings and what other columns prove.
Recognizer = Callable[[Raw, Words, str], Guess | None]
_RECOGNIZERS = (_truth, _padded, _number, _date, _flag, _mark, _levels, _ranked, _list, _set)


# -- strings that stay strings ---------------------------------------------------------------------


def _constant(raw: Raw, words: Words) -> Guess:
    kind = Kind("category", f"one value, {words.distinct[0].as_py()!r:.40}")
    plural = "s" if words.rows > 1 else ""
    return roles.set_aside_constant(raw, kind, f"1 distinct string in {words.rows:,} row{plural}")


def _identifier(reason: str, close: str = "text") -> Guess:
    kind = Kind("text", f"identifier: {reason}", role="identifier", confidence=0.9, close=close)
    return Guess(kind, aside=True)


def _strings(raw: Raw, words: Words) -> Guess:
    n, count = len(words), words.count
    if n == 1:
        return _constant(raw, words)
    reason = f"{n:,} distinct strings in {words.rows:,} rows"
    if n == count == words.rows and (guess := _key(raw, words, reason)) is not None:
        return guess
    if 2 * n <= count:
        return Guess(_category(raw, words, reason))
    # Numbers with a few words between them name nothing.
    if _misfits(words) is None and (named := roles.name_reason(words)) is not None:
        why, confidence = named
        kind = Kind("text", f"{reason}, {why}", role="name", confidence=confidence, close="text")
        return Guess(kind, aside=True)
    return Guess(_text_or_category(raw, words, reason))


def _key(raw: Raw, words: Words, reason: str) -> Guess | None:
    """Say why strings that differ in every row are identifiers; None where they are not."""
    if roles.is_id_name(raw.name):
        return _identifier(f"{reason}, named {raw.name!r}")
    # In a few rows all strings differ by chance.
    if words.rows < thresholds.MIN_ROWS_FOR_PATTERN or not roles.looks_like_codes(words.distinct):
        return None
    plain = roles.address_kind(words) in ("", "UUIDs")
    return _identifier(f"{reason}, all of them codes") if plain else None


def _text_or_category(raw: Raw, words: Words, reason: str) -> Kind:
    """Tell strings that hardly repeat apart: by length, spaces, and how many differ."""
    n, count = len(words), words.count
    if thresholds.FEW_STRINGS < n < count and roles.looks_like_codes(words.distinct):
        return replace(_category(raw, words, reason), role="code", close="text")
    length = pc.mean(pc.utf8_length(words.distinct)).as_py()
    spaced = pc.sum(pc.match_substring(words.distinct, " ")).as_py()
    hardly_repeat = n > thresholds.FEW_STRINGS and n > thresholds.MAX_CATEGORY_SHARE * count
    # Words after a space are prose, except in names of places and the like that come again.
    prose = 2 * spaced >= n and not (n < count and roles.are_labels(words.distinct))
    if length > thresholds.MAX_MEAN_LABEL_LENGTH or prose or hardly_repeat:
        kind = Kind("text", f"{reason}, {length:.0f} characters on average", confidence=0.8)
        kind = _nearly(kind, words)
        spaces = pc.mean(pc.count_substring(words.distinct, " ")).as_py()
        # Sequences of letters, such as DNA, are long without having words.
        if thresholds.MIN_MEAN_DOCUMENT_LENGTH <= length <= thresholds.MAX_WORD_LENGTH * spaces:
            why = f"{kind.reason}, compared by their words"
            kind = replace(kind, reason=why, role=DOCUMENT, close="text")
        return kind
    kind = _category(raw, words, reason)
    return replace(kind, close=kind.close or "text") if n > thresholds.FEW_STRINGS else kind


def _category(raw: Raw, words: Words, reason: str) -> Kind:
    kind = Kind("category", reason, confidence=0.9)
    if roles.is_code_name(raw.name) and arrow.all_match(words.distinct, r"\d"):
        kind = replace(kind, role="code")
    if len(words) > thresholds.MAX_LEVELS:
        return _nearly(kind, words)
    counted = words.counted()
    missing = tuple(word for word in counted if word.strip().casefold() in vocabulary().missing)
    if missing:
        cells = sum(counted[word] for word in missing)
        note = f"{cells:,} cell{'s are' if cells > 1 else ' is'} the word {missing[0]!r}"
        kind = replace(kind, note=note, missing_values=missing)
    shared = levels.say_shared_level(raw.name, counted)
    # No second reading: only the caller can say which of the two is higher.
    if shared:
        return replace(kind, note=join_notes(kind.note, shared), confidence=0.7)
    if levels.is_partly_scale(raw.name, counted) or levels.is_partly_bands(counted):
        return replace(kind, close="order", confidence=0.7)
    return _nearly(kind, words)


def _nearly(kind: Kind, words: Words) -> Kind:
    """Say where most cells are numbers or dates, and which is the first that is not."""
    if kind.role or (found := _misfits(words)) is None:
        return kind
    what, others = found
    listed = others.distinct.to_pylist()
    shown = ", ".join(map(repr, listed[:3])) + (", ..." if len(listed) > 3 else "")
    note = f"{words.count - others.count:,} of {words.count:,} cells are {what}, not {shown}"
    values = (*kind.missing_values, *(listed if len(listed) <= 5 else ()))
    kind = replace(kind, note=join_notes(kind.note, note), missing_values=values)
    return replace(kind, confidence=min(kind.confidence, 0.7))


def _misfits(words: Words) -> tuple[str, Words] | None:
    """Return what most strings are, numbers or dates, and those that are not; else None."""
    readings = {"numbers": numbers.misfit_numbers, "dates or times": dates.misfit_dates}
    for what, misfit in readings.items() if len(words) >= 5 else ():
        # Twice the share in a sample is beyond chance, so all strings need not be tried.
        sample = words.distinct[: arrow.MAX_SAMPLE_STRINGS]
        if misfit(sample).mean() > 2 * thresholds.MAX_MISFIT_SHARE:
            continue
        others = words.where(misfit(words.distinct))
        share = max(len(others) / len(words), others.count / words.count)
        if 0 < share <= thresholds.MAX_MISFIT_SHARE:
            return what, others
    return None
