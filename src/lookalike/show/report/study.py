"""The analyses of a report: each is computed once, when the first section needs it."""

from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from lookalike._runtime.text import short
from lookalike.clustering import SimilarityClustering
from lookalike.clustering.profile import ClusteringProfile, profile_clusters
from lookalike.errors import Param, TooFewRows
from lookalike.hubness import HubnessReport, hubness_report
from lookalike.hubness.mutual_proximity import default_reducer
from lookalike.index import Index
from lookalike.measures.contract.base import Measure
from lookalike.prediction import find_outliers
from lookalike.represent import layout, select_prototypes
from lookalike.show.html.markup import COLORS
from lookalike.show.reasons import Styles
from lookalike.table import Table
from lookalike.table.model.labels import label_first, label_of
from lookalike.table.model.targets import holds_classes

N_QUANTILE_GROUPS = 5  # of a target of numbers


@dataclass(frozen=True, eq=False)
class RowGroups:
    """Rows in groups.

    Parameters
    ----------
    codes : int array of n
        The group of each row, as a position in ``names``.
    names : tuple of str
    title : str
        What the groups are.
    notes : tuple of str
        What sets each group apart; empty: nothing is known.
    """

    codes: np.ndarray
    names: tuple[str, ...]
    title: str
    notes: tuple[str, ...] = ()


def group_rows(values: np.ndarray, title: str) -> RowGroups:
    """Put rows into at most as many groups as there are colors.

    Classes are groups, the rare ones together as "other"; numbers are cut at their quintiles; of a
    set the item counts that is the most common in the table.

    Parameters
    ----------
    values : array of n
        Classes, numbers, sets, or numbers of clusters (-1: none).
    title : str
    """
    if len(values) and isinstance(values[0], set | frozenset):
        counts = Counter(item for cell in values for item in cell)
        # A color can show one item; the most common one makes the fewest groups.
        firsts = [max(cell, key=lambda v: (counts[v], str(v)), default=None) for cell in values]
        return _by_class(firsts, f"{title} (of several the most common)")
    if title == "cluster":
        names = [None if cell < 0 else f"cluster {cell}" for cell in values.tolist()]
        return _by_class(names, title)
    if not holds_classes(values):
        return _by_size(np.asarray(values, dtype=np.float64), title)
    return _by_class(values.tolist(), title)


def _by_class(cells: list[Any], title: str) -> RowGroups:
    counts = Counter(cells)
    ranked = sorted(counts, key=lambda cell: (-counts[cell], str(cell)))
    few = len(ranked) <= len(COLORS)
    shown = ranked if few else ranked[: len(COLORS) - 1]  # the last color is that of all others
    if title == "cluster":
        shown = sorted(shown, key=lambda cell: (cell is None, str(cell)))
    names = ["none" if cell is None else short(cell, 20) for cell in shown]
    code = {cell: i for i, cell in enumerate(shown)}
    codes = np.array([code.get(cell, len(shown)) for cell in cells], dtype=np.int64)
    rest = () if few else (f"{len(ranked) - len(shown)} others",)
    return RowGroups(codes, (*names, *rest), title)


def _by_size(values: np.ndarray, title: str) -> RowGroups:
    inner = np.unique(np.quantile(values, np.linspace(0, 1, N_QUANTILE_GROUPS + 1)[1:-1]))
    # Ties at a quantile leave some groups empty: they are renumbered.
    codes = np.unique(np.searchsorted(inner, values, side="right"), return_inverse=True)[1]
    members = [values[codes == code] for code in range(int(codes.max(initial=-1)) + 1)]
    names = (f"{short(float(some.min()))} to {short(float(some.max()))}" for some in members)
    return RowGroups(codes, tuple(names), title)


# Sizes of a report that is read in minutes and made in about one; chosen by hand.
MIN_ROWS = 3  # that an analysis needs
N_KEY_COLUMNS = 2  # that the legend of the map names for each cluster
N_PROTOTYPES = 5
N_OUTLIERS = 8


MAX_CELL_ITEMS = 20  # of a set or a list that is shown in a line
MAX_CELLS = 6  # of a row that are shown
MAX_CELL_CHARACTERS = 40


class RowWriter:
    """Formats rows of the sample of a study.

    Parameters
    ----------
    rows : Table
    at : int array, the position of each in the whole table
    """

    def __init__(self, rows: Table, at: np.ndarray) -> None:
        self._rows, self._at = rows, at
        self._columns = label_first(rows)[:MAX_CELLS]
        self._styles, self._label = Styles(rows), label_of(rows)
        # Names of the columns that are shown, and which of them hold numbers.
        self.heads = [short(column.name, MAX_CELL_CHARACTERS) for column in self._columns]
        self.numbers = [column.kind.name == "number" for column in self._columns]

    def cells(self, row: int) -> list[str]:
        """Return the cells of a row that are shown."""
        write = self._styles.write
        return [write(c, c.cell(row), MAX_CELL_CHARACTERS) for c in self._columns]

    def name(self, row: int) -> str:
        """Return the name of a row of the sample with its position."""
        record = self._rows.record(row)
        named = self._label.of(record) is not None
        return self._label.write(record, int(self._at[row])) if named else f"row {self._at[row]}"

    def words(self, row: int) -> str:
        """Return the cells of a row as one line, without its name and without long collections."""
        pairs = []
        for column, head, text in zip(self._columns, self.heads, self.cells(row), strict=True):
            cell = column.cell(row)
            several = isinstance(cell, set | frozenset | list | tuple)
            if cell is None or (several and len(cell) > MAX_CELL_ITEMS):
                continue
            if column.name not in self._label.columns:
                pairs.append(f"{head} {text}")
        return ", ".join(pairs[:4])


@dataclass(eq=False)
class Study:
    """One table and its analyses.

    Parameters
    ----------
    table : Table
        All rows, without the target.
    target : array of n, optional
    label : str
        What the target is called.
    given : Measure or "auto"
    k : int
        Length of the lists of neighbors.
    sample : int
        With more rows, so many are analyzed, drawn at random.
    seed : int
    """

    table: Table
    target: np.ndarray | None
    label: str
    given: Measure | str
    k: int
    sample: int
    seed: int

    def __post_init__(self) -> None:
        n, self.at, self.rows = len(self.table), np.arange(len(self.table)), self.table
        if n > self.sample:
            # The sample does not depend on anything but the seed: a report can be repeated.
            rng = np.random.default_rng(self.seed)
            self.at = np.sort(rng.choice(n, self.sample, replace=False))
            self.rows = self.table[self.at]
        self.target = None if self.target is None else self.target[self.at]
        self.k = max(1, min(self.k, len(self.rows) - 1))

    @property
    def classes(self) -> np.ndarray | None:
        """The target where it is one class for each row."""
        target = self.target
        if target is None or not len(target) or isinstance(target[0], set | frozenset):
            return None
        return target if holds_classes(target) else None

    @cached_property
    def index(self) -> Index:
        """The rows, ready to be searched."""
        if len(self.rows) < MIN_ROWS:
            found = Param("n_samples", len(self.rows))
            raise TooFewRows("report", f"at least {MIN_ROWS} rows", found, "Add rows")
        return Index(self.given).fit(self.rows)

    @cached_property
    def writer(self) -> RowWriter:
        """What formats the analyzed rows."""
        return RowWriter(self.rows, self.at)

    @property
    def measure(self) -> Measure:
        """The measure, fitted to the analyzed rows."""
        return self.index.measure_

    @cached_property
    def hubs(self) -> HubnessReport:
        """Hubness, and what is left of it after a reduction where that helps."""
        found = hubness_report(self.measure, self.classes, self.k)
        if len(found.columns) == 1 and found.judged.reduction_helps:
            reducer = default_reducer(self.measure.frozen(), len(self.rows)).fit(self.rows)
            found = hubness_report(reducer, self.classes, self.k)
        return replace(found, table=self.rows)

    @cached_property
    def places(self) -> np.ndarray:
        """The map."""
        return layout(self.measure, random_state=self.seed)

    @cached_property
    def clustering(self) -> Any:
        """The clusters that ``la.cluster`` finds, as many as hold together best."""
        return SimilarityClustering(self.measure.frozen(), random_state=self.seed).fit(self.rows)

    @cached_property
    def profile(self) -> ClusteringProfile:
        """What the clusters are."""
        return profile_clusters(self.clustering, self.rows, self.classes, n_columns=4)

    @cached_property
    def groups(self) -> RowGroups:
        """What the map is colored by: the target, else the clusters."""
        if self.target is not None:
            return group_rows(self.target, self.label)
        groups = group_rows(self.clustering.labels_, "cluster")
        columns = {f"cluster {one.cluster}": one.columns for one in self.profile.clusters}
        top = (columns.get(name, ())[:N_KEY_COLUMNS] for name in groups.names)
        return replace(groups, notes=tuple(", ".join(map(str, found)) for found in top))

    @cached_property
    def prototypes(self) -> list[tuple[int, int]]:
        """Positions of prototypes, and how many rows each represents, most first."""
        measure, rows = self.measure, self.measure.rows_
        n = min(N_PROTOTYPES, len(rows))
        chosen = select_prototypes(measure.frozen(), self.rows, n=n, random_state=self.seed)
        nearest = measure.nearest(rows, rows[chosen], 1).indices[:, 0]
        sizes = np.bincount(nearest[nearest >= 0], minlength=n)
        order = np.argsort(-sizes, kind="stable")
        return list(zip(chosen[order].tolist(), sizes[order].tolist(), strict=True))

    @cached_property
    def outliers(self) -> list[tuple[int, float]]:
        """The rows unlike all others: positions and scores in bits, the highest first."""
        found = find_outliers(self.rows, random_state=self.seed)
        return [(int(row), float(found.scores[row])) for row in found.order[:N_OUTLIERS]]
