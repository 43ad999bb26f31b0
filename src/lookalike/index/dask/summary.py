"""What was done, in numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lookalike._runtime.config import show_bytes
from lookalike.neighbors.graph import NeighborGraph


@dataclass(frozen=True)
class Summary:
    """What a distributed piece of work came to.

    Parameters
    ----------
    what : str, what was done
    tasks : int, parts of the work
    found : int, parts that were there already, of a run before
    rows : int, rows of the parts that were done now
    bytes : int, bytes written for them
    seconds : float
    retries : int, parts handed out again, because they failed or their worker was lost
    lost : int, workers that went away meanwhile

    Examples
    --------
    >>> print(Summary("encoded", 4, 1, 3_000_000, 630_000_000, 12.5, 1, 1))
    encoded 3,000,000 rows in 12.5 s (240,000 rows/s), 630 MB (210 bytes/row); 4 parts, 1 of them
    there already; 1 handed out again, 1 worker lost
    """

    what: str
    tasks: int
    found: int = 0
    rows: int = 0
    bytes: int = 0
    seconds: float = 0.0
    retries: int = 0
    lost: int = 0

    @property
    def rows_per_second(self) -> float:
        """Rows done per second."""
        return self.rows / self.seconds if self.seconds else 0.0

    def __str__(self) -> str:
        each = f" ({self.bytes / self.rows:,.0f} bytes/row)" if self.rows else ""
        text = (
            f"{self.what} {self.rows:,} rows in {self.seconds:.1f} s "
            f"({self.rows_per_second:,.0f} rows/s), {show_bytes(self.bytes)}{each}; "
            f"{self.tasks:,} part{'' if self.tasks == 1 else 's'}"
        )
        if self.found:
            text += f", {self.found:,} of them there already"
        if self.retries or self.lost:
            workers = f"{self.lost:,} worker{'' if self.lost == 1 else 's'} lost"
            text += f"; {self.retries:,} handed out again, {workers}"
        return text


@dataclass(frozen=True, eq=False)
class Hubness:
    """How uneven the neighbor lists of a large collection are, before and after a repair.

    Parameters
    ----------
    k_occurrence : int64 per row, in how many lists of k it stands
    skewness : float, of the k-occurrence; above about 1 there are hubs
    mean, sd : float64 per row, of its distances to a sample of rows
    repaired : NeighborGraph, the same candidates re-ranked by sampled mutual proximity
    repaired_skewness : float
    """

    k_occurrence: np.ndarray
    skewness: float
    mean: np.ndarray
    sd: np.ndarray
    repaired: NeighborGraph
    repaired_skewness: float
