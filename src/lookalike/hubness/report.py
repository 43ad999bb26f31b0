"""A report on the hubness of a space, before and after reduction, and a verdict.

The verdict is decided here for all surfaces: no problem, one that the reduction helps with, or one
that it does not. The reduction is tried before it is offered: where distances do not suffer from
the dimension, it may make the largest hub larger.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from lookalike._runtime.keywords import forgiving
from lookalike._runtime.text import percent, plain, short
from lookalike.errors import InPython, InvalidInput, LookalikeWarning, Param, Phrase
from lookalike.evaluate import agreement
from lookalike.evaluate.dimension import classical_scaling, distance_contrast, intrinsic_dimension
from lookalike.evaluate.space import Space, as_space, lists_of, size_of
from lookalike.hubness import occurrence
from lookalike.hubness.mutual_proximity import default_reducer
from lookalike.hubness.occurrence import HubsAndOrphans, k_occurrence
from lookalike.hubness.reducer import _Reducer
from lookalike.measures.contract.base import Measure
from lookalike.measures.contract.matrices import square
from lookalike.measures.default import choose_measure
from lookalike.measures.mixed.gower import Gower
from lookalike.measures.precomputed import Precomputed
from lookalike.neighbors.graph import NeighborGraph
from lookalike.show import layout
from lookalike.show.html import drawings, markup
from lookalike.show.html.markup import AGAINST, FOR, Html
from lookalike.show.result import Result, Spell
from lookalike.table import Table, read_table
from lookalike.table.model.display import write_row
from lookalike.table.model.targets import code_labels, split_target

if TYPE_CHECKING:
    from rich.console import Console

WHO = "hubness_report"
Statistics = dict[str, float | None]

# Skewness of the k-occurrence above which hubs are a problem; the literature speaks of strong
# hubness from 1.4 (Flexer and Schnitzer 2015).
HUB_PROBLEM = 1.0
# The reduction helps if it takes a quarter of the skewness or more, and the largest hub is in fewer
# lists; chosen by hand: less is not worth another space.
MAX_KEPT_SKEWNESS = 0.75
# All pairs of so many rows are compared, 32 MB; of more rows a fixed sample is tried.
MAX_TRIED_ROWS = 2_000


@dataclass(frozen=True)
class HubVerdict:
    """Whether hubs are a problem, and whether a reduction helps.

    Parameters
    ----------
    found : mapping of statistic to number
        Of the rows as they are compared.
    before, after : the same, optional
        Of the rows that a reduction was tried on; None: it was not tried.
    how : str
        The reduction and the rows in words, where they have to be said.

    Examples
    --------
    >>> few = {"skewness": 0.2, "largest": 13.0, "orphans": 16.0}
    >>> print(HubVerdict(few))
    No hub problem here: the largest hub is in 13 lists, skewness 0.20, rows in no list 16.
    >>> many = {"skewness": 5.2, "largest": 108.0, "orphans": 90.0}
    >>> print(HubVerdict(many, many, few))
    Hubs are a problem, and the reduction helps: the largest hub is in 108 -> 13 lists, \
skewness 5.20 -> 0.20, rows in no list 90 -> 16.
    """

    found: Statistics
    before: Statistics | None = None
    after: Statistics | None = None
    how: str = ""

    @property
    def problem(self) -> bool:
        """Whether a few rows fill so many lists that something should be done."""
        return (self.found["skewness"] or 0.0) > HUB_PROBLEM

    @property
    def reduction_helps(self) -> bool:
        """Whether there is a problem and the reduction, tried on the same rows, made it smaller."""
        if not self.problem or self.before is None or self.after is None:
            return False
        skew, skew_after = (one["skewness"] or 0.0 for one in (self.before, self.after))
        largest, largest_after = (one["largest"] or 0.0 for one in (self.before, self.after))
        return largest_after < largest and skew_after <= MAX_KEPT_SKEWNESS * skew

    def __str__(self) -> str:
        if not self.problem:
            return f"No hub problem here: {_describe(self.found)}."
        if self.before is None or self.after is None:
            tried = "the reduction cannot be tried without distances"
            return f"Hubs are a problem: {_describe(self.found)}; {tried}."
        helps = self.reduction_helps
        words = ", and the reduction helps" if helps else " that the reduction does not solve"
        how = f" ({self.how})" if self.how else ""
        return f"Hubs are a problem{words}: {_describe(self.before, self.after)}{how}."


def try_reduction(space: Space, k: int) -> tuple[Statistics, Statistics, str] | None:
    """Count hubs before and after the default reduction, on the same rows.

    Parameters
    ----------
    space : fitted measure or NeighborGraph
    k : int
        Length of the lists.

    Returns
    -------
    before, after : mapping of statistic to number
    how : str
        The reduction and the rows in words. None for a graph, which has few distances.
    """
    if not isinstance(space, Measure):
        return None
    n = len(space.rows_)
    how, rows = "mutual proximity", space.rows_
    if n > MAX_TRIED_ROWS:
        how = f"{how}, tried on a sample of {MAX_TRIED_ROWS:,} rows"
        sample = np.random.default_rng(0).choice(n, MAX_TRIED_ROWS, replace=False)
        rows = rows[np.sort(sample)]
    distances = square(space, rows, undefined="keep")
    # Rows with nothing to compare are in no list of each other: as far as the farthest.
    undefined = ~np.isfinite(distances)
    distances[undefined] = np.max(distances, initial=1.0, where=~undefined)
    np.fill_diagonal(distances, 0.0)
    known = Precomputed(symmetric=space.traits.symmetric)
    reducer = default_reducer(known, len(rows)).fit(distances)
    k = min(k, len(rows) - 1)
    before, after = (count_hubs(k_occurrence(one, k)) for one in (reducer.measure_, reducer))
    return before, after, how


def count_hubs(counts: np.ndarray) -> Statistics:
    """Return the statistics that a verdict is about, for the k-occurrence of every row."""
    largest, orphans = float(counts.max()), float((counts == 0).sum())
    return {"skewness": occurrence.skewness(counts), "largest": largest, "orphans": orphans}


def _describe(*spaces: Statistics) -> str:
    forms = {"largest": "{:,.0f}", "skewness": "{:.2f}", "orphans": "{:,.0f}"}
    largest, skew, orphans = (
        " -> ".join(form.format(one[name]) for one in spaces) for name, form in forms.items()
    )
    return f"the largest hub is in {largest} lists, skewness {skew}, rows in no list {orphans}"


COLORS = (AGAINST, FOR)  # before, after
ORPHAN = "currentColor"  # visible on light and dark pages
MAX_MAPPED_ROWS = 1_500  # hubs first, then a fixed sample (chosen by hand)


def _bins(report: HubnessReport) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return edges and, for each column, the number of rows between them."""
    top = max(float(counts.max()) for counts in report.occurrences.values())
    width = max(1.0, np.ceil((top + 1) / 40))
    edges = np.arange(0, top + 1 + width, width) - 0.5
    return edges, [np.histogram(counts, edges)[0] for counts in report.occurrences.values()]


def histogram(report: HubnessReport) -> Html:
    """Return how many rows are in how many lists, as a drawing with its key."""
    edges, heights = _bins(report)
    # Square roots, or the few hubs on the right would not be seen beside the many rows on the left.
    tallest = np.sqrt(max(int(column.max()) for column in heights))
    bins, across = len(edges) - 1, 460 / (len(edges) - 1)
    width = across / len(heights)
    bars = []
    for number, (column, color) in enumerate(zip(heights, COLORS, strict=False)):
        for i in np.flatnonzero(column):
            tall = 170 * np.sqrt(column[i]) / tallest
            low, high = edges[i] + 0.5, edges[i + 1] - 0.5
            bars.append(
                f'<rect x="{10 + i * across + number * width:.1f}" y="{180 - tall:.1f}" '
                f'width="{width * 0.92:.1f}" height="{tall:.1f}" fill="{color}">'
                f"<title>{report.columns[number]}: {column[i]} rows in {low:g} to {high:g} lists"
                "</title></rect>"
            )
    centers = [(10 + (i + 0.5) * across, i) for i in range(0, bins, max(1, bins // 6))]
    ticks = "".join(
        # The last label would be cut at the edge if it were centered below its bar.
        drawings.words((min(x, 478.0), 198), f"{edges[i] + 0.5:g}", "end" if x > 440 else "middle")
        for x, i in centers
    )
    axis = '<line x1="10" y1="180" x2="470" y2="180" stroke="#888"/>'
    label = f"histogram: lists of {report.k} that a row is in, {' and '.join(report.columns)}"
    drawing: str = markup.svg(480, 204, label, [axis, *bars, ticks])
    if len(report.columns) > 1:
        drawing += markup.color_key(zip(COLORS, report.columns, strict=True))
    caption = f"Lists of {report.k} that a row is in; height: square root of the number of rows."
    return markup.figure(drawing, caption)


def hub_map(report: HubnessReport) -> tuple[np.ndarray, np.ndarray] | None:
    """Return positions of rows and their coordinates, by the distances before reduction.

    Classical scaling of the rows, or of a sample of many. None where there are no distances.
    """
    space = _inner(report.space)
    if not isinstance(space, Measure) or len(space.rows_) < 3:
        return None
    first = next(iter(report.occurrences.values()))
    rows = np.arange(len(first))
    if len(rows) > MAX_MAPPED_ROWS:
        largest = np.argsort(-first, kind="stable")[: MAX_MAPPED_ROWS // 10]
        some = np.random.default_rng(0).choice(rows, MAX_MAPPED_ROWS - len(largest), replace=False)
        rows = np.union1d(largest, some)
    distances = square(space, space.rows_[rows], undefined="keep")
    if not np.isfinite(distances).all():
        return None
    # The wider direction is the horizontal one.
    return rows, classical_scaling(distances, 2)[:, ::-1]


def hub_maps(report: HubnessReport, rows: np.ndarray, coordinates: np.ndarray) -> Html:
    """Return maps of some rows, one for each column of the report, with the hubs on them.

    Parameters
    ----------
    report : HubnessReport
    rows : int array of m
        Positions of the rows.
    coordinates : float array of shape (m, 2)
    """
    xy, height = drawings.frame(coordinates)
    panels = []
    for name, counts in report.occurrences.items():
        some = np.asarray(counts, dtype=float)[rows]
        hub = some > report.factor * report.k
        # In ascending order, so that the largest hubs are drawn on top.
        order = np.argsort(some, kind="stable")
        circles = []
        for j in order[hub[order]]:
            radius, title = 2.5 + 1.6 * np.sqrt(some[j] / report.k), f"{some[j]:g} lists"
            circles.append(drawings.mark(xy[j], radius, COLORS[0], f"row {rows[j]}: {title}"))
        # Fewer rows have larger dots, as on the map of the report; orphans a little larger ones.
        size = float(np.clip(90 / np.sqrt(len(xy)), 3.5, 7.0))
        orphans = drawings.dots(xy[some == 0], ORPHAN, size + 0.5)
        parts = [drawings.dots(xy[(some > 0) & ~hub], FOR, size), orphans, *circles]
        hubs = f"{int(hub.sum()):,} hub" + ("" if hub.sum() == 1 else "s")
        caption = f"{hubs}, {int((some == 0).sum()):,} rows in no list"
        if len(report.occurrences) > 1:
            caption = f"{name.capitalize()}: {caption}"
        drawing = markup.svg(480, height, f"map of rows. {caption}", parts)
        panels.append(markup.figure(drawing, caption))
    key = [
        (COLORS[0], "hubs; the larger, the more lists they are in"),
        (FOR, "other rows"),
        (ORPHAN, "orphans: in no list"),
    ]
    return Html(f'<div class="figures">{"".join(panels)}</div>{markup.color_key(key)}')


N_CHECKED_HUBS = 10  # rows in the most lists whose missing cells are counted
MAX_ROWS_FOR_WIDE_LISTS = 2_000  # lists of 10 % of the rows, and dimensions of reduced spaces
MAX_ROWS_FOR_ALL_PAIRS = 10_000  # Goodman-Kruskal compares all pairs with all pairs
N_SHOWN_HUBS = 5  # in the text form

# Statistic -> its meaning, and how it is formatted.
STATISTICS: dict[str, tuple[str, str]] = {
    "skewness": ("hubness: skewness of the k-occurrence", "{:.2f}"),
    "largest": ("lists that the largest hub is in", "{:.0f}"),
    "hubs": ("hubs: rows in more than {factor:g} x k lists", "{:.0f}"),
    "orphans": ("orphans: rows in no list", "{:.0f}"),
    "reachability": ("rows in at least one list", "{:.1%}"),
    "hub_occurrence": ("occurrences that are those of hubs", "{:.1%}"),
    "robin_hood": ("Robin Hood index", "{:.3f}"),
    "gini": ("Gini index", "{:.3f}"),
    "symmetric_share": ("neighbors that are mutual", "{:.1%}"),
    "symmetric_share_wide": ("neighbors that are mutual, lists of 10 % of the rows", "{:.1%}"),
    "mean_hubs": ("mean occurrence of the original hubs", "{:.1f}"),
    "mean_orphans": ("mean occurrence of the original orphans", "{:.1f}"),
    "mean_others": ("mean occurrence of the others", "{:.1f}"),
    "accuracy_1": ("label of the nearest other row is right", "{:.1%}"),
    "accuracy": ("vote of the k nearest others is right", "{:.1%}"),
    "goodman_kruskal": ("Goodman-Kruskal index of distances and labels", "{:.3f}"),
    "bad": ("occurrences in lists of another label", "{:.1f}%"),
    "bad_hubs": ("the same of the original hubs", "{:.1f}%"),
    "bad_orphans": ("the same of the original orphans", "{:.1f}%"),
    "bad_others": ("the same of the others", "{:.1f}%"),
    "retrieval": ("agreement of label sets with the k nearest", "{:.1%}"),
    "intrinsic_dimension": ("intrinsic dimension", "{:.1f}"),
    "concentration": ("concentration: sd / mean of all distances", "{:.3f}"),
    "relative_contrast": ("contrast: mean distance / distance of the nearest", "{:.2f}"),
}


@dataclass(frozen=True, eq=False)
class HubnessReport(Result):
    """The result of ``hubness_report``; print it, or show it in a notebook.

    Parameters
    ----------
    title : str
        The class of the measure, and the number of rows.
    k : int
        Length of the lists.
    factor : float
        A hub is in more than ``factor * k`` lists.
    statistics : mapping of column to mapping of statistic to number
        The columns are ``before`` and ``after`` for a reducer, else ``value``. None: undefined,
        such as the badness of hubs where there are none.
    occurrences : mapping of column to array of n
        The k-occurrence of every row.
    test : McNemar or None
        Of the votes of the k nearest before and after reduction.
    notes : list of str
        What was left out, and why.
    space : the space
    table : Table, optional
        Its rows, which are then shown with the largest hubs.
    ids : list, optional
        The ids of the rows; None: their positions.
    name : str
        Of the table, for headings; empty: none.
    reason : str, optional
        Why rows are compared as they are.
    lists : mapping of column to NeighborGraph
        The lists that were counted.
    """

    title: str
    k: int
    factor: float
    statistics: dict[str, Statistics]
    occurrences: dict[str, np.ndarray]
    test: agreement.McNemar | None = None
    notes: list[str] = field(default_factory=list)
    space: Any = field(default=None, repr=False)
    table: Table | None = field(default=None, repr=False)
    ids: list[Any] | None = field(default=None, repr=False)
    name: str = ""
    reason: str | None = None
    lists: dict[str, NeighborGraph] = field(default_factory=dict, repr=False)

    @property
    def columns(self) -> list[str]:
        """``["before", "after"]`` for a reducer, else ``["value"]``."""
        return list(self.statistics)

    def rows(self) -> list[tuple[str, str, list[str]]]:
        """Return (statistic, its meaning, the values as text) for every statistic."""
        rows, columns = [], self.statistics.values()
        for name, (label, form) in STATISTICS.items():
            if any(name in column for column in columns):
                values = [column.get(name) for column in columns]
                texts = ["–" if value is None else form.format(value) for value in values]
                rows.append((name, label.format(factor=self.factor), texts))
        return rows

    def top(self, n: int = 10) -> list[dict[str, int | float]]:
        """Return the rows in the most lists: position, and occurrence per column.

        Parameters
        ----------
        n : int
            How many.
        """
        columns = self.occurrences.items()
        order = np.argsort(-next(iter(self.occurrences.values())), kind="stable")[:n]
        return [{"row": int(i), **{name: v[i].item() for name, v in columns}} for i in order]

    def outliers(self, n: int = 10) -> list[dict[str, int | float]]:
        """Return the rows that the fewest lists reach, by ``antihub_scores``: position and score.

        Parameters
        ----------
        n : int
            How many.
        """
        if not self.lists:
            return []
        # Of a reducer, the space before: after it there are hardly rows that no list reaches.
        scores = occurrence.antihub_scores(next(iter(self.lists.values())), self.k)
        order = np.argsort(-scores, kind="stable")[:n].tolist()
        return [{"row": i, "score": float(scores[i])} for i in order]

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the occurrences as plain values, for JSON."""
        test, names = None, ("statistic", "pvalue", "only_before", "only_after")
        if self.test is not None:
            test = dict(zip(names, vars(self.test).values(), strict=True))
        answer = {
            "title": self.title,
            "k": self.k,
            "verdict": self.verdict,
            "hub_problem": self.judged.problem,
            "reduction_helps": self.judged.reduction_helps,
            "statistics": self.statistics,
            "test": test,
            "top": [{"id": self.id_of(line.pop("row")), **line} for line in self.top()],
            "outliers": [{"id": self.id_of(line.pop("row")), **line} for line in self.outliers()],
            "notes": self.notes,
            "missing_cells": self.missing_cells,
        }
        return plain(answer | ({} if self.reason is None else {"reason": self.reason}))

    def id_of(self, row: int | float) -> Any:
        """Return the id of a row, by its position."""
        return int(row) if self.ids is None else self.ids[int(row)]

    @property
    def missing_cells(self) -> str | None:
        """A sentence if the rows in the most lists are rows with missing cells, else None.

        Where missing cells are not compared, rows with many of them may be near to all others.
        """
        space, every = _inner(self.space), self._n_missing
        if every is None or getattr(space, "missing", None) in ("midpoint", "pessimistic"):
            return None
        hubs = every[[int(line["row"]) for line in self.top(N_CHECKED_HUBS)]]
        share, usual = float((hubs > 0).mean()), float((every > 0).mean())
        # Thresholds chosen by hand: clearly more hubs than rows have a missing cell, or hubs have
        # twice as many of them.
        if share > usual + 0.25 and share >= 0.5:
            more = f"{percent(share)} have one, {percent(usual)} of all rows do"
        elif hubs.mean() >= max(2.0 * every.mean(), 1.0):
            more = f"{hubs.mean():.1f} each, where {every.mean():.1f} is the mean"
        else:
            return None
        rows = f"Among the {len(hubs)} rows in the most lists are rows with many missing cells"
        same = "gower:missing=midpoint" if isinstance(space, Gower) else "auto"
        cure = ", which counts a missing cell as half alike."
        return Phrase(f"{rows} ({more}): compare with ", Param("measure", same), cure)

    @property
    def _n_missing(self) -> np.ndarray | None:
        """How many cells of each row are missing."""
        if self.table is None:
            return None
        return np.sum([column.missing for column in self.table], axis=0)

    def cells(self) -> dict[str, list[Any]]:
        """Return one row per statistic."""
        names, meanings, _ = map(list, zip(*self.rows(), strict=True))
        columns = self.statistics.items()
        values = {column: [found.get(name) for name in names] for column, found in columns}
        return {"statistic": names, "meaning": meanings, **values}

    def render(self, console: Console, spell: Spell = str) -> None:
        """Print a summary, the statistics, then the rows in the most lists."""
        title = f"{self.title}, lists of {self.k}"
        layout.headline(console, f"{self.name}: {title}" if self.name else title)
        if self.reason is not None:
            layout.say(console, self.reason)
        layout.say(console, self.verdict, "")
        if self.missing_cells is not None:
            layout.say(console, spell(self.missing_cells), "yellow")
        heads = [("", "left"), *((column, "right") for column in self.columns)]
        console.print(layout.grid(heads, ([label, *texts] for _, label, texts in self.rows())))
        layout.headline(console, "Rows in the most lists")
        console.print(self._hub_grid(console.width))
        for note in self.notes:
            layout.say(console, spell(note))

    def _hub_grid(self, width: int) -> Any:
        """Return the largest hubs as a table: lists, missing cells and the row itself."""
        hubs = self.top(N_SHOWN_HUBS)
        heads = ["row", *(["lists"] if self.columns == ["value"] else self.columns)]
        lines = [
            [short(self.id_of(row)), *map("{:g}".format, n)] for row, *n in map(dict.values, hubs)
        ]
        missing = self._n_missing
        if self.table is not None and missing is not None:
            heads.append("missing")
            for hub, line in zip(hubs, lines, strict=True):
                line.append(str(missing[int(hub["row"])]))
            # What the numbers leave of the width is for the row.
            wide = (max(map(len, column)) for column in zip(heads, *lines, strict=True))
            rest = max(20, width - sum(wide) - layout.SPACES * (len(heads) + 2))
            for hub, line in zip(hubs, lines, strict=True):
                line.append(write_row(self.table, int(hub["row"]), rest))
            heads.append("")
        return layout.grid([(head, "right" if head else "left") for head in heads], lines)

    @cached_property
    def judged(self) -> HubVerdict:
        """Whether hubs are a problem; if so, whether a reduction helps, which is then tried."""
        before, *after = self.statistics.values()
        if after:
            return HubVerdict(before, before, after[0])
        tried = HubVerdict(before).problem and try_reduction(self.space, self.k)
        return HubVerdict(before, *(tried or ()))

    @property
    def verdict(self) -> str:
        """The verdict in words, and the test of the votes where there are labels."""
        sentences = [str(self.judged)]
        if self.test is not None:
            word = "significant" if self.test.significant else "not significant"
            sentences.append(
                f"Votes that are right only after reduction: {self.test.only_second}, only before: "
                f"{self.test.only_first} (McNemar p = {self.test.pvalue:.3g}, {word})."
            )
        return " ".join(sentences)

    @property
    def sentences(self) -> list[str]:
        """The verdict, and the cure where the hubs are rows with missing cells."""
        return [text for text in (self.verdict, self.missing_cells) if text is not None]

    def html_title(self) -> str:
        """Return the heading of the page."""
        return f"Hubness: {self.title}"

    def html_body(self) -> str:
        """Return the body of the page, as HTML."""
        title = f"{self.title}, lists of {self.k}"
        lines = [[label, *texts] for _, label, texts in self.rows()]
        largest = [[f"{value:g}" for value in line.values()] for line in self.top()]
        parts = [markup.paragraphs(self.sentences), markup.table(lines, ["", *self.columns], title)]
        parts.append(markup.paragraphs(f"Note: {note}" for note in self.notes))
        parts.append(markup.section("In how many lists are the rows?", histogram(self)))
        mapped = hub_map(self)
        if mapped is not None:
            parts.append(markup.section("Where are the hubs?", hub_maps(self, *mapped)))
        parts.append(markup.section("Largest hubs", markup.table(largest, ["row", *self.columns])))
        apart = [[f"{value:.3g}" for value in line.values()] for line in self.outliers()]
        title = "Outliers: rows that the fewest lists reach"
        parts.append(markup.section(title, markup.table(apart, ["row", "score"])))
        return "".join(parts)

    def plot(self) -> Any:
        """Draw the occurrences as a histogram, and the rows as a map with the hubs on it.

        Needs matplotlib; returns its figure.
        """
        mapped = hub_map(self)
        panels = 1 + (0 if mapped is None else len(self.columns))
        figure = drawings.new_figure("HubnessReport.plot", 4.2 * panels + 1, 4)
        axes = np.atleast_1d(figure.subplots(1, panels))
        edges, heights = _bins(self)
        for name, column, color in zip(self.columns, heights, COLORS, strict=False):
            axes[0].stairs(column, edges, label=name, color=color, fill=True, alpha=0.5)
        axes[0].set(xlabel=f"lists of {self.k} that a row is in", ylabel="rows", yscale="symlog")
        axes[0].legend()
        if mapped is not None:
            rows, xy = mapped
            for axis, (name, counts) in zip(axes[1:], self.occurrences.items(), strict=True):
                some = np.asarray(counts, dtype=float)[rows]
                order = np.argsort(some, kind="stable")  # hubs on top
                size, color = 4 + 12 * some[order] / self.k, some[order]
                # One color scale for both maps; hubs are at its end.
                style = {"vmin": 0, "vmax": self.factor * self.k, "cmap": "viridis", "alpha": 0.7}
                points = axis.scatter(*xy[order].T, s=size, c=color, rasterized=True, **style)
                axis.set(title=f"hub map, {name}", xticks=[], yticks=[])
                figure.colorbar(points, ax=axis, label="occurrence")
        return figure


@forgiving
def hubness_report(
    space: Any, y: Any = None, k: int = 5, *, factor: float = 5.0, ties: str = "index"
) -> HubnessReport:
    """Measure the hubness of a space, and what a reducer changes.

    Parameters
    ----------
    space : fitted measure, NeighborGraph, square matrix of distances, or table
        A frame, dict of columns, path or Table is compared by the default measure (see
        ``lookalike.measures.choose_measure``); a square frame of numbers is a matrix.
        For a reducer, such as ``MutualProximity``, the report has two columns: before (the inner
        measure) and after.
    y : n labels, n sets of labels, or the name of a column of the table, optional
        With labels the report says how often neighbors agree with them.
    k : int
        Length of the lists.
    factor : float
        A hub is in more than ``factor * k`` lists.
    ties : {"index", "expected", "random"}
        How ties are broken; see ``k_occurrence``.

    Returns
    -------
    HubnessReport

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.hubness import NICDM, hubness_report
    >>> from lookalike.measures import Vector
    >>> rows = np.random.default_rng(0).normal(size=(200, 40))
    >>> report = hubness_report(NICDM(Vector()).fit(rows))
    >>> report.columns
    ['before', 'after']
    >>> report.statistics["before"]["skewness"] > 2 * report.statistics["after"]["skewness"]
    True
    """
    table, reason = None, None
    if _is_table(space):
        table, y = split_target(read_table(space), y, WHO)
        measure, reason = choose_measure(table)
        space = measure.fit(table)
    checked = as_space(space, WHO)
    spaces, title = {"value": checked}, type(checked).__name__
    if isinstance(checked, _Reducer):
        spaces = {"before": checked.measure_, "after": checked}
        title = f"{title} of {type(checked.measure_).__name__}"
    n = size_of(checked)
    labels, title = _labels(y, n), f"{title}, {n:,} rows"
    report = HubnessReport(title, k, factor, {}, {}, space=checked, table=table, reason=reason)
    right = [_count(report, name, each, labels, ties) for name, each in spaces.items()]
    test = agreement.mcnemar(*right) if len(right) == 2 and right[0] is not None else None
    return replace(report, test=test, notes=list(dict.fromkeys(report.notes)))


def _is_table(space: Any) -> bool:
    """Whether rows are given instead of a space; a square frame of numbers is a matrix."""
    if isinstance(space, Table | Mapping | str | os.PathLike):
        return True
    if not hasattr(space, "columns"):  # no frame
        return isinstance(space, list) and isinstance(next(iter(space), None), Mapping)
    n_rows, n_columns = space.shape
    return n_rows != n_columns or np.asarray(space).dtype.kind not in "biuf"


def _labels(y: Any, n: int) -> np.ndarray | list[Any] | None:
    """Return single labels as an array of codes, sets of labels as a list."""
    if y is None:
        return None
    listed = not isinstance(y, str) and hasattr(y, "__len__") and len(y) == n
    if listed and all(isinstance(cell, set | frozenset | list | tuple) for cell in y):
        return list(y)
    return code_labels(y, n, WHO)[0]


def _inner(space: Any) -> Any:
    """Return the space whose hubness a reducer reduces; any other space itself."""
    return space.measure_ if isinstance(space, _Reducer) else space


def _count(
    report: HubnessReport, name: str, space: Space, y: np.ndarray | list[Any] | None, ties: str
) -> np.ndarray | None:
    """Fill in a column of the report; return which votes are right, where there are labels."""
    k, notes = report.k, report.notes
    lists = lists_of(space, k, WHO)
    if isinstance(space, NeighborGraph):
        lists = space  # with all its entries, which may show where ties end
    report.lists[name] = lists
    counted = lists if ties == "index" else space
    counts = k_occurrence(counted, k, ties=ties, random_state=0)
    report.occurrences[name] = counts
    own = HubsAndOrphans(counts, k, report.factor)
    numbers: Statistics = {
        **count_hubs(counts),
        "hubs": float(len(own.hubs)),
        "reachability": float((counts > 0).mean()),
        "hub_occurrence": occurrence.hub_occurrence(counts, report.factor),
        "robin_hood": occurrence.robin_hood(counts),
        "gini": occurrence.gini(counts),
        "symmetric_share": occurrence.symmetric_share(lists, k),
    }
    report.statistics[name] = numbers
    if len(lists) <= MAX_ROWS_FOR_WIDE_LISTS and isinstance(space, Measure):
        numbers["symmetric_share_wide"] = occurrence.symmetric_share(space, 0.1)
    # The groups are those of the first space, so that the second shows what became of them.
    groups = HubsAndOrphans(next(iter(report.occurrences.values())), k, report.factor)
    if isinstance(report.space, _Reducer):
        numbers |= {f"mean_{g}": mean for g, mean in groups.mean_occurrence(counts).items()}
    right = None
    if isinstance(y, list):
        numbers["retrieval"] = agreement.retrieval_accuracy(lists, y, k)
    elif y is not None:
        numbers["accuracy_1"] = agreement.loo_accuracy(lists, y, 1)
        right = agreement.loo_predict(lists, y, k) == y
        numbers["accuracy"] = float(right.mean())
        numbers |= _concordance(space, y, notes)
        bad = occurrence.badness(counted, y, k, ties=ties, random_state=0)
        numbers["bad"] = 100 * float(bad.sum()) / float(counts.sum())
        numbers |= {f"bad_{g}": rate for g, rate in groups.badness(bad, counts).items()}
    numbers |= _about_distances(space, len(lists), name, notes)
    if ties != "expected":
        _note_ties(lists.distances[:, : k + 1], name, notes)
    return right


def _concordance(space: Space, y: np.ndarray, notes: list[Any]) -> Statistics:
    if isinstance(space, NeighborGraph):
        notes.append("the Goodman-Kruskal index needs all distances, not only lists")
    elif len(y) > MAX_ROWS_FOR_ALL_PAIRS:
        most = f"{MAX_ROWS_FOR_ALL_PAIRS:,} rows"
        notes.append(f"the Goodman-Kruskal index is left out above {most}")
    else:
        return {"goodman_kruskal": agreement.goodman_kruskal(space, y)}
    return {}


def _note_ties(near: np.ndarray, name: str, notes: list[Any]) -> None:
    tied = float((near[:, 1:] == near[:, :-1]).mean()) if near.shape[1] > 1 else 0.0
    if tied > 0.5:
        where = "" if name == "value" else f" {name} reduction"
        advice = InPython("; look at ties='expected' as well")
        notes.append(Phrase(f"{tied:.0%} of the neighbors{where} are tied", advice))


def _about_distances(space: Space, n: int, name: str, notes: list[str]) -> Statistics:
    """Return the intrinsic dimension and the contrast, which look at all pairs of rows."""
    # A reduced space is compared anew for every pair, which takes much longer.
    reduced = isinstance(space, _Reducer)
    most = MAX_ROWS_FOR_WIDE_LISTS if reduced else MAX_ROWS_FOR_ALL_PAIRS
    numbers: Statistics = {"intrinsic_dimension": None}
    if n > most:
        notes.append(f"the intrinsic dimension {name} is left out above {most:,} rows")
        return numbers
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LookalikeWarning)
            numbers["intrinsic_dimension"] = intrinsic_dimension(space)
    except InvalidInput as error:  # too few rows, ties or lists that are too short
        shown = "" if name == "value" else f" {name}"
        notes.append(Phrase(f"no intrinsic dimension{shown}: ", error.phrase()))
    if isinstance(space, Measure):
        contrast = distance_contrast(space)._asdict().items()
        # Without a finite value where every row has a duplicate.
        numbers |= {key: value if np.isfinite(value) else None for key, value in contrast}
    return numbers
