"""The hubness report as a page and as pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lookalike.hubness.reducer import _Reducer
from lookalike.measures.contract.base import Measure
from lookalike.show.html.figures import new_figure
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
from lookalike.show.html.scatter import dots, frame, mark, words

if TYPE_CHECKING:
    from lookalike.hubness.report import HubnessReport

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
