"""Exact kNN pruned by quantized lower bounds: rows as bytes, for measures that have such bounds.

A measure says how its columns become bytes and what the bounds of a query are; the search itself
is in ``neighbors.codes``. Codes belong to encoded rows and are kept beside them, so they are made
once: when an index takes the rows in, or else at the first question.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from lookalike.kernels.bounds import NUMBER, STEPS, propose
from lookalike.kernels.first_use import worth_compiling
from lookalike.measures.contract.base import Codes, Measure
from lookalike.measures.contract.rows import Ids, Rows, kept_beside, name_rows
from lookalike.neighbors.codes import (
    LEAST,
    Bounds,
    ByteCodes,
    ByteQueries,
    ByteQuestion,
    Cells,
    Pairs,
    nearest_by_codes,
)
from lookalike.neighbors.graph import NeighborGraph

COLUMNS = 16  # of a table, roughly, to say how much work a question is
TRIED = 4  # questions after which bounds that ruled out too little are given up
RARE = 32  # fewer than one row in so many are quicker to cut out than to be stepped over to


class _BoundedMeasure(Measure):
    """A measure whose distances have lower bounds that are computed from bytes.

    It writes ``_make_codes`` and ``_ask_codes``, and ``_plain`` if it has a faster exact search.
    """

    @abstractmethod
    def _make_codes(self, rows: Rows) -> Any:
        """Return the bytes of rows with all that asking them needs; None: there are none."""

    @abstractmethod
    def _ask_codes(self, kept: Any, a: Rows) -> ByteQuestion:
        """Return the question of some rows to what ``_make_codes`` has made."""

    def _codes_from(self, arrays: Codes, rows: Rows) -> Any:
        """Return what ``_make_codes`` made of these rows, from the arrays it was taken apart to."""
        return NumberCodes.from_arrays(len(rows), arrays)

    def codes_to_arrays(self, rows: Rows) -> Codes:
        """Return the codes of rows as arrays, to be kept beside them; nothing if there are none."""
        kept = self._codes_of(rows) if len(rows) >= LEAST else None
        return {} if kept is None else kept.to_arrays()

    def codes_from_arrays(self, rows: Rows, arrays: Codes) -> None:
        """Give rows the codes that were kept beside them, so that they are not made again."""
        if arrays:
            kept_beside(rows, "codes", lambda: self._codes_from(arrays, rows))

    def _plain(
        self, a: Rows, b: Rows, k: int, *, exclude: Ids = None, ids: Ids = None
    ) -> NeighborGraph:
        """Search by looking at everything."""
        return super().nearest(a, b, k, exclude=exclude, ids=ids)

    def _codes_of(self, rows: Rows) -> Any:
        return kept_beside(rows, "codes", lambda: self._make_codes(rows))

    def prepare(self, rows: Rows) -> None:
        """Make the codes of rows that are going to be searched."""
        if len(rows) >= LEAST:
            self._codes_of(rows)

    def steps_over(self, rows: Rows, k: int) -> bool:
        """Whether rows that are not allowed are stepped over, by their codes."""
        return pays(rows, k) and self._codes_of(rows) is not None

    def nearest(
        self, a: Rows, b: Rows, k: int, *, exclude: Ids = None, ids: Ids = None
    ) -> NeighborGraph:
        """Return unfinished lists of the nearest rows, proposed by bytes where that pays."""
        codes = self._codes_of(b) if pays(b, k, len(a)) else None
        if codes is None:
            return self._plain(a, b, k, exclude=exclude, ids=ids)
        return self._by_bytes(codes, a, b, k, None, exclude, ids)

    def nearest_among(
        self, a: Rows, b: Rows, k: int, allowed: np.ndarray, *, exclude: Ids = None, ids: Ids = None
    ) -> NeighborGraph:
        """Return unfinished lists of the nearest allowed rows; few of them are cut out first."""
        many = RARE * np.count_nonzero(allowed) >= len(b)
        codes = self._codes_of(b) if many and pays(b, k, len(a)) else None
        if codes is None:
            return super().nearest_among(a, b, k, allowed, exclude=exclude, ids=ids)
        return self._by_bytes(codes, a, b, k, allowed, exclude, ids)

    def _by_bytes(
        self, kept: Any, a: Rows, b: Rows, k: int, allowed: Ids, exclude: Ids, ids: Ids
    ) -> NeighborGraph:
        """Return unfinished lists; queries whose bounds rule out little are searched plainly."""
        barred, names, n_indexed = name_rows(a, b, exclude, ids)
        found, left_over = nearest_by_codes(
            self._ask_codes(kept, a), len(a), k, lambda i, j: self.pair_distances(a, b, i, j),
            exclude=barred, ids=names, n_indexed=n_indexed, allowed=allowed,
            always=_own_rows(a, b), n_jobs=getattr(self, "n_jobs", None),
        )  # fmt: skip
        # Kept with the rows, not the measure: whether bounds serve depends on both.
        at = np.flatnonzero(left_over)
        asked, in_vain = b.cache.get("tally", (0, 0))
        b.cache["tally"] = (asked + len(a), in_vain + len(at))
        if len(at):
            rows = b if allowed is None else b[np.flatnonzero(allowed)]
            those = names if allowed is None else names[allowed]
            rest = self._plain(a[at], rows, k, exclude=barred[at], ids=those)
            found.indices[at], found.distances[at] = rest.indices, rest.distances
        return found


def pays(b: Rows, k: int, n_queries: int = 1) -> bool:
    """Whether bounds may save anything: there are enough rows, and they have served so far.

    Where columns without bytes decide who is near, bounds leave too many rows; after a few such
    questions to the same rows they are no longer asked. A few questions are answered before the
    loops over bytes would be compiled. The answers are the same either way.
    """
    asked, in_vain = b.cache.get("tally", (0, 0))
    if len(b) < LEAST or 16 * k > len(b) or (asked >= TRIED and 2 * in_vain >= asked):
        return False
    return worth_compiling(propose, COLUMNS * n_queries * len(b))


def byte_steps(values: np.ndarray, low: Any, span: Any) -> np.ndarray:
    """Return the step of each value between the ends of its column, cut off at both ends.

    Cutting off only brings values nearer to each other, so differences of steps stay bounds.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        per_unit = np.where(span > 0, STEPS / span, 0.0)
        steps = np.floor((values - low) * per_unit)
        # NaN is the step 0: fmin and fmax take the number.
        return np.fmax(np.fmin(steps, STEPS), 0.0).astype(np.uint8)


def without_nan(values: np.ndarray) -> np.ndarray:
    """Return numbers with 0 in the place of NaN."""
    return np.where(values == values, values, 0.0)  # several times as quick as ``nan_to_num``


def _own_rows(a: Rows, b: Rows) -> Callable[[slice], Pairs] | None:
    """Return what tells which rows of b are the same fitted row as a query; None: there are none.

    A row is exactly alike to itself by definition, whatever the formula says of its gaps.
    """
    if not (a.seen >= 0).any():
        return None
    order, ranked = kept_beside(b, "by_seen", lambda: _sorted_by_seen(b))

    def own_rows(part: slice) -> Pairs:
        seen = a.seen[part]
        starts = np.searchsorted(ranked, seen, "left")
        counts = np.where(seen >= 0, np.searchsorted(ranked, seen, "right") - starts, 0)
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        return np.repeat(np.arange(len(seen)), counts), order[np.repeat(starts, counts) + within]

    return own_rows


def _sorted_by_seen(b: Rows) -> tuple[np.ndarray, np.ndarray]:
    order = np.argsort(b.seen, kind="stable")
    return order, b.seen[order]


# -- plain numbers ---------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class NumberCodes:
    """Numbers as bytes: steps between the ends of each column."""

    codes: ByteCodes
    low: np.ndarray
    span: np.ndarray

    def to_arrays(self) -> dict[tuple[str, ...], np.ndarray]:
        """Return all that is needed to ask again."""
        return {**self.codes.to_arrays(), ("low",): self.low, ("span",): self.span}

    @classmethod
    def from_arrays(cls, n: int, arrays: Codes) -> NumberCodes:
        """Return what ``to_arrays`` has taken apart, for n rows."""
        return cls(ByteCodes.from_arrays(n, arrays), arrays["low",], arrays["span",])

    def ask(self, values: np.ndarray, unit: float, largest: bool) -> ByteQuestion:
        """Return the question of some rows of numbers.

        Parameters
        ----------
        values : float (queries, columns)
        unit : float
            What a difference of 1 adds to the distance, at least.
        largest : bool
            Whether the largest difference counts, instead of the sum.
        """
        own = byte_steps(values, self.low, self.span)
        kind, worth = np.full(own.shape[1], NUMBER), self.span * unit

        def queries(at: slice) -> Bounds:
            return ByteQueries(own[at], worth, kind, largest=largest).bounds(self.codes)

        return ByteQuestion(self.codes, queries, np.asarray)


def number_codes(values: np.ndarray) -> NumberCodes | None:
    """Return numbers as bytes; None where their range is too wide for that."""
    low, high = values.min(axis=0).astype(np.float64), values.max(axis=0).astype(np.float64)
    with np.errstate(over="ignore"):
        span = high - low
    if not np.isfinite(span.sum()):  # one step would be infinitely wide, and bound nothing
        return None

    def part_of(at: slice) -> Cells:
        return byte_steps(values[at], low, span), None

    return NumberCodes(ByteCodes.make(len(values), values.shape[1], part_of), low, span)
