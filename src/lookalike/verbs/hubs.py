"""Rows that are in everybody's list of neighbors, and what reduces that."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from lookalike.errors import InvalidInput, Param, suggest
from lookalike.verbs.annotations import (
    Columns,
    Count,
    Filter,
    Label,
    MeasureLike,
    Seed,
    TableLike,
    Weights,
)
from lookalike.verbs.measures import choose_measure
from lookalike.verbs.source import as_source

if TYPE_CHECKING:
    from lookalike.hubness import HubnessReport

EXAMPLES = (
    "lookalike hubs penguins.csv",
    "lookalike hubs penguins.csv --reduce mp --label species -k 10",
)
# Name -> class in lookalike.hubness, and its options.
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
    table: TableLike,
    k: Count = 5,
    *,
    reduce: Literal["none", "mp", "mp-gauss", "nicdm", "ls", "cdm", "csls", "snn"] = "none",
    measure: MeasureLike = None,
    weights: Weights = None,
    columns: Columns = None,
    filter: Filter = None,
    label: Label = None,
    seed: Seed = 0,
) -> "HubnessReport":
    """Say whether a few rows fill everybody's list of neighbors, and which.

    A label that is a column of sets gives a row several classes.

    Parameters
    ----------
    table : path, frame, dict of columns, Table or Index
    k : int
        How many neighbors to look at.
    reduce : str
        Show the statistics before and after hubness is reduced: mutual proximity (mp; mp-gauss for
        many rows), local scaling (nicdm, ls, cdm, csls), shared neighbors (snn).
    measure : str or Measure, optional
        How rows are compared. None: the measure of an index, "gower" for a table.
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
    HubnessReport

    Examples
    --------
    >>> import numpy as np
    >>> import lookalike as la
    >>> rows = np.random.default_rng(0).normal(size=(200, 40))
    >>> found = la.hubs(rows, reduce="nicdm", measure="vector")
    >>> before, after = (figures["skewness"] for figures in found.statistics.values())
    >>> before > 2 * after
    True
    """
    rows, truth = as_source(table).rows(filter).without_label(label)
    compared = rows.compared_by(columns)
    chosen, reason = choose_measure(measure, compared, weights, seed)
    from lookalike import hubness

    if reduce != "none":
        if reduce not in REDUCERS:
            needed, hint = "a known reducer", suggest(str(reduce), ["none", *REDUCERS])
            raise InvalidInput(Param("reduce"), needed, repr(reduce), hint)
        name, options = REDUCERS[reduce]
        chosen = getattr(hubness, name)(chosen, **options)
    report = hubness.hubness_report(chosen.fit(compared.table), truth, k)
    return replace(report, table=compared.table, ids=rows.ids, name=rows.name, reason=reason)
