"""HTML pages and fragments for notebooks, and the base of results that are shown as one."""

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import overload

from lookalike._runtime.files import check_writable, write_text
from lookalike.show.html.markup import AGAINST, FOR, Html, escape


@cache
def read_style(name: str) -> str:
    """Return a style sheet of this package on one line, without comments."""
    # Style sheets are files of the package, so that editors know them as CSS; a page contains them.
    text = files(__package__).joinpath(f"{name}.css").read_text(encoding="utf-8")
    return re.sub(r"/\*.*?\*/|\n", "", text, flags=re.DOTALL)


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
    # Names of files and columns come from the user, and are never trusted as HTML.
    title = escape(title)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{title}</title><style>{read_style('page')}</style></head>"
        f"<body><main><h1>{title}</h1>{body}</main></body></html>\n"
    )


class HtmlReport(ABC):
    """Base of results that can be shown in a notebook, or as one HTML page.

    A subclass defines ``html_title`` and ``html_body``.
    """

    @abstractmethod
    def html_title(self) -> str:
        """Return the heading of the page, as plain text."""

    @abstractmethod
    def html_body(self) -> str:
        """Return the content below the heading, as HTML."""

    @overload
    def to_html(self) -> str: ...
    @overload
    def to_html(self, path: str | os.PathLike[str]) -> None: ...
    def to_html(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """Return everything as one HTML page that needs no other file, or write it to a file.

        Parameters
        ----------
        path : str or path, optional
            Where to write it; a file that is there is replaced once the new one is complete. Then
            nothing is returned, so that a notebook does not print the page.
        """
        if path is None:
            return page(self.html_title(), self.html_body())
        check_writable(path)  # before the work of drawing
        write_text(path, page(self.html_title(), self.html_body()))
        return None

    def _repr_html_(self) -> str:
        return fragment(self.html_body())


def fragment(body: str) -> str:
    """Return HTML to be shown in a notebook, with the style that belongs to it.

    Parameters
    ----------
    body : str
        As HTML.
    """
    # A plain text, since marimo sends a subclass of str to the browser as an object.
    return f'<div class="lookalike"><style>{read_style("fragment")}</style>{body}</div>'


def sides(plus: Iterable[str], minus: Iterable[str]) -> Html:
    """Return reasons for and against, a line each.

    Parameters
    ----------
    plus, minus : texts, plain or ``Html``
    """
    lines = []
    for texts, sign, color in ((plus, "+", FOR), (minus, "−", AGAINST)):
        # Texts may be Html with a sparkline in it: escape leaves these as they are.
        if joined := "; ".join(escape(text) for text in texts):
            lines.append(f'<div><b style="color:{color}">{sign}</b> {joined}</div>')
    return Html("".join(lines))
