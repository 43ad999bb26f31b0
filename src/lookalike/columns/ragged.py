"""Rows of different length in flat arrays: how texts, sets and series are kept once encoded."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from lookalike.saving.fields import Array, Composed, Dims, Fields, Offsets, require

NUMBERS = "float64 float32 int64 int32 uint32 uint16 uint8"


@dataclass(frozen=True, eq=False)
class Ragged:
    """Row i is ``values[offsets[i]:offsets[i + 1]]``; ``missing[i]`` says there is no cell.

    Parameters
    ----------
    values : array of all items, row after row
    offsets : int64 array of length n + 1, starting at 0
    missing : bool array of length n; a missing row has no items
    """

    FIELDS: ClassVar[Fields] = {
        "values": Array(NUMBERS, "items"),
        "offsets": Offsets("items", "rows"),
        "missing": Array("bool", "rows"),
    }

    values: np.ndarray
    offsets: np.ndarray
    missing: np.ndarray

    def check_loaded(self, dims: Dims) -> None:
        """Check after loading that missing rows are empty."""
        lengths = self.offsets[1:] - self.offsets[:-1]
        require(not lengths[self.missing].any(), "Ragged", "missing rows without items", "others")

    @classmethod
    def of(cls, rows: Iterable[Any], dtype: Any) -> Ragged:
        """Pack an iterable of arrays or sequences; None is a missing row."""
        rows = list(rows)
        missing = np.array([row is None for row in rows], dtype=bool)
        # The empty array gives the dtype where there is no other.
        empty = np.empty(0, dtype=dtype)
        packed = [empty if row is None else np.asarray(row, dtype=dtype) for row in rows]
        offsets = np.cumsum([0, *map(len, packed)], dtype=np.int64)
        return cls(np.concatenate([empty, *packed]), offsets, missing)

    def __len__(self) -> int:
        return len(self.missing)

    def __getitem__(self, at: Any) -> Ragged:
        """Return some of the rows: a slice, positions or a mask, never a single number."""
        if isinstance(at, slice) and at.step in (None, 1):
            first, last, _ = at.indices(len(self))
            offsets = self.offsets[first : max(first, last) + 1]
            values = self.values[offsets[0] : offsets[-1]]
            return Ragged(values, offsets - offsets[0], self.missing[at])
        # A few of many are found quickly.
        if isinstance(at, np.ndarray) and at.dtype.kind in "iu":
            if len(at) == 1 and 0 <= at[0] < len(self):
                return self[int(at[0]) : int(at[0]) + 1].copy()
            rows = np.where(at < 0, at + len(self), at)
        else:
            rows = np.arange(len(self))[at]
        # Positions of all items of the chosen rows, without a loop over rows.
        missing, starts = self.missing[rows], self.offsets[rows]
        lengths = self.offsets[rows + 1] - starts
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)
        return Ragged(self.values[np.repeat(starts, lengths) + within], offsets, missing)

    def copy(self) -> Ragged:
        """Return the same rows in arrays of their own."""
        return Ragged(self.values.copy(), self.offsets.copy(), self.missing.copy())

    def row(self, i: int) -> np.ndarray:
        """Return the items of one row."""
        return self.values[self.offsets[i] : self.offsets[i + 1]]


def concatenate(parts: Sequence[Ragged]) -> Ragged:
    """Return the rows of several collections, one after another."""
    ends = np.cumsum([0, *(len(part.values) for part in parts)])
    offsets = [part.offsets[1:] + end for part, end in zip(parts, ends[:-1], strict=True)]
    return Ragged(
        np.concatenate([part.values for part in parts]),
        np.concatenate([np.zeros(1, np.int64), *offsets]),
        np.concatenate([part.missing for part in parts]),
    )


class RaggedOf(Composed):
    """A ``Ragged`` of items of one dtype; limits on the items as for ``Array``."""

    def __init__(self, dtype: str, rows: str | int = "n", **limits: Any) -> None:
        self.items, self.rows = Array(dtype, "items", **limits), rows

    def form(self, value: Any, dims: Dims, where: str) -> None:
        """Check the number of rows and the dtype of the items."""
        require(isinstance(value, Ragged), where, "a Ragged", type(value).__name__)
        self.items.form(value.values, {}, where)
        rows = self.rows if isinstance(self.rows, int) else dims.setdefault(self.rows, len(value))
        require(len(value) == rows, where, f"{rows} rows", str(len(value)))

    def content(self, value: Any, dims: Dims, where: str) -> None:
        """Check the items."""
        self.items.content(value.values, dims, where)

    def describe(self) -> str:
        """Say in words what is allowed."""
        return f"Ragged ({self.rows}) of " + self.items.describe()
