"""Exact kNN pruned by quantized lower bounds: rows as bytes, for measures that have such bounds.

A measure quantizes its columns to bytes and bounds its queries; the search itself is in
``neighbors.codes``. Codes are cached with the encoded rows, so they are made once: when an index
adds the rows, or else at the first query.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from lookalike.kernels.bounds import NUMBER, STEPS, propose
from lookalike.kernels.boxes import nearest_in_boxes
from lookalike.kernels.first_use import worth_compiling
from lookalike.measures.contract.base import Codes, Measure
from lookalike.measures.contract.rows import Ids, Named, Rows, kept_beside, name_rows
from lookalike.neighbors import boxes, byte_queries
from lookalike.neighbors import codes as byte_codes
from lookalike.neighbors.graph import NeighborGraph

TYPICAL_COLUMNS = 16  # of a table, to estimate the work of a query
MIN_TRIED_QUERIES = 4  # after these, bounds that prune too little are given up
MAX_ROWS_PER_ALLOWED = 32  # fewer allowed rows than one in so many are copied; chosen by hand


class _BoundedMeasure(Measure):
    """A measure whose distances have lower bounds that are computed from bytes.

    It writes ``_make_codes`` and ``_bound_queries``, and ``_plain`` if it has a faster brute force.
    """

    @abstractmethod
    def _make_codes(self, rows: Rows) -> Any:
        """Return the quantized rows with all that queries need; None: no bounds are known."""

    @abstractmethod
    def _bound_queries(self, codes: Any, a: Rows) -> byte_codes.BoundedQuery:
        """Return the bounds of some queries against the result of ``_make_codes``."""

    def _codes_from(self, arrays: Codes, rows: Rows) -> Any:
        """Return the result of ``_make_codes`` from its saved arrays."""
        return NumberCodes.from_arrays(len(rows), arrays)

    def codes_to_arrays(self, rows: Rows) -> Codes:
        """Return the codes of rows as arrays, to be saved with them; empty if there are none."""
        codes = self._codes_of(rows) if len(rows) >= byte_codes.MIN_ROWS_FOR_CODES else None
        return {} if codes is None else codes.to_arrays()

    def codes_from_arrays(self, rows: Rows, arrays: Codes) -> None:
        """Restore the codes of rows from saved arrays."""
        if arrays:
            kept_beside(rows, "codes", lambda: self._codes_from(arrays, rows))

    def _plain(self, a: Rows, b: Rows, k: int, named: Named) -> NeighborGraph:
        """Search by brute force."""
        return super().find_nearest(a, b, k, named)

    def _codes_of(self, rows: Rows) -> Any:
        return kept_beside(rows, "codes", lambda: self._make_codes(rows))

    def prepare(self, rows: Rows) -> None:
        """Make the codes of rows that are going to be searched."""
        if len(rows) >= byte_codes.MIN_ROWS_FOR_CODES:
            self._codes_of(rows)

    def steps_over(self, rows: Rows, k: int) -> bool:
        """Whether rows that are not allowed are skipped while codes are scanned."""
        return pays(rows, k) and self._codes_of(rows) is not None

    def find_nearest(self, a: Rows, b: Rows, k: int, named: Named) -> NeighborGraph:
        """Return unfinished lists of the nearest rows, pruned by bounds where that pays."""
        codes = self._codes_of(b) if pays(b, k, len(a)) else None
        if codes is None:
            return self._plain(a, b, k, named)
        return self._by_bytes(codes, a, b, k, named)

    def nearest_among(
        self, a: Rows, b: Rows, k: int, allowed: np.ndarray, *, exclude: Ids = None, ids: Ids = None
    ) -> NeighborGraph:
        """Return unfinished lists of the nearest allowed rows; few of them are copied first."""
        many = MAX_ROWS_PER_ALLOWED * np.count_nonzero(allowed) >= len(b)
        codes = self._codes_of(b) if many and pays(b, k, len(a)) else None
        if codes is None:
            return super().nearest_among(a, b, k, allowed, exclude=exclude, ids=ids)
        return self._by_bytes(codes, a, b, k, name_rows(a, b, exclude, ids), allowed)

    def near_order(self, rows: Rows) -> np.ndarray | None:
        """Return positions of rows so that near ones follow each other; None without bounds."""
        if len(rows) < byte_codes.MIN_ROWS_FOR_CODES or (codes := self._codes_of(rows)) is None:
            return None
        query = self._bound_queries(codes, rows)._replace(keep=partial(kept_beside, rows, "near"))
        return byte_codes.near_order(query, len(rows))

    def nearest_in_tiles(self, rows: Rows, at: np.ndarray, k: int, n_tiles: int) -> NeighborGraph:
        """Return unfinished lists of some rows among all, found in so many tiles near a block."""
        a = rows[at]
        named = name_rows(a, rows, at, None)
        return self._by_bytes(self._codes_of(rows), a, rows, k, named, n_tiles=n_tiles)

    def _by_bytes(
        self, codes: Any, a: Rows, b: Rows, k: int, named: Named, allowed: Ids = None,
        n_tiles: int | None = None,
    ) -> NeighborGraph:  # fmt: skip
        """Return unfinished lists; queries whose bounds prune little fall back to brute force."""
        barred, names, n_indexed = named
        query = self._bound_queries(codes, a)
        lists, left_over = byte_codes.nearest_by_codes(
            query._replace(keep=partial(kept_beside, b, "near"), n_tiles=n_tiles),
            len(a), k, lambda i, j: self.pair_distances(a, b, i, j), exclude=barred, ids=names,
            n_indexed=n_indexed, allowed=allowed, always=_own_rows(a, b),
            n_jobs=getattr(self, "n_jobs", None),
        )  # fmt: skip
        # Cached with the rows, not the measure: how much bounds prune depends on both.
        rest = np.flatnonzero(left_over)
        tried, failed = b.cache.get("tally", (0, 0))
        b.cache["tally"] = (tried + len(a), failed + len(rest))
        if len(rest):
            if allowed is not None:
                b, names = b[np.flatnonzero(allowed)], names[allowed]
            plain = self._plain(a[rest], b, k, (barred[rest], names, n_indexed))
            lists.indices[rest], lists.distances[rest] = plain.indices, plain.distances
        return lists


def pays(b: Rows, k: int, n_queries: int = 1) -> bool:
    """Whether bounds may save time: there are enough rows, and bounds have pruned well so far."""
    # Where columns without codes decide who is near, bounds prune little; after a few such queries
    # to the same rows they are given up. The answers are the same either way.
    tried, failed = b.cache.get("tally", (0, 0))
    prunes = tried < MIN_TRIED_QUERIES or 2 * failed < tried
    if len(b) < byte_codes.MIN_ROWS_FOR_CODES or 16 * k > len(b) or not prunes:
        return False
    # A few queries are answered before the kernels would be compiled (decision 14).
    return worth_compiling(propose, TYPICAL_COLUMNS * n_queries * len(b))


def boxes_of(b: Rows, x: np.ndarray, y: np.ndarray, k: int, plan: boxes.Plan) -> boxes.Boxes | None:
    """Return the boxes of some rows, if a search in them is likely to pay.

    Parameters
    ----------
    b : Rows, to be searched
    x, y : float64 (rows, columns), the queries and the rows as the kernel compares them
    k : int
    plan : how it compares them
    """
    if not 0 < y.shape[1] <= boxes.MAX_COLUMNS:
        return None
    if not worth_compiling(nearest_in_boxes, len(x) * y.size):
        return None
    n_tried = max(boxes.MIN_SAMPLE_ROWS, len(b) // boxes.ROWS_PER_SAMPLED)
    make = boxes.Boxes.make
    sample = kept_beside(b, "some boxes", lambda: make(boxes.some_rows(y, n_tried), plan))
    if not sample.prunes(boxes.some_rows(x, boxes.SAMPLE_QUERIES), k, plan):
        return None
    return kept_beside(b, "boxes", lambda: make(y, plan))


def byte_steps(values: np.ndarray, low: Any, span: Any) -> np.ndarray:
    """Return the step of each value between the ends of its column, clipped to them."""
    # Clipping only brings values nearer to each other, so differences of steps stay lower bounds.
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        steps = np.floor((values - low) * np.where(span > 0, STEPS / span, 0.0))
        # NaN becomes the last step (fmin takes the number); a missing cell is masked later.
        return np.fmax(np.fmin(steps, STEPS), 0.0).astype(np.uint8)


def without_nan(values: np.ndarray) -> np.ndarray:
    """Return numbers with 0 in the place of NaN."""
    return np.where(values == values, values, 0.0)  # several times as quick as ``nan_to_num``


def _own_rows(a: Rows, b: Rows) -> Callable[[np.ndarray], byte_codes.Pairs] | None:
    """Return a function from queries to the rows of b that are the same fitted row; None: no such.

    They are compared whatever their bound: a row with itself has distance 0 by definition, while
    bounds follow the formula, which may give more for missing cells.
    """
    if not (a.seen >= 0).any():  # new rows: the usual case of a search
        return None
    order = kept_beside(b, "by_seen", lambda: np.argsort(b.seen, kind="stable"))

    def own_rows(at: np.ndarray) -> byte_codes.Pairs:
        seen = a.seen[at]
        starts = np.searchsorted(b.seen, seen, "left", sorter=order)
        ends = np.searchsorted(b.seen, seen, "right", sorter=order)
        counts = np.where(seen >= 0, ends - starts, 0)
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        return np.repeat(np.arange(len(seen)), counts), order[np.repeat(starts, counts) + within]

    return own_rows


# -- plain numbers ---------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class NumberCodes:
    """Numbers quantized to 255 steps between the minimum and maximum of each column."""

    codes: byte_queries.ByteCodes
    low: np.ndarray
    span: np.ndarray

    def to_arrays(self) -> dict[tuple[str, ...], np.ndarray]:
        """Return the codes as arrays, to be saved."""
        return {**self.codes.to_arrays(), ("low",): self.low, ("span",): self.span}

    @classmethod
    def from_arrays(cls, n: int, arrays: Codes) -> NumberCodes:
        """Return the codes of n rows from what ``to_arrays`` returned."""
        return cls(byte_queries.ByteCodes.from_arrays(n, arrays), arrays["low",], arrays["span",])

    def ask(self, values: np.ndarray, unit: float, largest: bool) -> byte_codes.BoundedQuery:
        """Return the bounds of some queries.

        Parameters
        ----------
        values : float (queries, columns)
        unit : float
            Lower bound of what a difference of 1 adds to the distance.
        largest : bool
            Whether the largest difference counts, instead of the sum.
        """
        own = byte_steps(values, self.low, self.span)
        kind, worth = np.full(own.shape[1], NUMBER), self.span * unit

        def queries(at: Any) -> byte_queries.ByteQueries:
            return byte_queries.ByteQueries(own[at], worth, kind, largest=largest)

        return byte_codes.BoundedQuery(self.codes, queries, np.asarray)


def number_codes(values: np.ndarray) -> NumberCodes | None:
    """Return numbers as bytes; None where their range overflows."""
    low, high = values.min(axis=0).astype(np.float64), values.max(axis=0).astype(np.float64)
    with np.errstate(over="ignore"):
        span = high - low
    if not np.isfinite(span.sum()):  # one step would be infinitely wide, and bound nothing
        return None

    def part_of(at: slice) -> byte_queries.Cells:
        return byte_steps(values[at], low, span), None

    codes = byte_queries.ByteCodes.make(len(values), values.shape[1], part_of)
    return NumberCodes(codes, low, span)
