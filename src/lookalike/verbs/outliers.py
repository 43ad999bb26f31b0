"""Rows unlike the rest of their table, and the columns in which they are unusual."""

from dataclasses import replace
from typing import TYPE_CHECKING

from lookalike.verbs import annotations as args
from lookalike.verbs.measures import choose_measure, read_method, refuse_unused
from lookalike.verbs.source import as_source

if TYPE_CHECKING:
    from lookalike.prediction import Outliers

HEADING, RANK = "Look at a table", 30
EXAMPLES = (
    "lookalike outliers penguins.csv",
    "lookalike outliers penguins.csv --method neighbors:k=20 -n 5 --output json",
)
METHODS = {"combined": (), "isolation": ("n_estimators",), "neighbors": ("n_neighbors",)}


# Ranks hide extremes: the largest value is as near to the next as any other two.
BY_RANGES = "gower:missing=midpoint"


def outliers(
    table: args.TableLike,
    n: args.Number = 10,
    *,
    method: args.Method = "combined",
    measure: args.MeasureLike = None,
    weights: args.Weights = None,
    columns: args.Columns = None,
    filter: args.Filter = None,
    seed: args.Seed = 0,
) -> "Outliers":
    """Find the rows that are unlike the rest, and say in which columns they are unusual.

    Parameters
    ----------
    table : path, frame, dict of columns, Table or Index
    n : int
        How many rows to show.
    method : str
        combined: rows far from their 10 or their 100 nearest neighbors, whichever is rarer, scored
        in bits (10 bits: one row in 1,000); isolation: rows that a few random cuts separate from
        all others (isolation:trees=200); neighbors: rows far from their nearest neighbors under a
        measure (neighbors:k=20).
    measure : str or Measure, optional
        For neighbors: how rows are compared. None: Gower by ranges, since ranks hide extremes.
    weights : mapping of column to number, optional
        For neighbors: how much columns matter.
    columns : names, optional
        Compare by these columns only.
    filter : conditions, optional
        Which rows are looked at; see ``search``.
    seed : int

    Returns
    -------
    Outliers

    Examples
    --------
    >>> import lookalike as la
    >>> sizes = [float(i % 7) for i in range(63)] + [90.0]
    >>> found = la.outliers({"size": sizes, "color": ["red", "blue"] * 32}, 1)
    >>> found.to_dict()["outliers"][0]["id"], found.because(63)
    (63, 'size 90, higher than in all other rows')
    """
    name, options = read_method(method, METHODS)
    refuse_unused(name, ["neighbors"], measure=measure, weights=weights)
    rows = as_source(table).rows(filter).compared_by(columns)
    chosen = None  # the other methods have a comparison of their own, or none
    if name == "neighbors":
        chosen, _ = choose_measure(measure or BY_RANGES, rows, weights, seed)
    from lookalike.prediction import find_outliers

    found = find_outliers(rows.table, name, measure=chosen, random_state=seed, **options)
    return replace(found, ids=rows.ids, n=n, name=rows.name)
