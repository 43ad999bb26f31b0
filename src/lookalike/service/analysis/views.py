"""Views of a whole collection: hubs, clusters, the graph around a row, the map."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from lookalike._runtime.text import plain, short
from lookalike.clustering import SimilarityClustering, profile_clusters
from lookalike.clustering.profile import column_differences
from lookalike.errors import InvalidInput, spelled, suggest
from lookalike.evaluate import trustworthiness
from lookalike.hubness import hubs_and_orphans, k_occurrence, skewness
from lookalike.index import Hits, Index
from lookalike.represent import layout
from lookalike.service.analysis.sample import Sample, fit_plain, take, take_again, with_rows
from lookalike.service.cells import to_json
from lookalike.service.notes import collected, spell_field
from lookalike.service.store.caches import Kept
from lookalike.service.store.store import NotFound
from lookalike.service.view import View, missing_row

TOP, ORPHANS = 20, 50
BINS = 30


@dataclass(frozen=True, eq=False)
class Lists:
    """The neighbor lists of one space, and how often each row stands in them."""

    indices: np.ndarray
    occurrence: np.ndarray


@dataclass(frozen=True, eq=False)
class Hubs:
    """The lists of a sample of rows in the plain and in the repaired space."""

    sample: Sample
    k: int
    plain: Lists
    repaired: Lists | None

    def space(self, name: str) -> Lists:
        """Return the lists of a space."""
        if name == "plain" or self.repaired is None:
            return self.plain
        return self.repaired

    def kept(self) -> Kept:
        """Return what is worth keeping."""
        arrays = {"plain": self.plain.indices, "plain_counts": self.plain.occurrence}
        if self.repaired is not None:
            after = self.repaired
            arrays |= {"repaired": after.indices, "repaired_counts": after.occurrence}
        smaller = {name: values.astype(np.int32) for name, values in arrays.items()}
        return Kept({"ids": self.sample.ids, "k": self.k}, smaller)

    @classmethod
    def of(cls, view: View, kept: Kept) -> Hubs | None:
        """Return hubs that were kept; None where they are of other rows."""
        sample = take_again(view, kept.about["ids"])
        if sample is None:
            return None
        spaces = [
            Lists(
                kept.arrays[name].astype(np.int64), kept.arrays[f"{name}_counts"].astype(np.int64)
            )
            for name in ("plain", "repaired")
            if name in kept.arrays
        ]
        return cls(sample, kept.about["k"], spaces[0], spaces[1] if len(spaces) > 1 else None)

    def document(self) -> dict[str, Any]:
        """Return what there is to say, as JSON holds it."""
        repaired = None if self.repaired is None else self._about(self.repaired)
        plain = self._about(self.plain)
        return {
            "k": self.k,
            "rows": len(self.sample.ids),
            "sampled": self.sample.sampled,
            "generation": self.sample.view.generation,
            "plain": plain,
            "repaired": repaired,
            "sentence": self._sentence(plain, repaired),
        }

    def shown_by(self, id: Any, space: str, limit: int) -> dict[str, Any]:
        """Return in whose lists a row stands, those where it comes first before the others."""
        place = self.sample.places.get(id)
        if place is None:
            raise missing_row(id)
        lists = self.space(space)
        rows, ranks = np.nonzero(lists.indices == place)
        order = np.lexsort((rows, ranks))[:limit]
        shown = [
            self.sample.name(int(rows[at])) | {"rank": int(ranks[at]) + 1} for at in order.tolist()
        ]
        return {"id": id, "occurrence": int(lists.occurrence[place]), "shown_by": shown}

    def _about(self, lists: Lists) -> dict[str, Any]:
        counts = lists.occurrence
        found = hubs_and_orphans(counts, self.k)
        top = np.argsort(-counts, kind="stable")[:TOP]
        orphans = found.orphans
        return {
            "skewness": float(skewness(counts)),
            "largest": int(found.largest),
            "hubs": len(found.hubs),
            "unreachable": len(orphans),
            "unreachable_share": len(orphans) / len(counts),
            "histogram": self._histogram(counts),
            "top": [
                self.sample.row(int(at)) | {"occurrence": int(counts[at])} for at in top.tolist()
            ],
            "orphans": [self.sample.row(int(at)) for at in orphans[:ORPHANS].tolist()],
        }

    def _histogram(self, counts: np.ndarray) -> dict[str, Any]:
        """Count rows by occurrence, in bins that are the same for both spaces."""
        both = [self.plain, *([] if self.repaired is None else [self.repaired])]
        largest = max(int(lists.occurrence.max(initial=0)) for lists in both)
        # Nobody's neighbors have a bin of their own; the others grow like the counts do.
        steps = np.unique(np.geomspace(1, max(2, largest + 1), BINS).round().astype(int))
        edges = np.concatenate([[0], steps])
        sizes, _ = np.histogram(counts, np.append(edges[:-1], edges[-1] + 1))
        return {"edges": edges.tolist(), "counts": sizes.tolist()}

    def _sentence(self, plain: dict[str, Any], repaired: dict[str, Any] | None) -> str:
        n = len(self.sample.ids)
        text = (
            f"{plain['unreachable']:,} of {n:,} rows are among the {self.k} nearest of no other "
            f"row: browsing never shows them. The most frequent row, {plain['top'][0]['label']}, "
            f"stands in {plain['largest']:,} lists."
        )
        if repaired is not None:
            text += (
                f" In the repaired space {repaired['unreachable']:,} rows are never shown, and the "
                f"most frequent one stands in {repaired['largest']:,} lists."
            )
        return text


def can_be_repaired(view: View) -> bool:
    """Whether the measure of a view can be wrapped: not one that is a repair itself."""
    traits = view.index.measure_.traits
    return not traits.pairwise and not hasattr(view.index.measure_, "measure_")


def find_hubs(view: View, repaired: Index | None, k: int) -> Hubs:
    """Count in how many lists each row stands.

    Parameters
    ----------
    view : View
    repaired : Index or None
        The same rows in the repaired space.
    k : int
        Length of the lists.
    """
    if len(view.index) < 3:
        raise InvalidInput("hubs", "at least 3 rows", str(len(view.index)), "Add rows")
    sample = take(view)
    k = min(k, len(sample.ids) - 1)
    plain = _lists(fit_plain(sample), k)
    after = None
    if repaired is not None:
        index = take(replace(view, index=repaired))
        after = _lists(fit_plain(index), k)
    return Hubs(sample, k, plain, after)


def _lists(space: Any, k: int) -> Lists:
    graph = space.neighbors(None, k)
    return Lists(graph.indices, np.asarray(k_occurrence(graph, k)))


TYPICAL = 5
SOME = 500  # rows of a set among which typical ones are looked for
COLUMNS = 6


@dataclass(frozen=True, eq=False)
class Clusters:
    """Clusters of a sample of rows."""

    sample: Sample
    labels: np.ndarray
    profiles: list[dict[str, Any]]
    note: str | None

    def by_id(self) -> dict[Any, int]:
        """Return the cluster of each row, -1 for none."""
        return dict(zip(self.sample.ids, self.labels.tolist(), strict=True))

    def kept(self) -> Kept:
        """Return what is worth keeping."""
        about = {"ids": self.sample.ids, "profiles": self.profiles, "note": self.note}
        return Kept(about, {"labels": self.labels})

    @classmethod
    def of(cls, view: View, kept: Kept) -> Clusters | None:
        """Return clusters that were kept; None where they are of other rows."""
        sample = take_again(view, kept.about["ids"])
        if sample is None:
            return None
        return cls(sample, kept.arrays["labels"], kept.about["profiles"], kept.about["note"])

    def document(self) -> dict[str, Any]:
        """Return what there is to say, as JSON holds it."""
        return {
            "clusters": self.profiles,
            "measure": repr(self.sample.view.index.measure_),
            "sampled": self.sample.sampled,
            "generation": self.sample.view.generation,
            "note": self.note,
        }


def find_clusters(view: View) -> Clusters:
    """Cluster the rows of a view by its measure."""
    if len(view.index) < 3:
        raise InvalidInput("clusters", "at least 3 rows", str(len(view.index)), "Add rows")
    sample = take(view)
    model = SimilarityClustering(clone(view.index.measure_), random_state=0).fit(sample.table)
    found = profile_clusters(model, sample.table, n_columns=COLUMNS, n_examples=TYPICAL)
    profiles = [
        {
            "cluster": one.cluster,
            "size": one.rows,
            "label_rows": [sample.name(row) for row in one.typical],
            "differs": [{"column": each.column, "text": str(each)} for each in one.columns],
        }
        for one in found.clusters
    ]
    note = "; ".join(spelled(note, spell_field) for note in found.notes) or None
    return Clusters(sample, np.asarray(model.labels_), profiles, note)


def profile(view: View, ids: Sequence[Any]) -> dict[str, Any]:
    """Say what makes some rows different from all others, the largest difference first."""
    for id in ids:
        if id not in view.index:
            raise missing_row(id)
    sample = with_rows(take(view, most=len(view.index)), ids)
    labels = np.full(len(sample.ids), -1)
    inside = np.unique([sample.places[id] for id in ids])
    labels[inside] = 0
    differs = []
    for column in sample.table.columns:
        (one,) = column_differences(column, labels, 1)
        if one is not None and one.size > 0:
            differs.append(one)
    differs.sort(key=lambda one: -one.size)
    return {
        "size": len(inside),
        "rest": len(labels) - len(inside),
        "sampled": sample.sampled,
        "differs": [
            {
                "column": one.column,
                "kind": one.kind,
                "what": one.what,
                "value": plain(one.value),
                "inside": plain(one.inside),
                "outside": plain(one.outside),
                "text": str(one),
                "score": float(one.size),
            }
            for one in differs
        ],
        "typical": [sample.name(int(inside[place])) for place in _typical(sample, inside)],
        "generation": view.generation,
    }


def _typical(sample: Sample, inside: np.ndarray) -> tuple[int, ...]:
    """Return which of some rows are most like the others of them."""
    if len(inside) <= 2:
        return tuple(range(len(inside)))
    some = np.arange(len(inside))
    if len(some) > SOME:
        some = np.sort(np.random.default_rng(0).choice(some, SOME, replace=False))
    together = np.zeros(len(some), dtype=np.int64)
    (one,) = profile_clusters(together, sample.table[inside[some]], n_examples=TYPICAL)
    return tuple(int(some[place]) for place in one.typical)


def grow(
    view: View, id: Any, *, depth: int, k: int, space: str, most: int, hubs: Hubs | None
) -> dict[str, Any]:
    """Return the rows within some steps of a row, and the links between them.

    Parameters
    ----------
    view : View
    id : id of the row in the middle
    depth : int
        Steps from it.
    k : int
        Length of the lists that are followed.
    space : {"plain", "repaired"}
    most : int
        The most nodes.
    hubs : Hubs or None
        How often rows stand in lists, where this was counted.
    """
    index = view.space(space)
    found: dict[Any, Hits] = {}
    depths = {id: 0}
    with collected():
        ring = [id]
        for step in range(depth + 1):
            # The lists of the last ring only tell which links are mutual.
            todo = [one for one in ring if one not in found]
            if todo:
                answers: Any = index.search(todo, k)
                found.update(zip(todo, answers, strict=True))
            if step == depth:
                break
            ring = []
            for one in todo:
                for hit in found[one]:
                    if hit.id not in depths and len(depths) < most:
                        depths[hit.id] = step + 1
                        ring.append(hit.id)
    links = []
    for source, hits in found.items():
        if depths[source] == depth and depth > 0:
            continue
        for hit in hits:
            if hit.id in depths:
                back = hit.id in found and source in found[hit.id].ids
                links.append(
                    {
                        "source": source,
                        "target": hit.id,
                        "similarity": hit.similarity,
                        "mutual": back,
                    }
                )
    return {
        "nodes": [_node(view, one, at, space, hubs) for one, at in depths.items()],
        "links": links,
        "generation": view.generation,
    }


def _node(view: View, id: Any, depth: int, space: str, hubs: Hubs | None) -> dict[str, Any]:
    record = view.record(id)
    node = {
        "id": id,
        "label": view.label(id, record),
        "depth": depth,
        "occurrence": None,
        "hub": False,
        "orphan": False,
    }
    place = None if hubs is None else hubs.sample.places.get(id)
    if hubs is not None and place is not None:
        counts = hubs.space(space).occurrence
        groups = hubs_and_orphans(counts, hubs.k)
        count = int(counts[place])
        node |= {
            "occurrence": count,
            "hub": count > groups.factor * groups.k,
            "orphan": count == 0,
        }
    return node


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
            raise NotFound(f"column {column[:80]!r}", "a column", "none", suggest(column, names))
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
