"""Fitting the measure of a collection again, to the rows that are there now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from lookalike.index import Index
from lookalike.index.segments import learn_levels
from lookalike.service.fitting import about_aside, make, name_rows
from lookalike.service.view import View
from lookalike.table import read_table


def fit_again(
    view: View, measure: str, kinds: Mapping[str, Any], weights: Mapping[str, float]
) -> View:
    """Return the view with another measure, fitted to the same rows.

    Parameters
    ----------
    view : View
    measure : str
        A name with options, or "auto".
    kinds : mapping of column to kind
        For columns that are to be read otherwise from now on.
    weights : mapping of column to weight
    """
    before, table = view.settings, learn_levels(view.index.table)
    ids = table[before.names].values.tolist()
    table = table.drop([before.names])
    if kinds:
        table = read_table(table, kinds=kinds)
    settings = replace(
        before,
        measure=measure,
        kinds={**before.kinds, **kinds},
        weights=dict(weights),
        aside=about_aside(table)
        | {n: a for n, a in before.aside.items() if n in table.schema.aside},
        compared=len(table.columns),
    )
    made, reason = make(settings, table)
    settings = replace(settings, reason=reason, measured=type(made).__name__)
    index = Index(made, id_column=before.names).fit(name_rows(table, ids, before.names))
    return replace(
        view, settings=settings, schema=table.schema, index=index, repaired=None, changed=0
    )
