"""What a collection is: its columns with kinds and summaries, its measure, where to begin."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from lookalike._runtime.text import plain
from lookalike.errors import spelled
from lookalike.measures import Measure
from lookalike.service.spelling import spell_field
from lookalike.service.view import View
from lookalike.table import Column, Table

BINS = 24
TOP = 20
EXAMPLES = 3
LOOKED = 20_000  # rows among which the one to begin with is chosen


_described: WeakKeyDictionary[View, dict[str, Any]] = WeakKeyDictionary()


def describe(name: str, view: View) -> dict[str, Any]:
    """Return what there is to say about a collection, its jobs apart; worked out once per view."""
    found = _described.get(view)
    if found is None:
        found = _described[view] = _describe(name, view)
    return found


def _describe(name: str, view: View) -> dict[str, Any]:
    table, drift = view.table, view.index.drift()
    hidden = view.settings.names
    columns = [_column(column, True, view) for column in table.columns]
    columns += [_column(column, False, view) for column in table.aside if column.name != hidden]
    return {
        "name": name,
        "title": view.settings.title,
        "rows": len(view.index),
        "generation": view.generation,
        "created": view.created,
        "id_column": view.settings.id_column,
        "label_column": view.settings.label_column,
        "measure": measure_of(view),
        "columns": columns,
        "drift": {"refit": drift.refit, "reasons": drift.reasons},
        "start": start_of(view, table),
    }


def measure_of(view: View) -> dict[str, Any]:
    """Return the measure: its name, how it is written, why it was chosen, its weights."""
    measure: Measure = view.index.measure_
    weights: dict[str, float] = dict.fromkeys(view.schema.kinds, 1.0)
    given = getattr(measure, "weights_", None)
    if isinstance(given, Mapping):
        weights |= {name: float(value) for name, value in given.items() if name in weights}
    return {
        "name": type(measure).__name__,
        "asked": view.settings.measure,
        "text": repr(measure),
        "reason": view.settings.reason,
        "weighable": bool(measure.traits.weighs_columns),
        "weights": weights,
    }


def _column(column: Column, compared: bool, view: View) -> dict[str, Any]:
    kind, known = column.kind, view.settings.aside.get(column.name, {})
    name = kind.label if compared else known.get("role") or known.get("kind") or kind.label
    gaps = column.missing
    unit = "" if kind.reading is None else kind.reading.unit
    return {
        "name": column.name,
        "kind": name,
        "compared": compared,
        "reason": kind.reason if compared else known.get("reason", kind.reason),
        "note": spelled(kind.remark, spell_field) or None,
        "gaps": float(gaps.mean()) if len(column) else 0.0,
        "unit": unit or None,
        "summary": _summary(column, np.flatnonzero(~gaps)),
    }


def _summary(column: Column, at: np.ndarray) -> dict[str, Any]:
    kind = column.kind.name
    if not len(at):
        return {"examples": []}
    if kind == "number":
        return _numbers(column, at)
    if kind in ("category", "order", "flag"):
        codes, first, sizes = np.unique(column.values[at], return_index=True, return_counts=True)
        order = np.argsort(-sizes, kind="stable")
        if kind == "order":
            order = np.argsort(codes, kind="stable")
        values = [
            [plain(column.cell(int(at[first[i]]))), int(sizes[i])] for i in order[:TOP].tolist()
        ]
        return {"counts": values, "distinct": len(codes)}
    if kind in ("set", "sequence"):
        items: Counter[Any] = Counter(item for cell in column.values[at] for item in set(cell))
        common = sorted(items.items(), key=lambda pair: (-pair[1], str(pair[0])))
        return {
            "counts": [[plain(item), count] for item, count in common[:TOP]],
            "distinct": len(items),
        }
    some = [plain(column.cell(int(row))) for row in at[:: max(1, len(at) // EXAMPLES)][:EXAMPLES]]
    if kind == "text":
        return {"distinct": len(set(column.values[at].tolist())), "examples": some}
    return {"examples": some}


def _numbers(column: Column, at: np.ndarray) -> dict[str, Any]:
    values = np.asarray(column.values[at], dtype=np.float64)
    finite = np.isfinite(values)
    if not finite.any():
        return {"examples": [plain(column.cell(int(at[0])))]}
    at, values = at[finite], values[finite]
    order = np.argsort(values, kind="stable")
    low, middle, high = (
        plain(column.cell(int(at[order[i]]))) for i in (0, (len(order) - 1) // 2, -1)
    )
    counts, edges = np.histogram(values, BINS)
    return {
        "min": low,
        "max": high,
        "median": middle,
        "histogram": {"edges": edges.tolist(), "counts": counts.tolist()},
    }


def start_of(view: View, table: Table) -> Any:
    """Choose a well-filled row worth opening on.

    Among the rows with the fewest gaps, the one that stands out most in the most skewed column of
    numbers: the best known film, the largest city, rather than a row that nobody has heard of.
    """
    few = table[:LOOKED]
    gaps = np.sum([column.missing for column in few], axis=0)
    fullest = np.flatnonzero(gaps == gaps.min())
    best, most = int(fullest[0]), 0.0
    for column in few.of_kind("number"):
        values = np.asarray(column.values[fullest], dtype=np.float64)
        if column.kind.source or not np.isfinite(values).all() or len(values) < 3:
            continue
        spread = float(values.std())
        skew = float(((values - values.mean()) ** 3).mean()) / spread**3 if spread > 0 else 0.0
        if skew > max(most, 1.0):
            best, most = int(fullest[values.argmax()]), skew
    return plain(few[view.settings.names].values[best])
