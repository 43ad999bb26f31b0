"""The map: all rows in the plane, and their colors."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lookalike._runtime.text import plain, short
from lookalike.errors import suggest
from lookalike.evaluate import trustworthiness
from lookalike.represent import layout
from lookalike.service.analysis.hubs import Hubs
from lookalike.service.analysis.sample import Sample, fit_plain, take, take_again
from lookalike.service.cells import to_json
from lookalike.service.store.results import Kept
from lookalike.service.store.store import NotThere
from lookalike.service.view import View

LEVELS = 8  # colors; what is beyond is "other"
GAP = 255
NEAREST = 10  # rows on the map that should be alike


@dataclass(frozen=True, eq=False)
class Map:
    """Where rows lie."""

    sample: Sample
    places: np.ndarray
    trust: float | None

    def kept(self) -> Kept:
        """Return what is worth keeping."""
        return Kept({"ids": self.sample.ids, "trust": self.trust}, {"places": self.places})

    @classmethod
    def of(cls, view: View, kept: Kept) -> Map | None:
        """Return a map that was kept; None where it is of other rows."""
        sample = take_again(view, kept.about["ids"])
        return None if sample is None else cls(sample, kept.arrays["places"], kept.about["trust"])

    def to_bytes(self) -> bytes:
        """Return one line of JSON, then all x and all y as little-endian float32."""
        ids: Any = self.sample.ids
        if ids == list(range(len(ids))):
            ids = "positions"
        head = {
            "rows": len(self.sample.ids),
            "ids": ids,
            "generation": self.sample.view.generation,
            "sampled": self.sample.sampled,
            "trust": self.trust,
            "columns": [column.name for column in self.sample.table.columns],
        }
        cells = self.places.T.astype("<f4")
        return to_json(head) + b"\n" + cells[0].tobytes() + cells[1].tobytes()

    def colors(self, column: str) -> dict[str, Any]:
        """Return what the rows have in a column: numbers, or codes of the most common values."""
        table = self.sample.table
        names = [one.name for one in table.columns + table.aside]
        if column not in names:
            raise NotThere(f"column {column[:80]!r}", "a column", "none", suggest(column, names))
        found = table[column]
        if found.kind.name == "number":
            values = np.asarray(found.values, dtype="<f4")
            return {"kind": "number", "labels": [], "values": _text(values)}
        cells = [found.cell(row) for row in range(len(found))]
        gap = "missing"
        if found.kind.name in ("set", "sequence"):
            # A row has the color of its most common item, so that few colors say much.
            gap = "none" if any(cell is not None and not cell for cell in cells) else gap
            cells = _first_items(cells)
        return _codes([None if cell is None else short(plain(cell), 40) for cell in cells], gap)

    def by_cluster(self, labels: Mapping[Any, int]) -> dict[str, Any]:
        """Return the cluster of every row."""
        found = [labels.get(id, -1) for id in self.sample.ids]
        return _codes([None if label < 0 else f"cluster {label}" for label in found], "no cluster")

    def by_occurrence(self, hubs: Hubs) -> dict[str, Any]:
        """Return in how many lists of the plain space each row stands."""
        counts, at = hubs.plain.occurrence, hubs.sample.places
        found = [float(counts[at[id]]) if id in at else np.nan for id in self.sample.ids]
        return {"kind": "number", "labels": [], "values": _text(np.asarray(found, dtype="<f4"))}


def make_map(view: View) -> Map:
    """Lay the rows of a view out."""
    sample = take(view)
    measure = fit_plain(sample)
    places = np.asarray(layout(measure))
    k = min(NEAREST, (len(places) - 1) // 2 - 1)
    trust = float(trustworthiness(measure, places, k)) if k >= 1 else None
    return Map(sample, places, trust)


def _first_items(cells: list[Any]) -> list[Any]:
    counts: dict[Any, int] = {}
    for cell in cells:
        for item in cell or ():
            counts[item] = counts.get(item, 0) + 1
    order = sorted(counts, key=lambda item: (-counts[item], str(item)))
    rank = {item: place for place, item in enumerate(order)}
    return [min(cell, key=lambda item: rank[item]) if cell else None for cell in cells]


def _codes(names: list[str | None], gap: str) -> dict[str, Any]:
    """Return names as codes of the most common ones; ``gap`` says what None is called."""
    counts: dict[str, int] = {}
    for name in names:
        if name is not None:
            counts[name] = counts.get(name, 0) + 1
    common = sorted(counts, key=lambda name: (-counts[name], name))
    labels = common[:LEVELS]
    code = {name: place for place, name in enumerate(labels)}
    values = [GAP if name is None else code.get(name, LEVELS) for name in names]
    if len(common) > LEVELS:
        labels = [*labels, "other"]
    return {
        "kind": "category",
        "labels": labels,
        "gap": gap,
        "values": _text(np.asarray(values, dtype=np.uint8)),
    }


def _text(values: np.ndarray) -> str:
    return base64.b64encode(values.tobytes()).decode("ascii")
