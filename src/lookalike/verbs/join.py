"""The rows of another table that are nearest to each row of a table."""

from typing import TYPE_CHECKING

from lookalike.verbs import annotations as args
from lookalike.verbs.pairing import open_two

if TYPE_CHECKING:
    from lookalike.linkage import Joined

HEADING, RANK = "Put two tables together", 74
EXAMPLES = (
    "lookalike join rivals.csv films.csv -k 3 --why",
    "lookalike join rivals.csv films.csv --by mpaa --max-distance length=10 --output csv",
    "lookalike join rivals.csv films.csv --on year,length --mutual --max-distance 0.1",
)


def join(
    table: args.TableLike,
    other: args.OtherTable,
    k: args.Count = 1,
    *,
    on: args.Columns = None,
    by: args.Columns = None,
    max_distance: args.PairLimits = None,
    mutual: bool = False,
    why: bool = False,
    measure: args.MeasureLike = None,
    weights: args.Weights = None,
) -> "Joined":
    """Find for each row of a table the nearest rows of another one.

    The columns that both tables have are compared, each by its kind, missing cells included; all
    columns of both are in the answer. Rows without a match are not in it, but listed beside it.

    Parameters
    ----------
    table : path, frame, dict of columns, Table, LazyTable or Index
        Parquet files are read in parts.
    other : path, frame, dict of columns, Table or Index
        The table that is searched: how the rows of both are read and compared is learned from it.
    k : int
        How many rows of the other table to find for each row.
    on : names, optional
        Compare by these columns only; all common columns unless given.
    by : names, optional
        Columns in which the rows of a pair must be equal; a missing cell equals none. They are not
        compared otherwise.
    max_distance : number, or mapping of column to number, optional
        How far apart the rows of a pair may be: by the measure, or in columns of numbers (or of
        dates, in days), as a caliper; "" in a mapping is the measure. A missing cell is within no
        caliper.
    mutual : bool
        Only pairs in which each row is among the k nearest of the other.
    why : bool
        Show the two strongest reasons for and against each pair.
    measure : str or Measure, optional
        How rows are compared. None: the measure of an index, "auto" for a table.
    weights : mapping of column to number, optional
        How much columns matter: 3 counts three times, 0 not at all.

    Returns
    -------
    Joined

    Examples
    --------
    >>> import lookalike as la
    >>> pets = {"weight": [4.0, 30.0, 5.5], "animal": ["cat", "dog", "cat"], "name": list("ABC")}
    >>> found = la.join({"weight": [6.0, 28.0], "animal": ["cat", "dog"]}, pets)
    >>> found.matches.tolist(), found.to_frame()["name"].tolist()
    ([2, 1], ['C', 'B'])
    """
    from lookalike.linkage import Joined

    two, about = open_two(
        "join", table, other, measure, max_distance, on=on, by=by, weights=weights
    )
    lists = two.nearest(k)
    return Joined(two, two.mutual(lists) if mutual else lists, k=k, why=why, **about)
