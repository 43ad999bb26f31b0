"""The seven published ways to read a similarity out of a forest, by name."""

from __future__ import annotations

from lookalike.errors import InvalidInput, Param, suggest
from lookalike.measures.forest.ancestors import Aryal, Ting, Zhu2, Zhu3
from lookalike.measures.forest.reading import ForestReading, OutOfBag, Ratio, Shi

METHODS: dict[str, type[ForestReading]] = {
    reading.name: reading for reading in (Ratio, Shi, Zhu2, Zhu3, Ting, Aryal, OutOfBag)
}


def find_reading(method: str | ForestReading) -> ForestReading:
    """Return the way to read that a name stands for: the published setting.

    Examples
    --------
    >>> find_reading("zhu3")
    Zhu3()
    """
    if isinstance(method, ForestReading):
        return method
    if method not in METHODS:
        raise InvalidInput(
            Param("method", method, of="ForestProximity"),
            "one of " + ", ".join(map(repr, METHODS)),
            repr(method),
            suggest(str(method), METHODS),
        )
    return METHODS[method]()
