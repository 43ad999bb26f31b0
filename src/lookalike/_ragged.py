"""Rows of different length in flat arrays: how texts, sets and series are kept once encoded."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Ragged", "concatenate"]


@dataclass(frozen=True, eq=False)
class Ragged:
    """Row i is ``values[offsets[i]:offsets[i + 1]]``; ``missing[i]`` says there is no cell.

    Parameters
    ----------
    values : array of all items, row after row
    offsets : int64 array of length n + 1, starting at 0
    missing : bool array of length n; a missing row has no items
    """

    values: np.ndarray
    offsets: np.ndarray
    missing: np.ndarray

    @classmethod
    def of(cls, rows: Iterable[Any], dtype: Any) -> Ragged:
        """Pack an iterable of arrays or sequences; None is a missing row."""
        kept = [None if row is None else np.asarray(row, dtype=dtype) for row in rows]
        missing = np.fromiter((row is None for row in kept), dtype=bool, count=len(kept))
        lengths = np.fromiter((0 if r is None else len(r) for r in kept), np.int64, len(kept))
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        full = [row for row in kept if row is not None]
        values = np.concatenate(full) if full else np.empty(0, dtype=dtype)
        return cls(values.astype(dtype, copy=False), offsets, missing)

    def __len__(self) -> int:
        return len(self.missing)

    def __getitem__(self, at: Any) -> Ragged:
        """Return some of the rows: a slice, positions or a mask, never a single number."""
        rows = np.arange(len(self))[at]
        if isinstance(at, slice) and at.step in (None, 1):
            first, last = (rows[0], rows[-1] + 1) if len(rows) else (0, 0)
            offsets = self.offsets[first : last + 1]
            return Ragged(
                self.values[offsets[0] : offsets[-1]], offsets - offsets[0], self.missing[rows]
            )
        starts, lengths = self.offsets[rows], np.diff(self.offsets)[rows]
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)
        return Ragged(self.values[np.repeat(starts, lengths) + within], offsets, self.missing[rows])

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
