"""The rows to be clustered, and their distances: a matrix where a method needs it, else blocks."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from lookalike._runtime.config import settings, show_bytes
from lookalike._runtime.threads import blocks, run
from lookalike.errors import Param, Phrase, TooLarge
from lookalike.measures.contract.base import Measure
from lookalike.measures.contract.matrices import check_pairs, square
from lookalike.measures.contract.rows import Rows
from lookalike.measures.vector import Vector

TALL, WIDE = 256, 2048  # rows and columns compared at once; never derived from n_jobs
INSTEAD = Phrase(
    "Use ",
    Param("landmarks", "auto"),
    ", ",
    Param("method", "density"),
    " or ",
    Param("method", "hdbscan"),
    ", which never make the matrix",
)


class Space:
    """Encoded rows with the measure that compares them.

    Parameters
    ----------
    measure : Measure, fitted
    rows : Rows
        Usually the fitted rows; a frozen measure may hold others.
    who : str
        The estimator, for messages.
    limit : int
        The most rows for which a matrix of all pairs is made.
    instead : str
        What to do about more rows.
    """

    def __init__(
        self, measure: Measure, rows: Rows, who: str, limit: int, instead: str = INSTEAD
    ) -> None:
        self.measure, self.rows, self.who, self.limit = measure, rows, who, limit
        self.instead = instead
        self._made: dict[str, np.ndarray] = {}

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, at: np.ndarray) -> Space:
        """Return the space of some of the rows."""
        return Space(self.measure, self.rows[at], self.who, self.limit, self.instead)

    @property
    def n_jobs(self) -> int | None:
        """Threads that the measure was given."""
        return getattr(self.measure, "n_jobs", None)

    def distances(self) -> np.ndarray:
        """Return the matrix of distances, made once; not to be changed by the caller."""
        return self._matrix("distance")

    def similarities(self) -> np.ndarray:
        """Return the matrix of similarities, made once; not to be changed by the caller."""
        return self._matrix("similarity")

    def _matrix(self, to: str) -> np.ndarray:
        if to not in self._made:
            self.check_size()
            self._made[to] = square(self.measure, self.rows, to)
        return self._made[to]

    def fits(self) -> bool:
        """Whether a matrix of all pairs may be made."""
        n = len(self)
        return n <= self.limit and 8 * n * n <= settings().memory_limit

    def check_size(self) -> None:
        """Refuse a matrix of all pairs that is too large, before anything is computed."""
        n = len(self)
        if n > self.limit:
            raise TooLarge(
                self.who,
                f"at most {self.limit:,} rows for a matrix of all pairs",
                f"{n:,} rows ({show_bytes(8 * n * n)})",
                (self.instead, ", or raise ", Param("dense_limit")),
            )
        check_pairs(self.who, n, n, self.instead, what="a matrix of all pairs")


def _tiles(n: int) -> list[tuple[slice, slice]]:
    """Cut the pairs on and above the diagonal into tiles."""
    return [
        (down, slice(max(down.start, across.start), across.stop))
        for down in blocks(n, TALL)
        for across in blocks(n, WIDE)
        if across.stop > down.start
    ]


def stream_within(
    space: Space, limit: float, fold: Callable[[np.ndarray, np.ndarray], Any], what: str
) -> None:
    """Hand all pairs i < j whose distance is at most a limit to ``fold(i, j)``, part by part."""
    rows, measure, lock = space.rows, space.measure, threading.Lock()

    def one(down: slice, across: slice) -> None:
        a, b = rows[down], rows[across]
        found = measure.pairs_within(a, b, limit) if isinstance(measure, Vector) else None
        left, right = np.nonzero(measure.block(a, b) <= limit) if found is None else found
        left, right = left + down.start, right + across.start
        above = left < right
        with lock:
            fold(left[above], right[above])

    run(one, _tiles(len(rows)), space.n_jobs, what)


def each_part(measure: Measure, n: int, one: Callable[[slice], Any], what: str) -> None:
    """Call ``one`` for every part of n rows, side by side on the threads of the measure."""
    parts = [(part,) for part in blocks(n, TALL)]
    run(one, parts, getattr(measure, "n_jobs", None), what)
