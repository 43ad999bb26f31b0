"""Encoded rows in a shard: the same arrays, mapped instead of held in memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from lookalike.columns.ragged import Ragged
from lookalike.errors import UnreadableFile
from lookalike.measures.contract.base import Measure
from lookalike.measures.contract.rows import Rows
from lookalike.neighbors.shards import Key, Shard

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
    measure.check_row_forms(rows, f"Shard {shard.folder.name!r}")
    codes = {key[1:]: shard.array(*key) for key in shard.members if key[:1] == (CODES,)}
    try:
        measure.codes_from_arrays(rows, codes)
    except (KeyError, IndexError, TypeError, ValueError) as error:
        found = f"others ({type(error).__name__}: {error})"[:200]
        raise _unlike(shard, "the codes of its rows", found) from error
    return rows


def check_lengths(shard: Shard, n: int) -> None:
    """Refuse a shard whose arrays of encoded rows are not of so many rows.

    Looked at before anything as long as the rows is made: their number is only said.

    Parameters
    ----------
    shard : Shard
    n : int
    """
    for key in shard.members:
        if key[:1] == (ROWS,) and (key[-2:-1] == ("array",) or key[-1] == "missing"):
            cells = shard.array(*key)
            if not cells.ndim or len(cells) != n:
                found = f"an array of shape {cells.shape} in {' '.join(key)!r:.80}"
                raise _unlike(shard, f"{n:,} rows", found)


def check_codes(measure: Measure, shard: Shard, seen: np.ndarray) -> None:
    """Refuse codes that are not those of the rows: they would lead a search astray.

    Parameters
    ----------
    measure : Measure, fitted
    shard : Shard
    seen : int64, the position of each row in the fitted table, -1 for others
    """
    kept = {key[1:]: shard.array(*key) for key in shard.members if key[:1] == (CODES,)}
    made = measure.codes_to_arrays(_rows_of(shard, (ROWS,), seen))
    same = kept.keys() == made.keys() and all(_same(kept[key], made[key]) for key in kept)
    if not same:
        raise _unlike(shard, "the codes of its rows", "others")


def _same(a: np.ndarray, b: np.ndarray) -> bool:
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def _unlike(shard: Shard, needed: str, found: str) -> UnreadableFile:
    hint = "Build it again from its source: lookalike index check FOLDER --repair"
    return UnreadableFile(f"Shard {shard.folder.name!r}", needed, found, hint)


def _rows_of(shard: Shard, start: Key, seen: np.ndarray) -> Rows:
    arrays: dict[str, Any] = {}
    inner: dict[str, Rows] = {}
    depth = len(start)
    for key in shard.members:
        if key[:depth] != start:
            continue
        what, name = (*key[depth : depth + 2], "", "")[:2]
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
    first = shard.number(key, low=-1)
    return np.arange(first, first + n)
