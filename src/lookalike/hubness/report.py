"""One page about the hubs of a space, before and after their repair."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lookalike._runtime.text import percent, plain, short
from lookalike.errors import InPython, InvalidInput, LookalikeWarning, Phrase
from lookalike.evaluate.agreement import (
    McNemar,
    goodman_kruskal,
    loo_accuracy,
    loo_predict,
    mcnemar,
    retrieval_accuracy,
)
from lookalike.evaluate.dimension import intrinsic_dimension
from lookalike.evaluate.space import Space, as_space, lists_of, size_of
from lookalike.hubness.inequality import gini, hub_occurrence, robin_hood, skewness
from lookalike.hubness.occurrence import HubsAndOrphans, badness, k_occurrence, symmetric_share
from lookalike.hubness.reducer import _Reducer
from lookalike.measures.contract.base import Measure
from lookalike.neighbors.graph import NeighborGraph
from lookalike.show import layout
from lookalike.show.html.drawings import dots, frame, mark, new_figure, words
from lookalike.show.html.markup import (
    AGAINST,
    FOR,
    Html,
    color_key,
    figure,
    paragraphs,
    section,
    svg,
    table,
)
from lookalike.show.result import Result, Spell
from lookalike.table import Table
from lookalike.table.model.display import write_row
from lookalike.table.model.targets import code_labels

if TYPE_CHECKING:
    from rich.console import Console

    from lookalike.table import Table

SOME = 1.0  # skewness of the k-occurrence from which hubs are worth a look
MANY = 1.4  # and from which few rows rule; the threshold of the hubness literature
TOP = 10  # rows in the most lists that are looked at for gaps


def verdict(report: HubnessReport) -> str:
    """Say whether hubs are a problem, what a repair changed, and whether labels agree better.

    Parameters
    ----------
    report : HubnessReport
    """
    before, *after = report.figures.values()
    sentences = [_state(before, report), *(_change(before, one) for one in after)]
    if not after and _number(before, "skewness") > SOME:
        sentences.append("A repair, such as mutual proximity, may help.")
    if report.test is not None:
        word = "significant" if report.test.significant else "not significant"
        sentences.append(
            f"Votes that are right only after the repair: {report.test.only_second}, only before: "
            f"{report.test.only_first} (McNemar p = {report.test.pvalue:.3g}, {word})."
        )
    return " ".join(sentences)


def _number(figures: dict[str, float | None], name: str) -> float:
    value = figures.get(name)
    return 0.0 if value is None else value


def _state(figures: dict[str, float | None], report: HubnessReport) -> str:
    skewness = _number(figures, "skewness")
    largest, orphans = _number(figures, "largest"), _number(figures, "orphans")
    many = 1.0 - _number(figures, "reachability")
    lists = f"the row in the most lists is in {largest:,.0f} where {report.k} is the mean"
    none = "every row is in at least one"
    if orphans:
        rows = "1 row" if round(orphans) == 1 else f"{orphans:,.0f} rows"
        none = f"{rows} ({percent(many)}) {'is' if rows == '1 row' else 'are'} in none"
    if skewness > MANY:
        word = "Strong hubness"
    elif skewness > SOME:
        word = "Some hubness"
    else:
        word = "No hubness to speak of"
    return f"{word} (skewness {skewness:.2f}): {lists}, and {none}."


def _change(before: dict[str, float | None], after: dict[str, float | None]) -> str:
    old, new = _number(before, "skewness"), _number(after, "skewness")
    word = "lowers" if new < old else "does not lower"
    largest = f"{_number(before, 'largest'):,.0f} to {_number(after, 'largest'):,.0f} lists"
    orphans = f"{_number(before, 'orphans'):,.0f} to {_number(after, 'orphans'):,.0f}"
    return (
        f"The repair {word} the skewness ({old:.2f} to {new:.2f}); the largest hub goes from "
        f"{largest}, the rows in none from {orphans}."
    )


def gaps_of_hubs(report: HubnessReport, table: Table) -> str | None:
    """Say so if the rows in the most lists are rows with missing cells.

    What is missing cannot differ, so rows with gaps may be near to everybody.

    Parameters
    ----------
    report : HubnessReport
    table : Table
        The rows it is about.

    Returns
    -------
    A sentence, or None where the largest hubs have no more gaps than other rows.
    """
    gaps: Any = np.zeros(len(table), dtype=np.int64)
    for column in table:
        gaps = gaps + column.missing
    top = [int(line["row"]) for line in report.top(TOP)]
    have, usual = float((gaps[top] > 0).mean()), float((gaps > 0).mean())
    if have <= usual + 0.25 or have < 0.5:
        more, mean = float(gaps[top].mean()), float(gaps.mean())
        if more < 2.0 * mean or more < 1.0:
            return None
        return (
            f"The {len(top)} rows in the most lists lack {more:.1f} cells each, where {mean:.1f} "
            "is the mean: what is missing cannot differ, so they are near to everybody."
        )
    return (
        f"{percent(have)} of the {len(top)} rows in the most lists have a missing cell, "
        f"{percent(usual)} of all rows do: what is missing cannot differ, so they are near to "
        "everybody."
    )


COLORS = (AGAINST, FOR)  # before, after
ORPHAN = "currentColor"  # stands out on light and dark ground
POINTS = 1_500  # rows on a map: hubs first, then a fixed sample
LANDMARKS = 150


def fragment(report: HubnessReport) -> str:
    """Return tables and pictures without the page around them."""
    title = f"{report.title}, lists of {report.k}"
    figures = [[label, *texts] for _, label, texts in report.rows()]
    largest = [[f"{value:g}" for value in line.values()] for line in report.top()]
    parts = [paragraphs([report.verdict]), table(figures, ["", *report.columns], title)]
    parts.append(paragraphs(f"Note: {note}" for note in report.notes))
    parts.append(section("In how many lists are the rows?", histogram(report)))
    places = hub_map(report)
    if places is not None:
        parts.append(section("Where are the hubs?", hub_maps(report, *places)))
    parts.append(section("Largest hubs", table(largest, ["row", *report.columns])))
    return "".join(parts)


def _bins(report: HubnessReport) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return edges and, for each column, the number of rows between them."""
    top = max(float(counts.max()) for counts in report.occurrences.values())
    width = max(1.0, np.ceil((top + 1) / 40))
    edges = np.arange(0, top + 1 + width, width) - 0.5
    return edges, [np.histogram(counts, edges)[0] for counts in report.occurrences.values()]


def histogram(report: HubnessReport) -> Html:
    """Return how many rows are in how many lists, as a drawing with its key."""
    edges, heights = _bins(report)
    # Roots, or the few hubs on the right would not be seen beside the many rows on the left.
    tallest = np.sqrt(max(int(column.max()) for column in heights))
    bins, across = len(edges) - 1, 460 / (len(edges) - 1)
    bars = []
    for at, (column, color) in enumerate(zip(heights, COLORS, strict=False)):
        wide = across / len(heights)
        for i in range(bins):
            tall = 170 * np.sqrt(column[i]) / tallest
            if column[i]:
                low, high = edges[i] + 0.5, edges[i + 1] - 0.5
                bars.append(
                    f'<rect x="{10 + i * across + at * wide:.1f}" y="{180 - tall:.1f}" '
                    f'width="{wide * 0.92:.1f}" height="{tall:.1f}" fill="{color}">'
                    f"<title>{report.columns[at]}: {column[i]} rows in {low:g} to {high:g} lists"
                    "</title></rect>"
                )
    places = [(10 + (i + 0.5) * across, i) for i in range(0, bins, max(1, bins // 6))]
    ticks = "".join(
        # The last number would be cut at the edge if it stood in the middle of its bar.
        words((min(x, 478.0), 198), f"{edges[i] + 0.5:g}", "end" if x > 440 else "middle")
        for x, i in places
    )
    axis = '<line x1="10" y1="180" x2="470" y2="180" stroke="#888"/>'
    label = f"histogram: lists of {report.k} that a row is in, {' and '.join(report.columns)}"
    drawing = svg(480, 204, label, [axis, *bars, ticks])
    names = zip(COLORS, report.columns, strict=False)
    key = color_key(names) if len(report.columns) > 1 else ""
    caption = f"Lists of {report.k} that a row is in; height: root of the number of rows."
    return figure(drawing + key, caption)


def hub_map(report: HubnessReport) -> tuple[np.ndarray, np.ndarray] | None:
    """Return positions of rows and their places in the plane, by the distances before a repair.

    Landmark scaling: classical scaling of a sample, and the other rows placed by their distances to
    it (de Silva, Tenenbaum 2004, Sparse multidimensional scaling using landmark points). None
    where there are no distances.
    """
    space = report.space
    if isinstance(space, _Reducer):
        space = space.measure_
    if not isinstance(space, Measure) or len(space.rows_) < 3:
        return None
    first = next(iter(report.occurrences.values()))
    n = len(first)
    rng = np.random.default_rng(0)
    at = np.arange(n)
    if n > POINTS:
        largest = np.argsort(-first, kind="stable")[: POINTS // 10]
        at = np.union1d(largest, rng.choice(n, POINTS - len(largest), replace=False))
    marks = np.sort(rng.choice(at, min(LANDMARKS, len(at)), replace=False))
    squares = space.block(space.rows_[at], space.rows_[marks]) ** 2
    inner = squares[np.isin(at, marks)]
    if not np.isfinite(squares).all():
        return None
    inner = (inner + inner.T) / 2
    means = inner.mean(axis=0)
    gram = (means[:, None] + means - inner - means.mean()) / 2
    values, vectors = np.linalg.eigh(gram)
    values, vectors = np.maximum(values[-2:], 1e-12 * max(values[-1], 1e-300)), vectors[:, -2:]
    # The wider direction lies flat.
    return at, ((means - squares) @ (vectors / np.sqrt(values)) / 2)[:, ::-1]


def hub_maps(report: HubnessReport, at: np.ndarray, places: np.ndarray) -> Html:
    """Return maps of some rows, one for each column of the report, with the hubs on them.

    Parameters
    ----------
    report : HubnessReport
    at : int array of m
        Positions of the rows.
    places : float array of shape (m, 2)
    """
    xy, height = frame(places)
    panels = []
    for name, counts in report.occurrences.items():
        some = np.asarray(counts, dtype=float)[at]
        hub = some > report.factor * report.k
        order = np.argsort(some, kind="stable")
        circles = [
            mark(xy[j], 2.5 + 1.6 * np.sqrt(some[j] / report.k), COLORS[0],
                 f"row {int(at[j])}: {some[j]:g} lists")
            for j in order if hub[j]
        ]  # fmt: skip
        # The fewer, the larger, as on the map of the rows; orphans a little larger than the rest.
        size = float(np.clip(90 / np.sqrt(len(xy)), 3.5, 7.0))
        orphans = dots(xy[some == 0], ORPHAN, size + 0.5)
        parts = [dots(xy[(some > 0) & ~hub], FOR, size), orphans, *circles]
        hubs = f"{int(hub.sum()):,} hub" + ("" if hub.sum() == 1 else "s")
        caption = f"{hubs}, {int((some == 0).sum()):,} rows in no list"
        if len(report.occurrences) > 1:
            caption = f"{name.capitalize()}: {caption}"
        panels.append(figure(svg(480, height, f"map of rows. {caption}", parts), caption))
    key = [
        (COLORS[0], "hubs; the larger, the more lists they are in"),
        (FOR, "other rows"),
        (ORPHAN, "orphans: in no list"),
    ]
    return Html(f'<div class="figures">{"".join(panels)}</div>{color_key(key)}')


def draw(report: HubnessReport) -> Any:
    """Draw histogram and map with matplotlib."""
    places = hub_map(report)
    panels = 1 + (0 if places is None else len(report.columns))
    figure = new_figure("HubnessReport.plot", 4.2 * panels + 1, 4)
    axes = np.atleast_1d(figure.subplots(1, panels))
    edges, heights = _bins(report)
    for name, column, color in zip(report.columns, heights, COLORS, strict=False):
        axes[0].stairs(column, edges, label=name, color=color, fill=True, alpha=0.5)
    axes[0].set(xlabel=f"lists of {report.k} that a row is in", ylabel="rows", yscale="symlog")
    axes[0].legend()
    if places is not None:
        at, xy = places
        for axis, (name, counts) in zip(axes[1:], report.occurrences.items(), strict=True):
            some = np.asarray(counts, dtype=float)[at]
            order = np.argsort(some, kind="stable")
            dots = axis.scatter(
                xy[order, 0],
                xy[order, 1],
                s=4 + 12 * some[order] / report.k,
                c=some[order],
                vmin=0,
                vmax=report.factor * report.k,  # one scale for both maps; hubs are at its end
                cmap="viridis",
                alpha=0.7,
                rasterized=True,
            )
            axis.set(title=f"hub map, {name}", xticks=[], yticks=[])
            figure.colorbar(dots, ax=axis, label="occurrence")
    return figure


SMALL = 2_000  # rows up to which embeddings and very long lists are worth their time
SHOWN = 5  # rows in the most lists that the text form shows
MEDIUM = 10_000  # rows up to which all pairs are compared with all pairs

# Figure -> what it says, and how it is written.
FIGURES: dict[str, tuple[str, str]] = {
    "skewness": ("hubness: skewness of the k-occurrence", "{:.2f}"),
    "largest": ("lists that the largest hub is in", "{:.0f}"),
    "hubs": ("hubs: rows in more than {factor:g} x k lists", "{:.0f}"),
    "orphans": ("orphans: rows in no list", "{:.0f}"),
    "reachability": ("rows in at least one list", "{:.1%}"),
    "hub_occurrence": ("places in lists held by hubs", "{:.1%}"),
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
    "bad": ("places in lists of another label", "{:.1f}%"),
    "bad_hubs": ("the same of the original hubs", "{:.1f}%"),
    "bad_orphans": ("the same of the original orphans", "{:.1f}%"),
    "bad_others": ("the same of the others", "{:.1f}%"),
    "retrieval": ("agreement of label sets with the k nearest", "{:.1%}"),
    "intrinsic_dimension": ("intrinsic dimension", "{:.1f}"),
}


@dataclass(frozen=True, eq=False)
class HubnessReport(Result):
    """What ``hubness_report`` found; print it, or show it in a notebook.

    Parameters
    ----------
    title : str
        What was looked at.
    k : int
        Length of the lists.
    factor : float
        A hub stands in more than ``factor * k`` lists.
    figures : mapping of column to mapping of figure to number
        The columns are ``before`` and ``after`` for a reducer, else ``value``. None: a figure that
        has no value, such as the badness of hubs where there are none.
    occurrences : mapping of column to array of n
        The k-occurrence of every row.
    test : McNemar or None
        Whether the votes of the k nearest are right on other rows after the repair than before.
    notes : list of str
        What was left out, and why.
    space : the space that was looked at
    table : Table, optional
        Its rows, which are then shown with the largest hubs.
    ids : list, optional
        What the rows are called; None: their positions.
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
    figures: dict[str, dict[str, float | None]]
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
        return list(self.figures)

    def rows(self) -> list[tuple[str, str, list[str]]]:
        """Return (figure, what it says, the numbers as text) for everything that was found."""
        rows = []
        for name, (label, form) in FIGURES.items():
            values = [figures.get(name) for figures in self.figures.values()]
            if any(name in figures for figures in self.figures.values()):
                texts = ["–" if value is None else form.format(value) for value in values]
                rows.append((name, label.format(factor=self.factor), texts))
        return rows

    def top(self, n: int = 10) -> list[dict[str, int | float]]:
        """Return the rows that stand in the most lists: position, and occurrence per column.

        Parameters
        ----------
        n : int
            How many.
        """
        first = next(iter(self.occurrences.values()))
        order = np.argsort(-first, kind="stable")[:n]
        return [
            {"row": int(at), **{name: v[at].item() for name, v in self.occurrences.items()}}
            for at in order
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the occurrences as plain values, for JSON."""
        test = None
        if self.test is not None:
            test = {
                "statistic": self.test.statistic,
                "pvalue": self.test.pvalue,
                "only_before": self.test.only_first,
                "only_after": self.test.only_second,
            }
        answer = {
            "title": self.title,
            "k": self.k,
            "verdict": self.verdict,
            "figures": self.figures,
            "test": test,
            "top": [{"id": self.id_of(line.pop("row")), **line} for line in self.top()],
            "notes": self.notes,
            "gaps": self.missing_cells,
        }
        return plain(answer | ({} if self.reason is None else {"reason": self.reason}))

    def id_of(self, row: int | float) -> Any:
        """Return the id of a row, by its position."""
        return int(row) if self.ids is None else self.ids[int(row)]

    @property
    def missing_cells(self) -> str | None:
        """Say so if the rows in the most lists are rows with missing cells."""
        return None if self.table is None else gaps_of_hubs(self, self.table)

    def cells(self) -> dict[str, list[Any]]:
        """Return one row per figure."""
        names = [name for name, _, _ in self.rows()]
        meanings = [meaning for _, meaning, _ in self.rows()]
        figures = {
            column: [values.get(name) for name in names] for column, values in self.figures.items()
        }
        return {"figure": names, "meaning": meanings, **figures}

    def render(self, console: Console, spell: Spell = str) -> None:
        """Print what it comes to, the figures, then the rows that are in the most lists."""
        layout.headline(console, f"{self.name}: {self.title}, lists of {self.k}")
        if self.reason is not None:
            layout.say(console, self.reason)
        layout.say(console, spell(self.verdict), "")
        if self.missing_cells is not None:
            layout.say(console, self.missing_cells, "yellow")
        figures = layout.grid([("", "left"), *((column, "right") for column in self.columns)])
        for _, label, texts in self.rows():
            figures.add_row(*layout.cells([label, *texts]))
        console.print(figures)
        layout.headline(console, "Rows in the most lists")
        console.print(self._hub_grid(console.width))
        for note in self.notes:
            layout.say(console, spell(note))

    def _hub_grid(self, width: int) -> Any:
        """Return the largest hubs as a table: lists, missing cells and the row itself."""
        heads = ["row", *("lists" if column == "value" else column for column in self.columns)]
        heads += [] if self.table is None else ["missing"]
        lines = []
        for hub in self.top(SHOWN):
            row = int(hub["row"])
            line = [short(self.id_of(row)), *(f"{hub[column]:g}" for column in self.columns)]
            if self.table is not None:
                line.append(str(sum(bool(column.missing[row]) for column in self.table)))
            lines.append((row, line))
        texts = (line for _, line in lines)
        wide = (max(map(len, column)) + layout.SPACES for column in zip(heads, *texts, strict=True))
        rest = max(20, width - sum(wide) - 2 * layout.SPACES)
        grid = layout.grid([*((head, "right") for head in heads), ("", "left")])
        for row, line in lines:
            words = "" if self.table is None else write_row(self.table, row, rest)
            grid.add_row(*layout.cells([*line, words]))
        return grid

    def __str__(self) -> str:
        rows = self.rows()
        wide = max(len(label) for _, label, _ in rows)
        lines = [f"{self.title}, lists of {self.k}", self.verdict]
        lines.append(" " * wide + "".join(f"{name:>10}" for name in self.columns))
        lines += [
            f"{label:<{wide}}" + "".join(f"{text:>10}" for text in texts)
            for _, label, texts in rows
        ]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    @property
    def verdict(self) -> str:
        """What the figures mean, in a few sentences."""
        return verdict(self)

    def html_title(self) -> str:
        """Return the heading of the page."""
        return f"Hubness: {self.title}"

    def html_body(self) -> str:
        """Return what stands on the page, as HTML."""
        return fragment(self)

    def plot(self) -> Any:
        """Draw the occurrences as a histogram, and the rows as a map with the hubs on it.

        Needs matplotlib; returns its figure.
        """
        return draw(self)


def hubness_report(
    space: Any, y: Any = None, k: int = 5, *, factor: float = 5.0, ties: str = "index"
) -> HubnessReport:
    """Show whether some rows are everybody's neighbors, and what a repair changes.

    Parameters
    ----------
    space : fitted measure, NeighborGraph or square matrix of distances
        For a reducer, such as ``MutualProximity``, the report has two columns: before (the measure
        inside) and after.
    y : n labels, or n sets of labels, optional
        With labels the report says how often neighbors agree with them.
    k : int
        Length of the lists.
    factor : float
        A hub stands in more than ``factor * k`` lists.
    ties : {"index", "expected", "random"}
        How occurrences treat rows that are equally far; see ``k_occurrence``.

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
    >>> report.figures["before"]["skewness"] > 2 * report.figures["after"]["skewness"]
    True
    """
    checked = as_space(space, "hubness_report")
    n = size_of(checked)
    single, many = _labels(y, n)
    spaces: dict[str, Space] = {"value": checked}
    title = type(checked).__name__
    if isinstance(checked, _Reducer):
        spaces = {"before": checked.measure_, "after": checked}
        title = f"{title} of {type(checked.measure_).__name__}"
    report = HubnessReport(f"{title}, {n:,} rows", k, factor, {}, {}, None, [], checked)
    right: list[np.ndarray] = []
    groups: HubsAndOrphans | None = None
    for name, one in spaces.items():
        lists = lists_of(one, k, "hubness_report")
        if isinstance(one, NeighborGraph):
            lists = one  # as long as it is: the end of ties may be in it
        report.lists[name] = lists
        counted = lists if ties == "index" else one
        occurrence = k_occurrence(counted, k, ties=ties, random_state=0)
        found = HubsAndOrphans(occurrence, k, factor)
        groups = groups or found
        figures = report.figures[name] = _about_occurrence(found)
        report.occurrences[name] = occurrence
        figures["symmetric_share"] = symmetric_share(lists, k)
        if n <= SMALL and isinstance(one, Measure):
            figures["symmetric_share_wide"] = symmetric_share(one, 0.1)
        means = groups.mean_occurrence(occurrence)
        if len(spaces) > 1:
            figures |= {f"mean_{group}": value for group, value in means.items()}
        if single is not None:
            bad = badness(counted, single, k, ties=ties, random_state=0)
            figures |= _about_labels(one, lists, single, k, report.notes)
            figures["bad"] = 100 * float(bad.sum()) / float(occurrence.sum())
            rates = groups.badness(bad, occurrence)
            figures |= {f"bad_{group}": value for group, value in rates.items()}
            right.append(np.asarray(loo_predict(lists, single, k) == single))
        if many is not None:
            figures["retrieval"] = retrieval_accuracy(lists, many, k)
        figures["intrinsic_dimension"] = _dimension(one, lists, name, report.notes)
        report.notes.extend(_about_ties(lists, k, name, ties))
    test = mcnemar(*right) if len(right) == 2 else None
    notes = list(dict.fromkeys(report.notes))
    return replace(report, test=test, notes=notes)


def _labels(y: Any, n: int) -> tuple[np.ndarray | None, list[Any] | None]:
    """Return single labels as codes, or sets of labels."""
    if y is None:
        return None, None
    if not isinstance(y, str) and hasattr(y, "__len__") and len(y) == n:
        cells = list(y)
        if all(isinstance(cell, set | frozenset | list | tuple) for cell in cells):
            return None, cells
    return code_labels(y, n, "hubness_report")[0], None


def _about_occurrence(found: HubsAndOrphans) -> dict[str, float | None]:
    counts = found.occurrence
    return {
        "skewness": skewness(counts),
        "largest": found.largest,
        "hubs": float(len(found.hubs)),
        "orphans": float(len(found.orphans)),
        "reachability": float((counts > 0).mean()),
        "hub_occurrence": hub_occurrence(counts, found.factor),
        "robin_hood": robin_hood(counts),
        "gini": gini(counts),
    }


def _about_labels(
    space: Space, lists: NeighborGraph, y: np.ndarray, k: int, notes: list[str]
) -> dict[str, float | None]:
    figures: dict[str, float | None] = {
        "accuracy_1": loo_accuracy(lists, y, 1),
        "accuracy": loo_accuracy(lists, y, k),
    }
    if isinstance(space, NeighborGraph):
        notes.append("the Goodman-Kruskal index needs all distances, not only lists")
    elif len(y) > MEDIUM:
        notes.append(f"the Goodman-Kruskal index is left out above {MEDIUM:,} rows")
    else:
        figures["goodman_kruskal"] = goodman_kruskal(space, y)
    return figures


def _dimension(space: Space, lists: NeighborGraph, name: str, notes: list[str]) -> float | None:
    most = SMALL if isinstance(space, _Reducer) else MEDIUM
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
    where = "" if name == "value" else f" {name} the repair"
    return [
        Phrase(
            f"{tied:.0%} of the neighbors{where} are tied",
            InPython("; look at ties='expected' as well"),
        )
    ]
