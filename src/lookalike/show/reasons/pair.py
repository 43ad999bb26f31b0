"""Two cells of one column, and on which side they speak."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from lookalike._runtime.text import clean
from lookalike.show.reasons.style import Style


@dataclass(frozen=True, eq=False)
class Pair:
    """What a phrase is made from.

    Parameters
    ----------
    column : str
    style : Style
    query, found : the two cells; None where missing
    speaks_for : bool
        Whether the column is a reason for likeness, or one against it.
    bits : float or None
        How much this says, in bits: -log2 of the share of random pairs that are at least as near
        (for) or as far (against); None where the measure does not know.
    closeness : float
        From 0 to 1: how much of what the column could contribute speaks for likeness.
    """

    column: str
    style: Style
    query: Any
    found: Any
    speaks_for: bool
    bits: float | None = None
    closeness: float = 0.5

    @cached_property
    def name(self) -> str:
        """The name of the column, safe to show."""
        return clean(self.column)

    def degree(self, most: float, least: float, nearness: tuple[float, float]) -> int:
        """Return 2 where the pair says much, 1 where it says something, 0 where it says little.

        Parameters
        ----------
        most, least : float
            Bits from which it is much, and something.
        nearness : pair of floats
            The same on the scale of ``closeness``, where bits are not known.
        """
        value, (high, low) = (self.bits, (most, least))
        if value is None:
            value = self.closeness if self.speaks_for else 1 - self.closeness
            high, low = nearness
        return 2 if value >= high else int(value >= low)
