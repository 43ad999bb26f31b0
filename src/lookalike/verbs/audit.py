"""Whether synthetic rows give away the real ones that they were made from."""

from typing import TYPE_CHECKING

from lookalike.errors import InvalidInput, Param, name_some
from lookalike.verbs import annotations as args
from lookalike.verbs.pairing import open_table
from lookalike.verbs.source import as_source, column_names, split_names

if TYPE_CHECKING:
    from lookalike.linkage import Audit

HEADING, RANK = "Put two tables together", 78
EXAMPLES = (
    "lookalike audit films.csv rivals.csv",
    "lookalike audit films.csv synthetic.csv rivals.csv -n 5 --output json",
)


def audit(
    table: args.TableLike,
    synthetic: args.OtherTable,
    holdout: args.MaybeTable = None,
    *,
    n: args.Number = 10,
    columns: args.Columns = None,
    seed: args.Seed = 0,
) -> "Audit":
    """Find synthetic rows that are suspiciously near to the real ones they were made from.

    The distance to the closest record and the nearest-neighbor distance ratio of each synthetic
    row, beside those of real rows, and SDMetrics' scores DCROverfittingProtection and
    DCRBaselineProtection. Numbers, dates, categories, ordered levels and flags are compared.

    Parameters
    ----------
    table : path, frame, dict of columns, Table or Index
        The real rows that the synthetic ones were made from.
    synthetic : path, frame, dict of columns, Table or Index
        The synthetic rows.
    holdout : path, frame, dict of columns, Table or Index, optional
        Real rows that were not used to make the synthetic ones: how near they are to the others is
        what is usual. Without them the real rows are compared among each other.
    n : int
        How many of the rows that leak to list.
    columns : names, optional
        Compare by these columns only.
    seed : int
        Of the random rows that the baseline is made of.

    Returns
    -------
    Audit

    Examples
    --------
    >>> import lookalike as la
    >>> penguins = la.datasets.load_penguins()
    >>> copied = la.audit(penguins[0:200], penguins[0:50], penguins[200:344])
    >>> copied.scores["overfitting_protection"], len(copied.found.leaked)
    (0.0, 50)
    """
    from lookalike.linkage.audit import COMPARED, Audit, measure_closeness
    from lookalike.linkage.two_tables import read_two
    from lookalike.measures import Gower

    source = as_source(table)
    made = source.beside(synthetic)
    (real, real_ids), (left, ids) = open_table(source), open_table(made, "synthetic")
    # Gower: the range of each column is that of the real rows, whatever the synthetic ones hold.
    two = read_two(left, real, Gower(), on=split_names(columns), who="audit")
    kept = [name for name in two.on if two.right.schema.kinds[name].name in COMPARED]
    left_out = [name for name in two.on if name not in kept]
    if not kept:
        hint = ("Say what it is with ", Param("kinds", {left_out[0]: "category"}))
        needed = "a column of numbers, dates or categories in both tables"
        raise InvalidInput(Param("synthetic"), needed, name_some(left_out, 5), hint)
    if left_out:
        two = read_two(left, real, Gower(), on=kept, who="audit")
    held = None
    if holdout is not None:
        rows, _ = open_table(source.beside(holdout), "holdout")
        if gone := [name for name in kept if name not in column_names(rows)]:
            hint = ("Add it, or leave it out with ", Param("columns"))
            raise InvalidInput(Param("holdout"), "all columns compared", f"no {gone[0]!r}", hint)
        held = two.read_left(rows, "holdout").only(kept)
    compared, known = two.right.table.only(kept), two.read_left(left).only(kept)
    found = measure_closeness(compared, known, held, seed)
    # What is usual is said by rows that were not used, where there are any.
    beside, names = compared if held is None else held, (source.name, made.name)
    return Audit(two, found, known, compared, beside, (ids, real_ids), names, n, left_out)
