"""The map of a collection: rows on a plane, their colors, and what its regions are called."""

from __future__ import annotations

import base64
from collections import Counter
from typing import Any

import numpy as np

from lookalike._runtime.estimator import clone
from lookalike._runtime.text import plain, short
from lookalike.clustering.profile import column_differences
from lookalike.errors import suggest
from lookalike.evaluate import trustworthiness
from lookalike.index.filters import meets, read_conditions
from lookalike.represent import layout
from lookalike.service.analysis import MAX_ANALYZED_ROWS, Analysis, Clusters, Hubs, take
from lookalike.service.cells import to_json
from lookalike.service.collection import View
from lookalike.service.fitting import name_rows
from lookalike.service.store.store import NotFound
from lookalike.table import Table
from lookalike.verbs.source import column_names, read_filter

N_COLORS = 8  # distinguishable for color-blind people too; the rest is "other"
MISSING_CODE = 255
N_TRUST_NEIGHBORS = 10  # rows on the map that should be alike


class Map(Analysis):
    """Coordinates of rows; the array is of shape (n, 2)."""

    def to_bytes(self, newer: int = 0) -> bytes:
        """Return one line of JSON, then all x and all y as little-endian float32.

        Parameters
        ----------
        newer : int
            Rows that were changed since.
        """
        ids: Any = self.sample.ids
        if ids == list(range(len(ids))):
            ids = "positions"  # 100,000 numbers that the page can count itself
        head = {
            "rows": len(self.sample.ids),
            "ids": ids,
            "generation": self.sample.view.generation,
            "sampled": self.sample.sampled,
            "newer": newer,
            **self.document,
            "columns": [column.name for column in self.sample.table.columns],
        }
        # All x before all y: each half is one array of the page, without a copy.
        return to_json(head) + b"\n" + self.arrays["places"].T.astype("<f4").tobytes()

    def colors(self, column: str) -> dict[str, Any]:
        """Return the values of a column: numbers, or codes of the most common levels."""
        table = self.sample.table
        names = [each.name for each in table.columns + table.aside]
        if column not in names:
            raise NotFound(f"column {column[:80]!r}", "a column", "none", suggest(column, names))
        shown = table[column]
        if shown.kind.name == "number":
            return _numbers(shown.values)
        cells = [shown.cell(row) for row in range(len(shown))]
        missing = "missing"
        if shown.kind.name in ("set", "sequence"):
            missing = "none" if any(cell is not None and not cell for cell in cells) else missing
            cells = _common_items(cells)
        return _codes([None if cell is None else short(plain(cell), 40) for cell in cells], missing)

    def matches(self, filter: str) -> dict[str, Any]:
        """Return which rows meet a filter, as bits, the first row in the lowest."""
        sample, given = self.sample, read_filter(filter, self.sample.table)
        table = name_rows(sample.table, sample.ids, sample.view.settings)
        mask = meets(table, read_conditions(given or {}, column_names(table)))
        bits = np.packbits(mask, bitorder="little")
        return {"matched": int(mask.sum()), "values": _base64(bits)}

    def by_cluster(self, clusters: Clusters) -> dict[str, Any]:
        """Return the cluster of every row."""
        labels = dict(zip(clusters.sample.ids, clusters.arrays["labels"].tolist(), strict=True))
        codes = [labels.get(id, -1) for id in self.sample.ids]
        return _codes([None if code < 0 else f"cluster {code}" for code in codes], "no cluster")

    def by_occurrence(self, hubs: Hubs) -> dict[str, Any]:
        """Return in how many lists of the plain space each row is."""
        counts = dict(zip(hubs.sample.ids, hubs.occurrences["plain"].tolist(), strict=True))
        return _numbers([counts.get(id, np.nan) for id in self.sample.ids])


SKETCH_ROWS = 2_000  # of a map that stands until the whole one is drawn
N_REGIONS = 12  # whose names fit on the map of the page; chosen by hand
MIN_REGION_ROWS = 15


def find_regions(places: np.ndarray, table: Table) -> list[dict[str, Any]]:
    """Split a map into regions; return where each is and what sets it apart, the largest first.

    Parameters
    ----------
    places : array of shape (n, 2)
    table : Table, the rows in the same order
    """
    from scipy.cluster.vq import kmeans2

    distinct = np.unique(places, axis=0)
    n = min(N_REGIONS, len(places) // MIN_REGION_ROWS, len(distinct))
    if n < 2:
        return []
    starts = np.random.default_rng(0).choice(distinct, n, replace=False)
    _, labels = kmeans2(places, starts, iter=30, minit="matrix")
    labels = np.unique(labels, return_inverse=True)[1]  # without regions that became empty
    differences = [column_differences(each, labels, labels.max() + 1) for each in table.columns]
    regions = []
    for number, size in enumerate(np.bincount(labels).tolist()):
        middle = np.median(places[labels == number], axis=0)
        differs = [each[number] for each in differences]
        strongest = sorted((d for d in differs if d and d.size > 0), key=lambda d: -d.size)[:3]
        apart = [difference.to_dict() for difference in strongest]
        regions.append({"x": middle[0], "y": middle[1], "size": size, "differs": apart})
    return plain(sorted(regions, key=lambda region: -region["size"]))


def make_map(view: View, most: int = MAX_ANALYZED_ROWS) -> Map:
    """Compute the map of the rows of a view, or of a sample of so many."""
    sample = take(view, most)
    measure = sample.fitted_measure() or clone(view.index.measure_).fit(sample.table)
    places = np.asarray(layout(measure))
    # Trustworthiness is defined for k < n/2 only.
    k, sketch = min(N_TRUST_NEIGHBORS, (len(places) - 1) // 2 - 1), most < MAX_ANALYZED_ROWS
    # A sketch is not judged: that would take as long as drawing it.
    trust = float(trustworthiness(measure, places, k)) if k >= 1 and not sketch else None
    regions = find_regions(places, sample.table)
    return Map(sample, {"trust": trust, "sketch": sketch, "regions": regions}, {"places": places})


def _common_items(cells: list[Any]) -> list[Any]:
    """Return the most common item of each cell, so that few colors say much."""
    counts = Counter(item for cell in cells for item in cell or ())
    first = {item: (-count, str(item)) for item, count in counts.items()}
    return [min(cell, key=lambda item: first[item]) if cell else None for cell in cells]


def _codes(names: list[str | None], missing: str) -> dict[str, Any]:
    """Return names as codes of the most common ones; ``missing`` says what None is called."""
    counts = Counter(name for name in names if name is not None)
    common = sorted(counts, key=lambda name: (-counts[name], name))
    code: dict[Any, int] = {name: number for number, name in enumerate(common[:N_COLORS])}
    values = [code.get(name, N_COLORS) for name in names]
    cells = np.where([name is None for name in names], MISSING_CODE, values).astype(np.uint8)
    labels = [*code, *(["other"] if len(common) > N_COLORS else [])]
    return {"kind": "category", "labels": labels, "gap": missing, "values": _base64(cells)}


def _numbers(values: Any) -> dict[str, Any]:
    return {"kind": "number", "labels": [], "values": _base64(np.asarray(values, dtype="<f4"))}


def _base64(values: np.ndarray) -> str:
    return base64.b64encode(values.tobytes()).decode("ascii")
