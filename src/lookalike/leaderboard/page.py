"""Leaderboards and diagnoses as pages: no script, no other file."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from lookalike.hubness.page import STYLE
from lookalike.hubness.page import fragment as hubness_fragment

if TYPE_CHECKING:
    from lookalike.leaderboard.board import Leaderboard
    from lookalike.leaderboard.diagnosis import Diagnosis

__all__ = ["board_fragment", "diagnosis_fragment", "page"]

BAR = 90  # width of a full bar, in pixels
OURS = "td.bar svg{vertical-align:middle}tr.first td{font-weight:600}"


def page(title: str, body: str) -> str:
    """Return a whole page around a fragment."""
    title = html.escape(title)
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f"<style>{STYLE}{OURS}</style></head><body><h1>{title}</h1>{body}</body></html>\n"
    )


def board_fragment(board: Leaderboard) -> str:
    """Return the table of measures with a bar for each score, and what follows from it."""
    heads = "".join(f"<th>{html.escape(head)}</th>" for head in ["", *board.heads()[1:]])
    lines = []
    for at, (entry, row) in enumerate(zip(board.usable, board.rows(), strict=True)):
        cells = "".join(f"<td>{html.escape(cell)}</td>" for cell in row[1:])
        kind = ' class="first"' if at == 0 else ""
        lines.append(
            f"<tr{kind}><td>{html.escape(row[0])}</td>{cells}"
            f'<td class="bar">{_bar(entry.score)}</td></tr>'
        )
    remarks = "".join(f"<p>{html.escape(remark)}</p>" for remark in board.remarks())
    return (
        f"<table><caption>{html.escape(board.title)}</caption><tr>{heads}<th></th></tr>"
        f"{''.join(lines)}</table>{remarks}"
    )


def _bar(share: float) -> str:
    wide = BAR * min(max(share, 0.0), 1.0)
    return (
        f'<svg width="{BAR}" height="10" role="img" aria-label="{share:.3f}">'
        f'<rect width="{BAR}" height="10" fill="#eee"/>'
        f'<rect width="{wide:.1f}" height="10" fill="#3f7fc0"/></svg>'
    )


def diagnosis_fragment(found: Diagnosis) -> str:
    """Return the figures, what follows from them, and the hubs."""
    lines = "".join(
        f"<tr><td>{html.escape(label)}</td><td>{html.escape(text)}</td></tr>"
        for _, label, _, text in found.rows()
    )
    parts = [f"<table><caption>{html.escape(found.title)}</caption>{lines}</table>"]
    told = found.findings()
    if told:
        parts.append("<ul>" + "".join(f"<li>{html.escape(one)}</li>" for one in told) + "</ul>")
    parts += [f"<p>Note: {html.escape(note)}</p>" for note in found.notes]
    if found.hubness is not None:
        parts.append("<h2>Hubs</h2>" + hubness_fragment(found.hubness))
    return "".join(parts)
