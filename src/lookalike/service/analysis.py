"""Views of a whole collection: hubs, clusters, what sets rows apart, the graph around a row.

Hubs and clusters are answers of the verbs ``hubs`` and ``cluster``, in the form of the page. An
analysis looks at all rows, or at a sample that is stated.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from types import SimpleNamespace
from typing import Any, Self

import numpy as np

from lookalike._runtime.estimator import clone
from lookalike._runtime.text import percent, plain
from lookalike.clustering import profile_clusters
from lookalike.clustering.profile import column_differences
from lookalike.errors import InvalidInput, Param, Phrase, spelled
from lookalike.hubness import HubnessReport, hubs_and_orphans
from lookalike.hubness.mutual_proximity import default_reducer
from lookalike.index import Hits, Index
from lookalike.index.segments import join_tables
from lookalike.measures import Measure
from lookalike.service.collection import View, missing_row
from lookalike.service.problems import collected, spell_field
from lookalike.service.store.store import Kept
from lookalike.table import Table, as_table
from lookalike.verbs.cluster import cluster
from lookalike.verbs.hubs import hubs as count_hubs
from lookalike.verbs.source import NamedRows, TableSource

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

    Attributes
    ----------
    positions : dict, the position of each id among these rows
    """

    view: View
    ids: list[Any]
    table: Table
    sampled: bool
    positions: dict[Any, int] = field(init=False)

    def __post_init__(self) -> None:
        self.positions = {id: position for position, id in enumerate(self.ids)}

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
        row = self.row(position)
        return {"id": row["id"], "label": row["label"]}

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
        self._options = {name: value for name, value in options.items() if value is not None}
        self.notes: list[str] = []

    @property
    def searched(self) -> Any:
        """The index of the space, with the options of a search that the verb does not have."""
        return SimpleNamespace(search=partial(self.given.search, **self._options))

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


def take_again(view: View, ids: list[Any]) -> RowSample | None:
    """Take the rows of these ids, in their order; None where they are not those of the view."""
    sample = take(view)
    if sample.ids == ids:
        return sample
    if len(ids) != len(sample.ids) or any(id not in sample.positions for id in ids):
        return None
    # Another server may have loaded the rows in another order, after a replaced row for example.
    order = np.array([sample.positions[id] for id in ids], dtype=np.int64)
    return RowSample(view, list(ids), sample.table[order], sample.sampled)


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

    def kept(self) -> Kept:
        """Return the form for the store; ids say to which rows the arrays belong."""
        return Kept({"ids": self.sample.ids, "document": self.document}, self.arrays)

    @classmethod
    def of(cls, view: View, kept: Kept) -> Self | None:
        """Return a result that was kept; None where it is of other rows."""
        sample = take_again(view, kept.about["ids"])
        return None if sample is None else cls(sample, kept.about["document"], kept.arrays)


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
    larger = [difference for difference in differences if difference and difference.size > 0]
    for difference in sorted(larger, key=lambda difference: -difference.size):
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
    return {
        "nodes": _nodes(view, depths, space, hubs),
        "links": _links(lists, depths, depth),
        "generation": view.generation,
    }


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


def _links(
    lists: Mapping[Any, Hits], depths: Mapping[Any, int], depth: int
) -> list[dict[str, Any]]:
    """Return the links between the rows that are shown; those of the last ring are not followed."""
    return [
        {
            "source": source,
            "target": hit.id,
            "similarity": hit.similarity,
            "mutual": hit.id in lists and source in lists[hit.id].ids,
        }
        for source, hits in lists.items()
        if depths[source] < depth
        for hit in hits
        if hit.id in depths
    ]


def _nodes(
    view: View, depths: Mapping[Any, int], space: str, hubs: Hubs | None
) -> list[dict[str, Any]]:
    """Return the rows that are shown, ringed if they are hubs and hollow if in no list."""
    counts: dict[Any, int] = {}
    largest: set[int] = set()
    if hubs is not None:
        every = hubs.occurrences.get(space, hubs.occurrences["plain"])
        largest = set(hubs_and_orphans(every, hubs.document["k"]).hubs.tolist())
        # A row that came after the hubs were counted is not among them.
        counts = {
            id: int(every[p]) for id in depths if (p := hubs.sample.positions.get(id, -1)) >= 0
        }
    return [
        {
            "id": id,
            "label": view.label(id, view.record(id)),
            "depth": depth,
            "occurrence": counts.get(id),
            "hub": hubs is not None and hubs.sample.positions.get(id) in largest,
            "orphan": counts.get(id) == 0,
        }
        for id, depth in depths.items()
    ]
