"""Treated rows and the control rows most like them, for studies without an experiment."""

from typing import TYPE_CHECKING

from lookalike.verbs import annotations as args
from lookalike.verbs.pairing import open_two

if TYPE_CHECKING:
    from lookalike.linkage import Matched

HEADING, RANK = "Put two tables together", 76
EXAMPLES = (
    "lookalike match rivals.csv films.csv",
    "lookalike match rivals.csv films.csv --by mpaa --max-distance year=5",
    "lookalike match rivals.csv films.csv -k 2 --replace --output csv",
)


def match(
    table: args.TableLike,
    control: args.OtherTable,
    k: args.Count = 1,
    *,
    on: args.Columns = None,
    by: args.Columns = None,
    max_distance: args.PairLimits = None,
    replace: bool = False,
    measure: args.MeasureLike = None,
    weights: args.Weights = None,
) -> "Matched":
    """Match treated rows to the control rows most like them, and compare the two groups.

    Nearest-neighbor matching for studies: the two groups should be alike in everything but the
    treatment. The answer has the pairs and, for each column, the standardized mean difference of
    the groups before and after.

    Parameters
    ----------
    table : path, frame, dict of columns, Table or Index
        The treated rows.
    control : path, frame, dict of columns, Table or Index
        The rows to choose from. Leave the outcome out of both, or name the others by ``on``.
    k : int
        How many control rows for each treated one.
    on : names, optional
        Compare by these columns only; all common columns unless given.
    by : names, optional
        Columns in which the rows of a pair must be equal; a missing cell equals none.
    max_distance : number, or mapping of column to number, optional
        Calipers: how far apart the rows of a pair may be, see ``join``.
    replace : bool
        Whether a control row may be matched several times. If not, the matching has as many pairs
        as can be, at the least sum of distances (optimal matching).
    measure : str or Measure, optional
        How rows are compared. None: the measure of an index, "auto" for a table.
    weights : mapping of column to number, optional
        How much columns matter.

    Returns
    -------
    Matched

    Examples
    --------
    >>> import lookalike as la
    >>> treated = {"age": [30.0, 40.0], "sex": ["f", "m"]}
    >>> control = {"age": [41.0, 65.0, 31.0, 20.0], "sex": ["m", "m", "f", "f"]}
    >>> found = la.match(treated, control, measure="gower")
    >>> found.matches.tolist(), round(found.balance[0].after, 3)
    ([2, 0], -0.141)
    """
    from lookalike.linkage.matched import Matched, match_once

    two, about = open_two(
        "match", table, control, measure, max_distance, on=on, by=by, weights=weights
    )
    lists = two.nearest(k, "match") if replace else match_once(two, k)
    return Matched(two, lists, k=k, replace=replace, **about)
