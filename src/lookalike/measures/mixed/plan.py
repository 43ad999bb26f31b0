"""How the columns of a mixed table are compared, each by the distance of its kind.

Numbers, categories, flags and ordered levels go into one matrix for a compiled kernel; every other
column keeps its own encoded cells. ``Gower`` and the weights learned for it read the same plan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np

from lookalike.columns import Distance, distance_for
from lookalike.columns.base import missing_rows
from lookalike.columns.levels import Equal, Information, Presence, RankRange
from lookalike.columns.number import Absolute, RankShare
from lookalike.columns.pairs import pair_similarities
from lookalike.columns.vector import GreatCircle
from lookalike.errors import InvalidInput, Param, Phrase, suggest
from lookalike.kernels import fallback, mixed
from lookalike.kernels.first_use import worth_compiling
from lookalike.kernels.mixed import GROUPS
from lookalike.saving import fields
from lookalike.saving.encode import saveable
from lookalike.saving.fields import Dims, Field, Fields, require
from lookalike.table import Table
from lookalike.table.model.kind import PLACE
from lookalike.table.model.table import Column

SIMPLE = "simple"  # the name of the matrix of simple columns among the encoded arrays
SCALES = ("range", "robust", "rank")  # of number columns
TRIM = 0.05  # of the values at each end that "robust" leaves out of the range
COLUMN = "column "  # prefix of the name of any other column among the encoded arrays
Arrays = Mapping[str, Any]  # encoded rows
Pairs = tuple[np.ndarray, np.ndarray]  # one array for each side, or for each of two sums
# Groups of the kernel that compare codes as these distances do, where their scale is 1.
CODED: dict[type, str] = {
    Equal: "equal", Presence: "flag", Information: "level", RankRange: "level",
}  # fmt: skip


@dataclass(eq=False, repr=False, kw_only=True)
class PlanOptions:
    """How columns are to be compared, where the defaults of their kinds are not wanted.

    Parameters
    ----------
    distances, ranges, scale, order, constant, alpha, beta : as for ``Gower``
    """

    distances: Mapping[str, Any] | None = None
    ranges: Mapping[str, float] | None = None
    scale: str | Mapping[str, str] = "range"
    order: str = "information"
    constant: str = "keep"
    alpha: float = 1.0
    beta: float = 1.0

    def _options_by_name(self) -> dict[str, Mapping[str, Any]]:
        scales = self.scale if isinstance(self.scale, Mapping) else {}
        return {"distances": self.distances or {}, "ranges": self.ranges or {}, "scale": scales}

    def _check_names(self, table: Table, who: str) -> None:
        """Refuse options for columns that the table does not have."""
        for option, names in self._options_by_name().items():
            for name in names:
                if name not in table and name not in table.joined:
                    who_, hint = Param(option, of=who), suggest(name, table.names)
                    raise InvalidInput(who_, "columns of the table", repr(name), hint)

    def _distance_of(self, column: Column, who: str) -> Distance:
        """Return the distance of a column, not yet fitted."""
        kind, spec = column.kind, (self.distances or {}).get(column.name)
        scale = self.scale if isinstance(self.scale, str) else _scale_of(self.scale, column, who)
        if spec is None and kind.name in Absolute.kinds:
            spec = self._number_distance(column, scale)
        elif spec is None and kind.name == "order" and not kind.role:
            spec = self.order
        elif spec is None and kind.role == PLACE:
            # Kilometers as a share of a range, whole or trimmed: beside ranks both were tried
            # (docs/explanation/kinds.md).
            spec = GreatCircle(trim=TRIM * (scale != "range"))
        return distance_for(spec, kind.name, column.name, kind.role)

    def _number_distance(self, column: Column, scale: str) -> Distance | None:
        """Return the distance of a number; None for a cycle, which keeps that of its role."""
        # An explicit range takes precedence over any scale.
        known = (self.ranges or {}).get(column.name)
        named = isinstance(self.scale, Mapping) and column.name in self.scale
        if column.kind.period and known is None and not named:
            return None
        if known is None and scale == "rank":
            return RankShare(self.alpha, self.beta, self.constant)
        trim = TRIM * (scale == "robust")
        return Absolute(self.alpha, self.beta, self.constant, known, trim)


@saveable
@dataclass(eq=False)
class MixedPlan:
    """The fitted comparison of the columns: distances, ranges, level tables and groups.

    Parameters
    ----------
    distances : fitted distance of each column, in the order of the table
    joined : groups of columns of the table that are compared as one

    Attributes
    ----------
    names : columns in the order of all sums: simple ones by group, then the others
    dropped : columns that are never compared (constant ones, on request)
    ends : where each group of simple columns ends
    alpha, beta : shape of the curved numbers
    levels, starts : tables of the ordered levels, and where they are
    """

    FIELDS: ClassVar[Fields] = {
        "distances": fields.MapOf(fields.Text(), fields.Saved("Distance")),
        "joined": fields.TupleOf(fields.TupleOf(fields.Text())),
    }

    distances: Mapping[str, Distance]
    joined: tuple[tuple[str, ...], ...] = ()

    def __post_init__(self) -> None:
        """Put the columns in order, and their facts into arrays for the kernel."""
        each, groups = self.distances, {name: _group(d) for name, d in self.distances.items()}
        # Columns of one group are adjacent, so that the kernel has one loop per group; within a
        # group they keep the order of the table, which fixes the order of every sum.
        self.names = tuple(sorted(groups, key=lambda name: groups[name]))
        counts = np.bincount(list(groups.values()), minlength=len(GROUPS) + 1)
        self.ends = np.cumsum(counts[: len(GROUPS)]).astype(np.int64)
        simple = [each[name] for name in self.names[: self.n_simple]]
        curves = [(d.alpha, d.beta) if isinstance(d, Absolute) else (1.0, 1.0) for d in simple]
        shape = np.array(curves, np.float64).reshape(-1, 2)
        self.alpha, self.beta = np.ascontiguousarray(shape.T)
        self.levels, self.starts = _level_tables(simple)
        numbers = {name: d for name, d in each.items() if isinstance(d, Absolute)}
        self.dropped = tuple(
            name for name, d in numbers.items() if d.constant == "drop" and d.scale_ == 0
        )

    @property
    def n_simple(self) -> int:
        """How many columns the kernel compares."""
        return int(self.ends[-1])

    @property
    def objects(self) -> tuple[str, ...]:
        """Columns that are compared by their own distance."""
        return self.names[self.n_simple :]

    def name_of(self, column: str) -> str:
        """Return under which name a column of the table is compared: its own, or a joint one."""
        return next((", ".join(parts) for parts in self.joined if column in parts), column)

    def names_of(self, columns: Iterable[str]) -> list[str]:
        """Return what is compared in the order of the table's columns."""
        return list(dict.fromkeys(map(self.name_of, columns)))

    def weights_of(self, each: Mapping[str, float]) -> np.ndarray:
        """Return the weight of every column of ``names``; what is joined has the mean weight.

        A dropped column keeps its position with weight 0: the kernel's groups stay as they are.
        """
        joint = {", ".join(parts): [each[part] for part in parts] for parts in self.joined}
        means = {**each, **{name: sum(parts) / len(parts) for name, parts in joint.items()}}
        return np.array([0.0 if name in self.dropped else means[name] for name in self.names])

    def for_kernel(self, weights: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return how the kernel compares simple columns, under weights of all columns."""
        simple = weights[: self.n_simple]
        return self.ends, simple, self.alpha, self.beta, self.levels, self.starts

    # -- encoding ----------------------------------------------------------------------------------

    def encode(self, table: Table) -> dict[str, Any]:
        """Return the rows of a table as arrays."""
        table = table.join(self.joined)
        simple = np.empty((len(table), self.n_simple))
        for j, name in enumerate(self.names[: self.n_simple]):
            distance = self.distances[name]
            cells = np.asarray(distance.encode(table[name]))
            if not isinstance(distance, Absolute):
                cells = np.where(cells == -1, np.nan, cells.astype(np.float64))
            elif distance.scale_ > 0:  # a constant column is compared for equality, unscaled
                cells = distance.shares(cells)
            simple[:, j] = cells
        arrays: dict[str, Any] = {SIMPLE: simple}
        for name in self.objects:
            arrays[COLUMN + name] = self.distances[name].encode(table[name])
        return arrays

    # -- comparing ---------------------------------------------------------------------------------

    def sums(
        self,
        a: Arrays,
        b: Arrays,
        weights: np.ndarray,
        midpoint: bool,
        pairs: Pairs | None = None,
    ) -> Pairs:
        """Return for each pair what speaks against likeness and what could be compared.

        Where everything can be compared in every pair, the second is a single cell.

        Parameters
        ----------
        a, b : encoded rows
        weights : float64, one per column of ``names``
        midpoint : bool
            Whether a missing cell counts as a difference of 1/2 instead of not at all. Pairs that
            are present and still cannot be compared stay left out.
        pairs : two int64 arrays of one length, optional
            Rows of a and of b; pairs with the same row of a are adjacent. None: all pairs.
        """
        # Rows may come as a strided view; kernels are compiled for one layout only.
        x, y = np.ascontiguousarray(a[SIMPLE]), np.ascontiguousarray(b[SIMPLE])
        if pairs:
            against, compared = np.empty(len(pairs[0])), np.empty(len(pairs[0]))
            plan = self.for_kernel(weights)
            mixed.mixed_pair_sums(x, y, *pairs, *plan, midpoint, against, compared)
        else:
            against, compared = self._simple_sums(x, y, weights, midpoint)
        left, right = pairs or ((slice(None), None), slice(None))  # each row of a with each of b
        for name, weight in zip(self.objects, weights[self.n_simple :], strict=True):
            differs = 1.0 - self._alike(name, a, b, pairs)
            left_out = np.isnan(differs)
            if left_out.any():
                differs[left_out] = 0.0
                if midpoint:
                    gone, lost = (missing_rows(side[COLUMN + name]) for side in (a, b))
                    half = left_out & (gone[left] | lost[right])
                    differs[half] = 0.5
                    left_out &= ~half
                compared = compared + np.where(left_out, 0.0, weight)
            else:
                compared += weight
            against += weight * differs
        return against, compared

    def _simple_sums(
        self, a: np.ndarray, b: np.ndarray, weights: np.ndarray, midpoint: bool
    ) -> Pairs:
        """Return the two sums of every row of a and every row of b over the simple columns."""
        plan, block = self.for_kernel(weights), mixed.mixed_block
        # Small blocks are answered by numpy before the kernel would be compiled (decision 14). Not
        # powers: numpy rounds them differently, and answers must not depend on the block's size.
        small = not self.has_curves and not worth_compiling(block, len(a) * b.size)
        # Without missing cells all pairs have the same divisor: one cell instead of a matrix.
        same = not small and mixed.all_compared(a, b, self.ends, midpoint)
        against = np.empty((len(a), len(b)))
        compared = np.empty((1, 1) if same else against.shape)
        write = cast(Any, fallback.mixed_block if small else block)
        write(a, b, *plan, midpoint, against, compared)
        return against, compared

    def _alike(self, name: str, a: Arrays, b: Arrays, pairs: Pairs | None) -> np.ndarray:
        """Return the similarities of cells of a column of objects; NaN is undefined."""
        distance, x, y = self.distances[name], a[COLUMN + name], b[COLUMN + name]
        return distance.similarity(x, y) if not pairs else pair_similarities(distance, x, y, *pairs)

    @property
    def has_curves(self) -> bool:
        """Whether some numbers have a curved similarity: powers, which only loops take alike."""
        return bool(self.ends[1] > self.ends[0])

    def differences(self, a: Arrays, b: Arrays, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Return the difference of rows left[i] of a and right[i] of b in every column, or NaN.

        Pairs with the same left row are best kept together: columns of objects then compare it
        with all its right rows in one call.
        """
        simple = self.simple_pairs(a[SIMPLE][left], b[SIMPLE][right])
        objects = [1.0 - self._alike(name, a, b, (left, right)) for name in self.objects]
        return np.column_stack([simple, *objects]) if objects else simple

    def simple_pairs(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Return the difference of row i of a and row i of b in the simple columns.

        Parameters
        ----------
        a, b : float64 (rows, simple columns), as they are encoded
        """
        out, compare = np.empty((len(a), self.n_simple)), mixed.mixed_pairs
        if not self.has_curves and not worth_compiling(compare, a.size):
            compare = fallback.mixed_pairs
        a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
        compare(a, b, self.ends, self.alpha, self.beta, self.levels, self.starts, out)
        return out

    def missing(self, rows: Arrays) -> np.ndarray:
        """Return which cells are missing, a bool array (rows, columns)."""
        objects = [missing_rows(rows[COLUMN + name]) for name in self.objects]
        return np.column_stack([np.isnan(rows[SIMPLE]), *objects])

    # -- fitting -----------------------------------------------------------------------------------

    @classmethod
    def fit(
        cls,
        table: Table,
        who: str,
        options: PlanOptions | None = None,
        learn: Callable[[Distance, Column], Distance] = lambda d, column: d.fit(column),
    ) -> MixedPlan:
        """Learn ranges, frequencies and scales from a table; ``learn`` fits one distance."""
        chosen = options or PlanOptions()
        chosen._check_names(table, who)
        # Columns are compared as one, except where an option names one alone.
        named = {name for names in chosen._options_by_name().values() for name in names}
        joined = tuple(parts for parts in table.joined.values() if named.isdisjoint(parts))
        table = table.join(joined)
        fitted = {column.name: learn(chosen._distance_of(column, who), column) for column in table}
        return cls(fitted, joined)

    # -- loading -----------------------------------------------------------------------------------

    def check_loaded(self, dims: Dims) -> None:
        """Check after loading that the distances are fitted, and derive the rest from them."""
        for name, distance in self.distances.items():
            fits = hasattr(distance, "scale_") and hasattr(distance, "_cells_shape")
            require(fits, f"MixedPlan.distances[{name[:40]!r}]", "a fitted distance", "another")
        self.__post_init__()
        joint = {", ".join(parts) for parts in self.joined}
        require(joint <= set(self.names), "MixedPlan.joined", "columns of the plan", "others")

    def rows_shape(self) -> dict[str, Field]:
        """Return what encoded rows look like."""
        return {
            SIMPLE: fields.Array("float64", "n", self.n_simple),
            **{COLUMN + name: fields.Anything() for name in self.objects},
        }

    def check_cells(self, rows: Arrays, where: str) -> None:
        """Refuse loaded rows that hold cells which their distances would not have encoded."""
        for name in self.objects:
            key = COLUMN + name
            self.distances[name].check_cells(rows[key], len(rows[SIMPLE]), f"{where}.{key}")
        self.check_levels(rows)

    def check_levels(self, rows: Arrays) -> None:
        """Refuse loaded rows whose codes of levels are not in the tables."""
        for j in np.flatnonzero(self.starts[:, 1]):
            codes = rows[SIMPLE][:, j]
            here = codes[~np.isnan(codes)]
            fits = (here >= 0) & (here < self.starts[j, 1]) & (here == np.floor(here))
            require(fits.all(), f"rows of {self.names[j][:40]!r}", "codes of its levels", "others")


def _scale_of(scale: Mapping[str, str], column: Column, who: str) -> str:
    """Return the scale of a column; the published one where none is named."""
    word = scale.get(column.name, SCALES[0])
    given = Param("scale", {column.name: word}, of=who)
    known = fields.Choice(*SCALES)
    if not known.fits(word):
        raise InvalidInput(given, known.describe(), repr(word), known.hint(word))
    if column.name in scale and column.kind.name not in Absolute.kinds:
        kinds = Param("kinds", {column.name: "number"})
        hint = Phrase("Leave it out of ", Param("scale"), ", or use ", kinds)
        raise InvalidInput(given, "a column of numbers", f"kind {column.kind.name}", hint)
    return word


def _level_tables(distances: list[Distance]) -> tuple[np.ndarray, np.ndarray]:
    """Return the differences of levels of all columns in one array, and where each begins."""
    # One flat array for all columns: kernels take no lists of matrices.
    levels: list[np.ndarray] = []
    starts = np.zeros((len(distances), 2), dtype=np.int64)
    begin = 0
    for j, distance in enumerate(distances):
        if isinstance(distance, Information | RankRange):
            differs = 1.0 - distance.similarities_
            starts[j] = begin, len(differs)
            levels.append(differs.ravel())
            begin += differs.size
    return np.concatenate([*levels, np.zeros(1)]), starts


def _group(distance: Distance) -> int:
    """Return the group of the kernel that compares as this distance does, or one past the last."""
    # By exact type: a subclass may compare in another way than the kernel does.
    kind = type(distance)
    group = None
    if kind in (Absolute, RankShare):
        straight = distance.alpha == distance.beta == 1  # type: ignore[attr-defined]
        group = "equal" if distance.scale_ == 0 else ("number" if straight else "curved")
    elif distance.scale_ == 1.0:
        group = CODED.get(kind)
    return len(GROUPS) if group is None else GROUPS.index(group)
