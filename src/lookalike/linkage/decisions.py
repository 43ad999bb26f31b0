"""Pairs that were decided by hand: the same record or not, from a file, a frame or a list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lookalike.errors import InvalidInput, Param, suggest
from lookalike.table import read_table

SAME = {"yes": True, "y": True, "true": True, "1": True, "same": True, "match": True}
SAME |= {"no": False, "n": False, "false": False, "0": False, "different": False}
SKIPPED = ("", "skip", "none", "nan", "?", "null")
EXAMPLE = ({"pair": [3, 17], "same": True},)


def read_decisions(
    given: Any, ids: tuple[Sequence[Any], Sequence[Any]], shift: int = 0
) -> dict[tuple[int, int], bool]:
    """Return decided pairs as positions of rows, the lower first.

    Parameters
    ----------
    given : path of a CSV file, frame, or list of mappings
        With the columns ``left``, ``right`` and ``same`` (yes, no or skip), or the keys ``pair``
        and ``same``.
    ids : lists, the ids of the rows of either table
    shift : int
        Added to the positions in the second table.

    Examples
    --------
    >>> ids = ["a", "b", "c"]
    >>> read_decisions(
    ...     [{"pair": ["c", "a"], "same": "no"}, {"pair": ["a", "b"], "same": ""}], (ids, ids)
    ... )
    {(0, 2): False}
    """
    if given is None:
        return {}
    found: dict[tuple[int, int], bool] = {}
    # As texts too: a CSV file has no other ids.
    places = [dict(zip(map(str, some), range(len(some)), strict=True)) for some in ids]
    for record in _records(given):
        same = _read_same(record)
        if same is None:
            continue
        pair = record.get("pair", (record.get("left"), record.get("right")))
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise _refused("two ids for each pair", repr(pair))
        a, b = (_find(id, known) for id, known in zip(pair, places, strict=True))
        key = (min(a, b + shift), max(a, b + shift))
        if key[0] == key[1]:
            raise _refused("two different rows", f"row {pair[0]!r} with itself")
        if found.setdefault(key, same) != same:
            raise _refused("one decision for each pair", f"both yes and no for {[*pair]}")
    return found


def _records(given: Any) -> list[Mapping[str, Any]]:
    if isinstance(given, list | tuple):
        wrong = [one for one in given if not isinstance(one, Mapping)]
        if wrong:
            raise _refused("a list of mappings", repr(wrong[0]))
        return list(given)
    table = read_table(given)
    known = {column.name for column in table.every}
    if gone := [name for name in ("left", "right", "same") if name not in known]:
        raise _refused("the columns left, right and same", f"no {gone[0]!r}")
    return [table.record(row) for row in range(len(table))]


def _read_same(record: Mapping[str, Any]) -> bool | None:
    same = record.get("same")
    # A column of 1, 0 and empty cells is read as numbers, so that 1 is written 1.0.
    word = "" if same is None else str(same).strip().lower().removesuffix(".0")
    if word not in SAME and word not in SKIPPED:
        raise _refused("yes, no or skip as 'same'", repr(same))
    return SAME.get(word)


def _find(id: Any, places: Mapping[str, int]) -> int:
    text = str(id).removesuffix(".0") if isinstance(id, float) else str(id)
    if text not in places:
        hint = suggest(text, [*places][:10_000])
        raise InvalidInput(Param("decisions"), "ids of rows of the table", repr(id), hint)
    return places[text]


def _refused(needed: str, found: str) -> InvalidInput:
    hint = ("Pass for example ", Param("decisions", [*EXAMPLE]))
    return InvalidInput(Param("decisions"), needed, found, hint)


def check_consistent(decided: Mapping[tuple[int, int], bool], names: Any) -> None:
    """Refuse decisions that contradict each other: a is b, b is c, but c is not a.

    Parameters
    ----------
    decided : mapping of pairs of positions to whether they are the same
    names : function of a position that returns the id of its row
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    rows = sorted({row for pair in decided for row in pair})
    same = [pair for pair, alike in decided.items() if alike]
    places = np.searchsorted(rows, np.array(same, np.int64).reshape(-1, 2))
    graph = coo_array((np.ones(len(same)), tuple(places.T)), shape=(len(rows), len(rows)))
    groups = dict(zip(rows, connected_components(graph, directed=False)[1].tolist(), strict=True))
    for (a, b), alike in decided.items():
        if not alike and groups[a] == groups[b]:
            found = f"{names(a)!r} and {names(b)!r} are different, but the same by other decisions"
            hint = "Take one of them back"
            raise InvalidInput(Param("decisions"), "no contradiction", found, hint)
