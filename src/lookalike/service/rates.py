"""How often one client may ask: a bucket of requests that refills (token bucket)."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Hashable

CLIENTS = 10_000  # that are remembered


class Rates:
    """Buckets of requests, one per client.

    Parameters
    ----------
    rate : float
        Requests per second that a bucket refills by; 0: no limit.
    burst : float
        Requests that a full bucket holds.

    Examples
    --------
    >>> rates = Rates(1.0, 2.0)
    >>> [rates.wait("me", now=0.0) for _ in range(3)]
    [0.0, 0.0, 1.0]
    """

    def __init__(self, rate: float, burst: float) -> None:
        self.rate, self.burst = rate, max(1.0, burst)
        self._lock = threading.Lock()
        self._left: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()

    def wait(self, client: Hashable, now: float | None = None) -> float:
        """Take a request out of a bucket; return 0, or the seconds until there is one."""
        if self.rate <= 0:
            return 0.0
        now = time.monotonic() if now is None else now
        with self._lock:
            left, at = self._left.pop(client, (self.burst, now))
            left = min(self.burst, left + (now - at) * self.rate)
            taken = left >= 1
            self._left[client] = (left - 1 if taken else left), now
            while len(self._left) > CLIENTS:
                self._left.popitem(last=False)
        return 0.0 if taken else (1 - left) / self.rate
