"""Parts of a page: escaped text, tables, lists, bars and the frame of a drawing."""

import html
from collections.abc import Container, Iterable, Sequence

from lookalike._runtime.text import clean

FOR, AGAINST = "#3f7fc0", "#c0563f"  # readable on light and dark ground
# Groups: the same, each at least 3 to 1 against either ground (WCAG), after Okabe and Ito.
COLORS = (
    *("#0072b2", "#d55e00", "#009e73", "#c2649b", "#a6761d"),
    *("#7b68c8", "#1f9cb0", "#b8433a", "#6b8e23", "#7f7f7f"),
)
BAR_WIDTH = 90  # of a full bar, in pixels


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
    text: Container[int] = (),
    stack: bool = False,
    below: Sequence[str] = (),
) -> Html:
    """Return a table; a wide one scrolls by itself, not with the page.

    Parameters
    ----------
    rows : sequences of cells
        Plain text, or ``Html``.
    heads : sequence of str
        Headings of the columns; empty: none.
    caption : str
    first : bool
        Whether the first row is the one to look at.
    text : positions of columns
        Columns of text, which are left-aligned like the first.
    stack : bool
        Whether a row becomes a few lines on a phone, the fourth cell and those after it on
        lines of their own: for tables whose last columns are sentences.
    below : for each row a line under it across the table, plain text or ``Html``
        Empty: nothing, for any row or for one of them.
    """
    # With another display in the style sheet, a screen reader knows a table only by its roles.
    roles = ' class="stack" role="table"', ' role="row"', ' role="cell"', ' role="columnheader"'
    kind, row_role, cell_role, head_role = roles if stack else ("",) * 4

    def line(cells: Sequence[str], tag: str, role: str) -> str:
        marks = [' class="text"' if i in text else "" for i in range(len(cells))]
        pairs = zip(cells, marks, strict=True)
        return "".join(f"<{tag}{role}{mark}>{escape(cell)}</{tag}>" for cell, mark in pairs)

    scope = f' scope="col"{head_role}'
    head = f"<thead><tr{row_role}>{line(heads, 'th', scope)}</tr></thead>" if heads else ""
    lines = []
    for i, row in enumerate(rows):
        more = below[i] if below else ""
        # A row with a line below it has no rule between the two.
        names = " ".join(["first"] * (first and i == 0) + ["open"] * bool(more))
        mark = f' class="{names}"' if names else ""
        lines.append(f"<tr{mark}{row_role}>{line(row, 'td', cell_role)}</tr>")
        if more:
            wide = f'<td class="text" colspan="{len(row) - 1}">{escape(more)}</td>'
            lines.append(f'<tr class="below"><td></td>{wide}</tr>')
    named = f"<caption>{escape(caption)}</caption>" if caption else ""
    body = f"<tbody>{''.join(lines)}</tbody>"
    # A region that scrolls has to be reachable by keyboard (WCAG 2.1.1).
    label = f' role="region" aria-label="{escape(caption)}" tabindex="0"' if caption else ""
    return Html(f'<div class="scroll"{label}><table{kind}>{named}{head}{body}</table></div>')


def section(heading: str, body: str, name: str = "") -> Html:
    """Return a part of a page under its heading.

    Parameters
    ----------
    heading : str
    body : str
        As HTML.
    name : str
        What a link to it is called; empty: none.
    """
    mark = f' id="{escape(name)}"' if name else ""
    return Html(f"<section{mark}><h2>{escape(heading)}</h2>{body}</section>")


def figure(drawing: str, caption: str = "", kind: str = "") -> Html:
    """Return a drawing with its caption.

    Parameters
    ----------
    drawing : str
        As HTML; more than a drawing will do, such as one with its key.
    caption : str
    kind : str
        "map": one that may be wider than the others; empty: an ordinary one.
    """
    mark = f' class="{escape(kind)}"' if kind else ""
    below = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
    return Html(f"<figure{mark}>{drawing}{below}</figure>")


def color_key(names: Iterable[tuple[str, str]]) -> Html:
    """Return the legend of a drawing.

    Parameters
    ----------
    names : pairs of color and text
    """
    dot = (
        '<svg width="12" height="12" aria-hidden="true">'
        '<circle cx="6" cy="6" r="5" fill="{}"/></svg>'
    )
    points = "".join(f"<li>{dot.format(color)}{escape(text)}</li>" for color, text in names)
    return Html(f'<ul class="key">{points}</ul>')


def code(text: str) -> Html:
    """Return lines of a program."""
    # Escaped even where it is Html: code is shown, not run.
    lines = "\n".join(html.escape(clean(line)) for line in text.splitlines())
    return Html(f"<pre><code>{lines}</code></pre>")


def folded(heading: str, body: str, name: str = "") -> Html:
    """Return something that is shown when its heading is clicked; paper shows all but Python."""
    mark = f' class="{escape(name)}"' if name else ""
    return Html(f"<details{mark}><summary>{escape(heading)}</summary>{body}</details>")


def paragraphs(texts: Iterable[str]) -> Html:
    """Return a paragraph for each text."""
    return Html("".join(f"<p>{escape(text)}</p>" for text in texts))


def bullets(texts: Iterable[str]) -> Html:
    """Return a list with an item for each text; nothing without texts."""
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
    # Without a viewBox an SVG keeps its size in pixels: a sparkline stays in its line of text.
    box = f'viewBox="0 0 {width:g} {height:g}" ' if view else ""
    return Html(
        f'<svg {box}width="{width:g}" height="{height:g}" role="img" '
        f'aria-label="{escape(label)}">{"".join(parts)}</svg>'
    )


def share_bar(share: float) -> Html:
    """Return a horizontal bar that is filled up to a share of its width."""
    filled = BAR_WIDTH * min(max(share, 0.0), 1.0)
    back = f'<rect width="{BAR_WIDTH}" height="10" fill="#888" fill-opacity=".2"/>'
    bar = f'<rect width="{filled:.1f}" height="10" fill="{FOR}"/>'
    return svg(BAR_WIDTH, 10, f"{share:.3f}", [back, bar], view=False)
