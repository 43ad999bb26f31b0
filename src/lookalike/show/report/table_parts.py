"""The parts of a report about the table itself: columns and gaps."""

from __future__ import annotations

import numpy as np

from lookalike._runtime.text import percent, short
from lookalike.show.html.markup import FOR, Html, bullets, paragraphs, svg, table
from lookalike.show.report.study import Study
from lookalike.table import Column, Table

SHOWN = 60  # columns that are listed
GAPPY = 24  # columns with gaps that are drawn
CELLS = 60  # parts of a table, from its first row to its last, whose gaps are counted


def columns_part(study: Study) -> str:
    """Return what each column holds, and why this is thought."""
    summary = study.table.summary()
    lines = [
        [short(name, 40), kind, gaps, short(values, 60), short(reason, 120)]
        for name, kind, gaps, values, reason in summary.grid()
    ]
    more = len(lines) - SHOWN
    heads = ["column", "kind", "gaps", "values", "why this kind"]
    doubts = [
        f"{one.column}: {text}"
        for one in summary
        for text in one.warnings
        if one.column != study.label or study.target is None
    ][:SHOWN]
    parts = [table(lines[:SHOWN], heads, summary.title, text=(1, 3, 4), stack=True)]
    if more > 0:
        parts.append(paragraphs([f"{more:,} more columns are not listed."]))
    if doubts:
        parts.append(Html("<h3>Worth a look before rows are compared</h3>" + bullets(doubts)))
    return "".join(parts)


def gaps_part(study: Study) -> str:
    """Return where cells are missing, from the first row of the table to the last."""
    every = study.table
    gappy = [(column, float(column.missing.mean())) for column in every if column.missing.any()]
    if not gappy:
        return paragraphs(["No cell of a compared column is missing."])
    gappy.sort(key=lambda pair: -pair[1])
    lines = [
        [short(column.name, 40), percent(share), _strip(column)] for column, share in gappy[:GAPPY]
    ]
    whole = int(np.all([~column.missing for column in every], axis=0).sum())
    text = f"{whole:,} of {len(every):,} rows have no gap. "
    text += "Each strip is a column from its first row to its last: the darker, the more gaps."
    heads = ["column", "gaps", "where"]
    parts = [paragraphs([text]), table(lines, heads, "Columns with gaps", text=(2,))]
    parts += [paragraphs(_together(every, [column for column, _ in gappy]))]
    if len(gappy) > GAPPY:
        parts.append(paragraphs([f"{len(gappy) - GAPPY:,} more columns have gaps."]))
    return "".join(parts)


def _strip(column: Column) -> Html:
    ends = np.linspace(0, len(column.missing), CELLS + 1).round().astype(np.int64)
    shares = [
        float(column.missing[low:high].mean()) if high > low else 0.0
        for low, high in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)
    ]
    cells = [
        f'<rect x="{4 * at}" width="4" height="14" fill="{FOR}" fill-opacity="{share:.2f}"/>'
        for at, share in enumerate(shares)
        if share >= 0.005
    ]
    edge = (
        f'<rect width="{4 * CELLS}" height="14" fill="none" stroke="currentColor" '
        'stroke-opacity=".35"/>'
    )
    worst = max(shares)
    label = f"gaps of {short(column.name, 40)}: from {percent(min(shares))} to {percent(worst)}"
    return svg(4 * CELLS, 14, label, [edge, *cells], view=False)


def _together(every: Table, gappy: list[Column]) -> list[str]:
    """Say which columns are missing together: such gaps are seldom chance."""
    groups: list[list[Column]] = []
    for column in gappy[:GAPPY]:
        for group in groups:
            first = group[0].missing
            both, either = (first & column.missing).sum(), (first | column.missing).sum()
            if both / either > 0.9:
                group.append(column)
                break
        else:
            groups.append([column])
    found = [group for group in groups if len(group) > 1 and not group[0].missing.all()]
    names = ["; ".join(short(column.name, 40) for column in group) for group in found[:5]]
    return [f"Missing in the same rows, nearly always: {text}." for text in names]
