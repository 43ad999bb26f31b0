"""The parts of a report: columns, missing cells, neighbors, map, hubs, clusters."""

from __future__ import annotations

from typing import Any

import numpy as np

from lookalike._runtime.text import percent, short
from lookalike.evaluate import continuity, trustworthiness
from lookalike.hubness.report import histogram, hub_maps
from lookalike.index.hits import Hits
from lookalike.show.html.drawings import scatter
from lookalike.show.html.markup import FOR, Html, bullets, escape, paragraphs, svg, table
from lookalike.show.reasons import Styles
from lookalike.show.report.study import Study
from lookalike.table import Column, Table
from lookalike.table.model.display import label_first

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


def clusters_part(study: Study) -> str:
    """Return what makes each cluster."""
    profile = study.profile
    writer = RowWriter(study.rows)
    with_classes = any(one.majority_share is not None for one in profile.clusters)
    lines: list[list[str]] = []
    for one in profile.clusters:
        typical = writer.name(study.rows.record(one.typical[0]), int(study.at[one.typical[0]]))
        most = f"{short(one.majority)} ({percent(one.majority_share or 0.0)})"
        lines.append(
            [
                f"cluster {one.cluster}",
                f"{one.rows:,} ({percent(one.share)})",
                *[most] * with_classes,
                Html(bullets(map(str, one.columns))),
                typical,
            ]
        )
    heads = ["", "rows", *["mostly"] * with_classes, "what makes it", "typical row"]
    words = tuple(range(2, len(heads)))
    caption = f"{len(profile)} clusters"
    notes = "; ".join(profile.notes)
    return table(lines, heads, caption, text=words, stack=True) + paragraphs(
        [f"Clustering: {notes}."]
    )


def board_part(study: Study) -> str:
    """Return measures side by side on the same rows."""
    board = study.board
    return table(board.rows(), board.heads(), board.title, first=True) + paragraphs(board.remarks())


def rows_part(study: Study) -> str:
    """Return the rows that stand for the others, and those unlike all others."""
    writer = RowWriter(study.rows)
    marks = [(row, f"{rows:,}") for row, rows in study.prototypes]
    odd = [(row, f"{score:.2f}") for row, score in study.outliers]
    parts = []
    for caption, head, rows in (
        ("Prototypes: rows that stand for the others", "stands for", marks),
        ("Outliers: rows unlike the others (1: most)", "score", odd),
    ):
        lines = [
            [f"{int(study.at[row]):,}", text, *writer.cells(study.rows.record(row))]
            for row, text in rows
        ]
        heads = ["row", head, *writer.heads]
        words = tuple(at for at, number in enumerate(writer.numbers, 2) if not number)
        parts.append(table(lines, heads, caption, text=words))
    return "".join(parts)


FIGURES = (
    "skewness largest hubs orphans reachability symmetric_share accuracy bad intrinsic_dimension"
).split()
JUDGED = 10  # neighbors by which a map is judged
TOP = 5  # hubs that are listed


def measure_part(study: Study) -> str:
    """Return how rows are compared, and why so."""
    said = "the measure was given." if study.index.reason_ == "given" else study.index.reason_
    name = escape(repr(study.measure))
    return Html(f"<p>Rows are compared by <code>{name}</code>.</p>") + paragraphs([f"Why: {said}"])


def neighbors_part(study: Study) -> str:
    """Return typical rows with the rows most like them, each with its reasons."""
    writer = RowWriter(study.rows)
    parts = []
    for row, hits in study.examples:
        assert isinstance(hits, Hits)
        record = study.rows.record(row)
        name = writer.name(record, int(study.at[row]))
        points = []
        for hit in hits:
            alike = "nothing to compare" if hit.similarity is None else percent(hit.similarity)
            told = writer.name(hit.row, int(study.at[int(hit.id)]))
            points.append(
                f"<li><b>{escape(told)}</b> <span>({escape(alike)} alike)</span>: "
                f"{escape(writer.words(hit.row))}<br><span class='quiet'>{escape(hit.because())}"
                "</span></li>"
            )
        parts.append(
            f"<h3>Like {escape(name)}</h3><p class='quiet'>{escape(writer.words(record))}</p>"
            f"<ol>{''.join(points)}</ol>"
        )
    return "".join(parts)


def hubs_part(study: Study) -> str:
    """Return how often rows are neighbors, before and after a repair, and where the hubs are."""
    found = study.hubs
    kept = [[words, *texts] for name, words, texts in found.rows() if name in FIGURES]
    writer = RowWriter(study.rows)
    lines = []
    for hub in found.top(TOP):
        row = int(hub["row"])
        record = study.rows.record(row)
        counts = [f"{hub[column]:g}" for column in found.columns]
        lines.append([writer.name(record, int(study.at[row])), *counts, writer.words(record)])
    heads = ["row", *(f"lists {column}" for column in found.columns), ""]
    return "".join(
        [
            paragraphs([found.verdict] if found.verdict else []),
            table(kept, ["", *found.columns], "Hubness before and after the repair"),
            histogram(found),
            Html("<h3>Where the hubs are</h3>"),
            hub_maps(found, np.arange(len(study.rows)), study.places),
            table(lines, heads, "Rows in the most lists", text=(len(heads) - 1,)),
            paragraphs(f"Note: {note}" for note in found.notes),
        ]
    )


def map_part(study: Study) -> str:
    """Return the map, colored by the target or by clusters, and how far it can be relied on."""
    groups = study.groups
    n = len(study.rows)
    label = f"map of {n:,} rows in {len(groups.names)} groups by {groups.title}"
    caption = f"Colored by {groups.title}."
    drawing = scatter(study.places, groups.codes, groups.names, label, caption, groups.notes)
    words = ["Rows side by side on the map are neighbors; how far groups lie apart says little."]
    if n > 2 * JUDGED + 1:
        trust = trustworthiness(study.measure, study.places, JUDGED, sample=1000)
        kept = continuity(study.measure, study.places, JUDGED, sample=1000)
        words.append(
            f"Of {JUDGED} neighbors: trustworthiness {trust:.3f} (1: the map shows no false ones), "
            f"continuity {kept:.3f} (1: it tears none apart)."
        )
    return drawing + paragraphs(words)


MANY = 20  # items from which a set or a list is not told in a line
COLUMNS = 6  # cells of a row that are shown
LONGEST = 40  # letters of a cell


class RowWriter:
    """Writes rows of one table.

    Parameters
    ----------
    table : Table
    """

    def __init__(self, table: Table) -> None:
        self._columns = label_first(table)[:COLUMNS]
        self._styles = Styles(table)
        first = self._columns[0] if self._columns else None
        roles = ("name", "identifier")
        self._has_names = first is not None and (
            first.kind.role in roles or first.kind.name == "text"
        )

    @property
    def heads(self) -> list[str]:
        """The names of the columns that are shown."""
        return [short(column.name, LONGEST) for column in self._columns]

    @property
    def numbers(self) -> list[bool]:
        """Which of the columns that are shown hold numbers."""
        return [column.kind.name == "number" for column in self._columns]

    def cells(self, record: dict[str, Any]) -> list[str]:
        """Return the cells of a row that are shown."""
        out = []
        for column in self._columns:
            cell = record.get(column.name)
            styled = column.kind.name == "number" and cell is not None
            styled = styled and column.name in self._styles
            write = self._styles[column.name].write if styled else None
            out.append(short(cell, LONGEST) if write is None else write(cell))
        return out

    def name(self, record: dict[str, Any], position: int) -> str:
        """Return what a row is called: its name where it has one, else its number."""
        return self.cells(record)[0] if self._has_names else f"row {position}"

    def words(self, record: dict[str, Any]) -> str:
        """Return the cells of a row as one line, without its name."""
        every = list(zip(self._columns, self.heads, self.cells(record), strict=True))
        pairs = [
            f"{head} {cell}"
            for column, head, cell in every[int(self._has_names) :]
            if _says_much(record.get(column.name))
        ]
        return ", ".join(pairs[:4])


def _says_much(cell: Any) -> bool:
    """Whether a cell is told in a line: a gap says nothing about a row, and a list too much."""
    if cell is None:
        return False
    return not isinstance(cell, set | frozenset | list | tuple) or len(cell) <= MANY
