"""Views of a whole collection: hubs, clusters, map, what sets rows apart, the graph around a row.

Hubs and clusters are answers of the verbs ``hubs`` and ``cluster``, in the form of the page. An
analysis looks at all rows, or at a sample that is stated. Results are kept in memory, and in the
store for the next start, until the rows have changed too much; missing ones become jobs.
"""

from __future__ import annotations

import base64
import contextlib
import sys
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NoReturn, Self

import numpy as np

from lookalike._runtime.estimator import clone
from lookalike._runtime.text import percent, plain, short
from lookalike.clustering import profile_clusters
from lookalike.clustering.profile import column_differences
from lookalike.errors import InvalidInput, LookalikeError, Param, Phrase, spelled, suggest
from lookalike.evaluate import trustworthiness
from lookalike.hubness import HubnessReport, hubs_and_orphans
from lookalike.hubness.mutual_proximity import default_reducer
from lookalike.index import Hits, Index
from lookalike.index.filters import meets, read_conditions
from lookalike.index.segments import join_tables, learn_levels
from lookalike.measures import Measure
from lookalike.represent import layout
from lookalike.service.api.models import MeasureIn
from lookalike.service.cells import to_json
from lookalike.service.collection import Collection, View, missing_row
from lookalike.service.fitting import about_aside, fit_index, joined, name_rows, settle
from lookalike.service.jobs import Job, Jobs, Started, Work
from lookalike.service.problems import collected, refused_again, spell_field
from lookalike.service.store.store import NotFound
from lookalike.table import Table, as_table, read_table
from lookalike.verbs.cluster import cluster
from lookalike.verbs.hubs import hubs as count_hubs
from lookalike.verbs.source import NamedRows, TableSource, column_names, read_filter

# Chosen by hand: neighbor lists of 100,000 rows take a job of minutes, not of hours.
MAX_ANALYZED_ROWS = 100_000
# Up to so many rows an analysis takes seconds, so that any change makes it stale; beyond, it is
# shown until a share of the rows has changed. Both chosen by hand.
MAX_ROWS_ALWAYS_FRESH = 5_000
MAX_STALE_SHARE = 0.05


@dataclass(eq=False)
class RowSample:
    """Rows of a view.

    Parameters
    ----------
    view : View
    ids : list
    table : Table, in the same order
    sampled : bool
        Whether rows were left out.
    """

    view: View
    ids: list[Any]
    table: Table
    sampled: bool

    @cached_property
    def positions(self) -> dict[Any, int]:
        """The position of each id among these rows."""
        return {id: position for position, id in enumerate(self.ids)}

    def still_fits(self, view: View, at_least: int | None = None) -> bool:
        """Whether a result computed from these rows may be shown for another view."""
        if view.fit != self.view.fit:
            return False
        if at_least is not None and self.view.generation >= at_least:
            return True
        moved, n = abs(view.changed - self.view.changed), len(view.index)
        return moved == 0 if n <= MAX_ROWS_ALWAYS_FRESH else moved <= MAX_STALE_SHARE * n

    def row(self, position: int) -> dict[str, Any]:
        """Return id, label and record of a row."""
        return self.view.named_row(self.ids[position], self.table.record(position))

    def name(self, position: int) -> dict[str, Any]:
        """Return id and label of a row."""
        return {name: cell for name, cell in self.row(position).items() if name != "row"}

    def fitted_measure(self) -> Measure | None:
        """Return the measure of the view if it was fitted to exactly these rows, frozen."""
        if self.view.changed or self.sampled:
            return None
        # Frozen, so that a verb uses it as it is: fitting it again would give the same bits.
        return self.view.index.measure_.frozen()


class CollectionSource(TableSource):
    """The rows of a collection, as a verb takes a table.

    Parameters
    ----------
    view : View
    name : str
        Of the collection, for headings.
    space : {"plain", "repaired"}
    **options : gamma, among
        Of ``Index.search``, which the verb does not have; None: its own.

    Attributes
    ----------
    notes : list of str, what an answer should say about the rows
    """

    def __init__(
        self, view: View, name: str = "table", space: str = "plain", **options: Any
    ) -> None:
        super().__init__(view.space(space), name)
        self.view = view
        self.more = {name: value for name, value in options.items() if value is not None}
        self.notes: list[str] = []

    def rows(self, filter: Any = None) -> NamedRows:
        """Return the rows that meet a filter; of very many a sample, unless all are needed."""
        if self.whole and len(self.view.table) < len(self.view.index):
            found = f"{self.name!r}, a folder of which only a sample is"
            hint = "Ask for it where the folder is, with the command line or from Python"
            raise InvalidInput(Param("table"), "rows that are in memory", found, hint)
        sample = take(self.view, sys.maxsize if self.whole else MAX_ANALYZED_ROWS)
        if sample.sampled:
            some, every = len(sample.ids), len(self.view.index)
            text = f"{self.name}: {some:,} of {every:,} rows were looked at, drawn at random"
            self.notes.append(f"{text} (the same every time)")
        return NamedRows(sample.table, sample.ids, self.name, self.given).meeting(filter)


def take(view: View, most: int = MAX_ANALYZED_ROWS) -> RowSample:
    """Take all rows of a view, or as many as an analysis looks at."""
    table = view.table
    n = len(table)
    if n > most:
        # A fixed seed: the same rows after a restart, so that stored results still fit them.
        table = table[np.sort(np.random.default_rng(0).choice(n, most, replace=False))]
    ids = table[view.settings.names].values.tolist()
    sampled = n > most or view.sample is not None
    return RowSample(view, ids, table.drop([view.settings.names]), sampled)


def with_rows(sample: RowSample, ids: Sequence[Any]) -> RowSample:
    """Return a sample with further rows of its view, by their ids."""
    view, more = sample.view, [id for id in dict.fromkeys(ids) if id not in sample.positions]
    if not more:
        return sample
    table = as_table([view.record(id) for id in more], view.schema, who="profile")
    return RowSample(view, [*sample.ids, *more], join_tables([sample.table, table]), True)


# What fits on a screen of the page.
MAX_SHOWN_HUBS, MAX_SHOWN_ORPHANS = 20, 50
OCCURRENCE_BINS = 30


@dataclass(frozen=True, eq=False)
class Analysis:
    """A result that is kept until its rows have changed.

    Parameters
    ----------
    sample : RowSample
        The rows that were looked at.
    document : dict
        What JSON can hold of it.
    arrays : mapping of name to array
    """

    sample: RowSample
    document: dict[str, Any]
    arrays: Mapping[str, np.ndarray]

    def kept(self) -> dict[str, Any]:
        """Return the form for the store; ids say to which rows the arrays belong."""
        return {"ids": self.sample.ids, "document": self.document, "arrays": dict(self.arrays)}

    @classmethod
    def of(cls, view: View, kept: Mapping[str, Any]) -> Self | None:
        """Return a result that was kept; None where it is of other rows."""
        sample, ids = take(view), kept["ids"]
        # Another server may have loaded the rows in another order, such as after a replaced row.
        order = np.array([sample.positions.get(id, -1) for id in ids], dtype=np.int64)
        if len(ids) != len(sample.ids) or (order < 0).any():
            return None
        sample = RowSample(view, ids, sample.table[order], sample.sampled)
        return cls(sample, kept["document"], kept["arrays"])


class Hubs(Analysis):
    """Hubs and unreachable rows; the arrays are the neighbor lists of each space."""

    @cached_property
    def occurrences(self) -> dict[str, np.ndarray]:
        """In how many lists each row is, by space."""
        n = len(self.sample.ids)
        # -1 fills lists that are shorter than k, as of a row with nothing to compare.
        return {
            space: np.bincount(lists[lists >= 0], minlength=n)
            for space, lists in self.arrays.items()
        }

    def shown_by(self, id: Any, space: str, limit: int) -> dict[str, Any]:
        """Return in whose lists a row is, those where it comes first before the others."""
        position = self.sample.positions.get(id)
        if position is None:
            raise missing_row(id)
        space = space if space in self.arrays else "plain"
        rows, ranks = np.nonzero(self.arrays[space] == position)
        order = np.lexsort((rows, ranks))[:limit].tolist()
        lists = [self.sample.name(int(rows[i])) | {"rank": int(ranks[i]) + 1} for i in order]
        count = int(self.occurrences[space][position])
        return {"id": id, "occurrence": count, "shown_by": lists}


def can_be_repaired(view: View) -> bool:
    """Whether hubness can be reduced: a reducer, or a matrix of distances, cannot be wrapped."""
    measure = view.index.measure_
    return not measure.traits.pairwise and not hasattr(measure, "measure_")


def fit_repaired(view: View) -> Index:
    """Return an index of the same rows in a space with reduced hubness."""
    if view.sample is not None:
        # Mutual proximity needs the distances of all rows, which a folder does not hold in memory.
        who, hint = Param("space", "repaired"), Phrase("Use ", Param("space", "plain"))
        raise InvalidInput(who, "rows in memory", "rows in a folder of shards", hint)
    measure = default_reducer(clone(view.index.measure_), len(view.index))
    return Index(measure, id_column=view.settings.names).fit(view.index.table)


def find_hubs(view: View, repaired: Index | None, k: int) -> Hubs:
    """Count in how many lists each row is, by the verb ``hubs``.

    Parameters
    ----------
    view : View
    repaired : Index or None
        The same rows in the space with reduced hubness.
    k : int
        Length of the lists.
    """
    # The report on a reducer has the measure inside it as well: one call counts both spaces.
    shown = view if repaired is None else replace(view, index=repaired)
    sample = take(shown)
    k = max(1, min(k, len(sample.ids) - 1))
    # At least one neighbor: a collection of one row is then refused by the library, in its words.
    report = count_hubs(CollectionSource(shown), k, measure=sample.fitted_measure())
    sample = replace(sample, view=view)
    columns = dict(zip(("plain", "repaired"), report.occurrences, strict=False))
    largest = max(int(counts.max()) for counts in report.occurrences.values())
    # Rows in no list have a bin of their own; the others grow like the counts do.
    steps = np.geomspace(1, max(2, largest + 1), OCCURRENCE_BINS).round().astype(int)
    edges = np.concatenate([[0], np.unique(steps)])
    document = {
        "k": k,
        "rows": len(sample.ids),
        "sampled": sample.sampled,
        "generation": view.generation,
        "repaired": None,
        **{space: _about(sample, report, name, edges) for space, name in columns.items()},
        "sentence": " ".join(spelled(text, spell_field) for text in report.sentences),
        "hub_problem": report.judged.problem,
        "reduction_helps": report.judged.reduction_helps,
    }
    # 32 bits hold every position, and halve what is stored.
    lists = {space: report.lists[name].indices[:, :k] for space, name in columns.items()}
    return Hubs(sample, document, {space: some.astype(np.int32) for space, some in lists.items()})


def _about(
    sample: RowSample, report: HubnessReport, column: str, edges: np.ndarray
) -> dict[str, Any]:
    counts, statistics = report.occurrences[column], report.statistics[column]
    # Stable: rows in equally many lists stay in the order of the table.
    top = np.argsort(-counts, kind="stable")[:MAX_SHOWN_HUBS].tolist()
    orphans = np.flatnonzero(counts == 0)
    sizes, _ = np.histogram(counts, np.append(edges[:-1], edges[-1] + 1))
    return {
        "skewness": plain(statistics["skewness"]),
        "largest": int(counts.max()),
        "hubs": int(statistics["hubs"] or 0),
        "unreachable": len(orphans),
        "unreachable_share": len(orphans) / len(counts),
        "histogram": {"edges": edges.tolist(), "counts": sizes.tolist()},
        "drawn": say_reach(report.lists[column].indices),
        "top": [sample.row(row) | {"occurrence": int(counts[row])} for row in top],
        "orphans": [sample.row(row) for row in orphans[:MAX_SHOWN_ORPHANS].tolist()],
    }


HELPS = 0.02  # of all rows: what drawn lists must reach beyond the others; chosen by hand


def say_reach(lists: np.ndarray) -> str:
    """Say how many rows lists reach that are drawn from the neighbors, and shorter ones.

    Examples
    --------
    >>> say_reach(np.array([[1, 2], [0, 2], [0, 1], [0, 1]]))
    'Of the 2 nearest rows the first reaches 50% of all rows, 1 drawn from them 62%: worth a try.'
    """
    n, k = lists.shape
    half = k // 2
    if not half:
        return ""
    near, wide = (np.bincount(some[some >= 0], minlength=n) for some in (lists[:, :half], lists))
    # Each row of a list is drawn with the same chance, and lists are drawn independently.
    first, drawn = float(np.mean(near > 0)), float(np.mean(1 - (1 - half / k) ** wide))
    verb = "reaches" if half == 1 else "reach"
    start = "the first" if half == 1 else f"the first {half}"
    reach = f"Of the {k} nearest rows {start} {verb} {percent(first)} of all rows"
    verdict = "worth a try" if drawn - first >= HELPS else "little is gained"
    return f"{reach}, {half} drawn from them {percent(drawn)}: {verdict}."


class Clusters(Analysis):
    """Clusters of rows; the array has the label of each row, -1 for none."""

    def of_rows(self) -> dict[str, Any]:
        """Return the ids of all rows, and their clusters."""
        return {"ids": self.sample.ids, "labels": self.arrays["labels"].tolist()}


def find_clusters(view: View, n: int | str = "auto") -> Clusters:
    """Cluster the rows of a view by the verb ``cluster``."""
    sample = take(view)
    clustering = cluster(CollectionSource(view), n, measure=sample.fitted_measure())
    profiles = [
        {
            "cluster": profile.cluster,
            "size": profile.rows,
            "label_rows": [sample.name(row) for row in profile.typical],
            "borderline": [sample.name(row) for row in profile.borderline],
            "differs": [each.to_dict() | {"text": str(each)} for each in profile.columns],
        }
        for profile in clustering.profile.clusters
    ]
    document = {
        "clusters": profiles,
        "measure": repr(view.index.measure_),
        "sampled": sample.sampled,
        "generation": view.generation,
        "note": "; ".join(spelled(note, spell_field) for note in clustering.profile.notes) or None,
    }
    return Clusters(sample, document, {"labels": np.asarray(clustering.labels)})


def _strongest(differences: Iterable[Any]) -> list[Any]:
    """Return the differences of columns that set rows apart, the largest first."""
    larger = [difference for difference in differences if difference and difference.size > 0]
    return sorted(larger, key=lambda difference: -difference.size)


N_TYPICAL = 5
MAX_ROWS_FOR_TYPICAL = 500  # all pairs of them are compared; chosen by hand


def profile(view: View, ids: Sequence[Any]) -> dict[str, Any]:
    """Say what makes some rows different from all others, the largest difference first."""
    view.require(ids)
    sample = with_rows(take(view, most=len(view.index)), ids)
    # Label -1 is noise: all other rows are what the set is compared with.
    labels = np.full(len(sample.ids), -1)
    inside = np.unique([sample.positions[id] for id in ids])
    labels[inside] = 0
    differences = [column_differences(column, labels, 1)[0] for column in sample.table.columns]
    differs = []
    for difference in _strongest(differences):
        values = difference.to_dict()
        differs.append(values | {"score": values.pop("size"), "text": str(difference)})
    return {
        "size": len(inside),
        "rest": len(labels) - len(inside),
        "sampled": sample.sampled,
        "differs": differs,
        "typical": [sample.name(row) for row in _typical(sample, inside)],
        "generation": view.generation,
    }


def _typical(sample: RowSample, inside: np.ndarray) -> list[int]:
    """Return the positions of the rows that are most like the others of a set."""
    if len(inside) <= 2:
        return inside.tolist()
    if len(inside) > MAX_ROWS_FOR_TYPICAL:
        random = np.random.default_rng(0)
        inside = np.sort(random.choice(inside, MAX_ROWS_FOR_TYPICAL, replace=False))
    together = np.zeros(len(inside), dtype=np.int64)
    (profile,) = profile_clusters(together, sample.table[inside], n_examples=N_TYPICAL)
    return inside[list(profile.typical)].tolist()


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
        Maximum number of nodes.
    hubs : Hubs or None
        In how many lists rows are, where this was counted.
    """
    with collected():
        lists, depths = _walk(view.space(space), id, depth, k, most)
    counts: dict[Any, int] = {}
    largest: set[Any] = set()
    if hubs is not None:
        every = hubs.occurrences.get(space, hubs.occurrences["plain"])
        # A row that came after the hubs were counted is not among them.
        counts = dict(zip(hubs.sample.ids, every.tolist(), strict=True))
        found = hubs_and_orphans(every, hubs.document["k"]).hubs
        largest = {hubs.sample.ids[position] for position in found}
    nodes = [
        {
            "id": row,
            "label": view.label(row, view.record(row)),
            "depth": steps,
            "occurrence": counts.get(row),
            "hub": row in largest,
            "orphan": counts.get(row) == 0,
        }
        for row, steps in depths.items()
    ]
    links = [
        {
            "source": source,
            "target": hit.id,
            "similarity": hit.similarity,
            "mutual": hit.id in lists and source in lists[hit.id].ids,
        }
        for source, hits in lists.items()
        if depths[source] < depth  # those of the last ring are not followed
        for hit in hits
        if hit.id in depths
    ]
    return {"nodes": nodes, "links": links, "generation": view.generation}


def _walk(
    index: Index, id: Any, depth: int, k: int, most: int
) -> tuple[dict[Any, Hits], dict[Any, int]]:
    """Return the neighbor lists of the rows around a row, and how many steps away each row is."""
    lists: dict[Any, Hits] = {}
    depths, ring = {id: 0}, [id]
    for step in range(1, depth + 2):
        answers: Any = index.search(ring, k) if ring else []
        lists.update(zip(ring, answers, strict=True))
        if step > depth:
            break  # the lists of the last ring only show which links are mutual
        ring, before = [], ring
        for hit in (hit for id_before in before for hit in lists[id_before]):
            if hit.id not in depths and len(depths) < most:
                depths[hit.id] = step
                ring.append(hit.id)
    return lists, depths


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
        about = {"ids": ids, "generation": self.sample.view.generation, "newer": newer}
        # All x before all y: each half is one array of the page, without a copy.
        places = self.arrays["places"].T.astype("<f4").tobytes()
        return to_json(self.drawn() | about) + b"\n" + places

    def drawn(self) -> dict[str, Any]:
        """Return what JSON can hold of the map."""
        columns = [column.name for column in self.sample.table.columns]
        about = {"rows": len(self.sample.ids), "sampled": self.sample.sampled}
        return about | self.document | {"columns": columns}

    def colors(self, column: str) -> dict[str, Any]:
        """Return the values of a column: numbers, or codes of the most common levels."""
        table = self.sample.table
        if column not in (names := column_names(table)):
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
        values = _base64(np.packbits(mask, bitorder="little"))
        return {"matched": int(mask.sum()), "values": values}

    def by_cluster(self, clusters: Clusters) -> dict[str, Any]:
        """Return the cluster of every row."""
        labels = dict(zip(*clusters.of_rows().values(), strict=True))
        codes = (labels.get(id, -1) for id in self.sample.ids)
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
        strongest = _strongest(each[number] for each in differences)[:3]
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


MAX_TRIALS = 6  # fitted measures that single clients try; each may hold a forest of all rows


def fit_again(view: View, asked: MeasureIn) -> View:
    """Return the view with another measure, fitted to the same rows.

    Parameters
    ----------
    view : View
    asked : MeasureIn
        ``kinds``, ``missing`` and ``label_column`` are for columns that are to be read in another
        way from now on, besides what was said of them before.
    """
    before, table = view.settings, learn_levels(view.index.table)
    ids = table[before.names].values.tolist()
    table = table.drop([before.names])  # the ids are not to be compared
    kinds, missing = asked.kinds, asked.missing
    if kinds or missing:
        columns = [joined(column, kinds.get(column.name)) for column in table.columns]
        table = Table(columns, table.aside, len(table), table.missing)
        table = read_table(table, kinds=kinds or None, missing=missing or None)
    # What is known of columns that stay aside: they are read back without their roles.
    known = {n: a for n, a in before.aside.items() if n in table.schema.aside and n not in kinds}
    settings = replace(
        before,
        measure=asked.measure,
        kinds=before.kinds | kinds,
        weights=asked.weights,
        missing=before.missing + missing,
        aside=about_aside(table) | known,
    )
    if asked.label_column is not None:
        found = settle(replace(settings, label_column=asked.label_column), table)
        settings = replace(settings, label_column=found.label_column, label=found.label)
    index, settings = fit_index(table, ids, settings)
    fitted = replace(view, settings=settings, schema=table.schema, index=index)
    return replace(fitted, repaired=None, changed=0)


Make = Callable[[View], Analysis]


class Analyses:
    """Analyses of collections that are kept; one that is missing raises ``Started`` with its job.

    Parameters
    ----------
    jobs : Jobs
    """

    def __init__(self, jobs: Jobs) -> None:
        self.jobs = jobs
        self._lock = threading.Lock()
        self._found: dict[tuple[int, str], Any] = {}
        self._trials: OrderedDict[tuple[int, str], View] = OrderedDict()

    def forget(self, collection: Collection) -> None:
        """Forget all results of a collection, and cancel its jobs."""
        for job in self.jobs.of(collection.name):
            self.jobs.cancel(job)
        with self._lock:
            for key in [key for key in self._found if key[0] == collection.key]:
                del self._found[key]
            for key in [key for key in self._trials if key[0] == collection.key]:
                del self._trials[key]

    def map(self, collection: Collection, at_least: int | None = None, sketch: bool = False) -> Map:
        """Return the map of a collection.

        Parameters
        ----------
        collection : Collection
        at_least : int, optional
            A generation: a result that is as old as this is good enough; None: of the newest rows.
        sketch : bool
            Whether a few rows are good enough as long as the whole map is not known.
        """
        many = sketch and len(collection.view.index) > 2 * SKETCH_ROWS
        if many and self._known(collection, "map", at_least) is None:
            make = partial(make_map, most=SKETCH_ROWS)
            return self._get(collection, "map-sketch", make, at_least)
        return self._get(collection, "map", make_map, at_least)

    def trial(self, collection: Collection, measure: str) -> View:
        """Return the rows compared by another measure, for one client alone."""
        view, key = collection.view, (collection.key, measure)
        if view.sample is not None:
            who, hint = Param("measure", measure), "Leave it out"
            raise InvalidInput(who, "rows in memory", "rows in a folder of shards", hint)
        with self._lock:
            made = self._trials.get(key)
            if made is not None and made.generation == view.generation:
                self._trials.move_to_end(key)
                return made

        def work(job: Job) -> dict[str, Any]:
            fitted = fit_again(view, MeasureIn(measure=measure))
            with self._lock:
                self._trials.pop(key, None)
                self._trials[key] = fitted
                if len(self._trials) > MAX_TRIALS:
                    self._trials.popitem(last=False)
            return {"measure": fitted.settings.measured}

        self._start("trial", collection, (*key, view.generation), work)

    def clusters(
        self, collection: Collection, n: int | str = "auto", at_least: int | None = None
    ) -> Clusters:
        """Return the clusters of a collection."""
        kind = "clusters" if n == "auto" else f"clusters-{n}"
        return self._get(collection, kind, partial(find_clusters, n=n), at_least)

    def hubs(self, collection: Collection, k: int, at_least: int | None = None) -> Hubs:
        """Return the hubs of a collection."""

        def make(view: View) -> Hubs:
            hubs = find_hubs(view, view.repaired, k)
            helps = view.repaired is None and hubs.document["reduction_helps"]
            if helps and len(view.index) <= MAX_ANALYZED_ROWS and can_be_repaired(view):
                # The page compares both spaces, and the index also serves searches from now on.
                repaired = fit_repaired(view)
                collection.set_repaired(view, repaired)
                hubs = find_hubs(view, repaired, k)
            return hubs

        return self._get(collection, f"hubs-{k}", make, at_least)

    def known_hubs(self, collection: Collection, view: View) -> Hubs | None:
        """Return the hubs of a collection if they were counted, for lists of any length."""
        with self._lock:
            kept = [one for (key, _), one in self._found.items() if key == collection.key]
        return next((h for h in kept if isinstance(h, Hubs) and h.sample.still_fits(view)), None)

    def repair(self, collection: Collection) -> Job:
        """Start to compute the space with reduced hubness."""
        view = collection.view
        if not can_be_repaired(view):
            hint = Phrase("Use ", Param("space", "plain"), ", or refit with another measure")
            name = type(view.index.measure_).__name__
            raise InvalidInput("repair", "a measure without a reducer", name, hint)

        def work(job: Job) -> dict[str, Any]:
            now = collection.view
            if now.repaired is None:
                collection.set_repaired(now, fit_repaired(now))
            return {"space": "repaired", "generation": collection.view.generation}

        return self.jobs.start("repair", collection.name, (collection.key, *view.fit), work)

    def refit(self, collection: Collection, asked: MeasureIn) -> Job:
        """Start to fit the measure again; the old one serves until the new one is ready."""

        def work(job: Job) -> dict[str, Any]:
            after = collection.refit(partial(fit_again, asked=asked))
            collection.save_cache()
            return {"measure": after.settings.measured, "generation": after.generation}

        key = (collection.key, asked.model_dump_json())
        return self.jobs.start("measure", collection.name, key, work)

    def _get(self, collection: Collection, kind: str, make: Make, at_least: int | None) -> Any:
        known = self._known(collection, kind, at_least)
        if known is not None:
            return known
        view, key = collection.view, (collection.key, kind)

        def work(job: Job) -> dict[str, Any]:
            made = make(collection.view)
            sample, generation = made.sample, made.sample.view.generation
            with self._lock:
                self._found[key] = made
            # A result that cannot be stored still serves until the server stops.
            with contextlib.suppress(LookalikeError):
                collection.store.save_result(*key, generation, made.kept())
            return {"rows": len(sample.ids), "sampled": sample.sampled, "generation": generation}

        same = (collection.key, kind, *view.fit, view.changed)
        self._start(kind.partition("-")[0], collection, same, work)

    def _start(self, name: str, collection: Collection, same: Any, work: Work) -> NoReturn:
        """Start a job that ends when no client watches it; refuse one that has failed before."""
        problem = self.jobs.failure(name, same)
        if problem is not None:  # it would fail again: the same rows, the same work
            raise refused_again(problem)
        raise Started(self.jobs.start(name, collection.name, same, work, for_view=True))

    def _known(self, collection: Collection, kind: str, at_least: int | None) -> Any:
        """Return a result that is kept in memory or in the store, or None."""
        view, key = collection.view, (collection.key, kind)
        with self._lock:
            result = self._found.get(key)
        if result is not None and result.sample.still_fits(view, at_least):
            return result
        # The stored result for the very same rows, by this server or another; a cache is not worth
        # an error.
        with contextlib.suppress(LookalikeError, KeyError, ValueError):
            kept = collection.store.load_result(*key, view.generation)
            form = FORMS[kind.partition("-")[0]]
            if kept is not None and (stored := form.of(view, kept)) is not None:
                with self._lock:
                    self._found[key] = stored
                return stored
        return None


FORMS: dict[str, type[Analysis]] = {"map": Map, "clusters": Clusters, "hubs": Hubs}
