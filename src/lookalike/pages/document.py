"""A whole HTML page around a fragment, and the base of results that can be shown as one."""

from __future__ import annotations

import os

from lookalike._atomic import check_writable, write_text
from lookalike.pages.markup import escape
from lookalike.pages.notebook import fragment

__all__ = ["HtmlReport", "page"]

# Colors are named once and change with the reader's setting; no script, no other file.
STYLE = (
    ":root{color-scheme:light dark;--ink:#222;--ground:#fff;--rule:#ddd}"
    "@media(prefers-color-scheme:dark){:root{--ink:#ddd;--ground:#181a1c;--rule:#444}}"
    "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem;"
    "color:var(--ink);background:var(--ground)}"
    "table{border-collapse:collapse}caption{text-align:left;font-weight:600}"
    "td,th{padding:.15rem .8rem;text-align:right;border-bottom:1px solid var(--rule)}"
    "td:first-child,th:first-child{text-align:left}tr.first td{font-weight:600}"
    "svg{max-width:100%;height:auto;vertical-align:middle}"
)


def page(title: str, body: str) -> str:
    """Return a whole page around a fragment of HTML.

    Parameters
    ----------
    title : str
        As plain text; it is escaped.
    body : str
        As HTML.
    """
    title = escape(title)
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f"<style>{STYLE}</style></head><body><h1>{title}</h1>{body}</body></html>\n"
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
