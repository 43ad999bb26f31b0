"""What stands on the pages of leaderboards and diagnoses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lookalike.show.html.markup import bullets, paragraphs, section, share_bar, table

if TYPE_CHECKING:
    from lookalike.leaderboard.board import Leaderboard
    from lookalike.leaderboard.diagnosing import Diagnosis


def board_fragment(board: Leaderboard) -> str:
    """Return the table of measures with a bar for each score, and what follows from it."""
    rows = [
        [*row, share_bar(entry.score)]
        for entry, row in zip(board.usable, board.rows(), strict=True)
    ]
    heads = ["", *board.heads()[1:], ""]
    return table(rows, heads, board.title, first=True) + paragraphs(board.remarks())


def diagnosis_fragment(found: Diagnosis) -> str:
    """Return the figures, what follows from them, and the hubs."""
    figures = [[label, text] for _, label, _, text in found.rows()]
    parts = [table(figures, caption=found.title), bullets(found.findings())]
    parts.append(paragraphs(f"Note: {note}" for note in found.notes))
    if found.hubness is not None:
        parts.append(section("Hubs", found.hubness.html_body()))
    return "".join(parts)
