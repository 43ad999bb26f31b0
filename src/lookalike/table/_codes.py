"""Category, order and flag: cells that become codes into a list of levels."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lookalike.errors import InvalidInput, WrongType, message
from lookalike.table.raw import Raw, is_missing, objects, written, wrong
from lookalike.table.table import Column, Kind, unknown_code

__all__ = ["read_category", "read_flag", "read_order"]

YES = {"yes": "no", "y": "n", "true": "false", "t": "f", "1": "0", "on": "off"}
NO = {no: yes for yes, no in YES.items()}


def _encode(raw: Raw) -> tuple[list[Any], np.ndarray]:
    """Return the distinct scalars of a column and a code per row, -1 where missing."""
    if not raw.is_arrow:
        return _encode_objects(raw)
    kind = raw.type
    if pa.types.is_nested(kind):
        return _encode_objects(Raw(raw.name, objects(raw.cells.to_pylist())))
    cells = raw.cells if pa.types.is_dictionary(kind) else raw.cells.dictionary_encode()
    values = cells.dictionary.to_pylist()
    codes = pc.fill_null(cells.indices.cast(pa.int64()), -1).to_numpy(zero_copy_only=False)
    codes = codes.astype(np.int64)
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
            do = "Leave the kind to be guessed, or give each cell one value"
            raise wrong(raw, row, cell, "single values", do, WrongType)
        codes[row] = values.setdefault(cell, len(values))
    return list(values), codes


def _recode(codes: np.ndarray, to: list[int]) -> np.ndarray:
    table = np.array([*to, -1], dtype=np.int64)  # the last entry is met by code -1
    return table[codes]


def _finder(levels: tuple[Any, ...]) -> Callable[[Any], int | None]:
    """Return a function from value to code: equal first, else written alike (4, 4.0 and "4")."""
    exact = {level: code for code, level in enumerate(levels)}
    alike: dict[str, int | None] = {}
    for code, level in enumerate(levels):
        # Two levels written alike cannot be told apart by their writing.
        alike[written(level)] = None if written(level) in alike else code

    def find(value: Any) -> int | None:
        code = exact.get(value)
        return alike.get(written(value)) if code is None else code

    return find


def _sorted(values: list[Any]) -> list[Any]:
    try:
        return sorted(values)
    except TypeError:
        return sorted(values, key=lambda value: (type(value).__name__, str(value)))


def read_category(raw: Raw, kind: Kind, fitted: bool) -> Column:
    values, codes = _encode(raw)
    levels = kind.levels
    if not fitted and not levels:
        declared = raw.is_arrow and pa.types.is_dictionary(raw.type)
        known = [value for value in values if not is_missing(value)]
        levels = tuple(known if declared else _sorted(known))
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
    return Column(raw.name, replace(kind, levels=levels), _recode(codes, to), unknown)


def read_order(raw: Raw, kind: Kind, fitted: bool) -> Column:
    values, codes = _encode(raw)
    levels = kind.levels
    if not fitted and not levels:
        known = [value for value in values if not is_missing(value)]
        if raw.is_arrow and pa.types.is_dictionary(raw.type):
            levels = tuple(known)
        elif any(isinstance(value, str) for value in known):
            names = ", ".join(repr(value) for value in known[:5])
            raise InvalidInput(
                message(
                    f"Column {raw.name!r}",
                    "levels from low to high to be ordered",
                    f"strings ({names}) without an order",
                    f"Pass kinds={{{raw.name!r}: [lowest, ..., highest]}}",
                )
            )
        else:
            levels = tuple(_sorted(known))
    find = _finder(levels)
    to = [-1 if is_missing(value) else find(value) for value in values]
    present = np.zeros(len(values) + 1, dtype=bool)
    present[codes] = True
    stray = [i for i, code in enumerate(to) if code is None and present[i]]
    if stray:
        bad = np.flatnonzero(np.isin(codes, stray))
        names = ", ".join(repr(level) for level in levels)
        raise wrong(
            raw,
            bad,
            values[codes[bad[0]]],
            f"one of the levels {names}",
            "Add the level in its place, or pass it in missing=",
        )
    return Column(
        raw.name, replace(kind, levels=levels), _recode(codes, [-1 if c is None else c for c in to])
    )


def read_flag(raw: Raw, kind: Kind, fitted: bool) -> Column:
    values, codes = _encode(raw)
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
            at = 1 if word in YES else 0 if word in NO else None
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
                f'Pass kinds={{{raw.name!r}: Kind("flag", levels=(no, yes))}} with its two values',
            )
        to.append(at)
    return Column(raw.name, replace(kind, levels=levels or (False, True)), _recode(codes, to))


def _flag_levels(values: list[Any]) -> tuple[Any, ...]:
    """Return (no, yes) as the column writes them; the word that it lacks is filled in."""
    no, yes = None, None
    for value in values:
        word = written(value).strip().lower()
        if word in YES:
            yes = value if yes is None else yes
        elif word in NO:
            no = value if no is None else no
    if no is None and yes is None:
        return ()
    for value in (no, yes):
        if isinstance(value, bool):
            return (False, True)
        if isinstance(value, int | float):
            return (0, 1)
    if no is None:
        no = YES[written(yes).strip().lower()]
    if yes is None:
        yes = NO[written(no).strip().lower()]
    return (no, yes)
