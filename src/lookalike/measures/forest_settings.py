"""The forest behind a ``ForestProximity``: published settings, growers by name, forests given."""

from __future__ import annotations

from typing import Any

import numpy as np

from lookalike.errors import InvalidInput, message, suggest
from lookalike.forests.adapt import adapt_forest, check_fitted
from lookalike.forests.extra import grow_extra
from lookalike.forests.flat import Forest
from lookalike.forests.isolation import grow_isolation
from lookalike.forests.grown import Grown
from lookalike.forests.synthetic import grow_synthetic
from lookalike.measures.cell_inputs import CellInputs, grow_cells, take_over
from lookalike.measures.tree_inputs import TreeInputs
from lookalike.table import Table

__all__ = ["check_forest", "grow_cells_for", "grow_for"]

GROWERS = ("synthetic", "extra", "isolation", "similarity")

# What each method was published with; the other forests' own settings stand in for the rest.
PUBLISHED: dict[str, dict[str, Any]] = {
    "synthetic": {
        "n_estimators": 100,
        "max_samples": 0.8,
        "max_features": 0.5,
        "bootstrap": False,
        "resample": True,
    },
    "extra": {"n_estimators": 100, "max_samples": 0.8},
    "isolation": {"n_estimators": 100, "max_samples": 256},
    "similarity": {
        "n_estimators": 100,
        "max_samples": 0.8,
        "max_features": 0.5,
        "bootstrap": False,
        "resample": False,
    },
}
OUT_OF_BAG: dict[str, Any] = {
    "n_estimators": 1000,
    "max_samples": 1.0,
    "max_features": "sqrt",
    "bootstrap": True,
    "resample": False,
}


def grow_for(measure: Any, inputs: TreeInputs, values: np.ndarray, who: str) -> Grown:
    """Grow, or take over, the forest that the parameters of a measure ask for."""
    wants_bag = measure.method == "oob"
    forest = measure.forest
    if forest is None:
        forest = "isolation" if measure.method in ("ting", "aryal") else "synthetic"
    if not isinstance(forest, str):
        grown = adapt_forest(forest, len(values) if wants_bag else None)
        _check_columns(forest, grown.forest.n_inputs, inputs.owner, who)
        return grown
    if forest not in GROWERS:
        raise InvalidInput(
            message(
                f"{type(measure).__name__}(forest={forest!r})",
                "one of " + ", ".join(map(repr, GROWERS)) + " or a fitted forest",
                repr(forest),
                suggest(forest, GROWERS),
            )
        )
    chosen = _choose(measure, forest)
    n_trees = chosen.pop("n_estimators")
    shared: dict[str, Any] = {
        "max_depth": measure.max_depth,
        "keep_bag": wants_bag,
        "random_state": measure.random_state,
        "n_jobs": measure.n_jobs,
        **chosen,
    }
    category = np.array(inputs.category, bool)
    if forest == "extra":
        return grow_extra(values, category, n_trees, **shared)
    if forest == "isolation":
        return grow_isolation(values, category, n_trees, **shared)
    resample = shared.pop("resample")
    shared["synthetic"] = "uniform" if measure.synthetic == "addcl2" else "resampled" if resample else "permuted"
    if shared["max_features"] == "all":
        shared["max_features"] = None
    return grow_synthetic(
        values,
        category,
        n_trees,
        feature_sampling=measure.feature_sampling,
        threshold=measure.threshold,
        **shared,
    )


def grow_cells_for(
    measure: Any, table: Table, who: str
) -> tuple[CellInputs, Forest, np.ndarray | None]:
    """Grow, or take over, the similarity trees that the parameters of a measure ask for."""
    if isinstance(measure.forest, str):
        inputs, bag = grow_cells(measure, table, _choose(measure, measure.forest), who)
    else:
        inputs, bag = take_over(measure.forest, table, measure.method == "oob", who)
    return inputs, inputs.trees.to_forest(), bag


def _choose(measure: Any, forest: str) -> dict[str, Any]:
    """Return the parameters that were given, and the published setting of the others."""
    wants_bag = measure.method == "oob" and forest in ("synthetic", "similarity")
    usual = OUT_OF_BAG if wants_bag else PUBLISHED[forest]
    return {
        name: setting if getattr(measure, name) is None else getattr(measure, name)
        for name, setting in usual.items()
    }


def check_forest(measure: Any) -> None:
    """Refuse a forest that was not fitted, and distances for trees that compare none."""
    forest = measure.forest
    named = forest is None or isinstance(forest, str)
    if not named and not isinstance(forest, Forest):
        check_fitted(forest)
    if measure.distances is not None and not (named and forest == "similarity"):
        raise InvalidInput(
            message(
                f"{type(measure).__name__}(distances=...)",
                "forest='similarity', whose trees compare cells by distances",
                f"forest={forest!r}" if named else "a fitted forest",
                "Leave distances out, or set forest='similarity'",
            )
        )


def _check_columns(forest: Any, n_inputs: int, owner: tuple[str, ...], who: str) -> None:
    """Refuse a forest that was fitted on other columns than the table has."""
    if len(owner) != n_inputs:
        raise InvalidInput(
            message(
                who,
                f"the {n_inputs} columns that the forest was fitted on",
                f"{len(owner)}: " + ", ".join(owner[:8]),
                "Fit the measure on the forest's own columns",
            )
        )
    for expected, found in zip(getattr(forest, "feature_names_in_", ()), owner, strict=False):
        if str(expected) != found:
            raise InvalidInput(
                message(
                    who,
                    "the columns that the forest was fitted on, in their order",
                    f"{found!r} in place of {str(expected)!r}",
                    "Fit the measure on the forest's own columns",
                )
            )
