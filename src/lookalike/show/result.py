"""Base of the results of verbs: one result in four forms."""

from __future__ import annotations

import io
import os
from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lookalike._runtime.files import replacing
from lookalike._runtime.frames import FrameMixin, frame_of_records, make_frame
from lookalike._runtime.text import plain
from lookalike.show.html.document import HtmlReport
from lookalike.show.html.markup import escape

if TYPE_CHECKING:
    from rich.console import Console as Console
else:  # rich is imported when something is printed; annotations name it from here
    Console = Any

DEFAULT_WIDTH = 100  # characters of a line where there is no terminal
Spell = Callable[[str], str]


class Result(HtmlReport, FrameMixin):
    """Result of a verb: as a data frame, plain values, text of a given width, or HTML.

    A subclass defines ``cells`` for frames and CSV, ``to_dict`` for JSON and ``render`` for text.
    """

    backend: str = "pandas"  # the library of ``to_frame()``; where frames come in, that of them

    @abstractmethod
    def cells(self) -> dict[str, list[Any]]:
        """Return the answer as columns: name to one value per row."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return the whole answer as plain values, for JSON."""

    @abstractmethod
    def render(self, console: Console, spell: Spell = str) -> None:
        """Print the result.

        Parameters
        ----------
        console : Console
            Its width decides what fits on a line.
        spell : function of a text
            Writes parameters that advice names as the surface spells them.
        """

    def to_frame(self, backend: str | None = None) -> Any:
        """Return the answer as a data frame.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow", "duckdb"}, optional
            None: that of a frame that came in, else pandas.
        """
        backend = backend or self.backend
        columns = {
            name: [plain(c) if isinstance(c, frozenset | dict | list) else c for c in cells]
            for name, cells in self.cells().items()
        }
        lines = zip(*columns.values(), strict=True)
        records = [dict(zip(columns, line, strict=True)) for line in lines]
        # Without rows there are no records to read the columns from.
        return frame_of_records(records, backend) if records else make_frame(columns, backend)

    def head(self, n: int = 5) -> Any:
        """Return the first rows of ``to_frame()``.

        Parameters
        ----------
        n : int
        """
        frame = self.to_frame()
        # A relation of DuckDB takes names of columns in brackets.
        return frame.limit(n) if hasattr(frame, "limit") else frame[:n]

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write the answer to a Parquet file, as ``to_frame`` has it.

        Parameters
        ----------
        path : str or path
        """
        import pyarrow.parquet

        with replacing(path) as file:
            pyarrow.parquet.write_table(self.to_frame("pyarrow"), file)

    def text(self, width: int = DEFAULT_WIDTH) -> str:
        """Return the answer as text.

        Parameters
        ----------
        width : int
            Characters that fit on a line.
        """
        from rich.console import Console

        written = io.StringIO()
        # No color and no highlighting: the text goes into files and tests.
        self.render(Console(file=written, width=width, highlight=False, color_system=None))
        return written.getvalue().rstrip("\n")

    def __str__(self) -> str:
        return self.text()

    def html_title(self) -> str:
        """Return the heading of the page, as plain text."""
        return self.text().partition("\n")[0]

    def html_body(self) -> str:
        """Return the content below the heading, as HTML."""
        return f"<pre>{escape(self.text())}</pre>"


def as_json(**facts: Any) -> dict[str, Any]:
    """Return facts of an answer as JSON holds them.

    Examples
    --------
    >>> as_json(rows=3.0, tags={"b", "a"})
    {'rows': 3, 'tags': ['a', 'b']}
    """
    return {name: plain(fact) for name, fact in facts.items()}
