"""Mixed rows as bytes: how each group of columns bounds its differences from below.

Numbers become steps of their range (a curved similarity only makes their differences larger),
codes and flags their remainder (two that clash look equal), ordered levels their code, which a
query looks up in the table of its own level. Columns of objects become bytes where something is
known about them; else their weight may or may not be there.

A column of objects has three ways, each a true lower bound of the difference that its own distance
finds. One with few distinct cells is numbered, and a query looks up its difference to each of them.
Texts, sets and sequences have a size, and two that differ in size differ at least by as much.
Vectors and histograms differ at least as much as the coordinates that vary most, in a straight line
or one after the other, as the distance goes. A distance without an entry in the tables has no
bytes; its column is compared for the finalists only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, cast

import numpy as np

from lookalike.columns import Distance
from lookalike.columns.base import Cells, missing_rows
from lookalike.columns.ragged import Ragged
from lookalike.columns.sequence import Edit, EditSets
from lookalike.columns.sets import Jaccard, Overlap
from lookalike.columns.text import JaroWinkler, Levenshtein, TokenSet
from lookalike.columns.vector import Cosine, EarthMover, Euclidean, NormalizedEuclidean
from lookalike.kernels.bounds import EQUAL, LOOKUP, MISSING, NUMBER, ROOT, SQUARE, STEPS
from lookalike.measures.contract.codes import byte_steps, without_nan
from lookalike.measures.mixed.plan import COLUMN, SIMPLE, MixedPlan
from lookalike.neighbors.codes import Bounds, ByteCodes, ByteQueries

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
    # By exact type: a subclass may compare in another way, for which these bounds do not hold.
    kind = type(distance)
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


class _Layout(NamedTuple):
    """Where columns are: those of objects in the plan, with bytes and without, and all as bytes."""

    coded: list[int]
    uncoded: list[int]
    last: np.ndarray
    looked_up: np.ndarray
    levels: list[int]
    has_roots: bool


@dataclass(eq=False)  # not frozen: what follows from the arrays is computed once and kept
class MixedCodes:
    """The bytes of some rows, the plan they were made by, and what the columns of objects ask."""

    plan: MixedPlan
    codes: ByteCodes
    kind: np.ndarray
    objects: Mapping[str, ObjectBytes]

    def queries(
        self, a: Mapping[str, Any], weights: np.ndarray, midpoint: bool
    ) -> Callable[[slice], Bounds]:
        """Return a function from a slice of the queries to their bounds.

        Parameters
        ----------
        a : encoded rows, the queries
        weights : float64, one per column of the plan
        midpoint : bool
            Whether a missing cell counts as half a difference.
        """
        plan, n = self.plan, self.plan.n_simple
        layout = self._layout
        more = float(weights[layout.uncoded].sum())
        whole = np.zeros(len(self.kind))
        whole[:n] = weights[:n]
        whole[layout.last] = weights[layout.coded]

        def queries(at: slice) -> Bounds:
            simple = np.asarray(a[SIMPLE][at])
            own = np.zeros((len(simple), len(self.kind)), np.uint8)
            worth = np.zeros(own.shape)
            roots = np.zeros(own.shape) if layout.has_roots else None
            here = np.ones(own.shape, bool)
            own[:, :n], here[:, :n] = _bytes(plan, simple), simple == simple
            worth[:, :n] = weights[:n]
            worth[:, int(plan.ends[3]) : n] = 0.0  # levels are looked up, or too many to be bytes
            tables = np.zeros((len(simple), len(layout.looked_up), MISSING + 1))
            slot, first = 0, n
            for j in layout.levels:
                levels = _levels(plan, j)
                codes = np.where(here[:, j], simple[:, j], 0).astype(np.int64)
                tables[:, slot, : len(levels)] = levels[codes] * weights[j]
                slot += 1
            for place, (name, kept) in zip(layout.coded, self.objects.items(), strict=True):
                cells, weight = a[COLUMN + name][at], weights[place]
                columns = slice(first, first + kept.width)
                first = columns.stop
                own[:, columns], values = kept.ask(cells)
                here[:, columns] = ~missing_rows(cells)[:, None]
                if kept.kind == LOOKUP:
                    tables[:, slot] = values * weight
                    slot += 1
                elif roots is not None and kept.kind == ROOT:
                    worth[:, first - 1] = weight
                    roots[:, first - 1] = values[:, 0] * weight
                else:
                    worth[:, columns] = values * weight
            # The largest entry of a table is the most that its column can add to a sum.
            worth[:, layout.looked_up] = tables.max(axis=2)
            asked = ByteQueries(
                own, worth, self.kind, tables=tables, weights=whole, present=here,
                midpoint=midpoint, more_weight=more, roots=roots,
            )  # fmt: skip
            return asked.bounds(self.codes)

        return queries

    @cached_property
    def _layout(self) -> _Layout:
        """Where the columns of the plan are among the bytes, worked out once."""
        n = self.plan.n_simple
        places = {name: n + i for i, name in enumerate(self.plan.objects)}
        return _Layout(
            coded=[places[name] for name in self.objects],
            uncoded=[at for name, at in places.items() if name not in self.objects],
            # The weight of a column of several bytes is counted with the last of them.
            last=n - 1 + np.cumsum([kept.width for kept in self.objects.values()], dtype=np.int64),
            looked_up=np.flatnonzero(self.kind == LOOKUP),
            levels=np.flatnonzero(self.kind[:n] == LOOKUP).tolist(),
            has_roots=bool((self.kind == ROOT).any()),
        )

    def to_arrays(self) -> dict[tuple[str, ...], np.ndarray]:
        """Return all that is needed to ask again beside the plan and the rows."""
        arrays = {**self.codes.to_arrays(), ("kind",): self.kind}
        for name, kept in self.objects.items():
            arrays["object", name, "form"] = np.array([kept.kind, kept.width])
            arrays |= {("object", name, "state", key): value for key, value in kept.state.items()}
        return arrays

    @classmethod
    def from_arrays(
        cls, plan: MixedPlan, rows: Mapping[str, Any], arrays: Mapping[tuple[str, ...], np.ndarray]
    ) -> MixedCodes:
        """Return what ``to_arrays`` has taken apart, for the same encoded rows."""
        objects = {}
        for name in plan.objects:
            if ("object", name, "form") not in arrays:
                continue
            kind, width = arrays["object", name, "form"].tolist()
            start = ("object", name, "state")
            state = {key[3]: array for key, array in arrays.items() if key[:3] == start}
            cells = rows[COLUMN + name]
            objects[name] = object_asking(plan.distances[name], cells, kind, width, state)
        return cls(plan, ByteCodes.from_arrays(len(rows[SIMPLE]), arrays), arrays["kind",], objects)


def mixed_codes(plan: MixedPlan, rows: Mapping[str, Any]) -> MixedCodes | None:
    """Return the bytes of encoded rows; None where there is nothing to make them of."""
    simple, n = np.asarray(rows[SIMPLE]), plan.n_simple
    kind = np.full(n, EQUAL)
    kind[: plan.ends[1]] = NUMBER
    for j in range(int(plan.ends[3]), n):
        kind[j] = LOOKUP if plan.starts[j, 1] <= MISSING else EQUAL
    objects = {}
    for name in plan.objects:
        kept = object_bytes(plan.distances[name], rows[COLUMN + name])
        if kept is not None:
            objects[name] = kept
    if not n and not objects:
        return None
    for kept in objects.values():
        kind = np.concatenate([kind, kept.kinds])

    def part_of(at: slice) -> tuple[np.ndarray, np.ndarray | None]:
        columns, missing = [_bytes(plan, simple[at])], [np.isnan(simple[at])]
        for kept in objects.values():
            columns.append(kept.columns[at])
            missing.append(np.repeat(kept.missing[at, None], kept.width, axis=1))
        gone = np.hstack(missing)
        return np.hstack(columns), gone if gone.any() else None

    # What the columns of objects have made is in the codes now, and not needed twice.
    codes = ByteCodes.make(len(simple), len(kind), part_of)
    return MixedCodes(
        plan, codes, kind, {name: kept.without_rows() for name, kept in objects.items()}
    )


def _bytes(plan: MixedPlan, simple: np.ndarray) -> np.ndarray:
    near, order = int(plan.ends[1]), int(plan.ends[3])
    out = np.empty(simple.shape, np.uint8)
    out[:, :near] = byte_steps(simple[:, :near], 0.0, 1.0)
    if near < simple.shape[1]:
        # Numbers that are equal have equal bits once -0.0 is 0.0, so they get equal bytes.
        bits = np.ascontiguousarray(without_nan(simple[:, near:]) + 0.0).view(np.uint64)
        out[:, near:] = (bits ^ (bits >> np.uint64(40))) % np.uint64(STEPS)
    for j in range(order, simple.shape[1]):
        if plan.starts[j, 1] <= MISSING:
            out[:, j] = without_nan(simple[:, j])
    return out


def _levels(plan: MixedPlan, column: int) -> np.ndarray:
    """Return by how much the levels of a column differ from each other."""
    start, width = (int(value) for value in plan.starts[column])
    table = plan.levels[start : start + width * width].reshape(width, width)
    return np.clip(np.nan_to_num(table), 0.0, 1.0)
