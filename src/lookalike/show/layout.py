"""Lines and tables laid out for the width of a console."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from lookalike._runtime.text import clean

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as Grid
    from rich.text import Text

SPACES = 2  # spaces between the columns of a table
Line = Iterable[str | Sequence[str]]


def make_console() -> Console:
    """Return a console on standard output."""
    from rich.console import Console

    return Console(highlight=False)


def say(console: Console, text: str, style: str = "dim", indent: int = 0) -> None:
    """Print a line beside a table, dimmed unless another style is given.

    Parameters
    ----------
    console : Console
    text : str
    style : str, of rich
    indent : int
        Characters that all its lines are moved to the right by, where it takes several.
    """
    from rich.text import Text

    if indent:  # not rich's padding, which fills every line with spaces up to the edge
        for line in Text(clean(text), style).wrap(console, max(20, console.width - indent)):
            line.rstrip()
            console.print(Text(" " * indent) + line, soft_wrap=True)
    else:
        console.print(clean(text), style=style, markup=False)


def headline(console: Console, text: str) -> None:
    """Print the line above a table."""
    from rich.text import Text

    console.print(Text(clean(text), "bold"))


def grid(heads: Sequence[tuple[str, str]], lines: Iterable[Line] = ()) -> Grid:
    """Return a table.

    Parameters
    ----------
    heads : pairs of a heading and "left", "right" or "fold"
        Alignment of the cells; a folding column takes several lines instead of being cut.
    lines : lists of texts, see ``cells``
    """
    from rich import box
    from rich.table import Table as Grid
    from rich.text import Text

    # One rule below the headings: output stays readable in logs without color.
    table = Grid(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for head, align in heads:
        fold = align == "fold"
        table.add_column(
            Text(clean(head)),
            justify="right" if align == "right" else "left",
            no_wrap=not fold,
            overflow="fold" if fold else "ellipsis",
        )
    for line in lines:
        table.add_row(*cells(line))
    return table


def cells(texts: Line) -> list[Text]:
    """Return texts as cells of a grid; a square bracket in them is a bracket, not a style.

    Parameters
    ----------
    texts : texts, or sequences of texts
        A sequence takes a line for each of its texts; a line break within one is a space.
    """
    from rich.text import Text

    lines = ([text] if isinstance(text, str) else text for text in texts)
    return [Text("\n".join(map(clean, some))) for some in lines]


def cut(text: str, width: int) -> str:
    """Cut a text at a width in terminal cells, of which some letters take two.

    Examples
    --------
    >>> cut("a dog and a cat", 9), cut("犬と猫", 5), cut("犬", 5)
    ('a dog an…', '犬と…', '犬')
    """
    from rich.cells import cell_len, set_cell_size

    text = clean(text)
    # Chinese and Japanese letters take two cells, so that len() would cut too late.
    return text if cell_len(text) <= width else set_cell_size(text, width - 1).rstrip() + "…"


def fitting(
    heads: Sequence[str], rows: Sequence[Sequence[str]], width: int, optional: Sequence[str]
) -> list[int]:
    """Return which columns of a table fit into a line, in their order.

    Parameters
    ----------
    heads, rows
        The table; its first column always stays.
    width : int
        Characters of a line.
    optional : headings that may go, the first to go first
    """
    columns = zip(heads, *rows, strict=True)
    widths = {column[0]: max(map(len, column)) + SPACES for column in columns}
    for head in optional:
        if sum(widths.values()) + 2 <= width:  # one character is left free at either end
            break
        widths.pop(head, None)
    return [heads.index(head) for head in widths]
