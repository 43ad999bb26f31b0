"""Category, order and flag: cells that become codes into a list of levels."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

from lookalike.errors import LISTED, InPython, InvalidInput, Param, Phrase, WrongType
from lookalike.table.formats.raw import Raw, is_missing, written
from lookalike.table.infer.levels import find_bands, find_circle, find_levels, find_numbered
from lookalike.table.infer.numbers import read_number
from lookalike.table.infer.roles import Guess, find_period, set_aside_constant
from lookalike.table.infer.thresholds import MAX_LEVELS
from lookalike.table.infer.vocabulary import Scale, fold, known_scales, vocabulary
from lookalike.table.model.kind import CYCLE, Kind, Reading
from lookalike.table.model.table import Column, unknown_code

_TRUTH = ("true", "false")
# However either is written.
_TRUE_IS_1 = (("0", "false"), ("1", "true"))
# Cells that hold several values.
_SEVERAL = (set, frozenset, Mapping, list, tuple, np.ndarray)


# In the order of the known scales.
CYCLES = ("weekday", "month")


@cache
def _answers() -> tuple[dict[str, str], dict[str, str]]:
    """Return the words for yes and those for no, each with its opposite."""
    # The first of several opposites is written last.
    flags = vocabulary().flags[::-1]
    return {yes: no for no, yes in flags} | {"1": "0"}, dict(flags) | {"0": "1"}


def _encode(raw: Raw) -> tuple[list[Any], np.ndarray]:
    """Return the distinct scalars of a column and a code per row, -1 where missing."""
    if not raw.is_arrow or pa.types.is_nested(raw.type):
        values: dict[Any, int] = {}
        codes = np.full(len(raw), -1, dtype=np.int64)
        for row, cell in enumerate(raw.values()):
            if cell is None:
                continue
            if isinstance(cell, _SEVERAL) or not isinstance(cell, Hashable):
                hint = "Leave the kind to be guessed, or give each cell one value"
                raise raw.error(row, cell, "single values", hint, WrongType)
            codes[row] = values.setdefault(cell, len(values))
        return list(values), codes
    cells = raw.cells if pa.types.is_dictionary(raw.type) else raw.cells.dictionary_encode()
    # NaN may be among the values: who reads them finds it missing.
    return cells.dictionary.to_pylist(), replace(raw, cells=cells).codes.astype(np.int64)


def _recode(codes: np.ndarray, new_codes: list[int]) -> np.ndarray:
    # The last entry is for code -1.
    return np.array([*new_codes, -1], dtype=np.int64)[codes]


def _finder(levels: tuple[Any, ...]) -> Callable[[Any], int | None]:
    """Return a function from value to code: equal first, else written alike (4, 4.0 and "4")."""
    exact = {level: code for code, level in enumerate(levels)}
    # Made when the first value is not a level: those of the column itself all are.
    alike = cache(lambda: _written_alike(levels))

    def find(value: Any) -> int | None:
        code = exact.get(value)
        return alike().get(written(value)) if code is None else code

    return find


def _written_alike(levels: tuple[Any, ...]) -> dict[str, int | None]:
    """Return the codes of levels by their writing; None where two levels are written alike.

    A string without spaces around it is also the one level that has some: people ask for "Private"
    where a file has " Private". One with spaces is never taken for a level without, since it would
    come back as something else than was written.
    """
    alike: dict[str, int | None] = {}
    known = set(levels)
    for code, level in enumerate(levels):
        alike[written(level)] = None if written(level) in alike else code
    for code, level in enumerate(levels):
        if isinstance(level, bool | int | float) and level in (0, 1):
            for word in _TRUE_IS_1[int(level)]:
                alike.setdefault(word, code)
    for code, level in enumerate(levels):
        bare = level.strip() if isinstance(level, str) else level
        if bare != level and bare not in known:
            alike[bare] = None if bare in alike else code
    return alike


def _sorted(values: list[Any]) -> list[Any]:
    try:
        return sorted(values)
    except TypeError:
        return sorted(values, key=lambda value: (type(value).__name__, str(value)))


def read_category(raw: Raw, kind: Kind, fitted: bool) -> Column:
    """Read the cells of a category column."""
    values, codes = _encode(raw)
    levels = kind.levels
    if not fitted and not levels:
        known = [value for value in values if not is_missing(value)]
        # Sorted, so that the codes do not depend on the order of the rows.
        levels = tuple(known if raw.declared else _sorted(known))
    codes, unknown = _place(values, codes, levels)
    return Column(raw.name, replace(kind, levels=levels), codes, unknown)


def _place(
    values: list[Any], codes: np.ndarray, levels: tuple[Any, ...]
) -> tuple[np.ndarray, dict[int, Any]]:
    """Return a code in the levels per row, and the values behind codes that no level has."""
    find = _finder(levels)
    new_codes = [-1 if is_missing(value) else find(value) for value in values]
    # Declared levels that no row has are not worth a warning about unknown ones.
    used = set(np.unique(codes).tolist()) if None in new_codes else set()
    unknown = {}
    for old, (value, code) in enumerate(zip(values, new_codes, strict=True)):
        if code is None:
            new_codes[old] = unknown_code(value)
            if old in used:
                unknown[unknown_code(value)] = value
    return _recode(codes, [-1 if code is None else code for code in new_codes]), unknown


def read_order(raw: Raw, kind: Kind, fitted: bool) -> Column:
    """Read the cells of an ordered column."""
    if kind.role in CYCLES:
        return _read_cycle(raw, kind)
    if kind.role == "cycle" and not kind.levels:
        return _find_cycle(raw, kind)
    values, codes = _encode(raw)
    if not fitted and not kind.levels:
        kind = _with_levels(raw, kind, [value for value in values if not is_missing(value)])
    codes, unknown = _place(values, codes, kind.levels)
    if unknown and not (fitted and kind.takes_new_levels):
        bad = np.flatnonzero(codes < -1)
        value = unknown[int(codes[bad[0]])]
        needed = f"one of the levels {', '.join(map(repr, kind.levels))}"
        hint = Phrase("Add the level in its place, or use ", Param("missing", [value]))
        raise raw.error(bad, value, needed, hint)
    return Column(raw.name, kind, codes, unknown)


def _with_levels(raw: Raw, kind: Kind, values: list[Any]) -> Kind:
    """Learn the levels from low to high: as declared, by a known order, or by size."""
    if raw.declared:
        return replace(kind, levels=tuple(values))
    # Found in these cells: others may have more.
    kind = replace(kind, reading=replace(kind.reading or Reading(), what="level"))
    words = dict.fromkeys((value for value in values if isinstance(value, str)), 1)
    if not words:
        return replace(kind, levels=tuple(_sorted(values)))
    found = None
    if len(words) == len(values):
        found = find_levels(raw.name, words) or find_numbered(words) or find_bands(words)
    if found is None:
        names = ", ".join(repr(value) for value in values[:5])
        who, needed = f"Column {raw.name!r}", "levels from low to high to be ordered"
        hint = ("List them from low to high, as in ", Param("kinds", {raw.name: values[:LISTED]}))
        raise InvalidInput(who, needed, f"strings ({names}) without an order", hint)
    return replace(kind, levels=found.levels)


def read_flag(raw: Raw, kind: Kind, fitted: bool) -> Column:
    """Read the cells of a flag column."""
    values, codes = _encode(raw)
    levels = kind.levels or _flag_levels(values)
    find = _finder(levels)
    answers: list[int] = []
    for code, value in enumerate(values):
        answer = -1 if is_missing(value) else find(value)
        answer = _answer(value) if answer is None else answer
        rows = np.flatnonzero(codes == code) if answer is None else ()
        if len(rows):
            category = Param("kinds", {raw.name: "category"})
            levels_too = InPython(', or Kind("flag", levels=(no, yes)) with its two values')
            needed = "yes or no (also true/false, t/f, y/n, 1/0)"
            raise raw.error(rows, value, needed, Phrase("Use ", category, levels_too))
        # A declared category that no row has.
        answers.append(-1 if answer is None else answer)
    codes = _recode(codes, answers)
    if kind.reading is not None and kind.reading.what == "mark":
        codes = np.maximum(codes, 0)  # nothing means no
    return Column(raw.name, replace(kind, levels=levels or (False, True)), codes)


def _answer(value: Any) -> int | None:
    """Return 1 for a word that means yes, 0 for no, None for another."""
    yes, no = _answers()
    word = written(value).strip().lower()
    return 1 if word in yes else 0 if word in no else None


def _flag_levels(values: list[Any]) -> tuple[Any, ...]:
    """Return (no, yes) as the column writes them; a word that no row has is filled in."""
    known: dict[int | None, Any] = {}
    for value in values:
        known.setdefault(_answer(value), value)
    for value in (known[answer] for answer in (0, 1) if answer in known):
        if isinstance(value, bool) or (isinstance(value, str) and value.lower() in _TRUTH):
            return (False, True)
        if isinstance(value, int | float):
            return (0, 1)
    if not known.keys() & {0, 1}:
        return ()
    for answer, opposites in enumerate(_answers()):
        if answer not in known:
            known[answer] = opposites[written(known[1 - answer]).strip().lower()]
    return known[0], known[1]


def infer_flag(raw: Raw) -> Guess:
    """Say that a column is true or false, or only one of them."""
    cells = raw.cells.drop_null()
    if len(cells.unique()) > 1:
        return Guess(Kind("flag", "true/false"))
    kind = Kind("flag", f"one value, {str(cells[0].as_py()).lower()}")
    return set_aside_constant(raw, kind, "true/false")


# -- months and weekdays, out of dates, names or numbers: levels in a circle -----------------------


def _read_cycle(raw: Raw, kind: Kind) -> Column:
    """Read the month or the weekday of each cell.

    Dates have one; names ("Feb", "Tuesday") and numbers from 1 (January, Monday) say it.
    """
    scale = known_scales()[CYCLES.index(kind.role)]
    levels = tuple(level[0].capitalize() for level in scale.levels)
    codes = _named(raw, scale) if raw.is_text else None
    if codes is None:
        codes = _dated(raw, kind.role, len(levels))
    return Column(raw.name, replace(kind, levels=levels, reading=None), codes)


def _find_cycle(raw: Raw, kind: Kind) -> Column:
    """Read a cycle that the caller left to the words, or to the name of the column."""
    values = _encode(raw)[0] if raw.is_text or raw.declared else []
    words = [value for value in values if isinstance(value, str)]
    levels = find_circle(words)
    if levels is not None or raw.declared in ("order", "enum"):
        reading = Reading("level") if levels else None
        kind = replace(kind, levels=levels or tuple(values), reading=reading)
        return read_order(raw, kind, fitted=False)
    try:
        column = read_number(raw, Kind("number"), False)
    except InvalidInput:
        raise _unknown_cycle(raw, "words of no known one", ",".join(words[:LISTED])) from None
    here = column.values[~np.isnan(column.values)]
    low, high = (float(here.min()), float(here.max())) if len(here) else (0.0, 0.0)
    clock = column.kind.source == "duration"
    period = 86_400.0 if clock else find_period(raw.name, low, high, wide=False)
    if not period:
        found = f"numbers from {low:g} to {high:g}"
        raise _unknown_cycle(raw, found, f"{max(1.0, np.ceil(high)):g}")
    return replace(column, kind=replace(column.kind, role=f"{CYCLE}{period:g}"))


def _unknown_cycle(raw: Raw, found: str, example: str) -> InvalidInput:
    needed, kinds = "a cycle, by its period or its levels", {raw.name: f"{CYCLE}{example}"}
    hint = ("Say how it comes round, as in ", Param("kinds", kinds))
    return InvalidInput(f"Column {raw.name!r}", needed, found, hint)


def _named(raw: Raw, scale: Scale) -> np.ndarray | None:
    """Return the ranks of names; None where a cell is something else."""
    if len(raw.strings()) > MAX_LEVELS:
        return None
    ranks = [scale.rank.get(fold(word), -1) for word in raw.words.to_pylist()]
    return None if -1 in ranks else _recode(raw.codes, ranks)


def _dated(raw: Raw, role: str, count: int) -> np.ndarray:
    try:
        column = read_number(raw, Kind("number", role="date" if raw.is_text else ""), False)
    except InvalidInput:
        column = read_number(raw, Kind("number"), False)
    missing = np.isnan(column.values)
    values = np.where(missing, 0.0, column.values)
    if column.kind.source == "datetime":
        # Floored, so that times before 1970 fall on their own day.
        days = np.floor(values / 86_400).astype("datetime64[D]")
        if role == "month":
            codes = days.astype("datetime64[M]").astype(np.int64) % 12
        else:
            # 1 January 1970 was a Thursday.
            codes = (days.astype(np.int64) + 3) % 7
    else:
        codes = values.astype(np.int64) - 1
        odd = np.flatnonzero(~missing & ((codes < 0) | (codes >= count) | (codes + 1 != values)))
        if len(odd):
            hint = Phrase("Give dates or names, or use ", Param("kinds", {raw.name: "number"}))
            raise raw.error(odd, values[odd[0]], f"a {role}: dates, names or 1 to {count}", hint)
    return np.asarray(np.where(missing, -1, codes), dtype=np.int64)
