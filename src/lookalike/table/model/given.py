"""What the caller says about columns: ``kinds=``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from lookalike.errors import InvalidInput, Param, WrongType, suggest
from lookalike.table.model.kind import KINDS, SPELLINGS, Kind

ASIDE = "aside"
KNOWN = (*KINDS, *SPELLINGS, ASIDE)
# What other tools call a kind.
OTHERS: dict[str, str | tuple[str, ...]] = {
    **dict.fromkeys(("int", "integer", "float", "numeric", "real", "continuous"), "number"),
    **dict.fromkeys(("nominal", "categorical", "factor", "enum"), "category"),
    **dict.fromkeys(("ordinal", "ordered", "level", "levels", "rank", "grade"), "order"),
    **dict.fromkeys(("bool", "boolean", "binary", "yes/no"), "flag"),
    **dict.fromkeys(("str", "string", "free text"), "text"),
    **dict.fromkeys(("tags", "multilabel"), "set"),
    **dict.fromkeys(("datetime", "timestamp"), "date"),
    **dict.fromkeys(("id", "identifier", "key", "index"), ("name", "code")),
    **dict.fromkeys(("ignore", "skip", "drop", "none"), "aside"),
}


def given_kind(name: str, given: Any) -> Kind | None:
    """Read what the caller says about a column: kind, levels, or None to set it aside."""
    if given is None or (isinstance(given, str) and given == ASIDE):
        return None
    if isinstance(given, Kind):
        _check_name(name, given.name)
        return given
    if isinstance(given, str):
        if given in SPELLINGS:
            kind, role, reading = SPELLINGS[given]
            return Kind(kind, role=role, reading=reading)
        _check_name(name, given)
        return Kind(given)
    if isinstance(given, list | tuple | np.ndarray):
        levels = tuple(given.tolist() if isinstance(given, np.ndarray) else given)
        if len(set(levels)) != len(levels) or len(levels) < 2:
            raise InvalidInput(
                Param("kinds", {name: given}, of="read_table"),
                "at least two levels that differ, from low to high",
                repr(levels),
                "Name every level once",
            )
        return Kind("order", f"given, {len(levels)} levels", levels)
    raise WrongType(
        Param("kinds", {name: given}, of="read_table"),
        "the name of a kind, or a list of levels from low to high",
        f"{type(given).__name__}",
        "Known: " + ", ".join(repr(kind) for kind in KNOWN),
    )


def _check_name(column: str, kind: str) -> None:
    if kind not in KINDS:
        raise InvalidInput(
            Param("kinds", {column: kind}, of="read_table"),
            "a known kind",
            repr(kind),
            suggest(kind, KNOWN, OTHERS),
        )


def read_as_text(kinds: Mapping[Any, Any] | None) -> set[str]:
    """Name the columns that a CSV file must hand over as they are written ("007", not 7)."""
    names = set()
    for name, given in kinds.items() if isinstance(kinds, Mapping) else ():
        kind = (
            given if isinstance(given, Kind) else Kind(given if isinstance(given, str) else "order")
        )
        levels = kind.levels if isinstance(given, Kind) else given
        if kind.name in ("text", "sequence") or (kind.name == "category" and not kind.levels):
            names.add(str(name))
        elif not isinstance(levels, str) and isinstance(levels, Iterable):
            if any(isinstance(level, str) for level in levels):
                names.add(str(name))
    return names
