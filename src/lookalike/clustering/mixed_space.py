"""The space that k-means for mixed columns works in: scaled numbers, weighted indicators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from lookalike._runtime.threads import blocks, run
from lookalike.kernels.mixed import assign_centers
from lookalike.measures.numeric import TreeInputs, check_owners, plan_inputs, read_inputs
from lookalike.saving.encode import saveable
from lookalike.saving.fields import Array, Dims, Fields, Integer, Real, Saved, require
from lookalike.table import Schema, Table

TALL = 8192  # rows that one kernel call assigns
LEVELS = ("category", "flag")  # kinds whose cells are levels without an order
MixedRows = tuple[np.ndarray, np.ndarray]


@saveable
@dataclass(frozen=True, eq=False)
class Centers:
    """The centers of k clusters.

    Parameters
    ----------
    means : float64 (k, p), of the scaled numbers
    shares : float64 (k, levels), of all levels of all columns, side by side
    inertia : float, the sum of squared distances when they were made
    rounds : int, until they came to rest
    """

    FIELDS: ClassVar[Fields] = {
        "means": Array("float64", "k", "numbers", finite=True),
        "shares": Array("float64", "k", "levels", finite=True),
        "inertia": Real(0.0),
        "rounds": Integer(0),
    }

    means: np.ndarray
    shares: np.ndarray
    inertia: float
    rounds: int

    def __len__(self) -> int:
        return len(self.means)

    def take(self, at: np.ndarray) -> Centers:
        """Return some of the centers."""
        return Centers(self.means[at], self.shares[at], self.inertia, self.rounds)


@saveable
@dataclass(frozen=True, eq=False)
class MixedSpace:
    """How columns were scaled.

    Parameters
    ----------
    inputs : TreeInputs, the columns
    levels : bool per input, True where its cells are levels
    offset, spread : float64 of p, of the numbers; a spread of 0 says the column is constant
    starts : int64 of c + 1, where the levels of each column begin
    shares : float64, of all levels among the fitted rows
    weight : float, of a column of levels
    """

    FIELDS: ClassVar[Fields] = {
        "inputs": Saved("TreeInputs"),
        "levels": Array("bool", "inputs"),
        "offset": Array("float64", "numbers", finite=True),
        "spread": Array("float64", "numbers", low=0.0, finite=True),
        "starts": Array("int64", "starts", low=0, ascending=True),
        "shares": Array("float64", "levels", low=0.0, finite=True),
        "weight": Real(0.0, finite=True),
    }

    inputs: TreeInputs
    levels: np.ndarray
    offset: np.ndarray
    spread: np.ndarray
    starts: np.ndarray
    shares: np.ndarray
    weight: float

    def encode(self, table: Table) -> MixedRows:
        """Return scaled numbers (NaN where missing) and codes (-1 where missing) of rows."""
        matrix = read_inputs(table, self.inputs).astype(np.float64, copy=False)
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            numbers = (matrix[:, ~self.levels] - self.offset) / self.spread
        numbers[:, self.spread == 0] = np.nan  # says nothing
        cells = matrix[:, self.levels]
        codes = np.where(np.isnan(cells), -1, cells).astype(np.int64)
        return np.ascontiguousarray(numbers), np.ascontiguousarray(codes)

    def assign(
        self, centers: Centers, rows: MixedRows, n_jobs: int | None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return nearest centers, their squared distances, and those of the next ones."""
        numbers, codes = rows
        n = len(numbers)
        labels, near, other = np.empty(n, np.int64), np.empty(n), np.empty(n)
        # A row with level a is (1 - 2 q_a) / p_a + sum of q^2 / p from a center with shares q.
        scale = np.divide(
            self.weight, self.shares, out=np.zeros_like(self.shares), where=self.shares > 0
        )
        adds = (1.0 - 2.0 * centers.shares) * scale
        squares = centers.shares**2 * scale
        pays = np.array(
            [
                [
                    float(squares[k, a:b].sum())
                    for a, b in zip(self.starts, self.starts[1:], strict=False)
                ]
                for k in range(len(centers))
            ]
        ).reshape(len(centers), len(self.starts) - 1)

        def one(part: slice) -> None:
            assign_centers(
                numbers[part],
                codes[part],
                self.starts,
                centers.means,
                adds,
                pays,
                labels[part],
                near[part],
                other[part],
            )

        run(one, [(part,) for part in blocks(n, TALL)], n_jobs, "assigning rows to centers")
        return labels, near, other

    def settle(self, rows: MixedRows, k: int, most: int, rng: Any, n_jobs: int | None) -> Centers:
        """Return k centers from one start: seeds far apart (k-means++), then rounds of k-means."""
        centers = self._seeds(rows, k, rng, n_jobs)
        before = None
        for rounds in range(1, most + 1):
            labels, near, _ = self.assign(centers, rows, n_jobs)
            centers = self._centers(rows, labels, len(centers), centers, float(near.sum()), rounds)
            if before is not None and np.array_equal(before, labels):
                break
            before = labels
        return centers

    def silhouette(self, centers: Centers, rows: MixedRows, n_jobs: int | None) -> float:
        """Return the mean simplified silhouette: 0 for a row that two centers are equally near."""
        if len(centers) < 2:
            return -1.0
        _, near, other = self.assign(centers, rows, n_jobs)
        a, b = np.sqrt(near), np.sqrt(other)
        return float(np.divide(b - a, b, out=np.zeros_like(b), where=b > 0).mean())

    def check_columns(self, schema: Schema, centers: Centers) -> None:
        """Refuse a loaded space that does not belong to the columns or the centers."""
        check_owners(schema, self.inputs.names, self.inputs.owner, "MixedSpace.inputs")
        sizes = (len(self.offset), len(self.shares))
        found = (centers.means.shape[1], centers.shares.shape[1])
        require(found == sizes, "Centers", f"{sizes} numbers and levels", str(found))

    def check_loaded(self, dims: Dims) -> None:
        """Check after loading that the parts agree."""
        wide = len(self.inputs.owner) == len(self.levels)
        wide = wide and len(self.offset) == int((~self.levels).sum())
        wide = wide and len(self.starts) == int(self.levels.sum()) + 1
        ends = len(self.starts) and self.starts[0] == 0 and self.starts[-1] == len(self.shares)
        require(bool(wide and ends), "MixedSpace", "parts of one width", "others")

    def _seeds(self, rows: MixedRows, k: int, rng: Any, n_jobs: int | None) -> Centers:
        numbers, codes = rows
        n = len(numbers)
        chosen = [int(rng.integers(n))]
        near = np.full(n, np.inf)
        while len(chosen) < k:
            last = self._at(numbers[chosen[-1:]], codes[chosen[-1:]])
            near = np.minimum(near, self.assign(last, rows, n_jobs)[1])
            total = np.cumsum(near)
            if total[-1] <= 0:  # no row differs from those chosen
                break
            chosen.append(int(np.searchsorted(total, rng.random() * total[-1], side="right")))
            chosen[-1] = min(chosen[-1], n - 1)
        return self._at(numbers[chosen], codes[chosen])

    def _at(self, numbers: np.ndarray, codes: np.ndarray) -> Centers:
        """Return centers that stand where rows stand; a gap stands at the mean of all rows."""
        means = np.where(np.isnan(numbers), 0.0, numbers)
        shares = np.tile(self.shares, (len(numbers), 1))
        for j, (a, b) in enumerate(zip(self.starts, self.starts[1:], strict=False)):
            for i, code in enumerate(codes[:, j]):
                if code >= 0:
                    shares[i, a:b] = 0.0
                    shares[i, a + code] = 1.0
        return Centers(means, shares, 0.0, 0)

    def _centers(
        self, rows: MixedRows, labels: np.ndarray, k: int, old: Centers, inertia: float, rounds: int
    ) -> Centers:
        """Return the centers of labelled rows; one without rows, or without a cell, stays."""
        numbers, codes = rows
        means, shares = old.means.copy(), old.shares.copy()
        for j in range(numbers.shape[1]):
            there = ~np.isnan(numbers[:, j])
            many = np.bincount(labels[there], minlength=k)
            sums = np.bincount(labels[there], weights=numbers[there, j], minlength=k)
            means[:, j] = np.divide(sums, many, out=means[:, j], where=many > 0)
        for j, (a, b) in enumerate(zip(self.starts, self.starts[1:], strict=False)):
            there = codes[:, j] >= 0
            place = labels[there] * (b - a) + codes[there, j]
            counts = np.bincount(place, minlength=k * (b - a)).reshape(k, b - a)
            many = counts.sum(axis=1, keepdims=True)
            shares[:, a:b] = np.divide(counts, many, out=shares[:, a:b], where=many > 0)
        return Centers(means, shares, inertia, rounds)


def learn_space(table: Table, weight: float, who: str) -> MixedSpace:
    """Learn means, spreads and shares of levels from the rows that are clustered."""
    inputs = plan_inputs(table, who, categories=True)
    levels = np.array([table[name].kind.name in LEVELS for name in inputs.owner], dtype=bool)
    matrix = read_inputs(table, inputs).astype(np.float64, copy=False)
    numbers, cells = matrix[:, ~levels], matrix[:, levels]
    offset, spread = np.zeros(numbers.shape[1]), np.zeros(numbers.shape[1])
    for j in range(numbers.shape[1]):
        there = numbers[~np.isnan(numbers[:, j]), j]
        if len(there) and there.min() < there.max():
            # Scaled by the largest first, so that no square overflows.
            largest = float(np.abs(there).max())
            scaled = there / largest
            offset[j] = float(scaled.mean()) * largest
            spread[j] = float(scaled.std()) * largest
    starts, shares = [0], []
    for j in range(cells.shape[1]):
        codes = cells[~np.isnan(cells[:, j]), j].astype(np.int64)
        counts = np.bincount(codes) if len(codes) else np.zeros(0)
        shares.append(counts / max(1, counts.sum()))
        starts.append(starts[-1] + len(counts))
    return MixedSpace(
        inputs,
        levels,
        offset,
        spread,
        np.asarray(starts, dtype=np.int64),
        np.concatenate([np.zeros(0), *shares]),
        weight**2,
    )
