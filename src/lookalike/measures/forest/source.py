"""Where the forest of a ``ForestProximity`` comes from: a grower, or somebody else's fit."""

from __future__ import annotations

from typing import Any

import numpy as np

from lookalike.errors import InvalidInput, Param, TooFewRows
from lookalike.measures.forest.cell_inputs import take_over
from lookalike.measures.forest.reading import ForestReading
from lookalike.measures.forest.tree_inputs import TreeInputs, check_columns
from lookalike.table import Table
from lookalike.trees.adapters import adapt_forest, check_fitted
from lookalike.trees.cells.grower import CellSimilarityForest
from lookalike.trees.cells.trees import SimilarityTrees
from lookalike.trees.grower import Grower
from lookalike.trees.growers import MatrixGrower, find_grower
from lookalike.trees.grown import Grown
from lookalike.trees.thresholds.flat import Forest


def find_source(
    forest: Any, reading: ForestReading, n_estimators: int | None, random_state: Any
) -> Any:
    """Return the grower that ``forest=`` asks for, or the fitted forest.

    Parameters
    ----------
    forest : None, str, Grower, or a fitted forest
        None: the one that the way to read was published with.
    reading : ForestReading
    n_estimators, random_state
        Shorthands for those of the grower.
    """
    source = reading.forest if forest is None else forest
    if isinstance(source, str):
        source = find_grower(source)
    if isinstance(source, Grower):
        return source.with_shorthands(n_estimators, random_state)
    if not isinstance(source, Forest):
        check_fitted(source)
    if n_estimators is not None:
        raise InvalidInput(
            Param("n_estimators", n_estimators, of="ForestProximity"),
            "a forest that is grown here",
            f"a fitted {type(source).__name__}, which has its trees already",
            ("Leave ", Param("n_estimators"), " out"),
        )
    return source


def grow_cells(
    source: Any, table: Table, out_of_bag: bool, who: str, n_jobs: int | None
) -> Grown[SimilarityTrees]:
    """Grow trees that compare cells, or take those of a fitted forest."""
    if isinstance(source, CellSimilarityForest):
        return source.grow(table, out_of_bag=out_of_bag, n_jobs=n_jobs)
    return take_over(source, table, out_of_bag, who)


def grow_matrix(
    source: Any,
    inputs: TreeInputs,
    values: np.ndarray,
    out_of_bag: bool,
    who: str,
    n_jobs: int | None,
) -> Grown[Forest]:
    """Grow trees that test the columns of a matrix, or take those of a fitted forest."""
    if len(values) < 2:
        raise TooFewRows(who, "at least 2 rows", Param("n_samples", len(values)), "Add rows")
    if isinstance(source, MatrixGrower):
        category = np.array(inputs.category, bool)
        return source.grow(values, category, out_of_bag=out_of_bag, n_jobs=n_jobs)
    grown = adapt_forest(source, len(values) if out_of_bag else None)
    check_columns(source, grown.forest.n_inputs, inputs.owner, who)
    return grown
