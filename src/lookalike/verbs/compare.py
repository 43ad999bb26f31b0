"""Which measure suits a table."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

from lookalike._runtime.options import split_options
from lookalike.errors import InvalidInput, Param
from lookalike.verbs import annotations as args
from lookalike.verbs.source import as_source

if TYPE_CHECKING:
    from lookalike.leaderboard import Leaderboard
    from lookalike.measures import Measure

HEADING, RANK = "Choose how rows are compared", 80
EXAMPLES = (
    "lookalike compare penguins.csv --label species",
    "lookalike compare penguins.csv --measures gower,ratio:n_trees=50 --sample 200",
)
Measures = Annotated[Any, args.Spelling(json=str | list[str] | None, metavar="A,B")]


def compare(
    table: args.TableLike,
    measures: Measures = None,
    label: args.Label = None,
    *,
    k: args.Count = 5,
    columns: args.Columns = None,
    filter: args.Filter = None,
    sample: args.Sample = None,
    max_seconds: args.Seconds = None,
    seed: args.Seed = 0,
) -> "Leaderboard":
    """Compare measures on a table, best first, and recommend one.

    Parameters
    ----------
    table : path, frame, dict of columns, Table or Index
    measures : names or measures, optional
        Measures by name, with options after a colon: gower,vector:scale=standard. All of them, and
        hubness reducers on the best, unless given.
    label : name of a column, or n labels, optional
        Known classes: not compared, but neighbors are scored against them.
    k : int
        How many neighbors to look at.
    columns : names, optional
        Compare by these columns only.
    filter : conditions, optional
        Which rows are looked at; see ``search``.
    sample : int, optional
        Rows to try, of a larger table; 2000 unless given.
    max_seconds : float, optional
        Start no further measure after this many seconds.
    seed : int

    Returns
    -------
    Leaderboard

    Examples
    --------
    >>> import lookalike as la
    >>> penguins = la.datasets.load_penguins()
    >>> board = la.compare(penguins, ["gower", "gower:missing=midpoint"], "species")
    >>> board.best
    Gower(missing='midpoint')
    """
    chosen = read_measures(measures) if isinstance(measures, str) else measures
    rows, truth = as_source(table).rows(filter).without_label(label)
    rows = rows.compared_by(columns)
    from lookalike.leaderboard.comparing import compare as compare_measures

    # Seconds bound the start of measures, not their end: one that runs is not interrupted.
    board = compare_measures(
        rows.table, chosen, truth, k, max_seconds=max_seconds, sample=sample, random_state=seed
    )
    return replace(board, name=rows.name)


def read_measures(text: str) -> dict[str, "Measure"]:
    """Read measures by name; a part that is only ``option=value`` belongs to the one before.

    Examples
    --------
    >>> read_measures("gower,vector:metric=cosine,scale=minmax")
    {'gower': Gower(), 'vector:metric=cosine,scale=minmax': Vector(metric='cosine', scale='minmax')}
    """
    from lookalike.measures.names import make_measure

    names: list[str] = []
    for part in split_options(text):
        part = part.strip()
        # "vector:metric=cosine,scale=minmax" is one measure: a name has no "=" before its colon.
        goes_on = "=" in part and ":" not in part.partition("=")[0]
        if goes_on and names and ":" in names[-1]:
            names[-1] += f",{part}"
        else:
            names.append(part)
    if not names:
        raise InvalidInput(Param("measures"), "names of measures", repr(text), "Try gower,ranked")
    return {name: make_measure(name, Param("measures"), matrices=False) for name in names}
