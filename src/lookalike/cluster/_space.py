"""The rows to be clustered, and their distances: a matrix where a method needs it, else blocks."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from lookalike._config import settings, show_bytes
from lookalike._threads import blocks, run
from lookalike.errors import TooLarge, message
from lookalike.measures.base import Measure
from lookalike.measures.rows import Rows

__all__ = ["Space", "rectangle", "stream"]

TALL, WIDE = 256, 2048  # rows and columns compared at once; never derived from n_jobs
TILE = 256
INSTEAD = "Use landmarks=1000, or method='density' or 'hdbscan', which never make the matrix"


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
            self._made[to] = self._square(to)
        return self._made[to]

    def check_size(self) -> None:
        """Refuse a matrix of all pairs that is too large, before anything is computed."""
        n = len(self)
        size, most = 8 * n * n, settings().memory_limit
        if n <= self.limit and size <= most:
            return
        if n > self.limit:
            needed = f"at most dense_limit={self.limit:,} rows for a matrix of all pairs"
            force = "dense_limit="
        else:
            needed = f"a matrix of all pairs under the memory limit of {show_bytes(most)}"
            force = "lookalike.config(memory_limit=...)"
        raise TooLarge(
            message(
                self.who,
                needed,
                f"{n:,} rows ({show_bytes(size)})",
                f"{self.instead}, or raise {force}",
            )
        )

    def _square(self, to: str) -> np.ndarray:
        rows, measure = self.rows, self.measure
        out = np.empty((len(rows), len(rows)))
        mirrored = measure.traits.symmetric

        def one(down: slice, across: slice) -> bool:
            block = measure.block(rows[down], rows[across], to, same=down == across)
            out[down, across] = block
            if mirrored:
                out[across, down] = block.T
            return bool(np.isnan(block).any())

        parts = list(blocks(len(rows), TILE))
        tasks = [(r, c) for i, r in enumerate(parts) for c in parts[i * mirrored :]]
        undefined = run(one, tasks, self.n_jobs, f"comparing rows ({to})")
        return measure._defined(out, to) if any(undefined) else out


def rectangle(
    measure: Measure, a: Rows, b: Rows, to: str = "distance", fill: bool = True
) -> np.ndarray:
    """Return the values of all rows of a against a few rows of b; undefined ones are an error.

    Parameters
    ----------
    measure : Measure
    a, b : Rows
    to : {"distance", "similarity"}
    fill : bool
        False: undefined values stay NaN.
    """
    out = np.empty((len(a), len(b)))

    def one(down: slice) -> bool:
        for across in blocks(len(b), WIDE):
            out[down, across] = measure.block(a[down], b[across], to)
        return bool(np.isnan(out[down]).any())

    parts = [(part,) for part in blocks(len(a), TALL)]
    undefined = run(one, parts, getattr(measure, "n_jobs", None), f"comparing rows ({to})")
    return measure._defined(out, to) if fill and any(undefined) else out


def stream(space: Space, fold: Callable[[np.ndarray, int, int], Any], what: str) -> None:
    """Hand every block of distances on or above the diagonal to ``fold(block, row, column)``.

    Blocks are computed side by side and handed over one at a time, in any order; the matrix is
    never there as a whole.
    """
    rows, measure, lock = space.rows, space.measure, threading.Lock()

    def one(down: slice, across: slice) -> None:
        block = measure.block(rows[down], rows[across])
        with lock:
            fold(block, down.start, across.start)

    tasks = [
        (down, slice(max(down.start, across.start), across.stop))
        for down in blocks(len(rows), TALL)
        for across in blocks(len(rows), WIDE)
        if across.stop > down.start
    ]
    run(one, tasks, space.n_jobs, what)
