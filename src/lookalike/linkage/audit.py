"""How near synthetic rows are to the real ones they were made from (distance to closest record).

A synthetic row that is nearer to a record of the training data than real rows of the same source
are may be a copy of it. Rows are compared as SDMetrics does, so that its scores come out: numbers
and dates by their difference as a share of the range of the reference table, at most 1;
categories, ordered levels and flags by being equal; a missing cell equals another missing cell and
nothing else. The distance is the mean over the columns.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from lookalike._runtime.random_state import make_generator
from lookalike._runtime.text import percent
from lookalike.index.hits import shown
from lookalike.linkage.two_tables import TwoTables
from lookalike.measures import Gower
from lookalike.neighbors.graph import NeighborGraph
from lookalike.show import layout
from lookalike.show.reasons import sentence
from lookalike.show.result import Console, Result, Spell, as_json
from lookalike.table import Column, Kind, Table
from lookalike.table.infer.thresholds import MAX_EXACT_INTEGER

COMPARED = ("number", "category", "order", "flag")
# The least range of a constant column, around 0; shares of it do not overflow.
MIN_RANGE = 1e-300
LEAKED_SHARE = 0.01  # of real rows may be as near to the training data as a row that leaked
# Random rows, of which the median alone is used: so many settle its rank to a sixth of a percent.
# They are far from all records, and a search takes twenty times as long as for synthetic rows.
MAX_RANDOM_ROWS = 100_000
MISSING = "missing"
MAX_SHOWN_COLUMNS = 8
SCORES = {
    "overfitting_protection": "1: no nearer to the real rows than to those held out",
    "baseline_protection": "1: no nearer to the real rows than random ones are",
}


def closest(reference: Table, tables: Sequence[Table]) -> list[NeighborGraph]:
    """Return the two nearest rows of a reference table for the rows of each of some tables.

    Parameters
    ----------
    reference : Table, with kinds of ``COMPARED`` only
    tables : tables read by its schema
        The reference itself may be one of them: its rows are then left out of their own lists.
    """
    ranges = {}
    for column in reference.of_kind("number"):
        low, high = _ends(column)
        # Of a constant column the distance to the next float: any other number differs by 1.
        ranges[column.name] = high - low or max(float(np.spacing(abs(low))), MIN_RANGE)
    measure = Gower(ranges=ranges).fit(_without_missing(reference, reference))
    found = []
    for table in tables:
        rows, own = measure.encode(_without_missing(table, reference)), None
        if table is reference:
            rows, own = measure.rows_, np.arange(len(table))
        k = min(2, len(reference))
        lists = NeighborGraph.empty(len(table), 2, len(reference))
        near = measure.nearest(rows, measure.rows_, k, exclude=own).plain()
        lists.indices[:, :k], lists.distances[:, :k] = near.indices, near.distances
        found.append(lists)
    return found


def _ends(column: Column) -> tuple[float, float]:
    known = column.values[~column.missing]
    return (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)


def _without_missing(table: Table, reference: Table) -> Table:
    """Return a table in which a missing cell is a value of its own, unlike all others."""
    columns = []
    for like in reference:
        column = table[like.name]
        if like.kind.name != "number":
            levels = (*like.kind.levels, MISSING)
            kind = Kind("category", like.kind.reason, levels=levels)
            values = np.where(column.blank, len(levels) - 1, column.values)
            columns.append(Column(column.name, kind, values, column.unknown))
            continue
        # More than a range above everything else: the difference, cut off at 1, is then 1. The same
        # in all tables, since it depends on the reference alone and others are cut off at its ends.
        low, high = _ends(like)
        span = high - low or max(1.0, abs(low))
        # Beyond two ranges every value is equally far from all of the reference.
        values = np.clip(column.values.astype(np.float64), low - 2 * span, high + 2 * span)
        filled = np.where(column.blank, high + 4 * span, values)
        columns.append(Column(column.name, Kind("number", like.kind.reason), filled))
    return Table(columns, (), len(table))


@dataclass(frozen=True, eq=False)
class Closeness:
    """Distances of synthetic rows to the closest real records, and those of real rows beside them.

    Parameters
    ----------
    synthetic : NeighborGraph
        For each synthetic row its two nearest rows of the training data.
    usual : NeighborGraph
        The same for real rows: those of the holdout, or without one the training rows, each without
        itself.
    holdout : float64 or None
        For each synthetic row the distance to the nearest row of the holdout.
    random : float64
        Distances of random rows to the training data, as many as synthetic ones or 100,000.
    """

    synthetic: NeighborGraph
    usual: NeighborGraph
    holdout: np.ndarray | None
    random: np.ndarray

    @property
    def distances(self) -> np.ndarray:
        """For each synthetic row the distance to the closest record."""
        return self.synthetic.distances[:, 0]

    @property
    def shares(self) -> np.ndarray:
        """For each synthetic row the share of real rows that are as near to the training data."""
        usual = np.sort(self.usual.distances[:, 0])
        return np.searchsorted(usual, self.distances, "right") / len(usual)

    @property
    def leaked(self) -> np.ndarray:
        """Positions of the synthetic rows that are nearer than real rows are, the nearest first."""
        ratios = distance_ratios(self.synthetic)
        near = np.flatnonzero((self.shares <= LEAKED_SHARE) & ~(ratios >= 1.0))
        return near[np.lexsort((near, ratios[near], self.distances[near]))]

    @property
    def overfitting_protection(self) -> float | None:
        """SDMetrics' DCROverfittingProtection: twice the share not nearer to the training data."""
        if self.holdout is None:
            return None
        return min(2.0 * (1.0 - float(np.mean(self.distances < self.holdout))), 1.0)

    @property
    def baseline_protection(self) -> float | None:
        """SDMetrics' DCRBaselineProtection: the median distance beside that of random rows."""
        base = float(np.median(self.random))
        return min(float(np.median(self.distances)) / base, 1.0) if base else None


def distance_ratios(lists: NeighborGraph) -> np.ndarray:
    """Return the distance to the first of two neighbors, divided by that to the second.

    0 for a copy of one record, 1 for a row that singles out none; NaN where there is no second.
    """
    first, second = lists.distances.T
    # Two records at distance 0 are the same: the row singles out neither.
    with np.errstate(invalid="ignore", divide="ignore"):
        ratios = np.where(second > 0.0, first / second, 1.0)
    return np.where(np.isfinite(second), ratios, np.nan)


def share_equal(table: Table, real: Table, lists: NeighborGraph, rows: np.ndarray) -> list[float]:
    """Return for each real column the share of rows that equal their closest record in it."""
    if not len(rows):
        return [0.0] * len(real.columns)
    pairs = [(table[c.name].take(rows), c.take(lists.indices[rows, 0])) for c in real]
    return [float(((a.values == b.values) | (a.blank & b.blank)).mean()) for a, b in pairs]


def draw_uniform(real: Table, n: int, seed: int = 0) -> Table:
    """Draw rows whose cells are uniform in the range, or over the levels, of each real column.

    Parameters
    ----------
    real : Table, with kinds of ``COMPARED`` only
    n : int
    seed : int
    """
    random = make_generator(seed)
    columns = []
    for column in real:
        known, number = column.values[~column.blank], column.kind.name == "number"
        cells = random.choice(np.unique(known), n)
        whole = number and column.kind.source == "" and (known == np.round(known)).all()
        if whole and np.abs(known).max() < MAX_EXACT_INTEGER:
            # Integers stay integers, as a generator of such a column would have them.
            cells = random.integers(int(known.min()), int(known.max()) + 1, n).astype(float)
        elif number:
            share = random.random(n)  # the range itself may overflow
            cells = known.min() * (1 - share) + known.max() * share
        values = np.where(random.random(n) < column.blank.mean(), np.nan if number else -1, cells)
        columns.append(replace(column, values=values, unknown={}))
    return Table(columns, (), n, real.missing)


def measure_closeness(
    real: Table, synthetic: Table, holdout: Table | None = None, seed: int = 0
) -> Closeness:
    """Find how near synthetic rows, and real rows beside them, are to the training data.

    Parameters
    ----------
    real : Table
        The rows that the synthetic ones were made from.
    synthetic : Table, read by the schema of the real one
    holdout : Table, optional
        Real rows that were not used, read by the same schema.
    seed : int
        Of the random rows.

    Examples
    --------
    >>> import lookalike as la
    >>> real = la.read_table({"age": [20.0, 30.0, 60.0, 45.0], "sex": ["m", "f", "f", "m"]})
    >>> found = measure_closeness(real, real[[1, 2]])
    >>> found.distances.tolist(), distance_ratios(found.synthetic).tolist()
    ([0.0, 0.0], [0.0, 0.0])
    """
    random = draw_uniform(real, min(len(synthetic), MAX_RANDOM_ROWS), seed)
    near, usual, drawn = closest(real, [synthetic, real if holdout is None else holdout, random])
    beside = None
    if holdout is not None:
        # Scaled by its own ranges, as SDMetrics does: each table is a reference by itself.
        beside = closest(holdout, [synthetic])[0].distances[:, 0]
    return Closeness(near, usual, beside, drawn.distances[:, 0])


@dataclass(eq=False)
class Audit(Result):
    """How near synthetic rows are to the real ones they were made from.

    Parameters
    ----------
    tables : TwoTables
        The synthetic rows on the left, the real ones on the right.
    found : Closeness
    synthetic, real, beside : Table
        As they were compared; ``beside`` are the rows that say what is usual: the holdout, or the
        real rows.
    ids : lists, the ids of the synthetic and of the real rows
    names : of the real and of the synthetic table
    n : int
        How many of the rows that leak are listed.
    left_out : names of columns whose kinds are not compared
    """

    tables: TwoTables
    found: Closeness
    synthetic: Table
    real: Table
    beside: Table
    ids: tuple[Sequence[Any], Sequence[Any]]
    names: tuple[str, str]
    n: int = 10
    left_out: Sequence[str] = ()

    @property
    def scores(self) -> dict[str, float | None]:
        """The two scores of SDMetrics, and medians of distances and ratios."""
        found, none = self.found, np.array([])
        medians = {
            "distance": found.distances,
            "distance_of_real_rows": found.usual.distances[:, 0],
            "distance_of_random_rows": found.random,
            "distance_to_holdout": none if found.holdout is None else found.holdout,
            "ratio": distance_ratios(found.synthetic),
            "ratio_of_real_rows": distance_ratios(found.usual),
        }
        scores: dict[str, float | None] = {name: getattr(found, name) for name in SCORES}
        for name, values in medians.items():
            known = values[np.isfinite(values)]
            scores[f"median_{name}"] = float(np.median(known)) if len(known) else None
        return scores

    @property
    def columns(self) -> list[dict[str, Any]]:
        """Columns in which rows that leak equal their record, those that give away most first."""
        found, every = self.found, np.arange(len(self.beside))
        leaked = share_equal(self.synthetic, self.real, found.synthetic, found.leaked)
        usual = share_equal(self.beside, self.real, found.usual, every)
        lines = [
            {"column": name, "equal": equal, "equal_in_real_rows": share}
            for name, equal, share in zip(self.real.names, leaked, usual, strict=True)
        ]
        return sorted(lines, key=lambda line: line["equal_in_real_rows"] - line["equal"])

    @cached_property
    def leaks(self) -> list[dict[str, Any]]:
        """The rows that are nearer to a record than real rows are, the nearest first."""
        lists, shares = self.found.synthetic, self.found.shares
        ratios, records = distance_ratios(lists), lists.indices[:, 0].tolist()
        return [
            {
                "row": self.ids[0][row],
                "record": self.ids[1][records[row]],
                "distance": float(lists.distances[row, 0]),
                "ratio": float(ratios[row]),
                "share": float(shares[row]),
                "because": sentence(*self.tables.explain(row, [records[row]])[0].phrases(2)),
            }
            for row in self.found.leaked[: self.n].tolist()
        ]

    def cells(self) -> dict[str, list[Any]]:
        """Return a line for each row that leaks, as many as the answer lists."""
        heads = ("row", "record", "distance", "ratio", "share", "because")
        return {name: [line[name] for line in self.leaks] for name in heads}

    def to_dict(self) -> dict[str, Any]:
        """Return the scores, the rows that leak and the columns that give them away."""
        return as_json(
            rows=len(self.synthetic),
            real_rows=len(self.real),
            scores=self.scores,
            leaked=len(self.found.leaked),
            expected_by_chance=LEAKED_SHARE * len(self.synthetic),
            leaks=self.leaks,
            columns=self.columns,
            left_out=self.left_out,
        )

    def _render_leaks(self, console: Console) -> None:
        heads = [("row", "left"), ("record", "left"), ("distance", "left"), ("because", "fold")]
        lines = [
            [str(one["row"]), str(one["record"]), shown(one["distance"]), one["because"]]
            for one in self.leaks
        ]
        console.print(layout.grid(heads, lines))
        heads = [("column", "left"), ("equal to the record", "right"), ("of real rows", "right")]
        lines = [[one["column"], *map(percent, [*one.values()][1:])] for one in self.columns]
        console.print(layout.grid(heads, lines[:MAX_SHOWN_COLUMNS]))

    def render(self, console: Console, spell: Spell = str) -> None:
        """Print the scores, the rows that leak, and the columns that give them away."""
        scores, held = self.scores, self.found.holdout is not None
        n, leaked = len(self.synthetic), len(self.found.leaked)
        text = f"{self.names[1]}: {n:,} synthetic rows beside {len(self.real):,} real ones"
        layout.headline(console, f"{text} of {self.names[0]}")
        whose = "real rows held out" if held else "real rows among each other"
        lines = [
            [word, *(shown(scores[f"median_{key}{of}"]) for of in ("", "_of_real_rows"))]
            for word, key in (("distance to the closest record", "distance"), ("ratio", "ratio"))
        ]
        heads = [("median", "left"), ("synthetic rows", "right"), (whose, "right")]
        console.print(layout.grid(heads, lines))
        for key, words in SCORES.items():
            if scores[key] is not None:
                layout.say(console, f"{key.replace('_', ' ')} {shown(scores[key])} ({words})", "")
        text = f"{leaked:,} of {n:,} rows are nearer to a real record than 99% of real rows are; "
        layout.say(console, f"{text}about {LEAKED_SHARE * n:.0f} would be by chance", "bold")
        if leaked:
            self._render_leaks(console)
        if not held:
            note = "without a holdout, rows that are typical look like rows that leaked: give "
            layout.say(console, f"{note}real rows that were not used, where there are any")
        if self.left_out:
            layout.say(console, f"not compared: {', '.join(self.left_out)}")
