"""Answers as JSON: what a collection is, and hits with their reasons."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from lookalike._runtime.text import plain
from lookalike.errors import InvalidInput, spelled, suggest
from lookalike.index import Hit, Hits
from lookalike.index.segments import learn_levels
from lookalike.measures import Measure
from lookalike.service import analysis, fitting
from lookalike.service.api.models import SearchIn
from lookalike.service.collection import View
from lookalike.service.problems import collected, spell_field
from lookalike.service.store.store import NotFound
from lookalike.table import Column, Table
from lookalike.verbs.search import find_row
from lookalike.verbs.search import search as find_rows
from lookalike.verbs.source import read_filter

N_BINS = 24  # of the small histograms of the page
MAX_SHOWN_LEVELS = 20
N_EXAMPLES = 3
MAX_ROWS_FOR_START = 20_000  # rows among which the page finds one to open on; chosen by hand

# By view, which is immutable: a description is computed once per generation, and freed with it.
_described: WeakKeyDictionary[View, dict[str, Any]] = WeakKeyDictionary()


def describe(name: str, view: View) -> dict[str, Any]:
    """Return the description of a collection, without its jobs; computed once per view."""
    if view in _described:
        return _described[view]
    table, drift, settings = view.table, view.index.drift(), view.settings
    shown = [column for column in table.every if column.name != settings.names]
    _described[view] = {
        "name": name,
        "title": settings.title,
        "rows": len(view.index),
        "generation": view.generation,
        "created": view.created,
        "id_column": settings.id_column,
        "row_ids": settings.names,
        "label_column": settings.label_column,
        "measure": describe_measure(view),
        "columns": [_column(column, column.name in table, view) for column in shown],
        "drift": {"refit": drift.refit, "reasons": drift.reasons},
        "start": start_of(view, table),
    }
    return _described[view]


def describe_measure(view: View) -> dict[str, Any]:
    """Return the measure: its name, how it is written, why it was chosen, its weights."""
    measure: Measure = view.index.measure_
    # Every column has a slider, so every column has a weight; learned ones replace the default.
    weights: dict[str, float] = dict.fromkeys(view.schema.kinds, 1.0)
    given = getattr(measure, "weights_", None)
    if isinstance(given, Mapping):
        weights |= {name: float(value) for name, value in given.items() if name in weights}
    return {
        "name": type(measure).__name__,
        "asked": view.settings.measure,
        "words": fitting.IN_WORDS.get(view.settings.measure, type(measure).__name__),
        "text": repr(measure),
        "reason": view.settings.reason,
        "weighable": bool(measure.traits.weighs_columns),
        "weights": weights,
    }


def _column(column: Column, compared: bool, view: View) -> dict[str, Any]:
    # A column that was set aside is read back from the store as plain objects; what it was taken
    # for when the table was first read is in the settings.
    kind, known = column.kind, {} if compared else view.settings.aside.get(column.name, {})
    missing = column.missing
    unit = "" if kind.reading is None else kind.reading.unit
    return {
        "name": column.name,
        "kind": known.get("role") or known.get("kind") or kind.label,
        "compared": compared,
        "reason": known.get("reason", kind.reason),
        "note": spelled(kind.remark, spell_field) or None,
        "suspects": {"text": kind.note, "values": plain(list(kind.missing_values))},
        "gaps": float(missing.mean()) if len(column) else 0.0,
        "unit": unit or None,
        "summary": _summary(column, np.flatnonzero(~missing)),
    }


_measures: WeakKeyDictionary[View, list[dict[str, Any]]] = WeakKeyDictionary()
_fitting = threading.Lock()


def measures_of(view: View) -> list[dict[str, Any]]:
    """Return the measures that can compare the rows of a view; found once per view."""
    with _fitting:  # several requests for the same fit each measure once
        if view not in _measures:
            _measures[view] = fitting.list_measures(view.table)
        return _measures[view]


def try_column(view: View, name: str, kind: Any) -> dict[str, Any]:
    """Return a column as it would be if it were read as another kind.

    Parameters
    ----------
    view : View
    name : str
    kind : one of the words that ``kinds`` takes, or a list of levels

    Returns
    -------
    dict
        The column as a collection describes it; ``missing``, the values that cannot be read, and
        in how many ``cells`` they are.
    """
    names = [one for one in (*view.schema.kinds, *view.schema.aside) if one != view.settings.names]
    if name not in names:
        raise NotFound(f"column {name[:80]!r}", "a column", "none", suggest(name, names))
    with collected():
        table, unreadable = fitting.read_as(learn_levels(view.table), name, kind)
    before, after = view.table[name], table[name]
    described = _column(after, True, view) | {"compared": name in table}
    cells = int(after.missing.sum() - before.missing.sum())
    return {"column": described, "missing": unreadable, "cells": max(0, cells)}


def _summary(column: Column, known: np.ndarray) -> dict[str, Any]:
    """Summarize the cells of a column that are not missing, by their positions."""
    kind = column.kind.name
    if kind == "number" and np.isfinite(values := column.values[known].astype(np.float64)).any():
        return _summarize_numbers(column, known[np.isfinite(values)])
    if kind in ("category", "order", "flag", "set", "sequence"):
        return _count_levels(column, known)
    step = max(1, len(known) // N_EXAMPLES)
    examples = [plain(column.cell(int(row))) for row in known[::step][:N_EXAMPLES]]
    distinct = {"distinct": len(set(column.values[known].tolist()))} if kind == "text" else {}
    return {**distinct, "examples": examples}


def _count_levels(column: Column, known: np.ndarray) -> dict[str, Any]:
    """Count levels, or items of sets and sequences; the most common first unless ordered."""
    if column.kind.name in ("set", "sequence"):
        items: Counter[Any] = Counter(item for cell in column.values[known] for item in set(cell))
        common = sorted(items.items(), key=lambda pair: (-pair[1], str(pair[0])))
        counts = [[plain(item), count] for item, count in common[:MAX_SHOWN_LEVELS]]
        return {"counts": counts, "distinct": len(items)}
    codes, first, sizes = np.unique(column.values[known], return_index=True, return_counts=True)
    ordered = column.kind.name == "order"
    order = np.argsort(codes if ordered else -sizes, kind="stable")[:MAX_SHOWN_LEVELS].tolist()
    counts = [[plain(column.cell(int(known[first[i]]))), int(sizes[i])] for i in order]
    return {"counts": counts, "distinct": len(codes)}


def _summarize_numbers(column: Column, known: np.ndarray) -> dict[str, Any]:
    values = column.values[known].astype(np.float64)
    order = known[np.argsort(values, kind="stable")]
    # Cells, not values: a date is shown as one.
    low, median, high = (order[i] for i in (0, (len(order) - 1) // 2, -1))
    counts, edges = _bin_numbers(values)
    return {
        "min": plain(column.cell(int(low))),
        "max": plain(column.cell(int(high))),
        "median": plain(column.cell(int(median))),
        "histogram": {"edges": edges.tolist(), "counts": counts.tolist()},
    }


def _bin_numbers(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the counts and edges of ``np.histogram``, which refuses very near and far values."""
    low, high = float(values.min()), float(values.max())
    if low == high:
        low, high = low - 0.5, high + 0.5
    # Halves: the difference of two floats may be larger than any float.
    edges = 2.0 * np.linspace(low / 2.0, high / 2.0, N_BINS + 1)
    bins = np.searchsorted(edges[1:-1], values, side="right")
    return np.bincount(bins, minlength=N_BINS), edges


def start_of(view: View, table: Table) -> Any:
    """Choose a well-filled row worth opening on.

    Among the rows with the fewest missing cells, the one that stands out most in the most skewed
    column of numbers: the best known film, the largest city.
    """
    first = table[:MAX_ROWS_FOR_START]
    n_missing = np.sum([column.missing for column in first], axis=0)
    fullest = np.flatnonzero(n_missing == n_missing.min())
    # Skewness of 1 is where the literature on hubness begins to speak of a long tail.
    best, most_skewed = int(fullest[0]), 1.0
    for column in first.of_kind("number"):
        values = np.asarray(column.values[fullest], dtype=np.float64)
        if column.kind.source or not np.isfinite(values).all() or len(values) < 3:
            continue  # dates and durations have no outstanding value
        shares = values / (np.abs(values).max() or 1.0)  # cubes of any others may overflow
        spread = float(shares.std()) or np.inf
        skew = float(((shares - shares.mean()) ** 3).mean()) / spread**3
        if skew > most_skewed:
            best, most_skewed = int(fullest[values.argmax()]), skew
    return plain(first[view.settings.names].values[best])


ALL = "all"


def read_query(view: View, query: str | int | Mapping[str, Any]) -> Any:
    """Return the id of an existing row, also by its name, or a record."""
    if isinstance(query, str):
        return find_row(view.index, query, "query")
    if isinstance(query, int):
        return view.find(query)
    if query.get("id") is not None:
        return view.find(query["id"])
    record = dict(query.get("record") or {})
    record.pop(view.settings.names, None)
    return record


def read_options(view: View, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that searches and feedback sessions have in common."""
    return {
        "filter": asked["filter"] and read_filter(asked["filter"], view.table),
        "weights": asked["weights"] or None,
        "columns": asked["columns"] or None,
    }


def search(view: View, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Answer a search by the verb ``search``; several queries share one answer.

    Parameters
    ----------
    view : View
    asked : mapping
        The request: a ``SearchIn``.
    """
    began = time.perf_counter()
    several = isinstance(asked["query"], list)
    queries = asked["query"] if several else [asked["query"]]
    if not queries:
        hint = "Pass at least one id or record"
        raise InvalidInput("query", "something to start from", "an empty list", hint)
    space, more = asked["space"], {name: asked[name] for name in ("gamma", "among")}
    source = analysis.CollectionSource(view, space=space, **more)
    options = read_options(view, asked)
    for side in ("like", "unlike"):
        options[side] = [view.find(id) for id in asked[side]]
    with collected() as notes:
        rows = [read_query(view, query) for query in queries]
        found = [find_rows(source, row, k=asked["k"], **options) for row in rows]
        documents = [answer_of(view, hits, asked["explain"]) for hits in found]
        shared = {
            "matched": view.space(space).count(options["filter"]),
            "generation": view.generation,
            "space": space,
            "took_ms": round(1000 * (time.perf_counter() - began), 2),
        }
    for document in documents:
        document |= shared | {"note": "; ".join(filter(None, [document["note"], *notes])) or None}
    return {"answers": documents, **shared} if several else documents[0]


def first_answer(name: str, view: View) -> dict[str, Any]:
    """Return the answer to the first search of the page, about the row that it opens on.

    Parameters
    ----------
    name : str, the collection
    view : View
    """
    # As the page asks (``web/early.js``).
    asked = {"query": {"id": describe(name, view)["start"]}, "k": 20, "explain": ALL}
    return search(view, SearchIn.model_validate(asked).model_dump())


def answer_of(view: View, hits: Hits, explain: int | str) -> dict[str, Any]:
    """Return one answer as JSON, without what several answers share.

    Parameters
    ----------
    view : View
    hits : Hits
    explain : int or "all"
        Reasons on each side, or every column.
    """
    query = view.named_row(hits.info.id, hits.query)
    if query["id"] is None:  # a record has the label that it was given, if any
        query["label"] = view.settings.row_label.of(query["row"])
    return {
        "query": query,
        "hits": [_hit(view, hit, rank, explain, hits.by_score) for rank, hit in enumerate(hits, 1)],
        "note": hits.note if explain else None,
    }


def _hit(view: View, hit: Hit, rank: int, explain: int | str, by_score: bool) -> dict[str, Any]:
    # What it was ranked by, larger for better: a distance would be read as a score.
    score = 1 - hit.score if by_score and hit.score is not None else hit.similarity
    named = view.named_row(hit.id, hit.row)
    found: dict[str, Any] = {"rank": rank} | hit.to_dict() | named | {"score": score}
    if explain:
        # As many as there are columns is all of them.
        number = len(view.schema.kinds) if explain == ALL else int(explain)
        sides = zip(("for", "against"), hit.reasons(number), strict=True)
        found["reasons"] = {side: plain(some) for side, some in sides}
    if explain == ALL:
        why, found["columns"] = hit.explanation, []
        for name in why.columns:
            plus, minus = (float(side.get(name, 0.0)) for side in (why.plus, why.minus))
            query, cell = map(plain, why.cells.get(name or "", (None, None)))
            part = {"column": name, "plus": plus, "minus": minus, "query": query, "found": cell}
            found["columns"].append(part)
    return found
