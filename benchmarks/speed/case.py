"""What a case is: one problem, ours, the rivals, what it means to agree, and what we aim at."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

OURS = "lookalike"

# Takes the problem, does what is done once (imports, fitting), and returns the call to be measured.
Contender = Callable[[Any], Callable[[], Any]]


@dataclass(frozen=True)
class Faster:
    """Our time is at most ``ratio`` times the rival's."""

    rival: str
    ratio: float

    def __str__(self) -> str:
        if self.ratio < 0.1:
            return f"at least {1 / self.ratio:.0f}x faster than {self.rival}"
        return f"time <= {self.ratio:g}x of {self.rival}"

    def holds(self, seconds: Mapping[str, float], extra_mb: Mapping[str, float]) -> bool | None:
        """Whether the aim is reached; None where the rival did not run."""
        if self.rival not in seconds:
            return None
        return seconds[OURS] <= self.ratio * seconds[self.rival]


@dataclass(frozen=True)
class Smaller:
    """Our answer takes less than ``extra_mb`` on top of what was there before the call."""

    extra_mb: float

    def __str__(self) -> str:
        return f"extra memory < {self.extra_mb:g} MB"

    def holds(self, seconds: Mapping[str, float], extra_mb: Mapping[str, float]) -> bool | None:
        """Whether the aim is reached; None where memory was not measured."""
        return extra_mb[OURS] < self.extra_mb if OURS in extra_mb else None


@dataclass
class Tail:
    """The slowest hundredth of our questions takes less than ``ratio`` times the median."""

    ratio: float
    seconds: list[float] = field(default_factory=list)

    def __str__(self) -> str:
        text = f"p99 < {self.ratio:g}x median"
        if not self.seconds:
            return text
        middle, slow = np.percentile(self.seconds, [50, 99]) * 1000
        return f"{text} ({middle:.2f} and {slow:.2f} ms over {len(self.seconds):,} questions)"

    def holds(self, seconds: Mapping[str, float], extra_mb: Mapping[str, float]) -> bool | None:
        """Whether the aim is reached; None where no question was timed."""
        if not self.seconds:
            return None
        middle, slow = np.percentile(self.seconds, [50, 99])
        return bool(slow < self.ratio * middle)


@dataclass(frozen=True)
class Case:
    """One comparison.

    Parameters
    ----------
    name : str
        What is compared, in a few words.
    problem : callable
        ``problem(small)`` makes the data, the same in every process. The small one has the same
        types and is used to load and compile everything before memory is measured.
    ours, rivals : contenders
        An ImportError while a rival prepares means that it is not installed.
    agree : callable
        ``agree(ours, theirs)`` returns what is wrong, or an empty string.
    targets : sequence of Faster, Smaller and Tail
    """

    name: str
    problem: Callable[[bool], Any]
    ours: Contender
    rivals: Mapping[str, Contender]
    agree: Callable[[Any, Any], str]
    targets: Sequence[Faster | Smaller | Tail] = field(default_factory=tuple)

    @property
    def contenders(self) -> dict[str, Contender]:
        """Ours first, then the rivals."""
        return {OURS: self.ours, **self.rivals}
