"""One ordered scale of words, and what must be seen before it is believed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Scale:
    """Levels from low to high, and what else must be seen before they are believed.

    ``least`` levels must be there, one of ``needs`` among them; the column's name must match
    ``name``; an ``open`` scale is said to be close to a category.
    """

    what: str
    levels: tuple[tuple[str, ...], ...]
    least: int = 2
    needs: frozenset[str] = frozenset()
    name: str = ""
    open: bool = False

    @cached_property
    def rank(self) -> dict[str, int]:
        """The level of each spelling, counted from 0."""
        return {spelling: at for at, level in enumerate(self.levels) for spelling in level}
