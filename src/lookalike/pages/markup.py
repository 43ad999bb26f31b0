"""Parts of a page: escaped text, tables, lists, bars and the frame of a drawing."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from lookalike._show import clean

__all__ = [
    "AGAINST",
    "FOR",
    "Html",
    "bullets",
    "escape",
    "paragraphs",
    "share_bar",
    "svg",
    "table",
]

FOR, AGAINST = "#3f7fc0", "#c0563f"  # readable on light and dark ground
BAR = 90  # width of a full bar, in pixels


class Html(str):
    """Text that is HTML already, so it is not escaped again."""

    __slots__ = ()


def escape(text: str) -> str:
    """Return text as HTML that shows it, without control characters; what is HTML stays."""
    return text if isinstance(text, Html) else html.escape(clean(text))


def table(
    rows: Iterable[Sequence[str]],
    heads: Sequence[str] = (),
    caption: str = "",
    *,
    first: bool = False,
) -> Html:
    """Return a table.

    Parameters
    ----------
    rows : sequences of cells
        Plain text, or ``Html``.
    heads : sequence of str
        Headings of the columns; empty: none.
    caption : str
    first : bool
        Whether the first row is the one to look at.
    """
    lines = []
    if heads:
        lines.append("<tr>" + "".join(f"<th>{escape(head)}</th>" for head in heads) + "</tr>")
    for at, row in enumerate(rows):
        mark = ' class="first"' if first and at == 0 else ""
        cells = "".join(f"<td>{escape(cell)}</td>" for cell in row)
        lines.append(f"<tr{mark}>{cells}</tr>")
    named = f"<caption>{escape(caption)}</caption>" if caption else ""
    return Html(f"<table>{named}{''.join(lines)}</table>")


def paragraphs(texts: Iterable[str]) -> Html:
    """Return a paragraph for each text."""
    return Html("".join(f"<p>{escape(text)}</p>" for text in texts))


def bullets(texts: Iterable[str]) -> Html:
    """Return a list with a point for each text; nothing if there is none."""
    points = "".join(f"<li>{escape(text)}</li>" for text in texts)
    return Html(f"<ul>{points}</ul>" if points else "")


def svg(
    width: float, height: float, label: str, parts: Iterable[str], *, view: bool = True
) -> Html:
    """Return a drawing of SVG elements.

    Parameters
    ----------
    width, height : float
    label : str
        What it shows, for those who cannot see it.
    parts : SVG elements
        Text in ``currentColor`` can be read on light and dark ground.
    view : bool
        Whether the drawing shrinks with the page.
    """
    box = f'viewBox="0 0 {width:g} {height:g}" ' if view else ""
    return Html(
        f'<svg {box}width="{width:g}" height="{height:g}" role="img" '
        f'aria-label="{escape(label)}">{"".join(parts)}</svg>'
    )


def share_bar(share: float) -> Html:
    """Return a horizontal bar that is filled up to a share of its width."""
    filled = BAR * min(max(share, 0.0), 1.0)
    return svg(
        BAR,
        10,
        f"{share:.3f}",
        [
            f'<rect width="{BAR}" height="10" fill="#888" fill-opacity=".2"/>',
            f'<rect width="{filled:.1f}" height="10" fill="{FOR}"/>',
        ],
        view=False,
    )
