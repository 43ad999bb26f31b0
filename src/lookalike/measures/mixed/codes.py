"""Mixed rows quantized to bytes: lower bounds of the differences in each group of columns.

Numbers become steps of their range (a curved similarity only makes their differences larger),
categories and flags the remainder of their code (two that collide look equal), ordered levels their
code, which a query looks up in the table of its own level.

A column of objects has one of three lower bounds of its own distance. With few distinct cells, the
cells are numbered, and a query looks up its difference to each of them. Texts, sets and sequences
have a size, and two that differ in size differ at least by as much. Vectors and histograms differ
at least as much as the coordinates that vary most, by the Euclidean norm or by the sum, as the
distance does. Any other column of objects has no bytes: it is compared in the re-ranking only, and
its weight may or may not be part of the divisor.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from lookalike import columns as distances
from lookalike.columns import Distance
from lookalike.columns.base import Cells, missing_rows
from lookalike.columns.ragged import Ragged
from lookalike.kernels.bounds import EQUAL, LOOKUP, MISSING, NUMBER, ROOT, SQUARE, STEPS
from lookalike.measures.contract.codes import byte_steps, without_nan
from lookalike.measures.mixed.plan import COLUMN, SIMPLE, MixedPlan
from lookalike.neighbors.byte_queries import ByteCodes, ByteQueries

MAX_NUMBERED_CELLS = MISSING  # distinct cells of a column: every byte but the missing one
MAX_COORDINATES = 16  # of a vector that become bytes; chosen by hand
MAX_SAMPLE_CELLS = 4096  # to find the coordinates that vary most
SCALE_LIMITS = (1e-140, 1e140)  # outside these, squares of differences may vanish or overflow


@dataclass(frozen=True, eq=False)
class ObjectBytes:
    """How one column of objects is compared as bytes; the bytes themselves are in the tiles.

    Parameters
    ----------
    distance : Distance of the column
    kind : int
        How bytes are compared: NUMBER, LOOKUP or ROOT.
    width : int, how many bytes a cell has
    state : mapping of name to array, what ``ask`` knows beside the distance and the cells
    numbered : encoded cells, the distinct ones where these are few; else None
    """

    distance: Distance
    kind: int
    width: int
    state: Mapping[str, np.ndarray]
    numbered: Cells | None = None

    @property
    def kinds(self) -> list[int]:
        """How each of the bytes is compared."""
        return [SQUARE if self.kind == ROOT else self.kind] * (self.width - 1) + [self.kind]

    def ask(self, asked: Cells) -> tuple[np.ndarray, np.ndarray]:
        """Return (own, worth) of queries, given as encoded cells.

        For NUMBER the codes of queries (queries, bytes per cell), and what a difference of all
        steps is worth; for LOOKUP zeros, and a table (queries, 256); for ROOT the codes of queries,
        and what one step is worth. Worth is a share of the weight of the column.
        """
        if self.kind not in (NUMBER, ROOT):
            tables = np.zeros((len(asked), MISSING + 1))
            if self.numbered is not None:
                differs = 1.0 - self.distance.similarity(asked, self.numbered)
                tables[:, : differs.shape[1]] = without_nan(differs)
            else:
                tables[:, :MISSING] = _size_table(self.distance, cast(Ragged, asked))
            return np.zeros((len(asked), 1), np.uint8), tables
        most, low, span = (self.state[name] for name in ("most", "low", "span"))
        x = without_nan(cast(np.ndarray, asked)[:, most])
        own = byte_steps(x, low, span)
        if self.kind == ROOT:
            return own, np.full((len(x), 1), self.state["step"][0] / self.distance.scale_)
        within = np.clip(x, low, low + span)
        # The difference is clipped to the scale, so no sum of the bounds may exceed that.
        reach = np.maximum(within - low, low + span - within).sum(axis=1, keepdims=True)
        return own, span / np.maximum(self.distance.scale_, reach * (1 + 1e-9))


def object_bytes(distance: Distance, cells: Cells) -> tuple[ObjectBytes, np.ndarray] | None:
    """Return how encoded cells are compared, and their bytes; None without a lower bound."""
    # By exact type: a subclass may compare in another way, for which these bounds do not hold.
    kind = type(distance)
    if kind not in COMPARABLE or not SCALE_LIMITS[0] < distance.scale_ < SCALE_LIMITS[1]:
        return None
    gone = missing_rows(cells)
    distinct = _distinct(cells, gone)
    if distinct is not None:
        holders, numbers = distinct
        numbered = ObjectBytes(distance, LOOKUP, 1, {"at": holders}, cells[holders])
        return numbered, numbers.astype(np.uint8)[:, None]
    if kind in EUCLIDEAN and isinstance(cells, np.ndarray):
        return _coordinates(distance, cells, gone, EUCLIDEAN[kind])
    if kind in SIZED and isinstance(cells, Ragged):
        codes = np.minimum(_lengths(distance, cells), MISSING - 1).astype(np.uint8)
        return ObjectBytes(distance, LOOKUP, 1, {}), codes[:, None]
    return None


# -- few distinct cells ----------------------------------------------------------------------------


def _distinct(cells: Cells, gone: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Return rows that hold all distinct cells, and the number of each row's cell among them."""
    row = cells.row if isinstance(cells, Ragged) else cells.__getitem__
    known: dict[bytes, int] = {}
    holders: list[int] = []
    numbers = np.zeros(len(gone), np.int64)
    for i in np.flatnonzero(~gone).tolist():
        # By their bytes: -0.0 and 0.0 may get different numbers, which are both right.
        number = known.setdefault(row(i).tobytes(), len(holders))
        if number == len(holders):
            if number == MAX_NUMBERED_CELLS:  # soon reached in most columns of texts
                return None
            holders.append(i)
        numbers[i] = number
    return (np.array(holders), numbers) if holders else None


# -- sizes -----------------------------------------------------------------------------------------

# Lower bound of the difference of cells of two sizes; arrays of sizes in, values out.
AtLeast = Callable[[Distance, np.ndarray, np.ndarray], np.ndarray]


def _lengths(distance: Distance, cells: Ragged) -> np.ndarray:
    return (
        distance.lengths(cells) if isinstance(distance, distances.Edit) else np.diff(cells.offsets)
    )


def _edits(distance: Any, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    apart = np.abs(one - other)
    return apart / np.maximum(np.maximum(one, other), 1) if distance.normalized else apart


def _not_shared(distance: Distance, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    largest = np.maximum(one, other)
    return (largest - np.minimum(one, other)) / np.maximum(largest, 1)


def _size_table(distance: Distance, asked: Ragged) -> np.ndarray:
    """Return the least difference of each query to the cells of every size."""
    last = MISSING - 1  # a size of so many items or more
    own = _lengths(distance, asked).astype(np.float64)[:, None]
    apart = SIZED[type(distance)](distance, own, np.arange(last + 1, dtype=np.float64))
    apart[own[:, 0] >= last, last] = 0.0  # both are large: the bound is 0
    # Divided as the distance itself does; 1e-9 less, so that rounding cannot exceed it.
    return np.minimum(apart / distance.scale_, 1.0) * (1 - 1e-9)


# -- coordinates -----------------------------------------------------------------------------------


def _coordinates(
    distance: Distance, cells: np.ndarray, gone: np.ndarray, euclidean: bool
) -> tuple[ObjectBytes, np.ndarray] | None:
    """Bound a distance of vectors by the coordinates that vary most."""
    sample = cells[np.flatnonzero(~gone)[:: max(1, len(cells) // MAX_SAMPLE_CELLS)]]
    if not sample.size:
        return None
    low, high = np.fmin.reduce(cells, axis=0), np.fmax.reduce(cells, axis=0)  # NaN is skipped
    with np.errstate(over="ignore", invalid="ignore"):
        spread, span = sample.std(axis=0), high - low
    if not np.isfinite(span.sum() + spread.sum()) or not spread.any():
        return None
    most = np.sort(np.argsort(-spread, kind="stable")[:MAX_COORDINATES])
    state = {"most": most, "low": low[most], "span": span[most]}
    if euclidean:
        # One step for all coordinates. Narrow sums hold a norm of 255 steps: the usual distance of
        # two rows, so that nearer ones can be distinguished.
        apart = float(np.sqrt(2.0) * np.linalg.norm(spread[most]))
        step = max(float(span[most].max()), apart) / STEPS
        state |= {"span": np.full(len(most), STEPS * step), "step": np.array([step])}
    columns = np.empty((len(cells), len(most)), np.uint8)
    for j, coordinate in enumerate(most):
        columns[:, j] = byte_steps(cells[:, coordinate], state["low"][j], state["span"][j])
    kind = ROOT if euclidean else NUMBER
    return ObjectBytes(distance, kind, len(most), state), columns


SIZED: dict[type, AtLeast] = {
    distances.Edit: _edits, distances.EditSets: _edits, distances.Jaccard: _not_shared,
    distances.Levenshtein: _edits,
}  # fmt: skip
# Distances of vectors: a Euclidean norm of the coordinates, or a sum of differences. Of a great
# circle the norm is the chord, which is never longer than the arc.
EUCLIDEAN = {
    distances.Euclidean: True, distances.GreatCircle: True, distances.NormalizedEuclidean: True,
    distances.EarthMover: False,
}  # fmt: skip
COMPARABLE = {
    *SIZED, *EUCLIDEAN, distances.Circular, distances.Cosine, distances.Cyclic,
    distances.JaroWinkler, distances.Overlap, distances.TokenSet,
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class MixedCodes:
    """The bytes of some rows, the plan they were made by, and the bounds of columns of objects."""

    plan: MixedPlan
    codes: ByteCodes
    kind: np.ndarray
    objects: Mapping[str, ObjectBytes]

    def queries(
        self, a: Mapping[str, Any], weights: np.ndarray, midpoint: bool
    ) -> Callable[[Any], ByteQueries]:
        """Return a function from some of the queries to their bytes.

        Parameters
        ----------
        a : encoded rows, the queries
        weights : float64, one per column of the plan
        midpoint : bool
            Whether a missing cell counts as half a difference.
        """
        plan, n = self.plan, self.plan.n_simple
        position = {name: n + i for i, name in enumerate(plan.objects)}
        uncoded = [i for name, i in position.items() if name not in self.objects]
        looked_up, has_roots = np.flatnonzero(self.kind == LOOKUP), (self.kind == ROOT).any()
        whole = np.zeros(len(self.kind))
        whole[:n] = weights[:n]
        # The weight of a column of several bytes is counted with the last of them.
        widths = [coded.width for coded in self.objects.values()]
        last = n - 1 + np.cumsum(widths, dtype=np.int64)
        whole[last] = weights[[position[name] for name in self.objects]]

        def queries_of(part: Any) -> ByteQueries:
            simple = np.asarray(a[SIMPLE][part])
            own = np.zeros((len(simple), len(self.kind)), np.uint8)
            worth = np.zeros(own.shape)
            roots = np.zeros(own.shape) if has_roots else None
            present = np.ones(own.shape, bool)
            own[:, :n], present[:, :n] = _bytes(plan, simple), simple == simple
            worth[:, :n] = weights[:n]
            worth[:, int(plan.ends[3]) : n] = 0.0  # levels are looked up, or too many to be bytes
            tables = np.zeros((len(simple), len(looked_up), MISSING + 1))
            slots, first = iter(range(len(looked_up))), n
            for j in looked_up[looked_up < n].tolist():
                levels = _levels(plan, j)
                codes = np.where(present[:, j], simple[:, j], 0).astype(np.int64)
                tables[:, next(slots), : len(levels)] = levels[codes] * weights[j]
            for name, coded in self.objects.items():
                cells, weight = a[COLUMN + name][part], weights[position[name]]
                columns = slice(first, first + coded.width)
                first = columns.stop
                own[:, columns], values = coded.ask(cells)
                present[:, columns] = ~missing_rows(cells)[:, None]
                if coded.kind == LOOKUP:
                    tables[:, next(slots)] = values * weight
                elif roots is not None and coded.kind == ROOT:
                    worth[:, first - 1] = weight
                    roots[:, first - 1] = values[:, 0] * weight
                else:
                    worth[:, columns] = values * weight
            # Sums are scaled by the largest possible one: a column adds at most its largest entry.
            worth[:, looked_up] = tables.max(axis=2)
            return ByteQueries(
                own, worth, self.kind, tables=tables, weights=whole, present=present,
                midpoint=midpoint, more_weight=float(weights[uncoded].sum()), roots=roots,
            )  # fmt: skip

        return queries_of

    def to_arrays(self) -> dict[tuple[str, ...], np.ndarray]:
        """Return the codes as arrays, to be saved with the plan and the rows."""
        arrays = {**self.codes.to_arrays(), ("kind",): self.kind}
        for name, coded in self.objects.items():
            arrays["object", name, "form"] = np.array([coded.kind, coded.width])
            arrays |= {("object", name, "state", key): value for key, value in coded.state.items()}
        return arrays

    @classmethod
    def from_arrays(
        cls, plan: MixedPlan, rows: Mapping[str, Any], arrays: Mapping[tuple[str, ...], np.ndarray]
    ) -> MixedCodes:
        """Return the codes of the same encoded rows from what ``to_arrays`` returned."""
        objects = {}
        for name in plan.objects:
            if ("object", name, "form") not in arrays:
                continue
            kind, width = arrays["object", name, "form"].tolist()
            start = ("object", name, "state")
            state = {key[3]: array for key, array in arrays.items() if key[:3] == start}
            cells = rows[COLUMN + name]
            numbered = cells[state["at"]] if "at" in state else None
            objects[name] = ObjectBytes(plan.distances[name], kind, width, state, numbered)
            if numbered is None:
                objects[name].ask(cells[:0])  # a damaged state fails now, not in a search
        return cls(plan, ByteCodes.from_arrays(len(rows[SIMPLE]), arrays), arrays["kind",], objects)


def mixed_codes(plan: MixedPlan, rows: Mapping[str, Any]) -> MixedCodes | None:
    """Return the bytes of encoded rows; None where no column has a bound."""
    simple, n = np.asarray(rows[SIMPLE]), plan.n_simple
    kind = np.full(n, EQUAL)
    kind[: plan.ends[1]] = NUMBER
    first = int(plan.ends[3])
    kind[first:] = np.where(plan.starts[first:, 1] <= MISSING, LOOKUP, EQUAL)
    each = {name: object_bytes(plan.distances[name], rows[COLUMN + name]) for name in plan.objects}
    coded = {name: code for name, code in each.items() if code is not None}
    objects = {name: code for name, (code, _) in coded.items()}
    if not n and not objects:
        return None
    kind = np.concatenate([kind, *(code.kinds for code in objects.values())])

    gaps = {name: missing_rows(rows[COLUMN + name]) for name in objects}

    def part_of(part: slice) -> tuple[np.ndarray, np.ndarray | None]:
        columns, missing = [_bytes(plan, simple[part])], [np.isnan(simple[part])]
        for name, (code, cells) in coded.items():
            columns.append(cells[part])
            missing.append(np.repeat(gaps[name][part, None], code.width, axis=1))
        gone = np.hstack(missing)
        return np.hstack(columns), gone if gone.any() else None

    return MixedCodes(plan, ByteCodes.make(len(simple), len(kind), part_of), kind, objects)


def _bytes(plan: MixedPlan, simple: np.ndarray) -> np.ndarray:
    near, order = int(plan.ends[1]), int(plan.ends[3])
    out = np.empty(simple.shape, np.uint8)
    out[:, :near] = byte_steps(simple[:, :near], 0.0, 1.0)
    if near < simple.shape[1]:
        # Equal codes must get equal bytes: their bits are equal once -0.0 is 0.0. Different codes
        # may collide, which only lowers the bound.
        bits = np.ascontiguousarray(without_nan(simple[:, near:]) + 0.0).view(np.uint64)
        out[:, near:] = (bits ^ (bits >> np.uint64(40))) % np.uint64(STEPS)
    for j in range(order, simple.shape[1]):
        if plan.starts[j, 1] <= MISSING:
            out[:, j] = without_nan(simple[:, j])
    return out


def _levels(plan: MixedPlan, column: int) -> np.ndarray:
    """Return the differences of the levels of a column."""
    start, width = (int(value) for value in plan.starts[column])
    table = plan.levels[start : start + width * width].reshape(width, width)
    # NaN becomes 0 (fmax takes the number); several times as quick as ``nan_to_num`` and ``clip``.
    return np.asarray(np.fmin(np.fmax(table, 0.0), 1.0))
