"""Cells as text for people and as plain values for programs."""

import datetime as dt
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

MAX_CELL_CHARACTERS = 28  # of a cell in a table for people; chosen by hand


def short(cell: Any, longest: int = MAX_CELL_CHARACTERS) -> str:
    """Write a cell in a few characters, for people.

    Examples
    --------
    >>> short(1977.0), short(frozenset({"b", "a"})), short(None)
    ('1977', 'a, b', '–')
    """
    if cell is None:
        return "–"
    cell = str(cell) if isinstance(cell, dt.timedelta) else plain(cell)
    if isinstance(cell, float):
        text = f"{cell:.6g}"
    elif isinstance(cell, list):
        text = _list(cell, longest)
    else:
        text = json.dumps(cell, ensure_ascii=False) if isinstance(cell, dict) else str(cell)
    text = clean(text)
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _list(items: list[Any], longest: int) -> str:
    if all(isinstance(item, str) for item in items):
        return ", ".join(items) or "(none)"
    if all(isinstance(item, int | float) for item in items):
        return spark(items, longest) if len(items) > 3 else " ".join(f"{x:.3g}" for x in items)
    return json.dumps(items, ensure_ascii=False)


def spark(values: Sequence[float], longest: int = MAX_CELL_CHARACTERS) -> str:
    """Draw numbers as a row of bars, from 0 (or the lowest, if below) to the highest.

    Examples
    --------
    >>> spark([0, 1, 2, 4, 8])
    '▁▂▃▅█'
    """
    if len(values) > longest:  # neighbors are drawn as one bar, at their mean
        ends = [len(values) * i // longest for i in range(longest + 1)]
        parts = [values[ends[i] : ends[i + 1]] for i in range(longest)]
        values = [sum(part) / len(part) for part in parts]
    # From 0 on, so that the heights of two positive numbers have the ratio of the numbers.
    low = min(0.0, *values)
    span = max(values) - low
    heights = [int(8 * (value - low) / span) if span > 0 else 0 for value in values]
    return "".join("▁▂▃▄▅▆▇█"[min(height, 7)] for height in heights)


def clean(text: str) -> str:
    r"""Replace what a terminal or a page would obey instead of show.

    Line breaks, control characters (escape sequences begin with one; C1 codes are such beginnings
    in one character), marks that turn the direction of text, and lone surrogates.

    Examples
    --------
    >>> clean("one\ntwo \x1b[31m")
    'one two  [31m'
    """
    return "".join(letter if letter.isprintable() else " " for letter in text)


def percent(share: float) -> str:
    """Write a share; a small one is not rounded to nothing, nor a large one to all.

    Examples
    --------
    >>> percent(0.29), percent(0.001), percent(0.995)
    ('29%', '<1%', '>99%')
    """
    if 0 < share < 0.01:
        return "<1%"
    return ">99%" if 0.99 < share < 1 else f"{100 * share:.0f}%"


def plural(count: int, what: str = "row") -> str:
    """Return a number of things in words.

    Examples
    --------
    >>> plural(1), plural(2000, "shard")
    ('1 row', '2,000 shards')
    """
    return f"{count:,} {what}" + ("" if count == 1 else "s")


def plain(cell: Any) -> Any:
    """Return a cell as something JSON can hold.

    Integers lose their point, sets become sorted lists, dates are written in ISO form,
    durations in seconds, graphs as nodes and edges; what JSON has no word for becomes text.

    Examples
    --------
    >>> import datetime as dt
    >>> plain(1977.0), plain(frozenset({"b", "a"})), plain(dt.datetime(2005, 1, 2))
    (1977, ['a', 'b'], '2005-01-02')
    """
    if cell is None or isinstance(cell, bool | str | int):
        return cell
    for types, write in _PLAIN:
        if isinstance(cell, types):
            return write(cell)
    return _plain_object(cell)


def _plain_object(cell: Any) -> Any:
    # By attributes: networkx and pandas are not imported to find out whether a cell is theirs.
    if hasattr(cell, "nodes") and hasattr(cell, "edges"):
        return {"nodes": plain(cell.nodes), "edges": plain(cell.edges)}
    if hasattr(cell, "tolist"):
        return plain(cell.tolist())
    if isinstance(cell, Iterable) and not isinstance(cell, bytes):
        return [plain(item) for item in cell]
    return str(cell)


def _plain_float(cell: float) -> int | float | str | None:
    if cell != cell:
        return None
    if abs(cell) == float("inf"):  # JSON has no word for it
        return "inf" if cell > 0 else "-inf"
    # From 2**53 on not every integer is a float, and the digits of int() would look exact.
    return int(cell) if cell.is_integer() and abs(cell) < 2**53 else cell


# A datetime is a date too, so it comes first.
_PLAIN: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    (float, _plain_float),
    (dt.datetime, lambda c: (c.date() if c.time() == dt.time() else c).isoformat()),
    (dt.date | dt.time, lambda cell: cell.isoformat()),
    (dt.timedelta, lambda cell: plain(cell.total_seconds())),
    # By type first: numbers and words of one set cannot be compared with each other.
    (frozenset | set, lambda c: sorted(map(plain, c), key=lambda x: (str(type(x)), str(x)))),
    (Mapping, lambda cell: {str(key): plain(value) for key, value in cell.items()}),
)


def as_record(row: Any) -> Any:
    """Return a row of a pandas frame or a named tuple as a record, everything else unchanged."""
    if hasattr(row, "_asdict"):
        return row._asdict()
    return row.to_dict() if getattr(row, "ndim", 0) == 1 and hasattr(row, "to_dict") else row
