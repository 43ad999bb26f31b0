"""What the columns of a table hold."""

from dataclasses import replace
from typing import TYPE_CHECKING

from lookalike.verbs import annotations as args
from lookalike.verbs.source import as_source

if TYPE_CHECKING:
    from lookalike.table import TableSummary

HEADING, RANK = "Look at a table", 10
EXAMPLES = (
    "lookalike inspect films.csv",
    "lookalike inspect films.csv --kinds year=category --missing '?'",
)


def inspect(table: args.TableLike, *, filter: args.Filter = None) -> "TableSummary":
    """Show what each column of a table holds, and the reason for thinking so.

    Parameters
    ----------
    table : path, frame, dict of columns, Table or Index
    filter : conditions, optional
        Which rows count; see ``search``.

    Returns
    -------
    TableSummary

    Examples
    --------
    >>> import lookalike as la
    >>> found = la.inspect({"size": [1.0, None, 1.0], "color": ["red", "blue", "blue"]})
    >>> found["size"].kind, found["size"].missing, found["size"].warnings
    ('number', 1, ('constant: it tells no rows apart',))
    """
    rows = as_source(table).rows(filter)
    return replace(rows.table.summary(), name=rows.name)
