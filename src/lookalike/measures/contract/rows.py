"""Rows as a measure keeps them: packed arrays that can be cut, saved and shipped to workers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np

from lookalike.columns import ragged as _ragged
from lookalike.columns.ragged import Ragged
from lookalike.saving.encode import saveable
from lookalike.saving.fields import Anything, Array, Dims, Fields, MapOf, Saved, Text, require

Kept = TypeVar("Kept")

saveable(Ragged)


@saveable
@dataclass(frozen=True, eq=False)
class Rows:
    """Encoded rows.

    Parameters
    ----------
    seen : int64 array of n
        Position in the fitted set; -1 for a row that was not fitted.
    arrays : mapping of name to array with n rows, or Ragged
    parts : mapping of name to the Rows of an inner measure, of the same length
    """

    FIELDS: ClassVar[Fields] = {
        "seen": Array("int64", "n", low=-1),
        "arrays": MapOf(Text(), Anything()),
        "parts": MapOf(Text(), Saved("Rows")),
    }

    seen: np.ndarray
    arrays: Mapping[str, Any] = field(default_factory=dict)
    parts: Mapping[str, Rows] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.seen)

    def __getstate__(self) -> dict[str, Any]:
        # What was worked out from the rows is kept in __dict__ beside the fields: a cache.
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __getitem__(self, at: Any) -> Rows:
        """Return some of the rows: a slice, positions or a mask, never a single number."""
        arrays = {name: array[at] for name, array in self.arrays.items()}
        parts = {name: rows[at] for name, rows in self.parts.items()}
        return Rows(self.seen[at], arrays, parts)

    def check_loaded(self, dims: Dims) -> None:
        """Check after loading that all arrays and parts have as many rows."""
        for name, array in self.arrays.items():
            fits = isinstance(array, np.ndarray | Ragged) and getattr(array, "ndim", 1) > 0
            require(fits and len(array) == len(self), f"Rows[{name[:40]!r}]", f"{len(self)} rows")
        for name, rows in self.parts.items():
            same = np.array_equal(rows.seen, self.seen)
            require(same, f"Rows.parts[{name[:40]!r}]", "the same rows as outside", "others")


class RowsAt(Protocol):
    """Encoded rows that can be cut: ``Rows``, or rows that are encoded when they are asked for."""

    def __len__(self) -> int: ...

    def __getitem__(self, at: Any) -> Rows: ...


def self_pairs(a: Rows, b: Rows) -> tuple[np.ndarray, np.ndarray]:
    """Return where a pair of rows is one fitted row with itself, as positions in a and in b."""
    none = np.empty(0, dtype=np.int64)
    if not len(a) or not len(b):
        return none, none
    low, high = max(a.seen.min(), b.seen.min(), 0), min(a.seen.max(), b.seen.max())
    if low > high:  # blocks off the diagonal, or rows that were not fitted: by far the most
        return none, none
    i, j = np.nonzero((a.seen[:, None] == b.seen) & (a.seen[:, None] >= 0))
    return i, j


def kept_beside(rows: Rows, name: str, make: Callable[[], Kept]) -> Kept:
    """Return what was made from some rows, made at the first call; parts of the rows have none."""
    kept = rows.__dict__  # a cache, not a field: it is not saved
    if name not in kept:
        kept[name] = make()
    return kept[name]


def concatenate(parts: Sequence[Rows]) -> Rows:
    """Return the rows of several collections, all encoded by one measure, one after another."""
    first = parts[0]
    if len(parts) == 1:
        return first
    arrays = {name: _join([rows.arrays[name] for rows in parts]) for name in first.arrays}
    inner = {name: concatenate([rows.parts[name] for rows in parts]) for name in first.parts}
    return Rows(np.concatenate([rows.seen for rows in parts]), arrays, inner)


def _join(arrays: Sequence[Any]) -> Any:
    if isinstance(arrays[0], Ragged):
        return _ragged.concatenate(arrays)
    return np.concatenate(arrays)
