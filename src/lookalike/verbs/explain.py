"""Why two rows are alike, column by column."""

from typing import TYPE_CHECKING

from lookalike._runtime.text import as_record
from lookalike.verbs import annotations as args
from lookalike.verbs.measures import name_measure
from lookalike.verbs.search import find_row, get_index
from lookalike.verbs.source import as_source

if TYPE_CHECKING:
    from lookalike.index.hits import PairExplanation

HEADING, RANK = "Look at a table", 25
EXAMPLES = (
    "lookalike explain films.csv --row 17 --other 42",
    "lookalike explain films.csv --row 'Toy Story' --other 17 --weight genres=3",
)


def explain(
    table: args.TableLike,
    row: args.RowRef,
    other: args.RowRef,
    *,
    measure: args.MeasureLike = None,
    weights: args.Weights = None,
    columns: args.Columns = None,
) -> "PairExplanation":
    """Say why two rows are alike: what each column adds to their similarity, and takes from it.

    Parameters
    ----------
    table : path, frame, dict of columns, Table or Index
    row, other : id, name or record
        The two rows, as in ``search``.
    measure : str or Measure, optional
        How rows are compared; see ``search``.
    weights : mapping of column to number, optional
        How much columns matter: 3 counts three times, 0 not at all.
    columns : names, optional
        Compare by these columns only.

    Returns
    -------
    PairExplanation

    Examples
    --------
    >>> import lookalike as la
    >>> pets = {"weight": [4.0, 30.0, 5.0, 28.0], "animal": ["cat", "dog", "cat", "wolf"]}
    >>> la.explain(pets, 0, 2).explanation.plus
    {'weight': 0.375, 'animal': 0.5}
    """
    from lookalike.index.hits import PairExplanation

    source, row, other = as_source(table), as_record(row), as_record(other)
    index, _, names = get_index(source, measure, weights, columns, row)
    a, b = (find_row(index, mark, name) for mark, name in ((row, "row"), (other, "other")))
    explanation = index.explain(a, b, weights=weights, columns=names)
    return PairExplanation(source.name, (a, b), name_measure(index.measure_), explanation)
