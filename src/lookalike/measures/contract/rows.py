"""Rows as a measure keeps them: packed arrays that can be cut, saved and shipped to workers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar, cast

import numpy as np

from lookalike.columns import ragged as _ragged
from lookalike.columns.ragged import Ragged
from lookalike.errors import Param, Phrase, TooFewRows
from lookalike.saving import fields
from lookalike.saving.encode import saveable
from lookalike.saving.fields import Dims, Fields, require

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

    Attributes
    ----------
    cache : dict
        Derived data of these rows, such as byte codes; neither saved nor pickled, and empty in
        slices.
    """

    FIELDS: ClassVar[Fields] = {
        "seen": fields.Array("int64", "n", low=-1),
        "arrays": fields.MapOf(fields.Text(), fields.Anything()),
        "parts": fields.MapOf(fields.Text(), fields.Saved("Rows")),
    }

    seen: np.ndarray
    arrays: Mapping[str, Any] = field(default_factory=dict)
    parts: Mapping[str, Rows] = field(default_factory=dict)
    cache: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    def __len__(self) -> int:
        return len(self.seen)

    def __reduce__(self) -> tuple[Any, ...]:
        # The cache stays behind: a worker that gets the rows makes its own when it needs one.
        return Rows, (self.seen, self.arrays, self.parts)

    def __getitem__(self, at: Any) -> Rows:
        """Return some of the rows: a slice, positions or a mask, never a single number."""
        # The cache is not passed on: codes and samples belong to exactly these rows.
        arrays = {name: array[at] for name, array in self.arrays.items()}
        parts = {name: rows[at] for name, rows in self.parts.items()}
        return Rows(self.seen[at], arrays, parts)

    def check_loaded(self, dims: Dims) -> None:
        """Check after loading that all arrays and parts have as many rows."""
        # Kernels index all arrays by the positions of the rows, without checks.
        for name, array in self.arrays.items():
            fits = isinstance(array, np.ndarray | Ragged) and getattr(array, "ndim", 1) > 0
            require(fits and len(array) == len(self), f"Rows[{name[:40]!r}]", f"{len(self)} rows")
        for name, rows in self.parts.items():
            same = np.array_equal(rows.seen, self.seen)
            require(same, f"Rows.parts[{name[:40]!r}]", "the same rows as outside", "others")


def self_pairs(a: Rows, b: Rows) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs that are one fitted row with itself, as positions in a and in b."""
    none = np.empty(0, dtype=np.int64)
    if not len(a) or not len(b):
        return none, none
    low, high = max(a.seen.min(), b.seen.min(), 0), min(a.seen.max(), b.seen.max())
    if low > high:  # most blocks are off the diagonal: a full comparison would cost more than they
        return none, none
    i, j = np.nonzero((a.seen[:, None] == b.seen) & (a.seen[:, None] >= 0))
    return i, j


def are_self_pairs(a: Rows, b: Rows, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return which pairs (left[i] of a, right[i] of b) are one fitted row with itself."""
    seen = a.seen[left]
    return np.asarray((seen == b.seen[right]) & (seen >= 0))


def kept_beside(rows: Rows, name: str, make: Callable[[], Kept]) -> Kept:
    """Return derived data cached with the rows, made at the first call."""
    if name not in rows.cache:
        rows.cache[name] = make()
    return cast(Kept, rows.cache[name])


def concatenate(parts: Sequence[Rows]) -> Rows:
    """Return the rows of several collections, all encoded by one measure, one after another."""
    first = parts[0]
    if len(parts) == 1:  # no copy, and the cache of the rows stays
        return first
    arrays: dict[str, Any] = {}
    for name, array in first.arrays.items():
        join: Any = _ragged.concatenate if isinstance(array, Ragged) else np.concatenate
        arrays[name] = join([rows.arrays[name] for rows in parts])
    inner = {name: concatenate([rows.parts[name] for rows in parts]) for name in first.parts}
    return Rows(np.concatenate([rows.seen for rows in parts]), arrays, inner)


Ids = np.ndarray | None
"""Ids of rows; None: their positions, or of no row."""


def check_k(k: Any, most: int, who: str, own: bool, word: str = "n_neighbors") -> None:
    """Refuse a k that the rows cannot serve; it is never shrunk silently.

    Parameters
    ----------
    k : int
    most : int, how many rows a list can hold
    who : str, the caller
    own : bool, whether each row is left out of its own list
    word : str, what the caller calls k
    """
    # scikit-learn's checks expect "n_samples=" in the message of too few rows.
    fields.Integer(1).check(who, word, k, "Raise it")
    if k > most:
        hint = Phrase("Use ", Param(word, most), " or add rows") if most >= 1 else "Add rows"
        needed, found = f"at least {k + own} rows", Param("n_samples", most + own)
        raise TooFewRows(Param(word, k, of=who), needed, found, hint)


Named = tuple[np.ndarray, np.ndarray, int]
"""Rows to leave out, ids, and the size of the collection."""


def name_rows(a: Rows, b: Rows, exclude: Ids, ids: Ids) -> Named:
    """Return exclude, ids and the size of the collection with their defaults filled in."""
    exclude = np.full(len(a), -1) if exclude is None else np.asarray(exclude, dtype=np.int64)
    if ids is None:
        return exclude, np.arange(len(b)), len(b)
    ids = np.asarray(ids, dtype=np.int64)
    # One more than the largest id, cached: an index searches the same rows many times.
    known = b.cache.get("end_of_ids")
    if known is None or known[0] is not ids:
        known = b.cache["end_of_ids"] = ids, int(ids.max(initial=-1)) + 1
    return exclude, ids, max(len(b), int(known[1]))
