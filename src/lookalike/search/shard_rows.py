"""Encoded rows in a shard: the same arrays, mapped instead of held in memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from lookalike._ragged import Ragged
from lookalike.errors import UnreadableFile, message
from lookalike.measures.base import Measure
from lookalike.measures.rows import Rows
from lookalike.neighbors.shards import Key, Shard

__all__ = ["codes_of", "count_rows", "map_numbers", "map_rows", "pack_numbers", "pack_rows"]

ROWS, CODES = "rows", "codes"
RAGGED = ("values", "offsets", "missing")


def pack_rows(measure: Measure, rows: Rows) -> dict[Key, np.ndarray]:
    """Return the arrays of encoded rows, and of the codes that searching them needs, by keys.

    Parameters
    ----------
    measure : Measure, fitted
    rows : Rows that it encoded
    """
    arrays = _arrays_of(rows, (ROWS,))
    codes = measure.codes_to_arrays(rows)
    return {**arrays, **{(CODES, *key): array for key, array in codes.items()}}


def _arrays_of(rows: Rows, start: Key) -> dict[Key, np.ndarray]:
    found: dict[Key, np.ndarray] = {}
    for name, cells in rows.arrays.items():
        if isinstance(cells, Ragged):
            found |= {(*start, "ragged", name, part): getattr(cells, part) for part in RAGGED}
        else:
            found[(*start, "array", name)] = cells
    for name, part in rows.parts.items():
        found |= _arrays_of(part, (*start, "part", name))
    return found


def map_rows(measure: Measure, shard: Shard, seen: np.ndarray) -> Rows:
    """Return the encoded rows of a shard without reading them.

    Parameters
    ----------
    measure : Measure, fitted
    shard : Shard
    seen : int64, the position of each row in the fitted table, -1 for others
    """
    rows = _rows_of(shard, (ROWS,), seen)
    where = f"Shard {shard.folder.name!r}"
    for name, cells in rows.arrays.items():
        if len(cells) != len(seen):
            do = "Build the folder again; its shards do not fit together"
            found = f"{len(cells):,} in {name!r}"
            raise UnreadableFile(message(where, f"{len(seen):,} rows", found, do))
    try:
        measure.codes_from_arrays(rows, codes_of(shard))
    except Exception as error:  # whatever arrays that do not fit make of it
        found, do = f"{type(error).__name__}: {error}", "Build the folder again"
        raise UnreadableFile(message(where, "codes of its rows", found[:200], do)) from error
    return rows


def codes_of(shard: Shard) -> dict[Key, np.ndarray]:
    """Return the codes that a shard keeps beside its rows, mapped."""
    return {key[1:]: shard.array(*key) for key in shard.members if key[0] == CODES}


def _rows_of(shard: Shard, start: Key, seen: np.ndarray) -> Rows:
    arrays: dict[str, Any] = {}
    inner: dict[str, Rows] = {}
    depth = len(start)
    for key in shard.members:
        if key[:depth] != start:
            continue
        what, name = key[depth : depth + 2]
        if what == "array":
            arrays[name] = shard.array(*key)
        elif what == "ragged" and name not in arrays:
            parts = (shard.array(*start, "ragged", name, part) for part in RAGGED)
            arrays[name] = Ragged(*parts)
        elif what == "part" and name not in inner:
            inner[name] = _rows_of(shard, (*start, "part", name), seen)
    return Rows(seen, arrays, inner)


def pack_numbers(
    key: str, numbers: np.ndarray
) -> tuple[dict[Key, np.ndarray], dict[str, int | None]]:
    """Return whole numbers as (arrays, what is said about them): a run needs no array."""
    first = int(numbers[0]) if len(numbers) else 0
    if np.array_equal(numbers, np.arange(first, first + len(numbers))):
        return {}, {key: first}
    if len(numbers) and (numbers == -1).all():
        return {}, {key: None}
    return {(key,): numbers}, {}


def map_numbers(shard: Shard, key: str, n: int) -> np.ndarray:
    """Return whole numbers as ``pack_numbers`` has packed them."""
    if (key,) in shard.members:
        return shard.array(key)
    if key in shard.about and shard.about[key] is None:
        return np.full(n, -1)
    first = shard.whole(key, low=-1)
    return np.arange(first, first + n)


def count_rows(shard: Shard) -> int:
    """Return how many rows a shard has: a number that its files can stand for."""
    n = shard.whole("rows")
    if n > shard.size:
        do = "Build the folder again"
        raise UnreadableFile(
            message(f"Shard {shard.folder.name!r}", "no more rows than bytes", f"{n:,}", do)
        )
    return n
