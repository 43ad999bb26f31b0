"""Rows unlike the rest, each with the columns in which it is unusual."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from lookalike._runtime.random_state import make_generator
from lookalike._runtime.text import percent, plain, short
from lookalike.errors import Param, TooFewRows
from lookalike.measures.contract.base import Measure
from lookalike.measures.mixed.gower import Gower
from lookalike.prediction.isolation_forest import RandomSimilarityIsolationForest
from lookalike.saving.fields import Choice, Integer
from lookalike.show import layout
from lookalike.show.result import Result, Spell
from lookalike.table import Column, Kind, Table, read_table
from lookalike.table.model.display import record_columns, write_row

if TYPE_CHECKING:
    from rich.console import Console

METHODS = Choice("combined", "isolation", "neighbors")
NEIGHBORS = (10, 100)  # of "combined": a local and a global neighborhood
MAX_COMPARED_ROWS = 4_096  # larger tables are compared with a random sample of this size
BLOCK_ROWS = 65_536  # rows whose lists of neighbors are held at a time
TRIMS = (0.25, 0.05, 0.0)  # tried in turn: inter-quartile range first
MISSING_WEIGHT = 0.5  # a number against a missing one counts as half different
MAX_DEVIATION = 1e300  # in widths of the column; asinh of it is 691
MAX_UNUSUAL_SHARE = 0.05  # share of rows up to which a cell is called unusual
MAX_TEXT_ROWS = 10  # rows in the text form where n is None
COMBINATION = "an unusual combination: no column by itself"


@dataclass(frozen=True)
class UnusualCell:
    """A cell that few rows have, or that is farther out than most.

    Parameters
    ----------
    column : str
    cell : its value, None where it is missing
    share : float
        Share of the rows that are at least as unusual in this column: a two-sided tail of numbers
        and ordered levels, levels and items that are no more frequent, missing cells.
    text : str
        The same in words.
    """

    column: str
    cell: Any
    share: float
    text: str

    def to_dict(self) -> dict[str, Any]:
        """Return the cell as values that JSON can hold."""
        return {name: plain(value) for name, value in vars(self).items()}


@dataclass(frozen=True, eq=False)
class Outliers(Result):
    """How unusual each row is; made by ``find_outliers`` and ``lookalike.outliers``.

    Parameters
    ----------
    method : {"combined", "isolation", "neighbors"}
    scores : array of n
        The higher, the more unusual. Of combined in bits: b bits are one row in 2**b. Of isolation
        from 0 to 1, where above 0.5 is early; of neighbors the mean distance to the nearest rows.
    table : Table
        The rows.
    ids : list, optional
        What the rows are called; None: their positions.
    n : int, optional
        How many rows are shown, the most unusual first; None: all, ten of them in text.
    name : str
        Of the table, for headings.
    """

    method: str
    scores: np.ndarray
    table: Table
    ids: list[Any] | None = None
    n: int | None = None
    name: str = "table"

    @cached_property
    def order(self) -> np.ndarray:
        """Positions of all rows, the most unusual first; the lower position on ties."""
        return np.argsort(-self.scores, kind="stable")

    @cached_property
    def _shares(self) -> dict[str, np.ndarray]:
        return {column.name: tail_shares(column) for column in self.table.columns}

    def reasons(self, row: int, n: int = 3) -> list[UnusualCell]:
        """Return the most unusual cells of a row, the rarest first; none where each is usual.

        Parameters
        ----------
        row : int
            Its position.
        n : int
            How many at most.
        """
        # The two-sided tail of the highest of n values is 2 / n: above the limit below 40 rows.
        rare = max(MAX_UNUSUAL_SHARE, 2 / max(1, len(self.table)))
        shares = [(float(self._shares[c.name][row]), c) for c in self.table.columns]
        cells = [
            UnusualCell(column.name, column.cell(row), share, _describe(column, row, share))
            for share, column in shares
            if share <= rare
        ]
        return sorted(cells, key=lambda cell: cell.share)[:n]

    def because(self, row: int, n: int = 3) -> str:
        """Return the reasons as one sentence.

        Parameters
        ----------
        row : int
        n : int
        """
        if found := self.reasons(row, n):
            return "; ".join(cell.text for cell in found)
        return COMBINATION if len(self.table.columns) > 1 else f"{self.table.names[0]} is usual"

    def id_of(self, row: int) -> Any:
        """Return the id of a row, by its position."""
        return row if self.ids is None else self.ids[row]

    def to_dict(self) -> dict[str, Any]:
        """Return the rows that are shown, with their reasons, as plain values."""
        shown = [
            {
                "id": plain(self.id_of(row)),
                "score": plain(float(self.scores[row])),
                "reasons": [cell.to_dict() for cell in self.reasons(row)],
                "row": plain(self.table.record(row)),
            }
            for row in self.order[: self.n].tolist()
        ]
        return {"method": self.method, "rows": len(self.table), "outliers": shown}

    def cells(self) -> dict[str, list[Any]]:
        """Return one row per row that is shown: id, score, reasons, and its cells."""
        shown = self.order[: self.n].tolist()
        ours = {
            "id": [self.id_of(row) for row in shown],
            "score": [float(self.scores[row]) for row in shown],
            "reasons": [self.because(row) for row in shown],
        }
        return ours | record_columns(self.table, shown, tuple(ours))

    def render(self, console: Console, spell: Spell = str) -> None:
        """Print the rows, the most unusual first, each with its reasons below it."""
        shown = self.order[: self.n or MAX_TEXT_ROWS].tolist()
        of = f"the {len(shown)} most unusual of {len(self.table):,} rows"
        layout.headline(console, f"{self.name}: {of}, by {self.method}")
        for row in shown:
            score = float(self.scores[row])
            unit = f"{score:.1f} bits" if self.method == "combined" else f"{score:.3f}"
            start = f"row {short(self.id_of(row))} ({unit}): "
            width = max(20, console.width - len(start))
            layout.headline(console, start + write_row(self.table, row, width))
            layout.say(console, self.because(row), indent=2)


def find_outliers(
    X: Any,
    method: str = "combined",
    *,
    measure: Measure | None = None,
    n_neighbors: int = 10,
    n_estimators: int = 100,
    kinds: Mapping[str, Any] | None = None,
    random_state: Any = None,
) -> Outliers:
    """Find the rows of a table that are unlike the rest, with the columns that are unusual.

    Parameters
    ----------
    X : table, frame, array, dict of columns or path
    method : {"combined", "isolation", "neighbors"}
        ``combined``: rows far from their 10 nearest neighbors, as data errors and odd combinations
        are, or from their 100 nearest, as extreme rows and small groups of them are. Numbers count
        by their deviation from the median in inter-quartile ranges, on a logarithmic scale far out
        (inverse hyperbolic sine), categories by being equal. The score is the higher surprisal of
        the two distances, ``-log2(share of rows at least as far)``: 10 bits are one row in 1,000.
        ``isolation``: rows that random cuts soon leave alone (``RandomSimilarityIsolationForest``).
        ``neighbors``: rows far from their nearest neighbors under a measure (k-nearest-neighbor
        distance [1]_).
    measure : Measure, optional
        For neighbors; None: ``Gower(missing="midpoint")``. A clone is fitted.
    n_neighbors : int
        For neighbors: how many are looked at.
    n_estimators : int
        For isolation: how many trees.
    kinds : mapping of column to kind, optional
    random_state : None, int, RandomState or Generator

    Returns
    -------
    Outliers

    Notes
    -----
    The time of ``combined`` is linear in the rows: in a table of more than 4,096 rows, neighbors
    are those among a random sample of so many, drawn by ``random_state``. That of ``neighbors`` is
    quadratic. The default was chosen by a study of labelled outliers and planted errors
    (``docs/papers/outliers.md``).

    References
    ----------
    .. [1] F. Angiulli, C. Pizzuti (2002). Fast outlier detection in high dimensional spaces.
       Principles of Data Mining and Knowledge Discovery. doi:10.1007/3-540-45681-3_2

    Examples
    --------
    >>> from lookalike.prediction import find_outliers
    >>> sizes = [float(i % 7) for i in range(63)] + [90.0]
    >>> colors = ["red", "blue"] * 32
    >>> found = find_outliers({"size": sizes, "color": colors}, random_state=0)
    >>> int(found.order[0]), found.because(63)
    (63, 'size 90, higher than in all other rows')
    >>> float(found.scores[63])  # one row in 64
    6.0
    """
    who = "find_outliers"
    METHODS.check(who, "method", method)
    table = read_table(X, kinds=kinds)
    if method == "isolation":
        forest = RandomSimilarityIsolationForest(n_estimators, random_state=random_state)
        return Outliers(method, -forest.fit(table).score_samples(table), table)
    if method == "combined":
        if len(table) < 2 or not table.columns:  # nothing to be far from
            return Outliers(method, np.zeros(len(table)), table)
        views = neighbor_distances(by_deviation(table), NEIGHBORS, random_state)
        return Outliers(method, np.asarray(np.maximum(*map(surprisal, views))), table)
    # Not checked for the other methods, which have no such parameter.
    Integer(1).check(who, "n_neighbors", n_neighbors, "Use 10")
    if len(table) < 2:
        raise TooFewRows(who, "at least 2 rows", Param("n_samples", len(table)), "Add rows")
    # Not by ranks, which make the largest value as near to the next as any other two: mean AUC
    # .571 on the labelled sets of ADBench, where differences by range reach .746.
    fitted = clone(Gower(missing="midpoint") if measure is None else measure).fit(table)
    # A small table has fewer other rows than the default asks for.
    far, _ = fitted.kneighbors(n_neighbors=min(n_neighbors, len(table) - 1))
    return Outliers(method, np.asarray(far).mean(axis=1), table)


# -- combined --------------------------------------------------------------------------------------


def surprisal(scores: np.ndarray) -> np.ndarray:
    """Return how rare scores as high as each are, in bits: ``-log2(share at least as high)``.

    Examples
    --------
    >>> import numpy as np
    >>> surprisal(np.array([5.0, 1.0, 1.0, 9.0])).tolist()
    [1.0, 0.0, 0.0, 2.0]
    """
    at_least = len(scores) - np.searchsorted(np.sort(scores), scores, side="left")
    return np.asarray(np.log2(len(scores) / at_least))


def neighbor_distances(measure: Measure, sizes: Sequence[int], random_state: Any) -> np.ndarray:
    """Return the mean distance of each row to its nearest rows, for each number of them.

    Parameters
    ----------
    measure : Measure
        Fitted to at least two rows.
    sizes : numbers of neighbors; fewer are taken where there are not as many other rows
    random_state : None, int, RandomState or Generator
        For the sample of a large table.

    Returns
    -------
    array of (sizes, n)
    """
    rows, n = measure.rows_, len(measure.rows_)
    ids = np.arange(n)
    if n > MAX_COMPARED_ROWS:
        ids = np.sort(make_generator(random_state).choice(n, MAX_COMPARED_ROWS, replace=False))
    sample, k = rows[ids], min(max(sizes), len(ids) - 1)
    means = np.empty((len(sizes), n))
    for start in range(0, n, BLOCK_ROWS):
        own = np.arange(start, min(start + BLOCK_ROWS, n))
        far = measure.nearest(rows[own], sample, k, exclude=own, ids=ids).distances
        # Two rows without anything to compare, such as two empty sets: half alike, as with
        # missing cells.
        far = np.where(np.isfinite(far), far, 0.5)
        means[:, own] = [far[:, :size].mean(axis=1) for size in sizes]
    return means


def by_deviation(table: Table) -> Gower:
    """Return the comparison of "combined", fitted to a table.

    Gower's distance caps a difference at the range, which either squeezes the usual values (full
    range) or makes all extremes alike (trimmed range). Weights equal to the ranges undo the
    division, so that numbers count by their difference of deviations, without a limit.
    """
    columns, weights, names = [], {}, set(table.names)
    for column in table.columns:
        if column.kind.name != "number":
            columns.append(column)
            continue
        cells = deviations(np.asarray(column.values, np.float64))
        missing = np.isnan(cells)
        # The weight of a missing number must not depend on how far out others are: it counts as
        # the median, plus a column of its own.
        cells = np.where(missing, 0.0, cells)
        # Deviations are plain numbers, whatever comes round or is joined in the table.
        columns.append(Column(column.name, Kind("number"), cells))
        weights[column.name] = float(np.ptp(cells)) or 1.0
        if missing.any():
            name = f"{column.name} missing"
            while name in names:
                name += " "
            names.add(name)
            columns.append(Column(name, Kind("number"), missing.astype(np.float64)))
            weights[name] = MISSING_WEIGHT
    # A flag that is off in both rows is compared too: either value may be the rare one.
    equal = {column.name: "equal" for column in table.columns if column.kind.name == "flag"}
    return Gower(weights=weights, missing="midpoint", distances=equal).fit(Table(columns))


def deviations(values: np.ndarray) -> np.ndarray:
    """Return numbers as deviations from their median in inter-quartile ranges, log-like far out.

    ``asinh((x - median) / width)``: proportional to the deviation within the width, to its
    logarithm far outside, so that one wild cell is far from all others and they keep their
    distances. Where the inter-quartile range is 0, as in a column that is nearly always 0, the
    width is the range without a twentieth at each end, or the full range.

    Parameters
    ----------
    values : float64, NaN where missing

    Examples
    --------
    >>> import numpy as np
    >>> deviations(np.array([0.0, 1, 2, 3, 4, 200, np.nan])).round(1).tolist()
    [-0.9, -0.6, -0.2, 0.2, 0.6, 5.1, nan]
    """
    finite = values[np.isfinite(values)]
    # Divided by the largest first: differences of very large numbers would overflow.
    largest = float(np.abs(finite).max(initial=0.0)) or 1.0
    finite, scaled = finite / largest, values / largest
    if not len(finite):
        return np.where(np.isnan(values), np.nan, np.sign(values))
    spans = (np.subtract(*np.quantile(finite, (1.0 - trim, trim))) for trim in TRIMS)
    width = next((span for span in spans if span > 0.0), 1.0)
    with np.errstate(over="ignore"):
        ratio = (scaled - np.median(finite)) / width
    return np.asarray(np.arcsinh(np.clip(ratio, -MAX_DEVIATION, MAX_DEVIATION)))


# -- reasons ---------------------------------------------------------------------------------------


def tail_shares(column: Column) -> np.ndarray:
    """Return for each cell the share of rows that are at least as unusual in this column.

    Parameters
    ----------
    column : Column
        Cells that are neither numbers, levels nor collections of items count as usual, unless they
        are missing.
    """
    missing = np.asarray(column.missing)
    # A missing cell is as unusual as it is rare; an empty table has no mean.
    shares = np.where(missing, missing.mean() if len(missing) else 1.0, 1.0)
    known, kind = np.flatnonzero(~missing), column.kind.name
    if not len(known):
        return shares
    if kind in ("number", "order"):
        values = np.asarray(column.values)[known].astype(np.float64)
        ordered = np.sort(values)
        # The value itself counts on both sides, so the tail of the median is cut at 1.
        below = np.searchsorted(ordered, values, side="right")
        above = len(values) - np.searchsorted(ordered, values, side="left")
        shares[known] = np.minimum(1.0, 2.0 * np.minimum(below, above) / len(values))
        return shares
    if kind in ("category", "flag"):
        levels = np.asarray(column.values)[known]
        _, codes, counts = np.unique(levels, return_inverse=True, return_counts=True)
        frequent = counts[codes]
    elif kind in ("set", "sequence"):
        # A collection is as unusual as its rarest item; an empty one is usual.
        counted, cells = _count_items(column), [column.values[i] for i in known]
        rarest = [min((counted[item] for item in cell), default=len(known)) for cell in cells]
        frequent = np.array(rarest)
    else:
        return shares
    shares[known] = np.searchsorted(np.sort(frequent), frequent, side="right") / len(known)
    return shares


def _count_items(column: Column) -> Counter[Any]:
    """Return how many rows have each item of a column of collections."""
    return Counter(item for cell in column.values if cell is not None for item in set(cell))


def _describe(column: Column, row: int, share: float) -> str:
    """Return why a cell is unusual, as text."""
    cell, name = column.cell(row), column.name
    if bool(column.missing[row]):
        return f"{name} missing, as in {percent(share)} of the rows"
    kind = column.kind.name
    if kind in ("number", "order"):
        values = np.asarray(column.values)[~np.asarray(column.missing)].astype(np.float64)
        own, others = float(column.values[row]), len(values) - 1
        lower, higher = int((values < own).sum()), int((values > own).sum())
        most, word = max((lower, "higher"), (higher, "lower"), key=lambda side: side[0])
        # 99.96 % would be rounded to 100 %, which is not all rows.
        share = min(most / max(1, others), 0.999)
        where = "all other rows" if most == others else f"{share:.1%} of the rows"
        return f"{name} {short(cell)}, {word} than in {where}"
    if kind in ("set", "sequence"):
        counted = _count_items(column)
        # The rarest item is the reason; by name where several are equally rare.
        item = min(cell, key=lambda one: (counted[one], str(one)))
        return f"{name} with {short(item)!r}, in {counted[item]:,} of {len(column):,} rows"
    same = int((np.asarray(column.values) == column.values[row]).sum())
    return f"{name} {short(cell)!r}, in {same:,} of {len(column):,} rows"
