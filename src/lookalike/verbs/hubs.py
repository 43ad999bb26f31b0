"""Rows that are in very many neighbor lists (hubs), and what reduces that."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from lookalike.errors import Param, Phrase
from lookalike.verbs import annotations as args
from lookalike.verbs.measures import AUTO, choose_measure
from lookalike.verbs.source import NamedRows, as_source

if TYPE_CHECKING:
    from lookalike.hubness import HubnessReport

HEADING, RANK = "Choose how rows are compared", 90
EXAMPLES = (
    "lookalike hubs penguins.csv",
    "lookalike hubs penguins.csv --reduce mp --label species -k 10",
    "lookalike hubs embeddings.npy",
)
MAX_ROWS_FOR_ALL_LISTS = 20_000  # of vectors; above, lists of sampled rows are counted
# Name -> class in lookalike.hubness, and its options; a name because a class would be imported
# with the help of the program.
REDUCERS: dict[str, tuple[str, dict[str, Any]]] = {
    "mp": ("MutualProximity", {}),
    "mp-gauss": ("MutualProximity", {"model": "gauss_independent"}),
    "nicdm": ("NICDM", {}),
    "ls": ("LocalScaling", {}),
    "cdm": ("CDM", {}),
    "csls": ("CSLS", {}),
    "snn": ("SharedNeighbors", {}),
}


def hubs(
    table: args.TableLike,
    k: args.Count = 5,
    *,
    reduce: Literal["none", "mp", "mp-gauss", "nicdm", "ls", "cdm", "csls", "snn"] = "none",
    measure: args.MeasureLike = None,
    weights: args.Weights = None,
    columns: args.Columns = None,
    filter: args.Filter = None,
    label: args.Label = None,
    seed: args.Seed = 0,
) -> "HubnessReport | Any":
    """Say whether a few rows (hubs) fill most neighbor lists, which, and whether reducing helps.

    Where hubs are a problem, a reduction is tried on the same rows (a sample of a large table) and
    offered only if it helps. A label that is a column of sets gives a row several classes. Of more
    than 20,000 vectors (one column, compared as usual) the lists of sampled rows are counted.

    Parameters
    ----------
    table : path, frame, dict of columns, Table or Index
    k : int
        How many neighbors to look at.
    reduce : str
        Show all statistics before and after hubness is reduced: mutual proximity (mp; mp-gauss for
        many rows), local scaling (nicdm, ls, cdm, csls), shared neighbors (snn).
    measure : str or Measure, optional
        How rows are compared. None: the measure of an index, "auto" for a table.
    weights : mapping of column to number, optional
        How much columns matter.
    columns : names, optional
        Compare by these columns only.
    filter : conditions, optional
        Which rows are looked at; see ``search``.
    label : name of a column, or n labels, optional
        Known classes: not compared, but neighbors are scored against them.
    seed : int

    Returns
    -------
    HubnessReport or HubScan

    Examples
    --------
    >>> import numpy as np
    >>> import lookalike as la
    >>> rows = np.random.default_rng(0).normal(size=(200, 40))
    >>> found = la.hubs(rows, reduce="nicdm", measure="vector")
    >>> before, after = (column["skewness"] for column in found.statistics.values())
    >>> before > 2 * after
    True
    """
    rows, truth = as_source(table).rows(filter).without_label(label)
    compared = rows.compared_by(columns)
    from lookalike import hubness
    from lookalike.saving.fields import Choice

    if _is_large_collection(compared) and truth is None and reduce == "none" and measure is None:
        vectors = compared.table.columns[0].values
        return replace(hubness.scan_hubs(vectors, k, seed=seed), ids=rows.ids, name=rows.name)
    chosen, reason = choose_measure(measure, compared, weights, seed)
    # The report on a reducer has two columns: the measure inside it is "before".
    if reduce != "none":
        Choice("none", *REDUCERS).check("hubs", "reduce", reduce)
        name, options = REDUCERS[reduce]
        chosen = getattr(hubness, name)(chosen, **options)
    report = hubness.hubness_report(chosen.fit(compared.table), truth, k)
    report = replace(report, table=compared.table, ids=rows.ids, name=rows.name, reason=reason)
    if len(report.columns) == 1 and report.judged.reduction_helps:  # not reduced yet
        report.notes.append(_offer(AUTO if measure is None and rows.index is None else measure))
    return report


def _is_large_collection(rows: NamedRows) -> bool:
    """Whether the rows are vectors and nothing else, too many for the lists of all of them."""
    columns = rows.table.columns if rows.index is None else []
    vectors = len(columns) == 1 and columns[0].kind.name == "vector" and not columns[0].kind.role
    return vectors and len(rows.table) > MAX_ROWS_FOR_ALL_LISTS


def _offer(measure: Any) -> Phrase:
    """Return how to see the reduction and, for a measure by its name, how to compare by it."""
    seen = "the reduction helps: see it with ", Param("reduce", "mp-gauss")
    if not isinstance(measure, str) or ":" in measure:  # options would be read as the reducer's
        return Phrase(*seen)
    reduced = f"mutual-proximity:model=gauss_independent,measure={measure}"
    return Phrase(*seen, ", compare by it with ", Param("measure", reduced))
