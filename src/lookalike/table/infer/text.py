"""Text columns: the recognizers, in the order in which they are tried.

Each takes the distinct strings of a column and returns a guess, or None for "not mine".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pyarrow.compute as pc

from lookalike.table.formats.neutral import (
    SAMPLE,
    Words,
    all_match,
    gap_words,
    join_notes,
    missing_words,
    words_of,
)
from lookalike.table.formats.raw import Raw
from lookalike.table.infer.dates import find_dates, misfit_dates
from lookalike.table.infer.levels import (
    MOST,
    LevelsFound,
    find_bands,
    find_levels,
    find_numbered,
    is_partly_bands,
    is_partly_scale,
    say_shared_level,
    without_number,
)
from lookalike.table.infer.lists import kind_of, list_facts
from lookalike.table.infer.lists_text import find_sets
from lookalike.table.infer.numbers_text import find_numbers, has_leading_zeros, misfit_numbers
from lookalike.table.infer.parse import spread
from lookalike.table.infer.reading import Reading
from lookalike.table.infer.roles import (
    ROWS,
    address_kind,
    is_code_name,
    is_identifier_name,
    is_row_name,
    is_zero_padded_count,
    looks_like_codes,
    name_reason,
    says_date,
)
from lookalike.table.infer.typed import (
    Guess,
    guess_of,
    infer_dates,
    infer_flag,
    infer_numbers,
    set_aside_constant,
)
from lookalike.table.infer.vocabulary import MISSING, vocabulary
from lookalike.table.infer.written_lists import find_lists
from lookalike.table.model.kind import Kind

FEW = 20  # so many distinct short strings are a category even if none repeats
LONG = 20  # characters on average: longer strings that hardly repeat are text
OFTEN = 0.9  # distinct strings per row up to which single words are a category, not text
MISFITS = 0.2  # share of strings that may fail where the others are said to be numbers or dates


def infer_text(raw: Raw, prefer: str = "") -> Guess:
    """Say what a column of strings holds.

    Parameters
    ----------
    raw : Raw
        A text column in its neutral form.
    prefer : str
        What other columns of the table prove; see ``kinds.infer``.
    """
    words = words_of(raw)
    gap = gap_words(words.distinct)
    if gap.any() and not gap.all():
        guess = _levels(raw, words, prefer)  # "none" may be the lowest level
        if guess is not None:
            return guess
        known = words.where(~gap)
        for recognize in _RECOGNIZERS:
            if recognize is _set:  # any word may be an item: "none" says that there are none
                gap &= np.array([word.casefold() != "none" for word in words.distinct.to_pylist()])
                known = words.where(~gap)
            guess = recognize(raw, known, prefer)
            if guess is not None:
                return _with_gaps(guess, words.where(gap)) if gap.any() else guess
    else:
        for recognize in _RECOGNIZERS:
            guess = recognize(raw, words, prefer)
            if guess is not None:
                return guess
    return _words(raw, words)


def _words(raw: Raw, words: Words) -> Guess:
    """Say what strings are that stay strings; NA and its like are missing cells."""
    gone = missing_words(words.distinct)
    if not gone:
        return _strings(raw, words)
    found = np.isin(words.distinct.to_pylist(), gone)
    if found.all():
        kind = Kind("object", "every cell is missing", role="empty")
        return Guess(kind, aside=True, raw=raw.without(gone))
    guess = _with_gaps(_strings(raw.without(gone), words.where(~found)), words.where(found))
    kind = guess.kind
    if "NA" in gone and kind.name == "category":
        note = f"{kind.note} (the kind 'code' keeps the words)"
        guess = replace(guess, kind=replace(kind, note=note, close=kind.close or "code"))
    return guess


def _with_gaps(guess: Guess, gaps: Words) -> Guess:
    """Say which words were read as missing; that NA is no number goes without saying."""
    if guess.kind.name == "number" and set(gaps.distinct.to_pylist()) <= set(MISSING):
        return guess
    found = tuple(sorted(set(gaps.distinct.to_pylist())))
    shown = ", ".join(repr(word) for word in found[:3])
    cells = f"{gaps.count:,} cell{'' if gaps.count == 1 else 's'}"
    note = join_notes(guess.kind.note, f"{cells} {shown} read as missing")
    reading = replace(guess.kind.reading or Reading(), gaps=found)
    kind = replace(guess.kind, reading=reading, note=note)
    kind = replace(kind, confidence=min(kind.confidence, 0.9))
    if gaps.count > 0.5 * (gaps.rows or 1):
        kind = replace(kind, confidence=0.6, close=kind.close or "category")
    return replace(guess, kind=kind)


# -- read as something typed -----------------------------------------------------------------------


def _truth(raw: Raw, words: Words, prefer: str) -> Guess | None:
    if len(words) > 6:
        return None
    lower = pc.utf8_lower(words.distinct)
    if not set(lower.to_pylist()) <= {"true", "false"}:
        return None
    typed = spread(raw, words, pc.equal(lower, "true"))
    return replace(infer_flag(typed), raw=typed)


def _padded(raw: Raw, words: Words, prefer: str) -> Guess | None:
    """Digits after a zero, or very many digits, are a name, not an amount."""
    if not all_match(words.distinct, r"^\d+$"):
        return None
    long = bool(pc.any(pc.match_substring_regex(words.distinct, r"^\d{19}")).as_py())
    if not long and not has_leading_zeros(words.distinct):
        return None
    if is_zero_padded_count(raw.name, words.distinct):
        return None
    n, rows = len(words), words.rows
    why = "too long to be a quantity" if long else "some with leading zeros"
    reason = f"{n:,} distinct digit strings in {rows:,} rows, {why}"
    if n == 1:
        return _constant(raw, words)
    if n == words.count == rows and rows >= ROWS:
        kind = Kind("text", f"identifier: {reason}", role="identifier", confidence=0.9)
        return Guess(replace(kind, close="code"), aside=True)
    return Guess(Kind("category", reason, role="code", confidence=0.9, close="number"))


def _number(raw: Raw, words: Words, prefer: str) -> Guess | None:
    if says_date(raw.name) and all_match(words.distinct, r"^\d{8}$"):
        guess = _date(raw, words, prefer)  # 20200924
        if guess is not None:
            return replace(guess, kind=replace(guess.kind, close="number", confidence=0.9))
    found = find_numbers(words, prefer if prefer in (",", ".") else "")
    if found is None or pc.all(pc.is_null(found.cells, nan_is_null=True)).as_py():  # "NAN" alone
        return None
    typed = spread(raw, words, found.cells)
    guess = infer_numbers(typed)
    kind, reading = guess.kind, found.reading
    if reading != Reading("number"):
        unit = reading.unit or reading.currency
        reason = kind.reason + (f" {unit}" if unit and not kind.role else "")
        kind = replace(kind, reason=reason, reading=reading, note=join_notes(kind.note, found.note))
        kind = replace(kind, confidence=min(kind.confidence, 0.95))
    if found.open:
        other = "decimal_comma" if found.open == "," else "decimal_point"
        kind = replace(kind, confidence=0.6, close=other)
    return Guess(kind, guess.aside, guess.raw or typed, found.proves, bool(found.open))


def _date(raw: Raw, words: Words, prefer: str) -> Guess | None:
    compact = says_date(raw.name)
    found = find_dates(words, prefer if prefer in ("dmy", "mdy") else "", compact)
    if found is None:
        return None
    typed = spread(raw, words, found.cells)
    guess = infer_dates(typed)
    kind = replace(guess.kind, note=join_notes(guess.kind.note, found.note), reading=found.reading)
    if found.open:
        kind = replace(kind, confidence=0.6, close=found.open)
    return Guess(kind, guess.aside, typed, found.proves, found.open in ("dmy", "mdy"))


# -- flags -----------------------------------------------------------------------------------------


def _flag(raw: Raw, words: Words, prefer: str) -> Guess | None:
    if len(words) != 2:  # "Yes" beside "yes" is a third answer until its writer says otherwise
        return None
    listed = words.written.to_pylist()
    lower = [without_number(word).casefold() for word in listed]
    for no, yes in vocabulary().flags:
        if set(lower) == {no, yes}:
            levels = tuple(listed[lower.index(word)] for word in (no, yes))
            kind = Kind("flag", f"{levels[0]} or {levels[1]}", levels, confidence=0.95)
            # "No" in words is an answer as good as "yes"; false may only mean that nothing is set.
            role = "" if yes == "true" else "answer"
            return Guess(replace(kind, close="category", role=role))
    return None


def _mark(raw: Raw, words: Words, prefer: str) -> Guess | None:
    if len(words) != 1 or words.count == words.rows or words.rows < 5:
        return None
    word = words.written[0].as_py()
    if word.strip().casefold() not in vocabulary().marks or raw.count != words.count:
        return None
    note = f"a cell without {word!r} is read as no"
    kind = Kind("flag", f"{word!r} or nothing", ("", word), confidence=0.8, close="category")
    return Guess(replace(kind, note=note, reading=Reading("mark")))


# -- order, sets -----------------------------------------------------------------------------------


def _levels(raw: Raw, words: Words, prefer: str) -> Guess | None:
    if not 2 <= len(words) <= MOST:
        return None
    found = find_levels(raw.name, words.counted())
    return None if found is None else _ordered(raw, found)


def _ranked(raw: Raw, words: Words, prefer: str) -> Guess | None:
    if not 2 <= len(words) <= MOST:
        return None
    counted = words.counted()
    found = find_numbered(counted) or find_bands(counted)
    return None if found is None else _ordered(raw, found)


def _ordered(raw: Raw, found: LevelsFound) -> Guess:
    names = " < ".join(found.levels[:12]) + (" < ..." if len(found.levels) > 12 else "")
    kind = Kind("order", f"{found.what}: {names}", found.levels, confidence=0.9)
    kind = replace(kind, reading=Reading("level"))
    if found.open:
        kind = replace(kind, close="category", confidence=0.6)
    return Guess(kind)


def _list(raw: Raw, words: Words, prefer: str) -> Guess | None:
    cells = find_lists(words)
    if cells is None:
        return None
    facts = list_facts(cells)
    assert facts is not None, "there are words"
    kind = kind_of(facts)
    kind = replace(kind, reason=f"written {kind.reason}", confidence=0.95, close="text")
    kind = replace(kind, reading=Reading("list"))
    return guess_of(kind, spread(raw, words, cells))


def _set(raw: Raw, words: Words, prefer: str) -> Guess | None:
    found = find_sets(words)
    if found is None:
        return None
    reason = f"items between {found.separator!r}, {found.items:,} distinct in all"
    kind = Kind("set", reason, confidence=0.7 if found.open else 0.9, close="category")
    return Guess(replace(kind, reading=Reading("set", separator=found.separator)))


_RECOGNIZERS: tuple[Callable[[Raw, Words, str], Guess | None], ...] = (
    _truth,
    _padded,
    _number,
    _date,
    _flag,
    _mark,
    _levels,
    _ranked,
    _list,
    _set,
)


# -- strings that stay strings ---------------------------------------------------------------------


def _constant(raw: Raw, words: Words) -> Guess:
    kind = Kind("category", f"one value, {words.distinct[0].as_py()!r:.40}")
    plural = "s" if words.rows > 1 else ""
    return set_aside_constant(raw, kind, f"1 distinct string in {words.rows:,} row{plural}")


def _strings(raw: Raw, words: Words) -> Guess:
    n, rows, count = len(words), words.rows, words.count
    if n == 1:
        return _constant(raw, words)
    reason = f"{n:,} distinct strings in {rows:,} rows"
    if n == count == rows:
        if is_identifier_name(raw.name) or is_row_name(raw.name):
            kind = Kind("text", f"identifier: {reason}, named {raw.name!r}", role="identifier")
            return Guess(replace(kind, confidence=0.9, close="text"), aside=True)
        addresses = address_kind(words)
        if rows >= ROWS and looks_like_codes(words.distinct) and addresses in ("", "UUIDs"):
            kind = Kind("text", f"identifier: {reason}, all of them codes", role="identifier")
            return Guess(replace(kind, confidence=0.9, close="text"), aside=True)
    named = None if 2 * n <= count and n > 1 else name_reason(words)
    if named is not None:
        why, confidence = named
        kind = Kind("text", f"{reason}, {why}", role="name", confidence=confidence, close="text")
        return Guess(kind, aside=True)
    if 2 * n <= count:
        return Guess(_category(raw, words, reason))
    length = pc.mean(pc.utf8_length(words.distinct)).as_py()
    spaced = pc.sum(pc.match_substring(words.distinct, " ")).as_py()
    if n > FEW and n < count and looks_like_codes(words.distinct):
        return Guess(replace(_category(raw, words, reason), role="code", close="text"))
    if length > LONG or 2 * spaced >= n or (n > FEW and n > OFTEN * count):
        kind = Kind("text", f"{reason}, {length:.0f} characters on average", confidence=0.8)
        return Guess(_nearly(kind, words))
    kind = _category(raw, words, reason)
    return Guess(replace(kind, close=kind.close or "text") if n > FEW else kind)


def _category(raw: Raw, words: Words, reason: str) -> Kind:
    kind = Kind("category", reason, confidence=0.9)
    if is_code_name(raw.name) and all_match(words.distinct, r"\d"):
        kind = replace(kind, role="code")
    if len(words) > MOST:
        return _nearly(kind, words)
    counted = words.counted()
    gaps = [word for word in counted if word.strip().casefold() in vocabulary().gaps]
    if gaps:
        cells = sum(counted[word] for word in gaps)
        kind = replace(kind, note=f"{cells:,} cells are the word {gaps[0]!r}", gaps=tuple(gaps))
    shared = say_shared_level(raw.name, counted)
    if shared:  # no second reading: only the caller can say which of the two is higher
        return replace(kind, note=join_notes(kind.note, shared), confidence=0.7)
    if is_partly_scale(raw.name, counted) or is_partly_bands(counted):
        return replace(kind, close="order", confidence=0.7)
    return _nearly(kind, words)


def _nearly(kind: Kind, words: Words) -> Kind:
    """Say where most cells are numbers or dates, and which is the first that is not."""
    if len(words) < 5 or kind.role:
        return kind
    for what, misfit in (("numbers", misfit_numbers), ("dates or times", misfit_dates)):
        if misfit(words.distinct[:SAMPLE]).mean() > 2 * MISFITS:
            continue
        gone = words.where(misfit(words.distinct))
        if len(gone) > MISFITS * len(words) or gone.count > MISFITS * words.count:
            continue
        listed = gone.distinct.to_pylist()
        shown = ", ".join(repr(word) for word in listed[:3]) + (", ..." if len(listed) > 3 else "")
        note = f"{words.count - gone.count:,} of {words.count:,} cells are {what}, not {shown}"
        return replace(
            kind,
            note=join_notes(kind.note, note),
            gaps=(*kind.gaps, *listed) if len(listed) <= 5 else kind.gaps,
            confidence=min(kind.confidence, 0.7),
        )
    return kind
