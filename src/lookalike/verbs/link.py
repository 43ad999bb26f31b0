"""Rows of two tables that are the same record."""

from typing import TYPE_CHECKING, Annotated

from lookalike.verbs import annotations as args
from lookalike.verbs.pairing import decide

if TYPE_CHECKING:
    from lookalike.linkage import Linked

HEADING, RANK = "Put two tables together", 73
EXAMPLES = (
    "lookalike link rivals.csv films.csv --on title,year",
    "lookalike link rivals.csv films.csv --show review -n 50 --output csv",
)


def link(
    table: args.TableLike,
    other: args.OtherTable,
    n: args.Number = 20,
    *,
    on: args.Columns = None,
    by: args.Columns = None,
    decisions: args.Decisions = None,
    threshold: args.Threshold = None,
    many: bool = False,
    show: Annotated[str, args.Spelling(metavar="NAME")] = "pairs",
    seed: args.Seed = 0,
) -> "Linked":
    """Find the rows of two tables that are the same record.

    A decision, where ``join`` gives the nearest rows: cells are compared as they are written, with
    slips of the pen, and how much each column says, and from which probability on to decide, is
    learned from the tables (Fellegi and Sunter 1969); nothing has to be labelled.

    Parameters
    ----------
    table : path, frame, dict of columns, Table or Index
    other : path, frame, dict of columns, Table or Index
        The other table; it may call columns of other kinds by the same names.
    n : int
        How many doubtful pairs to list for review.
    on : names, optional
        Compare by these columns only. None: all common ones but identifiers, which are compared if
        named.
    by : names, optional
        Columns in which the rows of a pair must be equal, as they are written.
    decisions : path of a CSV file, frame, or list, optional
        Pairs that were reviewed, see ``dedupe``. They are kept, and the rest is fitted to them.
    threshold : float, optional
        Pairs from this probability on are matches. None: chosen for the largest expected F1.
    many : bool
        Whether a row may have several matches. If not, the candidates of a row compete.
    show : str
        What frames and CSV hold: pairs, or review (the doubtful pairs, to be decided).
    seed : int
        Of the random pairs that say what is usual.

    Returns
    -------
    Linked

    Examples
    --------
    >>> import lookalike as la
    >>> a = {
    ...     "name": ["Blue Door", "Old Mill", "Red Barn"],
    ...     "street": ["12 Dock St", "1 Hill", "9 Elm"],
    ... }
    >>> b = {
    ...     "name": ["old mill", "Blue Dor", "Lamb"],
    ...     "street": ["1 Hill", "12 Dock Street", "8 Rd"],
    ... }
    >>> [pair[:2] for pair in la.link(a, b).pairs]
    [(0, 1), (1, 0)]
    """
    options = (n, on, by, decisions, threshold, show, seed)
    return decide("link", (table, other), *options, one_to_one=not many)
