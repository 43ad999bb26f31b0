"""A table from all sides, on one page."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from lookalike.verbs import annotations as args
from lookalike.verbs.measures import AUTO, choose_measure, read_measure
from lookalike.verbs.source import as_source

if TYPE_CHECKING:
    from lookalike.show.report import TableReport

HEADING, RANK = "Look at a table", 40
EXAMPLES = (
    "lookalike report penguins.csv",
    "lookalike report penguins.csv --label species -o penguins.html",
    "lookalike report penguins.csv --explore",
)
OUTPUT = "page"
MAX_SAMPLE_ROWS = 2_000
ManyRows = Annotated[int | None, args.Spelling(json=int | None, metavar="N", least=10)]
Title = Annotated[str | None, args.Spelling(json=str | None, metavar="TEXT")]


def report(
    table: args.TableLike,
    label: args.Label = None,
    *,
    measure: args.MeasureLike = None,
    weights: args.Weights = None,
    k: args.Count = 5,
    sample: ManyRows = None,
    columns: args.Columns = None,
    filter: args.Filter = None,
    title: Title = None,
    seed: args.Seed = 0,
) -> "TableReport":
    """Write one page about a table: columns, missing cells, neighbors, map, hubs, clusters.

    The page is one file that needs no other and no network.

    Parameters
    ----------
    table : path, frame, dict of columns, Table or Index
    label : name of a column, or n labels, optional
        What the rows are: classes, numbers or sets. Not compared; the map is colored by it, and
        measures, clusters and hubs are scored against classes.
    measure : str or Measure, optional
        How rows are compared. None: the measure of an index, "auto" for a table.
    weights : mapping of column to number, optional
        How much columns matter.
    k : int
        How many neighbors to look at.
    sample : int, optional
        Rows to look at, of a larger table (2,000 unless given); all for columns and missing cells.
    columns : names, optional
        Compare by these columns only.
    filter : conditions, optional
        Which rows are looked at; see ``search``.
    title : str, optional
        The heading; the name of the table unless given.
    seed : int

    Returns
    -------
    TableReport

    Examples
    --------
    >>> import lookalike as la
    >>> pets = {
    ...     "weight": [4.0, 5.0, None, 30.0, 25.0, 28.0],
    ...     "sound": ["meow", "meow", "meow", "woof", "woof", "woof"],
    ... }
    >>> found = la.report(pets, title="Pets")
    >>> found.title, list(found.parts)[:3]
    ('Pets', ['summary', 'map', 'columns'])
    """
    # Mistakes in the name of a measure or of a column are errors before the long work.
    if measure is not None:
        read_measure(measure)
    source = as_source(table)
    rows = source.rows(filter)
    if isinstance(label, str):
        rows = rows.labelled(label)
        rows.without_label(label)
    if columns is not None:
        names = rows.compared_by(columns).table.names
        rows = rows.compared_by([*names, label] if isinstance(label, str) else names)
    # "auto" is left to the report, which also shows the reason for its choice.
    given: Any = AUTO
    if weights or rows.index is not None or measure not in (None, AUTO):
        given, _ = choose_measure(measure, rows, weights, None)
    from lookalike.show.report.table_report import make_report

    name = title or (Path(source.name).name if source.is_path else "Table")
    most = MAX_SAMPLE_ROWS if sample is None else sample
    return make_report(rows.table, label, measure=given, k=k, sample=most, title=name, seed=seed)
