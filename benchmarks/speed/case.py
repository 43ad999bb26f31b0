"""What a case is: one problem, ours, the rivals, what it means to agree, and what we aim at."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

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
    targets : sequence of Faster and Smaller
    """

    name: str
    problem: Callable[[bool], Any]
    ours: Contender
    rivals: Mapping[str, Contender]
    agree: Callable[[Any, Any], str]
    targets: Sequence[Faster | Smaller] = field(default_factory=tuple)

    @property
    def contenders(self) -> dict[str, Contender]:
        """Ours first, then the rivals."""
        return {OURS: self.ours, **self.rivals}
