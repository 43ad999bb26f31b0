"""The look of results in a notebook: a fragment with its own few rules of style, and no script."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lookalike.show.html.markup import AGAINST, FOR, Html, escape

# Colors come from the notebook: text as it is, rules in a gray that shows on light and dark ground.
STYLE = (
    ".lookalike{overflow-x:auto}"
    ".lookalike table{border-collapse:collapse;margin:.3em 0}"
    ".lookalike caption{text-align:left;font-weight:600;caption-side:top;color:inherit}"
    ".lookalike td,.lookalike th{padding:.15em .7em .15em 0;text-align:left;vertical-align:top;"
    "border:0;border-bottom:1px solid rgba(128,128,128,.35);background:transparent;"
    "color:inherit;max-width:36em}"
    ".lookalike td.n,.lookalike th.n{text-align:right;font-variant-numeric:tabular-nums}"
    ".lookalike tr.first td{font-weight:600}"
    ".lookalike tr.open td{border-bottom:0}.lookalike tr.below td{max-width:none;opacity:.85}"
    ".lookalike .quiet{opacity:.7}"
    ".lookalike svg{vertical-align:middle}"
    # Names on a map stand before the ground of the notebook, where it tells its color.
    ".lookalike{--ground:var(--jp-layout-color0,var(--vscode-editor-background,transparent))}"
    ".lookalike figure{margin:.5em 0}.lookalike figure>svg{width:100%;max-width:46em;height:auto}"
)


def fragment(body: str) -> Html:
    """Return HTML to be shown in a notebook, with the style that belongs to it.

    Parameters
    ----------
    body : str
        As HTML.
    """
    return Html(f'<div class="lookalike"><style>{STYLE}</style>{body}</div>')


def grid(
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    numeric: Sequence[bool],
    caption: str = "",
    first: bool = False,
    below: Sequence[str] = (),
) -> Html:
    """Return a table whose numbers stand to the right.

    Parameters
    ----------
    heads : headings of the columns
    rows : sequences of cells, plain text or ``Html``
    numeric : for each column whether it holds numbers
    caption : str
    first : bool
        Whether the first row is the one to look at.
    below : for each row what stands under it across the table, plain text or ``Html``
        Empty: nothing, for any row or for one of them.
    """
    marks = [' class="n"' if right else "" for right in numeric]

    def line(cells: Sequence[str], tag: str) -> str:
        return "".join(
            f"<{tag}{mark}>{escape(cell)}</{tag}>" for cell, mark in zip(cells, marks, strict=True)
        )

    lines = []
    for at, row in enumerate(rows):
        more = below[at] if below else ""
        names = " ".join(["first"] * (first and at == 0) + ["open"] * bool(more))
        mark = f' class="{names}"' if names else ""
        lines.append(f"<tr{mark}>{line(row, 'td')}</tr>")
        if more:
            wide = f'<td colspan="{len(heads) - 1}">{escape(more)}</td>'
            lines.append(f'<tr class="below"><td></td>{wide}</tr>')
    named = f"<caption>{escape(caption)}</caption>" if caption else ""
    head = f"<thead><tr>{line(heads, 'th')}</tr></thead>"
    return Html(f"<table>{named}{head}<tbody>{''.join(lines)}</tbody></table>")


def sides(plus: Iterable[str], minus: Iterable[str]) -> Html:
    """Return what speaks for something and what against it, a line each.

    Parameters
    ----------
    plus, minus : texts, plain or ``Html``
    """
    lines = []
    for texts, sign, color in ((plus, "+", FOR), (minus, "−", AGAINST)):
        joined = "; ".join(escape(text) for text in texts)
        if joined:
            lines.append(f'<div><b style="color:{color}">{sign}</b> {joined}</div>')
    return Html("".join(lines))
