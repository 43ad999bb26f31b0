"""Rows of a table that are the same record, typed more than once."""

from typing import TYPE_CHECKING, Annotated

from lookalike.verbs import annotations as args
from lookalike.verbs.pairing import decide

if TYPE_CHECKING:
    from lookalike.linkage import Deduped

HEADING, RANK = "Put two tables together", 72
EXAMPLES = (
    "lookalike dedupe films.csv --on title,year",
    "lookalike dedupe films.csv --show review -n 50 --output csv",
)


def dedupe(
    table: args.TableLike,
    n: args.Number = 20,
    *,
    on: args.Columns = None,
    by: args.Columns = None,
    decisions: args.Decisions = None,
    threshold: args.Threshold = None,
    show: Annotated[str, args.Spelling(metavar="NAME")] = "groups",
    seed: args.Seed = 0,
) -> "Deduped":
    """Find the rows of a table that are the same record, and group them.

    Cells are compared as they are written, with slips of the pen: names, addresses, codes, dates.
    How much each column says, and from which probability on to decide, is learned from the table
    (Fellegi and Sunter 1969); nothing has to be labelled.

    Parameters
    ----------
    table : path, frame, dict of columns, Table or Index
    n : int
        How many doubtful pairs to list for review.
    on : names, optional
        Compare by these columns only. None: all but identifiers, which are compared if named.
    by : names, optional
        Columns in which the rows of a pair must be equal, as they are written.
    decisions : path of a CSV file, frame, or list, optional
        Pairs that were reviewed, as ``{"pair": [3, 17], "same": True}``, or with the columns left,
        right and same (yes, no or skip). They are kept, and the rest is fitted to them.
    threshold : float, optional
        Pairs from this probability on are doubles. None: chosen for the largest expected F1.
    show : str
        What frames and CSV hold: groups (each row with its group), pairs, review (the doubtful
        pairs, to be decided) or golden (one record for each group).
    seed : int
        Of the random pairs that say what is usual.

    Returns
    -------
    Deduped

    Examples
    --------
    >>> import lookalike as la
    >>> shops = {
    ...     "name": ["Blue Door", "Blue Dor", "Old Mill", "Red Barn", "Golden Lamb", "old mill"],
    ...     "street": [
    ...         "12 Dock St",
    ...         "12 Dock Street",
    ...         "1 Hill Rd",
    ...         "7 High St",
    ...         "3 Elm",
    ...         "1 Hill Rd",
    ...     ],
    ... }
    >>> la.dedupe(shops).groups
    [[0, 1], [2, 5]]
    """
    return decide("dedupe", (table,), n, on, by, decisions, threshold, show, seed)
