"""Columns of objects as bytes: what can be said of texts, sets and vectors without comparing them.

Three ways, each a true lower bound of the difference that the column's own distance finds. A column
with few distinct cells is numbered, and a query looks up its difference to each of them. Texts,
sets and sequences have a size, and two that differ in size differ at least by as much. Vectors and
histograms differ at least as much as their most telling coordinates do, in a straight line or one
after the other, as the distance goes. A distance without an entry here has no bytes; its column is
compared for the finalists only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from lookalike.columns import Distance
from lookalike.columns.base import Cells, missing_rows
from lookalike.columns.histogram import EarthMover, NormalizedEuclidean
from lookalike.columns.ragged import Ragged
from lookalike.columns.sequence import Edit, EditSets
from lookalike.columns.sets import Jaccard, Overlap
from lookalike.columns.text import JaroWinkler, Levenshtein, TokenSet
from lookalike.columns.vector import Cosine, Euclidean
from lookalike.kernels.bounds import LOOKUP, MISSING, NUMBER, ROOT, SQUARE, STEPS
from lookalike.measures.contract.codes import byte_steps, without_nan

FEW = MISSING  # distinct cells that have a number of their own: every byte but the missing one
WIDEST = 16  # coordinates of a vector that become bytes
SAMPLED = 4096  # cells looked at first
SCALES = (1e-140, 1e140)  # outside these, squares of differences may vanish or overflow


# From encoded cells to (own, worth), see ``ObjectBytes.ask``.
Asking = Callable[[Cells], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True, eq=False)
class ObjectBytes:
    """The bytes of one column of objects.

    Parameters
    ----------
    kind : int
        How they are compared: NUMBER, LOOKUP or ROOT.
    columns : uint8 (rows, bytes per cell)
    missing : bool per row
    ask : callable from encoded cells to (own, worth)
        For NUMBER the codes of queries (queries, bytes per cell), and what a difference of all
        steps is worth; for LOOKUP zeros, and a table (queries, 256); for ROOT the codes of queries,
        and what one step is worth. Worth is a share of the weight of the column.
    state : mapping of name to array, all that ``ask`` knows beside the distance and the cells
    """

    kind: int
    columns: np.ndarray
    missing: np.ndarray
    ask: Asking
    state: Mapping[str, np.ndarray]

    def without_rows(self) -> ObjectBytes:
        """Return what is needed to ask once the bytes are copied."""
        return replace(self, columns=self.columns[:0].copy(), missing=self.missing[:0])

    @property
    def width(self) -> int:
        """How many bytes a cell has."""
        return int(self.columns.shape[1])

    @property
    def kinds(self) -> list[int]:
        """How each of the bytes is compared."""
        return [SQUARE if self.kind == ROOT else self.kind] * (self.width - 1) + [self.kind]


def object_bytes(distance: Distance, cells: Cells) -> ObjectBytes | None:
    """Return the bytes of encoded cells; None where nothing is known that would bound them."""
    kind = type(distance)  # a subclass may compare in another way: it has no entry
    if kind not in COMPARABLE or not SCALES[0] < distance.scale_ < SCALES[1]:
        return None
    gone = missing_rows(cells)
    found = _distinct(cells, gone)
    if found is not None:
        at, numbers = found
        columns = numbers.astype(np.uint8)[:, None]
        return ObjectBytes(LOOKUP, columns, gone, _ask_numbered(distance, cells, at), {"at": at})
    if kind in LINEAR and isinstance(cells, np.ndarray):
        return _coordinates(distance, cells, gone, LINEAR[kind])
    if kind in SIZED and isinstance(cells, Ragged):
        codes = np.minimum(_lengths(distance, cells), MISSING - 1).astype(np.uint8)
        return ObjectBytes(LOOKUP, codes[:, None], gone, _ask_sizes(distance, SIZED[kind]), {})
    return None


def object_asking(
    distance: Distance, cells: Cells, kind: int, width: int, state: Mapping[str, np.ndarray]
) -> ObjectBytes:
    """Return what ``object_bytes`` made of these cells, without the bytes, from what was kept.

    Parameters
    ----------
    distance : Distance
    cells : encoded cells, the same ones
    kind, width : int
    state : mapping of name to array
    """
    if kind in (NUMBER, ROOT):
        ask = _ask_coordinates(distance, **state)
    elif "at" in state:
        ask = _ask_numbered(distance, cells, state["at"])
    else:
        ask = _ask_sizes(distance, SIZED[type(distance)])
    return ObjectBytes(kind, np.empty((0, width), np.uint8), np.empty(0, bool), ask, state)


# -- few distinct cells ----------------------------------------------------------------------------


def _distinct(cells: Cells, gone: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Return rows that hold all distinct cells, and the number of each row's cell among them.

    Cells are told apart by a hash first, so None (there are too many) comes quickly; that cells
    with equal hashes are equal is then checked item by item.
    """
    here = np.flatnonzero(~gone)
    if not len(here) or len(np.unique(_hashes(cells[here[:SAMPLED]]))) > FEW:
        return None
    hashes = _hashes(cells)[here]
    _, first, number = np.unique(hashes, return_index=True, return_inverse=True)
    if len(first) > FEW:
        return None
    at = here[first]
    if not _same_cells(cells[at[number]], cells[here]):
        return None
    numbers = np.zeros(len(gone), np.int64)
    numbers[here] = number
    return at, numbers


def _hashes(cells: Cells) -> np.ndarray:
    """Return a number per cell that is equal for equal cells, and hardly ever for others."""
    values = cells.values if isinstance(cells, Ragged) else cells
    if values.dtype.kind == "f":  # -0.0 and 0.0 may or may not be told apart: both are right
        bits = np.ascontiguousarray(values, np.float64).view(np.uint64)
    else:
        bits = values.astype(np.int64).view(np.uint64)
    with np.errstate(over="ignore"):
        mixed = (bits ^ (bits >> np.uint64(31))) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
        if not isinstance(cells, Ragged):
            places = np.arange(1, 2 * cells.shape[1], 2, dtype=np.uint64)
            return np.asarray((mixed * (places * np.uint64(0xBF58476D1CE4E5B9))).sum(axis=1))
        lengths = np.diff(cells.offsets)
        place = np.arange(len(values)) - np.repeat(cells.offsets[:-1], lengths)
        mixed *= (2 * place + 1).astype(np.uint64) * np.uint64(0xBF58476D1CE4E5B9)
        total = np.concatenate([np.zeros(1, np.uint64), np.cumsum(mixed, dtype=np.uint64)])
        sums = total[cells.offsets[1:]] - total[cells.offsets[:-1]]
        return np.asarray(sums ^ lengths.astype(np.uint64))


def _same_cells(one: Cells, other: Cells) -> bool:
    if isinstance(one, Ragged) and isinstance(other, Ragged):
        same = np.array_equal(one.offsets, other.offsets)
        return same and np.array_equal(one.values, other.values)
    return np.array_equal(np.asarray(one), np.asarray(other))


def _ask_numbered(distance: Distance, cells: Cells, at: np.ndarray) -> Asking:
    each = cells[at]

    def ask(asked: Cells) -> tuple[np.ndarray, np.ndarray]:
        tables = np.zeros((len(asked), MISSING + 1))
        tables[:, : len(at)] = without_nan(1.0 - distance.similarity(asked, each))
        return np.zeros((len(asked), 1), np.uint8), tables

    return ask


# -- sizes -----------------------------------------------------------------------------------------

# What a cell of one size differs from a cell of another, at least; arrays of sizes in, values out.
AtLeast = Callable[[Distance, np.ndarray, np.ndarray], np.ndarray]


def _lengths(distance: Distance, cells: Ragged) -> np.ndarray:
    if isinstance(distance, Edit) and distance.sets_:
        lengths = np.zeros(len(cells), np.int64)
        here = ~cells.missing
        lengths[here] = cells.values[cells.offsets[:-1][here]]  # each row begins with its length
        return lengths
    return np.diff(cells.offsets)


def _edits(distance: Any, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    apart = np.abs(one - other)
    return apart / np.maximum(np.maximum(one, other), 1) if distance.normalized else apart


def _not_shared(distance: Distance, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    largest = np.maximum(one, other)
    return (largest - np.minimum(one, other)) / np.maximum(largest, 1)


def _ask_sizes(distance: Distance, at_least: AtLeast) -> Asking:
    last = MISSING - 1  # a size of so many items or more
    sizes = np.arange(last + 1, dtype=np.float64)

    def ask(asked: Cells) -> tuple[np.ndarray, np.ndarray]:
        own = _lengths(distance, cast(Ragged, asked)).astype(np.float64)[:, None]
        apart = at_least(distance, own, sizes)
        apart[own[:, 0] >= last, last] = 0.0  # both are large: nothing is known
        tables = np.zeros((len(asked), MISSING + 1))
        # Divided as the distance itself does; a little less, for what rounding may do.
        tables[:, : last + 1] = np.minimum(apart / distance.scale_, 1.0) * (1 - 1e-9)
        return np.zeros((len(asked), 1), np.uint8), tables

    return ask


# -- coordinates -----------------------------------------------------------------------------------


def _coordinates(
    distance: Distance, cells: np.ndarray, gone: np.ndarray, straight: bool
) -> ObjectBytes | None:
    """Bound a distance of vectors by the coordinates that vary most."""
    sample = cells[np.flatnonzero(~gone)[:: max(1, len(cells) // SAMPLED)]]
    if not sample.size:
        return None
    low, high = np.fmin.reduce(cells, axis=0), np.fmax.reduce(cells, axis=0)  # but for gaps
    with np.errstate(over="ignore", invalid="ignore"):
        spread, span = sample.std(axis=0), high - low
    if not np.isfinite(span.sum() + spread.sum()) or not spread.any():
        return None
    most = np.sort(np.argsort(-spread, kind="stable")[:WIDEST])
    state = {"most": most, "low": low[most], "span": span[most]}
    if straight:
        # One step for all. Narrow sums hold 255 steps in a straight line: as far as two rows are
        # from each other by and large, so that those that are nearer can be told apart.
        apart = float(np.sqrt(2.0) * np.linalg.norm(spread[most]))
        step = max(float(span[most].max()), apart) / STEPS
        state |= {"span": np.full(len(most), STEPS * step), "step": np.array([step])}
    columns = np.empty((len(cells), len(most)), np.uint8)
    for j, at in enumerate(most):
        columns[:, j] = byte_steps(cells[:, at], state["low"][j], state["span"][j])
    ask = _ask_coordinates(distance, **state)
    return ObjectBytes(ROOT if straight else NUMBER, columns, gone, ask, state)


def _ask_coordinates(
    distance: Distance,
    most: np.ndarray,
    low: np.ndarray,
    span: np.ndarray,
    step: np.ndarray | None = None,
) -> Asking:
    def ask_sum(asked: Cells) -> tuple[np.ndarray, np.ndarray]:
        x = without_nan(cast(np.ndarray, asked)[:, most])
        within = np.clip(x, low, low + span)
        # The difference is cut off at the scale: no sum of these may come to more than that.
        reach = np.maximum(within - low, low + span - within).sum(axis=1, keepdims=True)
        return byte_steps(x, low, span), span / np.maximum(distance.scale_, reach * (1 + 1e-9))

    def ask_root(asked: Cells) -> tuple[np.ndarray, np.ndarray]:
        assert step is not None
        x = without_nan(cast(np.ndarray, asked)[:, most])
        return byte_steps(x, low, span), np.full((len(x), 1), step[0] / distance.scale_)

    return ask_sum if step is None else ask_root


COMPARABLE = {
    Cosine, EarthMover, Edit, EditSets, Euclidean, Jaccard, JaroWinkler, Levenshtein,
    NormalizedEuclidean, Overlap, TokenSet,
}  # fmt: skip
SIZED: dict[type, AtLeast] = {
    Edit: _edits, EditSets: _edits, Jaccard: _not_shared, Levenshtein: _edits,
}  # fmt: skip
LINEAR = {Euclidean: True, NormalizedEuclidean: True, EarthMover: False}
