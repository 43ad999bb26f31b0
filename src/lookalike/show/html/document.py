"""HTML pages and fragments for notebooks, and the base of results that are shown as one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from lookalike._runtime.files import check_writable, write_text
from lookalike.show.html.markup import AGAINST, FOR, Html, escape

# Colors are named once and change with the reader's setting; no script, no other file. Text and
# ground have a contrast of at least 7, quiet text of at least 4.5 (WCAG AA), in both settings.
PAGE_STYLE = (
    ":root{color-scheme:light dark;--ink:#1d2125;--quiet:#595f66;--ground:#fff;--panel:#f4f5f7;"
    "--rule:#d5d9de;--link:#0b5fa5}"
    "@media(prefers-color-scheme:dark){:root{--ink:#e4e7ea;--quiet:#a3abb4;--ground:#16181b;"
    "--panel:#212529;--rule:#3d444b;--link:#7cb8f2}}"
    "*{box-sizing:border-box}"
    "body{font:16px/1.55 system-ui,sans-serif;margin:0 auto;max-width:62rem;padding:1rem 1rem 4rem;"
    "color:var(--ink);background:var(--ground);overflow-wrap:break-word}"
    "h1{font-size:1.7rem;line-height:1.25;margin:1rem 0}"
    "h2{font-size:1.3rem;margin:0 0 .4rem}h3{font-size:1.05rem;margin:1.2rem 0 .3rem}"
    "section{border-top:1px solid var(--rule);margin-top:2.2rem;padding-top:1.4rem}"
    "p{max-width:46rem;margin:.5rem 0}ul,ol{margin:.3rem 0;padding-left:1.3rem}"
    "a{color:var(--link)}.quiet{color:var(--quiet)}"
    "nav ul{list-style:none;padding:0;display:flex;flex-wrap:wrap;gap:.3rem 1.1rem}"
    ".scroll{overflow-x:auto;margin:.6rem 0}"
    "table{border-collapse:collapse;font-size:.92rem}"
    "caption{text-align:left;font-weight:600;padding-bottom:.3rem}"
    "td,th{padding:.25rem .8rem .25rem 0;text-align:right;vertical-align:top;"
    "border-bottom:1px solid var(--rule);font-variant-numeric:tabular-nums}"
    "th{color:var(--quiet);font-weight:600;vertical-align:bottom}"
    "td:first-child,th:first-child,td.text,th.text{text-align:left}"
    "td.text{min-width:9rem;max-width:30rem}tr.first td{font-weight:600}"
    "td:not(:first-child):not(.text):not(:has(ul)){white-space:nowrap}"  # dates stay whole
    "td ul{padding-left:1rem;margin:0;text-align:left}"
    "svg{max-width:100%;height:auto;vertical-align:middle}td svg{max-width:none}"
    "figure{margin:.8rem 0;max-width:40rem}figure>svg{width:100%;display:block}"
    "figcaption{font-size:.9rem;color:var(--quiet);margin-top:.3rem}"
    # Drawings shrink with the page, their words must not: the narrower, the larger they are drawn.
    "figure.map{max-width:48rem}svg text{font-size:10px}"
    "@media(max-width:40rem){svg text{font-size:13px}svg text.roomy{display:none}}"
    "@media(max-width:30rem){svg text{font-size:18px}"
    ".stack,.stack caption,.stack tbody{display:block}"
    ".stack thead{position:absolute;clip-path:inset(50%)}"
    ".stack tr{display:flex;flex-wrap:wrap;gap:0 .7rem;padding:.4rem 0;"
    "border-bottom:1px solid var(--rule)}.stack td.text{min-width:0;max-width:none}"
    ".stack td{border:0;padding:0;text-align:left}.stack td:first-child{font-weight:600}"
    ".stack td:nth-child(n+4),.stack td:has(ul){flex-basis:100%}}"
    ".figures{display:flex;flex-wrap:wrap;gap:1rem}.figures figure{flex:1 1 18rem}"
    ".key{list-style:none;padding:0;display:flex;flex-wrap:wrap;gap:.2rem .9rem;font-size:.9rem}"
    ".key svg{margin-right:.35rem}"
    "pre{background:var(--panel);border-radius:6px;padding:.6rem .8rem;overflow-x:auto;"
    "font:.85rem/1.45 ui-monospace,monospace;margin:.9rem 0 0}"
    # Paper is white whatever the screen is. A part may go on over the page, its pieces may not.
    "@media print{:root{color-scheme:light;--ink:#1d2125;--quiet:#595f66;--ground:#fff;"
    "--panel:#f4f5f7;--rule:#d5d9de;--link:#0b5fa5}"
    "body{font-size:10.5pt;max-width:none;padding:0}nav{display:none}"
    "section{margin-top:1.4rem;padding-top:1rem}h2,h3,caption{break-after:avoid}"
    "h3+p{break-after:avoid}figure,.figures,tr,li,pre{break-inside:avoid}p{orphans:3;widows:3}"
    "figure.map{max-width:34rem}table{font-size:.85rem;max-width:100%}"
    "td,th{overflow-wrap:anywhere;white-space:normal!important;min-width:5.3em!important;"
    "padding-right:.5rem}"
    "pre{white-space:pre-wrap;border:1px solid #bbb}.scroll{overflow:visible}}"
)


def page(title: str, body: str) -> str:
    """Return a whole page around a fragment of HTML.

    It follows the reader's choice of light or dark, fits a phone, and prints.

    Parameters
    ----------
    title : str
        As plain text; it is escaped.
    body : str
        As HTML.
    """
    title = escape(title)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{title}</title><style>{PAGE_STYLE}</style></head>"
        f"<body><main><h1>{title}</h1>{body}</main></body></html>\n"
    )


class HtmlReport:
    """Base of results that can be shown in a notebook, or as one HTML page.

    A subclass says what stands on the page: ``html_title`` and ``html_body``.
    """

    def html_title(self) -> str:
        """Return the heading of the page, as plain text."""
        raise AssertionError(f"{type(self).__name__} must write html_title")

    def html_body(self) -> str:
        """Return what stands below the heading, as HTML."""
        raise AssertionError(f"{type(self).__name__} must write html_body")

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return everything as one HTML page that needs no other file; write it where asked.

        Parameters
        ----------
        path : str or path, optional
            Where to write it; a file that is there is replaced once the new one is complete.
        """
        if path is not None:
            check_writable(path)  # before the work of drawing
        text = page(self.html_title(), self.html_body())
        if path is not None:
            write_text(path, text)
        return text

    def _repr_html_(self) -> str:
        return fragment(self.html_body())


# Colors come from the notebook: text as it is, rules in a gray that shows on light and dark ground.
FRAGMENT_STYLE = (
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
    return Html(f'<div class="lookalike"><style>{FRAGMENT_STYLE}</style>{body}</div>')


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
