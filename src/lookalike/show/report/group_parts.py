"""The parts of a report about rows together: clusters, measures compared, typical and odd rows."""

from __future__ import annotations

from lookalike._runtime.text import percent, short
from lookalike.show.html.markup import Html, bullets, paragraphs, table
from lookalike.show.report.rows import RowWriter
from lookalike.show.report.study import Study


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
