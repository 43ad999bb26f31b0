"""The hubness report as a page and as pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lookalike.hubness.reducer import _Reducer
from lookalike.measures.base import Measure
from lookalike.pages.figures import new_figure
from lookalike.pages.markup import AGAINST, FOR, Html, escape, paragraphs, svg, table

if TYPE_CHECKING:
    from lookalike.hubness.report import HubnessReport

__all__ = ["draw", "fragment", "hub_map"]

COLORS = (AGAINST, FOR)  # before, after
POINTS = 1_500  # rows on a map: hubs first, then a fixed sample
LANDMARKS = 150


def fragment(report: HubnessReport) -> str:
    """Return tables and pictures without the page around them."""
    title = f"{report.title}, lists of {report.k}"
    figures = [[label, *texts] for _, label, texts in report.rows()]
    largest = [[f"{value:g}" for value in line.values()] for line in report.top()]
    parts = [paragraphs([report.verdict]), table(figures, ["", *report.columns], title)]
    parts.append(paragraphs(f"Note: {note}" for note in report.notes))
    parts.append(Html("<h2>In how many lists are the rows?</h2>" + _histogram_svg(report)))
    places = hub_map(report)
    if places is not None:
        parts.append(Html("<h2>Where are the hubs?</h2>" + _map_svg(report, *places)))
    parts.append(Html("<h2>Largest hubs</h2>" + table(largest, ["row", *report.columns])))
    return "".join(parts)


def _bins(report: HubnessReport) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return edges and, for each column, the number of rows between them."""
    top = max(float(counts.max()) for counts in report.occurrences.values())
    width = max(1.0, np.ceil((top + 1) / 40))
    edges = np.arange(0, top + 1 + width, width) - 0.5
    return edges, [np.histogram(counts, edges)[0] for counts in report.occurrences.values()]


def _histogram_svg(report: HubnessReport) -> str:
    edges, heights = _bins(report)
    # Roots, or the few hubs on the right would not be seen beside the many rows on the left.
    tallest = np.sqrt(max(int(column.max()) for column in heights))
    bins, across = len(edges) - 1, 760 / (len(edges) - 1)
    bars = []
    for at, (column, color) in enumerate(zip(heights, COLORS, strict=False)):
        wide = across / len(heights)
        for i in range(bins):
            tall = 170 * np.sqrt(column[i]) / tallest
            if column[i]:
                low, high = edges[i] + 0.5, edges[i + 1] - 0.5
                bars.append(
                    f'<rect x="{20 + i * across + at * wide:.1f}" y="{190 - tall:.1f}" '
                    f'width="{wide * 0.92:.1f}" height="{tall:.1f}" fill="{color}">'
                    f"<title>{report.columns[at]}: {column[i]} rows in {low:g} to {high:g} lists"
                    "</title></rect>"
                )
    ticks = "".join(
        f'<text x="{20 + i * across:.1f}" y="206" font-size="11" fill="currentColor">'
        f"{edges[i] + 0.5:g}</text>"
        for i in range(0, bins, max(1, bins // 10))
    )
    keys = "".join(
        f'<text x="{600 + 80 * i}" y="20" font-size="13" fill="{color}">{name}</text>'
        for i, (name, color) in enumerate(zip(report.columns, COLORS, strict=False))
    )
    axis = '<line x1="20" y1="190" x2="780" y2="190" stroke="#888"/>'
    legend = (
        '<text x="300" y="222" font-size="12" fill="currentColor">lists that a row is in; '
        "height: root of the number of rows</text>"
    )
    return svg(800, 225, "histogram of occurrences", [axis, *bars, ticks, keys, legend])


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
    return at, (means - squares) @ (vectors / np.sqrt(values)) / 2


def _map_svg(report: HubnessReport, at: np.ndarray, places: np.ndarray) -> str:
    low, span = places.min(axis=0), np.ptp(places, axis=0)
    xy = (places - low) / np.where(span > 0, span, 1.0)
    panels = []
    for i, (name, counts) in enumerate(report.occurrences.items()):
        left = 10 + 400 * i
        dots = []
        for j in np.argsort(counts[at], kind="stable"):
            row, count = int(at[j]), float(counts[at[j]])
            radius = 1.5 + 1.2 * np.sqrt(count / report.k)
            hub = count > report.factor * report.k
            color = COLORS[0] if hub else ("#bbb" if count == 0 else "#5b8db8")
            dots.append(
                f'<circle cx="{left + 370 * xy[j, 1] + 10:.1f}" cy="{360 - 330 * xy[j, 0]:.1f}" '
                f'r="{radius:.1f}" fill="{color}" fill-opacity=".65"><title>row {row}: {count:g} '
                "lists</title></circle>"
            )
        head = f'<text x="{left}" y="16" font-size="13" fill="currentColor">{escape(name)}</text>'
        panels.append(head + "".join(dots))
    drawing = svg(400 * len(panels) + 10, 380, "map of rows", panels)
    key = "Red: hubs; gray: orphans; the larger a dot, the more lists the row is in."
    return drawing + paragraphs([key])


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
                xy[order, 1],
                xy[order, 0],
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
