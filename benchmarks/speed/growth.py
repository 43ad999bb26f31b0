"""How time and memory grow with the rows: an exponent for each piece of work, and the expected one.

Sizes are doubled a few times, or until one call has taken long enough; the exponent is the slope
between the last sizes on logarithmic axes. Time is processor time of one thread, the least of a few
calls, so that other work on the machine hardly matters. Memory is the peak that Python and numpy
take in a call.
"""

import gc
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

SLACK = 0.1  # exponents may be so much above those of the maths: 1.1 where it is linear
POINTS = 3  # sizes that the slope is taken over
DOUBLINGS = 4  # at most, which makes sixteen times the rows


@dataclass(frozen=True)
class Growth:
    """One piece of work.

    Parameters
    ----------
    name : str
    prepare : callable
        ``prepare(n)`` makes the data for n rows and returns the call to be measured.
    time, memory : float
        Exponents of the maths: 1 where it is linear, 2 where it is quadratic.
    start : int
        The first size.
    reason : str
        Why it grows faster than linearly (time) or takes more than the rows (memory).
    exception : str
        Why an exponent above the expected one is known.
    """

    name: str
    prepare: Callable[[int], Callable[[], Any]]
    time: float = 1.0
    memory: float = 1.0
    start: int = 16_000
    reason: str = ""
    exception: str = ""


@dataclass
class MeasuredGrowth:
    """What was measured."""

    growth: Growth
    sizes: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    peaks: list[int] = field(default_factory=list)

    @property
    def time(self) -> float:
        """The exponent of time."""
        return slope(self.sizes, self.seconds)

    @property
    def memory(self) -> float:
        """The exponent of memory."""
        return slope(self.sizes, self.peaks)

    @property
    def holds(self) -> bool:
        """Whether neither exponent is above the expected one by more than the slack."""
        wanted = self.growth
        return self.time <= wanted.time + SLACK and self.memory <= wanted.memory + SLACK

    def to_json(self) -> dict[str, Any]:
        """Everything measured, as plain values."""
        wanted = self.growth
        return {
            "name": wanted.name,
            "sizes": self.sizes,
            "seconds": self.seconds,
            "peaks": self.peaks,
            "time": self.time,
            "memory": self.memory,
            "expected": [wanted.time, wanted.memory],
            "holds": self.holds,
            "reason": wanted.reason,
            "exception": wanted.exception,
        }


def slope(sizes: list[int], values: list[float] | list[int]) -> float:
    """Return the exponent of growth: the slope of the last points on logarithmic axes.

    >>> round(slope([100, 200, 400, 800], [9.0, 4.0, 16.0, 64.0]), 3)
    2.0
    """
    x, y = np.log(sizes[-POINTS:]), np.log(np.maximum(values[-POINTS:], 1e-9))
    return float(np.polyfit(x, y, 1)[0])


def measure(growth: Growth, enough: float, repeats: int = 3) -> MeasuredGrowth:
    """Double the rows until the calls of one size have taken ``enough`` seconds in all."""
    found = MeasuredGrowth(growth)
    growth.prepare(min(growth.start, 300))()  # imports and compiles
    for n in (growth.start << at for at in range(DOUBLINGS + 1)):
        call = growth.prepare(n)
        times = [_processor_seconds(call) for _ in range(repeats)]
        found.sizes.append(n)
        found.seconds.append(min(times))
        found.peaks.append(_peak(call))
        # The next size takes two to eight times as long.
        if len(found.sizes) >= POINTS and sum(times) * 2 ** max(1.0, growth.time) > enough:
            break
    return found


def _processor_seconds(call: Callable[[], Any]) -> float:
    gc.collect()
    began = time.process_time()
    call()
    return time.process_time() - began


def _peak(call: Callable[[], Any]) -> int:
    """Return the peak memory of Python and numpy during a call."""
    gc.collect()
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
