"""Phrases for sets, sequences, series, histograms, vectors and graphs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from typing import Any

from lookalike._runtime.text import clean, plain, short, spark
from lookalike.show.reasons.pair import Pair

ITEMS = 4  # items of a set that are named
STEPS = 5  # items of a sequence that are shown, at most
RUN = 40  # characters they may take together
COMPARED = 200  # items of a sequence that are looked at for what it shares
BARS = 12  # bars of a small drawing
DRAWN = ("series", "histogram", "vector")  # kinds that are drawn where there is room for a picture


def set_phrase(pair: Pair) -> str:
    """Name the items that two sets share, and those that only one has.

    Examples
    --------
    >>> from lookalike.show.reasons.style import Style
    >>> from lookalike.table import Kind
    >>> sets = {"Action", "Drama"}, {"Action", "Drama", "Romance"}
    >>> set_phrase(Pair("genres", Style(Kind("set")), *map(frozenset, sets), True))
    'genres: both Action, Drama (only here Romance)'
    """
    one, other = frozenset(pair.query), frozenset(pair.found)
    if one == other:
        return f"same {pair.name}: {_list(one)}" if one else f"{pair.name} empty in both"
    shared, here, there = one & other, other - one, one - other
    only = [
        f"only {where} {_list(items)}"
        for where, items in (("here", here), ("in the query", there))
        if items
    ]
    if not shared:
        return f"{pair.name}: {_list(other)}, not {_list(one)}"
    if pair.speaks_for:
        return f"{pair.name}: both {_list(shared)} ({', '.join(only)})"
    return f"{pair.name}: {', '.join(only)} (both {_list(shared)})"


def sequence_phrase(pair: Pair) -> str:
    """Name the longest run of items that two sequences share (longest common block)."""
    one, other = tuple(pair.query), tuple(pair.found)
    if one == other:
        return f"same {pair.name}: {_run(one)}"
    if pair.speaks_for:
        ours, theirs = ([_item(x) for x in cell[:COMPARED]] for cell in (one, other))
        block = SequenceMatcher(None, ours, theirs, autojunk=False).find_longest_match()
        if block.size:
            run = _run(other[block.b : block.b + block.size])
            return (
                f"{pair.name}: both {run} ({block.size:,} of {len(one):,} and {len(other):,} items)"
            )
        return f"{pair.name} alike: {_run(one)} and {_run(other)}"
    return f"{pair.name}: {_run(other)}, not {_run(one)}"


def shape_phrase(pair: Pair) -> str:
    """Draw two rows of numbers as small bars."""
    one, other = (short_bars(cell) for cell in (pair.query, pair.found))
    if _values(pair.query) == _values(pair.found):
        return f"same {pair.name}: {other}"
    if pair.speaks_for:
        word = ("similar", "similar", "very similar")[pair.degree(5, 2, (0.97, 0.9))]
        return f"{pair.name} {word}: {one} and {other}"
    return f"{pair.name} {one} against {other}"


def graph_phrase(pair: Pair) -> str:
    """Say how large two graphs are."""
    one, other = (
        f"{len(cell.nodes):,} nodes with {len(cell.edges):,} edges"
        for cell in (pair.query, pair.found)
    )
    if pair.query == pair.found:
        return f"same {pair.name}: {other}"
    if pair.speaks_for:
        return f"{pair.name} alike: {one} and {other}"
    return f"{pair.name} {one} against {other}"


def object_phrase(pair: Pair) -> str:
    """Show two cells of which nothing is known."""
    one, other = (short(cell, 32) for cell in (pair.query, pair.found))
    if plain(pair.query) == plain(pair.found):
        return f"same {pair.name}: {other}"
    return f"{pair.name} {one} {'and' if pair.speaks_for else 'against'} {other}"


def short_bars(cell: Any) -> str:
    """Draw numbers as bars of text; two or three of them are written."""
    values = _values(cell)
    if len(values) <= 3:
        return "(" + ", ".join(f"{value:.3g}" for value in values) + ")"
    return spark(values, BARS)


def _values(cell: Any) -> list[float]:
    values = [float(value) for value in (cell.tolist() if hasattr(cell, "tolist") else cell)]
    return [value if abs(value) < float("inf") else 0.0 for value in values]


def _list(items: Iterable[Any]) -> str:
    names = [clean(str(item)) for item in plain(frozenset(items))]
    more = len(names) - ITEMS
    named = ", ".join(short(name, 24) for name in names[:ITEMS])
    return (named or "none") + (f" and {more:,} more" if more > 0 else "")


def _run(items: Sequence[Any]) -> str:
    if not items:
        return "(empty)"
    steps = [short(_item(item), 16) for item in items[:STEPS]]
    while len(steps) > 1 and sum(map(len, steps)) > RUN:
        steps.pop()
    return " → ".join([*steps, *(["…"] if len(steps) < len(items) else [])])


def _item(item: Any) -> str:
    if isinstance(item, frozenset | set):
        return "+".join(str(x) for x in plain(item)) or "∅"
    return str(plain(item))
