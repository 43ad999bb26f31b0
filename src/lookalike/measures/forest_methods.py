"""What ``ForestProximity`` is asked for: a way to read by its name, a forest by its name."""

from __future__ import annotations

from typing import Any

from lookalike.errors import InvalidInput, message, suggest
from lookalike.forests.adapt import check_fitted
from lookalike.forests.flat import Forest
from lookalike.forests.grower import Grower
from lookalike.forests.growers import find_grower
from lookalike.measures.forest_ancestors import Aryal, Ting, Zhu2, Zhu3
from lookalike.measures.forest_reading import ForestReading, OutOfBag, Ratio, Shi

__all__ = ["METHODS", "find_reading", "find_source"]

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
            message(
                f"ForestProximity(method={method!r})",
                "one of " + ", ".join(map(repr, METHODS)),
                repr(method),
                suggest(str(method), METHODS),
            )
        )
    return METHODS[method]()


def find_source(
    forest: Any, reading: ForestReading, n_estimators: int | None, random_state: Any
) -> Any:
    """Return the grower that ``forest=`` asks for, or the fitted forest.

    Parameters
    ----------
    forest : None, str, Grower, or a fitted forest
        None: the one that the way to read was published with.
    reading : ForestReading
    n_estimators, random_state
        Shorthands for those of the grower.
    """
    source = reading.forest if forest is None else forest
    if isinstance(source, str):
        source = find_grower(source)
    if isinstance(source, Grower):
        return source.with_shorthands(n_estimators, random_state)
    if not isinstance(source, Forest):
        check_fitted(source)
    if n_estimators is not None:
        raise InvalidInput(
            message(
                f"ForestProximity(n_estimators={n_estimators})",
                "a forest that is grown here",
                f"a fitted {type(source).__name__}, which has its trees already",
                "Leave n_estimators out",
            )
        )
    return source
