"""Answers as JSON: what a collection is, what was asked, and hits with their reasons."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from lookalike._runtime.text import plain
from lookalike.errors import InvalidInput, spelled
from lookalike.index import Hit, Hits
from lookalike.index.filters import OPERATORS
from lookalike.measures import Measure
from lookalike.service.collection import Collection
from lookalike.service.notes import collected, spell_field
from lookalike.service.view import View, missing_row
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


REASONS = 3
ALL = "all"


def plain_row(view: View, record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record as JSON holds it."""
    return {name: plain(cell) for name, cell in view.shown(record).items()}


def read_query(view: View, query: Any) -> tuple[Any, Any]:
    """Return a query as ``Index.search`` takes it, and the id that was asked about, if any."""
    if "id" in query and query["id"] is not None:
        id = query["id"]
        if isinstance(id, str) and id not in view.index:
            id = view.find(id)
        if id not in view.index:
            raise missing_row(id)
        return id, id
    record = dict(query.get("record") or {})
    record.pop(view.settings.names, None)
    return record, None


def read_filter(given: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return a filter as ``Index.search`` takes it: a list of operator and value is a pair."""
    if not given:
        return None

    def condition(value: Any) -> Any:
        pair = isinstance(value, list) and len(value) == 2 and isinstance(value[0], str)
        return tuple(value) if pair and value[0] in OPERATORS else value

    return {name: condition(value) for name, value in given.items()}


def search(view: View, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Answer a search.

    Parameters
    ----------
    view : View
    asked : mapping
        The request: query, k, like, unlike, gamma, filter, weights, columns, explain, space.
    """
    began = time.perf_counter()
    several = isinstance(asked["query"], list)
    queries = [read_query(view, one) for one in (asked["query"] if several else [asked["query"]])]
    if not queries:
        hint = "Pass at least one id or record"
        raise InvalidInput("query", "something to start from", "an empty list", hint)
    conditions = read_filter(asked.get("filter"))
    index = view.space(asked.get("space") or "plain")
    with collected() as notes:
        answers: Any = index.search(
            [query for query, _ in queries],
            asked.get("k", 10),
            like=_ids(view, asked.get("like")),
            unlike=_ids(view, asked.get("unlike")),
            gamma=asked.get("gamma", 0.5),
            filter=conditions,
            weights=asked.get("weights") or None,
            columns=asked.get("columns") or None,
        )
        matched = index.count(conditions)
        documents = [
            answer_of(view, hits, id, asked.get("explain", REASONS))
            for hits, (_, id) in zip(answers, queries, strict=True)
        ]
    shared = {
        "matched": matched,
        "generation": view.generation,
        "space": asked.get("space") or "plain",
        "took_ms": round(1000 * (time.perf_counter() - began), 2),
    }
    for document in documents:
        own = [] if document["note"] is None else [document["note"]]
        document["note"] = "; ".join([*own, *notes]) or None
        document |= shared
    return {"answers": documents, **shared} if several else documents[0]


# What the page asks first (``web/start.js``), worked out once per view.
FIRST = {"k": 20, "explain": ALL, "space": "plain"}
_first: WeakKeyDictionary[View, dict[str, Any]] = WeakKeyDictionary()


def first_answer(name: str, view: View) -> dict[str, Any]:
    """Return the answer to what the page asks first, about the row that it opens on.

    Parameters
    ----------
    name : str, the collection
    view : View
    """
    found = _first.get(view)
    if found is None:
        found = search(view, {"query": {"id": describe(name, view)["start"]}, **FIRST})
        _first[view] = found
    return found


def has_first(collection: Collection) -> bool:
    """Whether the answer to what the page asks first is known, so that nobody waits for it."""
    return collection.loaded and collection.view in _first


def answer_of(view: View, hits: Hits, id: Any, explain: int | str) -> dict[str, Any]:
    """Return one answer as JSON holds it, but for what is the same for all.

    Parameters
    ----------
    view : View
    hits : Hits
    id : id that was asked about, or None
    explain : int or "all"
        Reasons on each side, or every column.
    """
    query = plain_row(view, hits.query)
    label = view.label(id, query) if id is not None else query.get(view.settings.label_column or "")
    return {
        "query": {"id": id, "label": label, "row": query},
        "hits": [_hit(view, hit, rank, explain) for rank, hit in enumerate(hits, 1)],
        "note": hits.note if explain else None,
    }


def _hit(view: View, hit: Hit, rank: int, explain: int | str) -> dict[str, Any]:
    row = plain_row(view, hit.row)
    found = {
        "rank": rank,
        "id": hit.id,
        "label": view.label(hit.id, row),
        "score": hit.score,
        "similarity": hit.similarity,
        "distance": hit.distance,
        "row": row,
    }
    if explain:
        number = len(view.schema.kinds) if explain == ALL else int(explain)
        sides = zip(("for", "against"), hit.reasons(number), strict=True)
        found["reasons"] = {side: [_reason(view, one) for one in some] for side, some in sides}
    if explain == ALL:
        found["columns"] = _columns(hit)
    return found


def _reason(view: View, reason: Mapping[str, Any]) -> dict[str, Any]:
    column, query, found = reason["column"], plain(reason["query"]), plain(reason["found"])
    text = reason.get("text")
    if text is None:
        text = f"same {column}" if query == found else f"{column} {query}, not {found}"
    return {
        "column": column,
        "kind": reason.get("kind", view.schema.kinds[column].name),
        "share": float(reason["share"]),
        "query": query,
        "found": found,
        "text": text,
    }


def _columns(hit: Hit) -> list[dict[str, Any]]:
    """Return what every column contributed, with the two cells."""
    why = hit.explanation
    return [
        {
            "column": name,
            "plus": float(why.plus.get(name, 0.0)),
            "minus": float(why.minus.get(name, 0.0)),
            "query": plain(cells[0]),
            "found": plain(cells[1]),
        }
        for name in why.columns
        for cells in (why.cells.get(name or "", (None, None)),)
    ]


def _ids(view: View, ids: Any) -> list[Any]:
    """Return marked rows as ids that are there."""
    found = []
    for id in ids or ():
        if isinstance(id, Mapping):
            found.append(dict(id))
        elif id in view.index:
            found.append(id)
        else:
            raise missing_row(id)
    return found
