"""What is clustered: rows and their distances, landmarks, and what each method can be asked."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from lookalike._runtime.config import settings, show_bytes
from lookalike._runtime.threads import blocks, run
from lookalike.errors import InPython, InvalidInput, Param, Phrase, TooFewRows, TooLarge
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


AUTO_LANDMARKS = "auto"
FEWEST = 2_000
BY_MESSAGES = 500  # affinity propagation passes thousands of rounds of messages over all pairs
MATRICES = 4  # of all pairs of landmarks that a method may hold at a time


def default_landmarks(n: int, method: str, limit: int, n_clusters: int = 1) -> int:
    """Return how many rows are drawn as landmarks from n rows.

    2,000, or four times the square root of n where that is more (from 250,000 rows on); 500 for
    affinity propagation; at least twice the clusters asked for. No more than ``limit``, and no more
    than let four matrices of all their pairs stay under the memory limit.

    Parameters
    ----------
    n : int
    method : str
    limit : int
        The most rows for which a matrix of all pairs is made.
    n_clusters : int

    Examples
    --------
    >>> default_landmarks(50_000, "ward", 20_000), default_landmarks(10**6, "ward", 20_000)
    (2000, 4000)
    """
    wanted = BY_MESSAGES if method == "affinity" else max(FEWEST, int(np.ceil(4 * np.sqrt(n))))
    room = int(np.sqrt(settings().memory_limit / (8 * MATRICES)))
    return max(2, min(max(wanted, 2 * n_clusters), room, limit, n))


def count_landmarks(
    space: Space, asked: int | str | None, method: str, n_clusters: int = 1
) -> int | None:
    """Return the number of landmarks, None where all rows are compared with each other."""
    if asked != AUTO_LANDMARKS:
        return None if asked is None else int(asked)
    if space.fits():
        return None
    return default_landmarks(len(space), method, space.limit, n_clusters)


def exactness(n: int, basis: Any, method: str) -> str:
    """Say in words which rows a clustering is exact on.

    Parameters
    ----------
    n : int
        Rows that were clustered.
    basis : array of positions, or None
        The landmarks.
    method : str
    """
    if basis is None:
        return f"exact on all {n:,} rows"
    rest = {
        "spectral": "labeled by the extended eigenvectors",
        "complete": "assigned to the cluster of the nearest landmark",
        "ward": "assigned to the cluster of the nearest landmark",
    }.get(method, "assigned to the nearest exemplar")
    return f"exact on {len(basis):,} landmark rows, the other {n - len(basis):,} {rest}"


AUTO = "auto"
BY_NUMBER = ("spectral", "affinity", "complete", "ward", "medoids")
BY_DENSITY = ("density", "hdbscan")
METHODS = BY_NUMBER + BY_DENSITY
DIRECTED = ("affinity",)  # methods that make sense of distances that differ by direction


def check_request(
    space: Space, who: str, method: str, n_clusters: int | str, landmarks: int | None
) -> None:
    """Refuse what a method cannot do, before anything is computed.

    Parameters
    ----------
    space : Space
    who : str
        The estimator with its method.
    method : str
    n_clusters : int or "auto"
    landmarks : int, optional
        None: all rows are compared with each other.
    """
    n, name = len(space), who.partition("(")[0]
    if not space.measure.traits.symmetric and method not in DIRECTED:
        raise InvalidInput(
            who,
            "distances that are the same in both directions",
            f"{type(space.measure).__name__}, whose distances are directed",
            (
                "Use ",
                Param("method", "affinity"),
                ", or average the two directions",
                InPython(" into Precomputed()"),
            ),
        )
    if method in BY_DENSITY and n_clusters != AUTO:
        raise InvalidInput(
            Param("n_clusters", n_clusters, of=name),
            (Param("n_clusters", "auto"), ": this method finds the number itself"),
            repr(n_clusters),
            "Leave it out, or use another method",
        )
    known = n if landmarks is None else landmarks
    if known > n:
        raise TooFewRows(
            Param("landmarks", known, of=name),
            f"at least {known} rows",
            Param("n_samples", n),
            ("Use ", Param("landmarks", n), ", or leave it out"),
        )
    if n_clusters != AUTO and int(n_clusters) > known:
        what = "rows" if known == n else "landmarks"
        raise TooFewRows(
            Param("n_clusters", n_clusters, of=name),
            f"at least {n_clusters} {what}",
            Param("n_samples", n) if known == n else f"{known}",
            ("Use ", Param("n_clusters", known), f" or add {what}"),
        )
