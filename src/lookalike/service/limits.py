"""How much one client may ask for, and how often."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass


@dataclass(frozen=True)
class RequestLimits:
    """How much one request may ask for; more is refused with a 4xx.

    Parameters
    ----------
    body : int
        Bytes of a JSON body.
    upload : int
        Bytes of a table that is uploaded.
    rows, columns : int
        Of one collection.
    unpacked : int or None
        Bytes that a small packed file (Parquet, Arrow, gzip, Excel) may hold, 8 at least for each
        cell; a larger file may hold 200 times its size. None: as much as fits in memory.
    batch : int
        Rows of one write.
    cell : int
        Characters of one text in a request.
    depth : int
        Nested brackets of a JSON body.
    k : int
        Hits of one search.
    queries : int
        Queries of one search.
    marks : int
        Rows that are liked, or are not, in one search; ids of one profile are ten times as many.
    seconds : float
        Time limit of one request; long work is a job.
    wait : float
        Seconds that ``at_least`` waits.
    rate, burst : float
        Requests per second, and requests in a burst, that one token may make.
    nodes : int
        Nodes of one graph.
    """

    # All chosen by hand: far above what the page sends, far below what fills the memory.
    body: int = 16 * 2**20
    upload: int = 512 * 2**20
    rows: int = 2_000_000
    columns: int = 2_000
    unpacked: int | None = 16 * 2**20
    batch: int = 10_000
    cell: int = 100_000
    depth: int = 32
    k: int = 1_000
    queries: int = 100
    marks: int = 1_000
    seconds: float = 60.0
    wait: float = 2.0
    rate: float = 200.0
    burst: float = 400.0
    nodes: int = 200


MAX_CLIENTS = 10_000  # the longest silent are forgotten first, which gives them a full bucket


class RateLimiter:
    """Token buckets of requests, one per client.

    Parameters
    ----------
    rate : float
        Requests per second that a bucket refills by; 0: no limit.
    burst : float
        Requests that a full bucket holds.

    Examples
    --------
    >>> rates = RateLimiter(1.0, 2.0)
    >>> [rates.wait("me", now=0.0) for _ in range(3)]
    [0.0, 0.0, 1.0]
    """

    def __init__(self, rate: float, burst: float) -> None:
        self.rate, self.burst = rate, max(1.0, burst)
        self._lock = threading.Lock()
        self._left: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()

    def wait(self, client: Hashable, now: float | None = None) -> float:
        """Take one request out of a bucket; return 0, or the seconds until there is one."""
        # No bucket is kept where there is no limit.
        if self.rate <= 0:
            return 0.0
        now = time.monotonic() if now is None else now
        with self._lock:
            # Taken out and put back: the order is then that of the last request.
            left, last = self._left.pop(client, (self.burst, now))
            left = min(self.burst, left + (now - last) * self.rate)
            taken = left >= 1
            self._left[client] = (left - 1 if taken else left), now
            while len(self._left) > MAX_CLIENTS:
                self._left.popitem(last=False)
        return 0.0 if taken else (1 - left) / self.rate
