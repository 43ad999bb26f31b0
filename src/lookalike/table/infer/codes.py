"""Category, order and flag: cells that become codes into a list of levels."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

from lookalike.errors import LISTED, InPython, InvalidInput, Param, Phrase, WrongType
from lookalike.table.formats.raw import Raw, is_missing, objects, written, wrong
from lookalike.table.infer.cycles import CYCLES, read_cycle
from lookalike.table.infer.levels import find_bands, find_levels, find_numbered
from lookalike.table.infer.reading import Reading
from lookalike.table.infer.vocabulary import vocabulary
from lookalike.table.model.kind import Kind
from lookalike.table.model.table import Column, unknown_code

_TRUTH = ("true", "false")


@cache
def _answers() -> tuple[dict[str, str], dict[str, str]]:
    """Return the words for yes and those for no, each with its opposite."""
    flags = vocabulary().flags[::-1]  # the first of several opposites is written last
    return {yes: no for no, yes in flags} | {"1": "0"}, dict(flags) | {"0": "1"}


def _encode(raw: Raw) -> tuple[list[Any], np.ndarray]:
    """Return the distinct scalars of a column and a code per row, -1 where missing."""
    if not raw.is_arrow:
        return _encode_objects(raw)
    kind = raw.type
    if pa.types.is_nested(kind):
        return _encode_objects(Raw(raw.name, objects(raw.cells.to_pylist())))
    cells = raw.cells if pa.types.is_dictionary(kind) else raw.cells.dictionary_encode()
    values = cells.dictionary.to_pylist()
    codes = replace(raw, cells=cells).codes.astype(np.int64)
    for code, value in enumerate(values):
        if is_missing(value):
            codes[codes == code] = -1
    return values, codes


def _encode_objects(raw: Raw) -> tuple[list[Any], np.ndarray]:
    values: dict[Any, int] = {}
    codes = np.full(len(raw), -1, dtype=np.int64)
    for row, cell in enumerate(raw.cells):
        if cell is None:
            continue
        if isinstance(
            cell, set | frozenset | Mapping | list | tuple | np.ndarray
        ) or not isinstance(cell, Hashable):
            hint = "Leave the kind to be guessed, or give each cell one value"
            raise wrong(raw, row, cell, "single values", hint, WrongType)
        codes[row] = values.setdefault(cell, len(values))
    return list(values), codes


def _recode(codes: np.ndarray, to: list[int]) -> np.ndarray:
    table = np.array([*to, -1], dtype=np.int64)  # the last entry is met by code -1
    return table[codes]


def _finder(levels: tuple[Any, ...]) -> Callable[[Any], int | None]:
    """Return a function from value to code: equal first, else written alike (4, 4.0 and "4").

    A string without spaces around it is also the one level that has some: people ask for "Private"
    where a file has " Private". One with spaces is never taken for a level without, since it would
    come back as something else than was written.
    """
    exact = {level: code for code, level in enumerate(levels)}
    alike: dict[str, int | None] = {}
    for code, level in enumerate(levels):
        # Two levels written alike cannot be told apart by their writing.
        alike[written(level)] = None if written(level) in alike else code
    for code, level in enumerate(levels):  # True is 1, however either is written
        if isinstance(level, bool | int | float) and level in (0, 1):
            for word in (("0", "false"), ("1", "true"))[int(level)]:
                alike.setdefault(word, code)
    for code, level in enumerate(levels):
        if isinstance(level, str) and level != level.strip():
            bare = level.strip()
            if bare not in exact:
                alike[bare] = None if bare in alike else code

    def find(value: Any) -> int | None:
        code = exact.get(value)
        return alike.get(written(value)) if code is None else code

    return find


def _sorted(values: list[Any]) -> list[Any]:
    try:
        return sorted(values)
    except TypeError:
        return sorted(values, key=lambda value: (type(value).__name__, str(value)))


def _learn_words(raw: Raw, kind: Kind) -> Column:
    """Take the distinct strings of a text column as levels, without a look at each cell."""
    words = raw.words.to_pylist()
    order = range(len(words)) if raw.declared else sorted(range(len(words)), key=words.__getitem__)
    place = np.full(len(words) + 1, -1, dtype=np.int64)  # the last entry is met by code -1
    place[list(order)] = np.arange(len(words))
    levels = tuple(words[at] for at in order)
    return Column(raw.name, replace(kind, levels=levels), place[raw.codes])


def read_category(raw: Raw, kind: Kind, fitted: bool) -> Column:
    """Read the cells of a category column."""
    if raw.is_text and not fitted and not kind.levels:
        return _learn_words(raw, kind)
    values, codes = _encode(raw)
    levels = kind.levels
    if not fitted and not levels:
        declared = bool(raw.declared)
        known = [value for value in values if not is_missing(value)]
        levels = tuple(known if declared else _sorted(known))
    codes, unknown = _place(values, codes, levels)
    return Column(raw.name, replace(kind, levels=levels), codes, unknown)


def _place(
    values: list[Any], codes: np.ndarray, levels: tuple[Any, ...]
) -> tuple[np.ndarray, dict[int, Any]]:
    """Return a code in the levels per row, and the values behind codes that no level has."""
    find = _finder(levels)
    to, unknown = [], {}
    used = np.zeros(len(values) + 1, dtype=bool)
    used[codes] = True
    for i, value in enumerate(values):
        code = -1 if is_missing(value) else find(value)
        if code is None:
            code = unknown_code(value)
            if used[i]:
                unknown[code] = value
        to.append(code)
    return _recode(codes, to), unknown


def read_order(raw: Raw, kind: Kind, fitted: bool) -> Column:
    """Read the cells of an ordered column."""
    if kind.role in CYCLES:
        return read_cycle(raw, kind)
    values, codes = _encode(raw)
    levels = kind.levels
    if not fitted and not levels:
        known = [value for value in values if not is_missing(value)]
        found = None
        if all(isinstance(value, str) for value in known):
            counted = dict.fromkeys(known, 1)
            found = find_levels(raw.name, counted) or find_numbered(counted) or find_bands(counted)
        if raw.declared:
            levels = tuple(known)
        elif found is not None:
            levels = found.levels
        elif any(isinstance(value, str) for value in known):
            names = ", ".join(repr(value) for value in known[:5])
            raise InvalidInput(
                f"Column {raw.name!r}",
                "levels from low to high to be ordered",
                f"strings ({names}) without an order",
                ("List them from low to high, as in ", Param("kinds", {raw.name: known[:LISTED]})),
            )
        else:
            levels = tuple(_sorted(known))
        if not raw.declared:  # found in these cells: others may have more
            kind = replace(kind, reading=replace(kind.reading or Reading(), what="level"))
    codes, unknown = _place(values, codes, levels)
    if unknown and not (fitted and kind.takes_new_levels):
        bad = np.flatnonzero(codes < -1)
        names = ", ".join(repr(level) for level in levels)
        raise wrong(
            raw,
            bad,
            unknown[int(codes[bad[0]])],
            f"one of the levels {names}",
            Phrase(
                "Add the level in its place, or use ",
                Param("missing", [values[codes[bad[0]]]]),
            ),
        )
    return Column(raw.name, replace(kind, levels=levels), codes, unknown)


def read_flag(raw: Raw, kind: Kind, fitted: bool) -> Column:
    """Read the cells of a flag column."""
    values, codes = _encode(raw)
    yes, no = _answers()
    levels = kind.levels or _flag_levels(values)
    find = _finder(levels) if levels else (lambda value: None)
    to: list[int] = []
    for code, value in enumerate(values):
        if is_missing(value):
            to.append(-1)
            continue
        at = find(value)
        if at is None:
            word = written(value).strip().lower()
            at = 1 if word in yes else 0 if word in no else None
        if at is None:
            bad = np.flatnonzero(codes == code)
            if len(bad) == 0:  # a declared category that no row has
                to.append(-1)
                continue
            raise wrong(
                raw,
                bad,
                value,
                "yes or no (also true/false, t/f, y/n, 1/0)",
                Phrase(
                    "Use ",
                    Param("kinds", {raw.name: "category"}),
                    InPython(', or Kind("flag", levels=(no, yes)) with its two values'),
                ),
            )
        to.append(at)
    codes = _recode(codes, to)
    if kind.reading is not None and kind.reading.what == "mark":
        codes = np.maximum(codes, 0)  # nothing means no
    return Column(raw.name, replace(kind, levels=levels or (False, True)), codes)


def _flag_levels(values: list[Any]) -> tuple[Any, ...]:
    """Return (no, yes) as the column writes them; the word that it lacks is filled in."""
    no, yes = None, None
    yes_words, no_words = _answers()
    for value in values:
        word = written(value).strip().lower()
        if word in yes_words:
            yes = value if yes is None else yes
        elif word in no_words:
            no = value if no is None else no
    if no is None and yes is None:
        return ()
    for value in (no, yes):
        if isinstance(value, bool) or (isinstance(value, str) and value.lower() in _TRUTH):
            return (False, True)
        if isinstance(value, int | float):
            return (0, 1)
    if no is None:
        no = yes_words[written(yes).strip().lower()]
    if yes is None:
        yes = no_words[written(no).strip().lower()]
    return (no, yes)
