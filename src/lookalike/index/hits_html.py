"""Hits and an index as HTML, for notebooks and pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lookalike._runtime.text import short
from lookalike.show.html.document import fragment, grid, sides
from lookalike.show.html.markup import Html, escape
from lookalike.show.reasons import Styles
from lookalike.table.model.labels import label_first

if TYPE_CHECKING:
    from lookalike.index.hits import Hit, Hits
    from lookalike.index.snapshot import Snapshot
    from lookalike.table import Column

MAX_COLUMNS = 6  # of each row
MAX_HITS = 20  # all chosen by hand
MAX_INDEX_COLUMNS = 12  # named in the summary of an index


def hits_html(hits: Hits) -> str:
    """Return the query and the rows found, each with its reasons."""
    if not len(hits):
        return "<p>no rows found</p>"
    table = hits.table or hits[0].table
    columns = [c for c in label_first(table) if not hits.repeats_id(c.name)][:MAX_COLUMNS]
    styles = Styles(table)
    numbers = ["id", *["score"] * hits.by_score, "similarity", *["compared"] * hits.has_gaps]
    rows = [_line("query", [""] * (len(numbers) - 1), hits.query, columns, styles)]
    for hit in hits[:MAX_HITS]:
        cells = [*[_number(hit.score)] * hits.by_score, _number(hit.similarity)]
        cells += [hit.compared_text] * hits.has_gaps
        rows.append(_line(short(hit.id), cells, hit.row, columns, styles))
    heads = [*numbers, *(short(column.name, 40) for column in columns)]
    numeric = [True] * len(numbers) + [column.kind.name == "number" for column in columns]
    reasons = ["", *(_why(hit) for hit in hits[:MAX_HITS])]
    body = grid(heads, rows, numeric=numeric, first=True, below=reasons)
    notes = [f"{len(hits) - MAX_HITS:,} more rows"] if len(hits) > MAX_HITS else []
    notes += [hits.note] if hits.note else []
    quiet = "".join(f'<div class="quiet">{escape(note)}</div>' for note in notes)
    return body + quiet


def index_html(name: str, now: Snapshot) -> str:
    """Return a summary of an index, in a few lines."""
    kinds, most = now.schema.kinds, MAX_INDEX_COLUMNS
    shown = [f"{short(name, 24)} ({kind.label})" for name, kind in list(kinds.items())[:most]]
    more = f" and {len(kinds) - most} more" if len(kinds) > most else ""
    ids = now.names.of(now.segments.positions[:3])
    facts = [
        ("rows", f"{len(now.segments):,}"),
        ("columns", ", ".join(shown) + more),
        ("ids", ", ".join(map(short, ids)) + (", …" if len(now.segments) > len(ids) else "")),
        ("measure", type(now.measure).__name__),
        ("why", now.reason),
    ]
    return fragment(grid(["", ""], facts, numeric=[False, False], caption=name))


def _line(
    name: str,
    numbers: list[str],
    record: dict[str, Any],
    columns: list[Column],
    styles: Styles,
) -> list[str]:
    cells = []
    for column in columns:
        cell = record.get(column.name)
        is_number = column.kind.name == "number" and cell is not None and column.name in styles
        cells.append(styles[column.name].write(cell) if is_number else short(cell, 48))
    return [name, *numbers, *cells]


def _why(hit: Hit) -> Html:
    plus, minus = hit.phrases()
    return sides((reason.to_html() for reason in plus), (reason.to_html() for reason in minus))


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
