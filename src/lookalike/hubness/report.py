"""A report on the hubness of a space, before and after reduction."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from lookalike._runtime.keywords import forgiving
from lookalike._runtime.text import percent, plain, short
from lookalike.errors import InPython, InvalidInput, LookalikeWarning, Param, Phrase
from lookalike.evaluate.agreement import (
    McNemar,
    goodman_kruskal,
    loo_accuracy,
    loo_predict,
    mcnemar,
    retrieval_accuracy,
)
from lookalike.evaluate.contrast import distance_contrast
from lookalike.evaluate.dimension import intrinsic_dimension
from lookalike.evaluate.space import Space, as_space, lists_of, size_of
from lookalike.hubness.inequality import gini, hub_occurrence, robin_hood, skewness
from lookalike.hubness.occurrence import (
    HubsAndOrphans,
    antihub_scores,
    badness,
    k_occurrence,
    symmetric_share,
)
from lookalike.hubness.reducer import _Reducer
from lookalike.hubness.verdict import HubVerdict, Statistics, try_reduction
from lookalike.measures.contract.base import Measure
from lookalike.measures.default import choose_measure
from lookalike.measures.mixed.gower import Gower
from lookalike.neighbors.graph import NeighborGraph
from lookalike.show import layout
from lookalike.show.html import markup
from lookalike.show.html.drawings import dots, frame, mark, new_figure, words
from lookalike.show.html.markup import AGAINST, FOR, Html
from lookalike.show.result import Result, Spell
from lookalike.table import Table, read_table
from lookalike.table.model.display import write_row
from lookalike.table.model.targets import code_labels, split_target

if TYPE_CHECKING:
    from rich.console import Console

WHO = "hubness_report"
N_CHECKED_HUBS = 10  # rows in the most lists whose missing cells are counted


COLORS = (AGAINST, FOR)  # before, after
ORPHAN = "currentColor"  # visible on light and dark pages
MAX_MAPPED_ROWS = 1_500  # hubs first, then a fixed sample (chosen by hand)
N_LANDMARKS = 150


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
        words((min(x, 478.0), 198), f"{edges[i] + 0.5:g}", "end" if x > 440 else "middle")
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

    Landmark multidimensional scaling: classical scaling of a sample, and the other rows by their
    distances to it (de Silva, Tenenbaum 2004, Sparse multidimensional scaling using landmark
    points). None where there are no distances.
    """
    space = report.space
    if isinstance(space, _Reducer):
        space = space.measure_
    if not isinstance(space, Measure) or len(space.rows_) < 3:
        return None
    first = next(iter(report.occurrences.values()))
    n = len(first)
    rng = np.random.default_rng(0)
    rows = np.arange(n)
    if n > MAX_MAPPED_ROWS:
        largest = np.argsort(-first, kind="stable")[: MAX_MAPPED_ROWS // 10]
        rows = np.union1d(largest, rng.choice(n, MAX_MAPPED_ROWS - len(largest), replace=False))
    landmarks = np.sort(rng.choice(rows, min(N_LANDMARKS, len(rows)), replace=False))
    squares = space.block(space.rows_[rows], space.rows_[landmarks]) ** 2
    if not np.isfinite(squares).all():
        return None
    inner = squares[np.isin(rows, landmarks)]
    inner = (inner + inner.T) / 2  # the measure need not be symmetric
    means = inner.mean(axis=0)
    gram = (means[:, None] + means - inner - means.mean()) / 2
    values, vectors = np.linalg.eigh(gram)
    # Eigenvalues are divided by: rows on a line, or all equal, have a second one of 0 or below.
    values, vectors = np.maximum(values[-2:], 1e-12 * max(values[-1], 1e-300)), vectors[:, -2:]
    # The wider direction is the horizontal one.
    return rows, ((means - squares) @ (vectors / np.sqrt(values)) / 2)[:, ::-1]


def hub_maps(report: HubnessReport, rows: np.ndarray, coordinates: np.ndarray) -> Html:
    """Return maps of some rows, one for each column of the report, with the hubs on them.

    Parameters
    ----------
    report : HubnessReport
    rows : int array of m
        Positions of the rows.
    coordinates : float array of shape (m, 2)
    """
    xy, height = frame(coordinates)
    panels = []
    for name, counts in report.occurrences.items():
        some = np.asarray(counts, dtype=float)[rows]
        hub = some > report.factor * report.k
        # In ascending order, so that the largest hubs are drawn on top.
        order = np.argsort(some, kind="stable")
        circles = [
            mark(xy[j], 2.5 + 1.6 * np.sqrt(some[j] / report.k), COLORS[0],
                 f"row {int(rows[j])}: {some[j]:g} lists")
            for j in order if hub[j]
        ]  # fmt: skip
        # Fewer rows have larger dots, as on the map of the report; orphans a little larger ones.
        size = float(np.clip(90 / np.sqrt(len(xy)), 3.5, 7.0))
        orphans = dots(xy[some == 0], ORPHAN, size + 0.5)
        parts = [dots(xy[(some > 0) & ~hub], FOR, size), orphans, *circles]
        hubs = f"{int(hub.sum()):,} hub" + ("" if hub.sum() == 1 else "s")
        caption = f"{hubs}, {int((some == 0).sum()):,} rows in no list"
        if len(report.occurrences) > 1:
            caption = f"{name.capitalize()}: {caption}"
        panels.append(
            markup.figure(markup.svg(480, height, f"map of rows. {caption}", parts), caption)
        )
    key = [
        (COLORS[0], "hubs; the larger, the more lists they are in"),
        (FOR, "other rows"),
        (ORPHAN, "orphans: in no list"),
    ]
    return Html(f'<div class="figures">{"".join(panels)}</div>{markup.color_key(key)}')


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
        Of the table, for headings.
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
    test: McNemar | None = None
    notes: list[str] = field(default_factory=list)
    space: Any = field(default=None, repr=False)
    table: Table | None = field(default=None, repr=False)
    ids: list[Any] | None = field(default=None, repr=False)
    name: str = "table"
    reason: str | None = None
    lists: dict[str, NeighborGraph] = field(default_factory=dict, repr=False)

    @property
    def columns(self) -> list[str]:
        """``["before", "after"]`` for a reducer, else ``["value"]``."""
        return list(self.statistics)

    def rows(self) -> list[tuple[str, str, list[str]]]:
        """Return (statistic, its meaning, the values as text) for every statistic."""
        rows = []
        for name, (label, form) in STATISTICS.items():
            if any(name in statistics for statistics in self.statistics.values()):
                values = [statistics.get(name) for statistics in self.statistics.values()]
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
        scores = antihub_scores(next(iter(self.lists.values())), self.k)
        order = np.argsort(-scores, kind="stable")[:n]
        return [{"row": int(i), "score": float(scores[i])} for i in order]

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the occurrences as plain values, for JSON."""
        test, mcnemar_test = None, self.test
        if mcnemar_test is not None:
            test = {"statistic": mcnemar_test.statistic, "pvalue": mcnemar_test.pvalue}
            test |= {"only_before": mcnemar_test.only_first, "only_after": mcnemar_test.only_second}
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
        space = self.space.measure_ if isinstance(self.space, _Reducer) else self.space
        missing = self._n_missing
        if missing is None or getattr(space, "missing", None) in ("midpoint", "pessimistic"):
            return None
        hubs = [int(line["row"]) for line in self.top(N_CHECKED_HUBS)]
        rows = f"Among the {len(hubs)} rows in the most lists"
        same = "gower:missing=midpoint" if isinstance(space, Gower) else "auto"
        cure = ", which counts a missing cell as half alike."
        comparison = _compare_missing(missing[hubs], missing)
        if comparison is None:
            return None
        comparison = f"{rows} are rows with many missing cells ({comparison}): compare with "
        return Phrase(comparison, Param("measure", same), cure)

    @property
    def _n_missing(self) -> np.ndarray | None:
        """How many cells of each row are missing."""
        if self.table is None:
            return None
        return np.sum([column.missing for column in self.table], axis=0)

    def cells(self) -> dict[str, list[Any]]:
        """Return one row per statistic."""
        names = [name for name, _, _ in self.rows()]
        meanings = [meaning for _, meaning, _ in self.rows()]
        columns = self.statistics.items()
        values = {column: [numbers.get(name) for name in names] for column, numbers in columns}
        return {"statistic": names, "meaning": meanings, **values}

    def render(self, console: Console, spell: Spell = str) -> None:
        """Print a summary, the statistics, then the rows in the most lists."""
        layout.headline(console, f"{self.name}: {self.title}, lists of {self.k}")
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
        table, missing = self.table, self._n_missing
        heads = ["row", *(["lists"] if self.columns == ["value"] else self.columns)]
        hubs: list[list[Any]] = [[*hub.values()] for hub in self.top(N_SHOWN_HUBS)]
        lines = [[short(self.id_of(row)), *map("{:g}".format, counts)] for row, *counts in hubs]
        if missing is not None:
            heads.append("missing")
            for (row, *_), line in zip(hubs, lines, strict=True):
                line.append(str(missing[row]))
        # What the numbers leave of the width is for the row.
        used = (max(map(len, column)) + layout.SPACES for column in zip(heads, *lines, strict=True))
        rest = max(20, width - sum(used) - 2 * layout.SPACES)
        for (row, *_), line in zip(hubs, lines, strict=True):
            line.append("" if table is None else write_row(table, row, rest))
        return layout.grid([*((head, "right") for head in heads), ("", "left")], lines)

    def __str__(self) -> str:
        rows = self.rows()
        wide = max(len(label) for _, label, _ in rows)
        lines = [f"{self.title}, lists of {self.k}", *self.sentences]
        lines.append(" " * wide + "".join(f"{name:>10}" for name in self.columns))
        lines += [
            f"{label:<{wide}}" + "".join(f"{text:>10}" for text in texts)
            for _, label, texts in rows
        ]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    @cached_property
    def judged(self) -> HubVerdict:
        """Whether hubs are a problem; if so, whether a reduction helps, which is then tried."""
        before, *after = self.statistics.values()
        if after:
            return HubVerdict(before, before, after[0])
        verdict = HubVerdict(before)
        tried = try_reduction(self.space, self.k) if verdict.problem else None
        return verdict if tried is None else HubVerdict(before, *tried)

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
        figure = new_figure("HubnessReport.plot", 4.2 * panels + 1, 4)
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
                dots = axis.scatter(*xy[order].T, s=size, c=color, rasterized=True, **style)
                axis.set(title=f"hub map, {name}", xticks=[], yticks=[])
                figure.colorbar(dots, ax=axis, label="occurrence")
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
    n = size_of(checked)
    labels, label_sets = _labels(y, n)
    spaces: dict[str, Space] = {"value": checked}
    title = type(checked).__name__
    if isinstance(checked, _Reducer):
        spaces = {"before": checked.measure_, "after": checked}
        title = f"{title} of {type(checked.measure_).__name__}"
    right: list[np.ndarray] = []
    notes: list[str] = []
    statistics: dict[str, Statistics] = {}
    occurrences: dict[str, np.ndarray] = {}
    graphs: dict[str, NeighborGraph] = {}
    for name, each_space in spaces.items():
        lists = lists_of(each_space, k, WHO)
        if isinstance(each_space, NeighborGraph):
            lists = each_space  # with all its entries, which may show where ties end
        graphs[name] = lists
        counted = lists if ties == "index" else each_space
        occurrences[name] = counts = k_occurrence(counted, k, ties=ties, random_state=0)
        # The groups are those of the first space, so that the second shows what became of them.
        groups = HubsAndOrphans(next(iter(occurrences.values())), k, factor)
        numbers = statistics[name] = _about_occurrence(HubsAndOrphans(counts, k, factor))
        numbers |= _about_symmetry(each_space, lists, k)
        if len(spaces) > 1:
            numbers |= _prefixed("mean", groups.mean_occurrence(counts))
        if labels is not None:
            bad = badness(counted, labels, k, ties=ties, random_state=0)
            numbers |= _about_labels(each_space, lists, labels, k, notes)
            numbers["bad"] = 100 * float(bad.sum()) / float(counts.sum())
            numbers |= _prefixed("bad", groups.badness(bad, counts))
            right.append(np.asarray(loo_predict(lists, labels, k) == labels))
        if label_sets is not None:
            numbers["retrieval"] = retrieval_accuracy(lists, label_sets, k)
        numbers["intrinsic_dimension"] = _dimension(each_space, lists, name, notes)
        numbers |= _about_contrast(each_space, n)
        notes += _about_ties(lists, k, name, ties)
    test = mcnemar(*right) if len(right) == 2 else None
    notes, title = list(dict.fromkeys(notes)), f"{title}, {n:,} rows"
    found_in = statistics, occurrences
    return HubnessReport(
        title, k, factor, *found_in, test, notes, checked, table, reason=reason, lists=graphs
    )


def _is_table(space: Any) -> bool:
    """Whether rows are given instead of a space; a square frame of numbers is a matrix."""
    if isinstance(space, Table | Mapping | str | os.PathLike):
        return True
    if not hasattr(space, "columns"):  # no frame
        return isinstance(space, list) and isinstance(next(iter(space), None), Mapping)
    n_rows, n_columns = space.shape
    return n_rows != n_columns or np.asarray(space).dtype.kind not in "biuf"


def _labels(y: Any, n: int) -> tuple[np.ndarray | None, list[Any] | None]:
    """Return single labels as codes, or sets of labels."""
    if y is None:
        return None, None
    listed = not isinstance(y, str) and hasattr(y, "__len__") and len(y) == n
    if listed and all(isinstance(cell, set | frozenset | list | tuple) for cell in y):
        return None, list(y)
    return code_labels(y, n, WHO)[0], None


def _about_occurrence(groups: HubsAndOrphans) -> Statistics:
    counts = groups.occurrence
    return {
        "skewness": skewness(counts),
        "largest": groups.largest,
        "hubs": float(len(groups.hubs)),
        "orphans": float(len(groups.orphans)),
        "reachability": float((counts > 0).mean()),
        "hub_occurrence": hub_occurrence(counts, groups.factor),
        "robin_hood": robin_hood(counts),
        "gini": gini(counts),
    }


def _prefixed(word: str, numbers: Statistics) -> Statistics:
    return {f"{word}_{group}": value for group, value in numbers.items()}


def _about_symmetry(space: Space, lists: NeighborGraph, k: int) -> Statistics:
    numbers: Statistics = {"symmetric_share": symmetric_share(lists, k)}
    if len(lists) <= MAX_ROWS_FOR_WIDE_LISTS and isinstance(space, Measure):
        numbers["symmetric_share_wide"] = symmetric_share(space, 0.1)
    return numbers


def _about_contrast(space: Space, n: int) -> Statistics:
    if not isinstance(space, Measure) or n > _most_rows(space):
        return {}
    contrast = distance_contrast(space)._asdict().items()
    # Without a finite value where every row has a duplicate.
    return {key: value if np.isfinite(value) else None for key, value in contrast}


def _most_rows(space: Space) -> int:
    """Return up to how many rows all pairs are compared."""
    # A reduced space is compared anew for every pair, which takes much longer.
    return MAX_ROWS_FOR_WIDE_LISTS if isinstance(space, _Reducer) else MAX_ROWS_FOR_ALL_PAIRS


def _compare_missing(hubs: np.ndarray, every: np.ndarray) -> str | None:
    """Return how many cells hubs and all rows miss; None where hubs do not miss more."""
    # Thresholds chosen by hand: clearly more hubs than rows have a missing cell, or hubs have
    # twice as many of them.
    share, usual = float((hubs > 0).mean()), float((every > 0).mean())
    count, mean = float(hubs.mean()), float(every.mean())
    if share > usual + 0.25 and share >= 0.5:
        return f"{percent(share)} have one, {percent(usual)} of all rows do"
    if count >= 2.0 * mean and count >= 1.0:
        return f"{count:.1f} each, where {mean:.1f} is the mean"
    return None


def _about_labels(
    space: Space, lists: NeighborGraph, y: np.ndarray, k: int, notes: list[str]
) -> Statistics:
    numbers: Statistics = {
        "accuracy_1": loo_accuracy(lists, y, 1),
        "accuracy": loo_accuracy(lists, y, k),
    }
    most = MAX_ROWS_FOR_ALL_PAIRS
    if isinstance(space, NeighborGraph):
        notes.append("the Goodman-Kruskal index needs all distances, not only lists")
    elif len(y) > most:
        notes.append(f"the Goodman-Kruskal index is left out above {most:,} rows")
    else:
        numbers["goodman_kruskal"] = goodman_kruskal(space, y)
    return numbers


def _dimension(space: Space, lists: NeighborGraph, name: str, notes: list[str]) -> float | None:
    most = _most_rows(space)
    if len(lists) > most:
        notes.append(f"the intrinsic dimension {name} is left out above {most:,} rows")
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LookalikeWarning)
            return intrinsic_dimension(space)
    except InvalidInput as error:  # too few rows, ties or lists that are too short
        shown = "" if name == "value" else f" {name}"
        notes.append(Phrase(f"no intrinsic dimension{shown}: ", error.phrase()))
        return None


def _about_ties(lists: NeighborGraph, k: int, name: str, ties: str) -> list[str]:
    near = lists.distances[:, : k + 1]
    tied = float((near[:, 1:] == near[:, :-1]).mean()) if near.shape[1] > 1 else 0.0
    if tied <= 0.5 or ties == "expected":
        return []
    where = "" if name == "value" else f" {name} reduction"
    advice = InPython("; look at ties='expected' as well")
    return [Phrase(f"{tied:.0%} of the neighbors{where} are tied", advice)]
