"""The forest of a ``ForestProximity``: grown here, or taken from a fitted estimator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from lookalike._runtime.config import settings, show_bytes
from lookalike._runtime.threads import blocks, run
from lookalike.columns.base import Cells
from lookalike.errors import InvalidInput, Param, TooFewRows, TooLarge
from lookalike.measures.forest.methods import ProximityMethod
from lookalike.measures.numeric import TreeInputs, check_columns
from lookalike.saving.encode import saveable
from lookalike.saving.fields import Dims, Fields, Saved, Text, TupleOf, require
from lookalike.table import Schema, Table
from lookalike.trees.adapters import adapt_forest, check_fitted
from lookalike.trees.cells.trees import SimilarityTrees
from lookalike.trees.growers import CellSimilarityForest, Grower, MatrixGrower, find_grower
from lookalike.trees.growing import GrownForest
from lookalike.trees.thresholds.flat import Forest, bin_type

MAX_PROJECTION_BYTES = 2**25  # per thread; both limits were chosen by hand
MAX_BIN_BYTES = 2**27  # where only leaves are kept


@saveable
@dataclass(frozen=True, eq=False)
class CellInputs:
    """The inputs of a forest whose tests compare a cell with two others.

    Parameters
    ----------
    trees : SimilarityTrees
    owner : tuple of str
        Names of the table's columns; ``Forest.column`` has the position of each input in them.
    """

    FIELDS: ClassVar[Fields] = {
        "trees": Saved("SimilarityTrees"),
        "owner": TupleOf(Text(), "columns"),
    }

    trees: SimilarityTrees
    owner: tuple[str, ...]

    def parts(self, forest: Forest, n: int) -> list[slice]:
        """Cut n rows so that the bins of a part are small."""
        tall = MAX_BIN_BYTES // (forest.n_inputs * np.dtype(bin_type(forest)).itemsize)
        return list(blocks(n, tall)) or [slice(0, 0)]

    def bins(
        self,
        forest: Forest,
        cells: tuple[Cells, ...],
        part: slice | None = None,
        n_jobs: int | None = None,
    ) -> np.ndarray:
        """Return the bins of all rows or a part of them.

        A forest has as many inputs as it has different pairs of cells: tens of thousands. Their
        values are computed for a few rows at a time and stored as bins, mostly in a byte each.
        """
        start, stop, _ = (part or slice(None)).indices(len(cells[0]))
        limit = settings().memory_limit
        out_type = np.dtype(bin_type(forest))
        # Checked before any work: the answers of all rows to all tests may be many gigabytes.
        size = (stop - start) * forest.n_inputs * out_type.itemsize
        if size > limit:
            answers = f"for what {stop - start:,} rows answer to {forest.n_inputs:,} pairs of cells"
            smaller, more = Param("max_samples", 256), Param("memory_limit", of="config")
            raise TooLarge(
                "a forest of similarity trees", f"{show_bytes(size)} {answers}",
                f"a memory limit of {show_bytes(limit)}",
                ("Grow smaller trees with ", smaller, ", or raise ", more),
            )  # fmt: skip
        out = np.empty((stop - start, forest.n_inputs), out_type)
        tall = max(1, min(MAX_PROJECTION_BYTES, limit) // (8 * forest.n_inputs))

        def project(rows: slice) -> None:
            part = slice(start + rows.start, start + rows.stop)
            out[rows] = forest.bins(self.trees.inputs(cells, part, 1), 1)

        run(project, [(rows,) for rows in blocks(len(out), tall)], n_jobs, "projecting rows")
        return out

    def check_loaded(self, dims: Dims) -> None:
        """Check after loading that trees test columns of the table."""
        known = all(one.column < len(self.owner) for one in self.trees.columns)
        require(known, "CellInputs.owner", "a name for every column that is tested", "fewer")


# Asked before and after the shorthands are resolved, hence names as well as objects.
def tests_cells(forest: Any) -> bool:
    """Whether a ``forest=`` means trees that compare cells: grown here, or a fitted forest."""
    if isinstance(forest, str):
        return forest == "similarity"
    return isinstance(forest, CellSimilarityForest) or _has_cell_trees(forest)


def schema_of(forest: Any) -> Schema | None:
    """Return what a fitted similarity forest remembers of its table; None for other forests."""
    schema = getattr(forest, "schema_", None)
    return schema if _has_cell_trees(forest) and isinstance(schema, Schema) else None


def _has_cell_trees(forest: Any) -> bool:
    return isinstance(getattr(forest, "trees_", None), SimilarityTrees)


def grow_cells(
    forest: Any, table: Table, out_of_bag: bool, who: str, n_jobs: int | None
) -> GrownForest[SimilarityTrees]:
    """Grow trees that compare cells, or take those of a fitted similarity forest."""
    if isinstance(forest, CellSimilarityForest):
        return forest.grow(table, out_of_bag=out_of_bag, n_jobs=n_jobs)
    trees: SimilarityTrees = forest.trees_
    schema = schema_of(forest)
    # Trees of other similarity forests compare whole rows: their tests belong to no column.
    names = [] if schema is None else list(schema.kinds)
    if any(names[one.column : one.column + 1] != [one.name] for one in trees.columns):
        found = f"{type(forest).__name__}, which compares whole rows"
        hint = "Use RandomSimilarityForestClassifier or RandomSimilarityForestRegressor"
        raise InvalidInput(who, "a forest whose trees test columns", found, hint)
    if not out_of_bag:
        return GrownForest(trees)
    # Which rows each tree was grown on is only kept for an out-of-bag score, row by row.
    bag = getattr(forest, "in_bag_", None)
    if bag is None:
        needed = "a forest that knows which rows each tree was grown on"
        found = f"{type(forest).__name__} fitted without out-of-bag score"
        fit = ("Fit it with ", Param("oob_score", True), ", or use another method")
        raise InvalidInput(who, needed, found, fit)
    if len(bag) != len(table):
        needed = f"the {len(bag):,} rows that the forest was fitted on"
        hint = "Fit the measure on the forest's own training rows"
        raise InvalidInput(who, needed, f"{len(table):,} rows", hint)
    return GrownForest(trees, np.asarray(bag))


def find_source(
    forest: Any, method: ProximityMethod, n_estimators: int | None, random_state: Any
) -> Any:
    """Return the grower that ``forest=`` asks for, or the fitted forest.

    Parameters
    ----------
    forest : None, str, Grower, or a fitted forest
        None: the one that the method was published with.
    method : ProximityMethod
    n_estimators, random_state
        Shorthands for those of the grower.
    """
    source = method.forest if forest is None else forest
    if isinstance(source, str):
        source = find_grower(source)
    if isinstance(source, Grower):
        return source.with_shorthands(n_estimators, random_state)
    if not isinstance(source, Forest):  # flat arrays, of a loaded measure, need no check
        check_fitted(source)
    if n_estimators is not None:
        given = Param("n_estimators", n_estimators, of="ForestProximity")
        found = f"a fitted {type(source).__name__}, which has its trees already"
        leave_out = ("Leave ", Param("n_estimators"), " out")
        raise InvalidInput(given, "a forest that is grown here", found, leave_out)
    return source


def grow_matrix(
    source: Any,
    inputs: TreeInputs,
    values: np.ndarray,
    out_of_bag: bool,
    who: str,
    n_jobs: int | None,
) -> GrownForest[Forest]:
    """Grow trees that test the columns of a matrix, or take those of a fitted forest."""
    if len(values) < 2:
        raise TooFewRows(who, "at least 2 rows", Param("n_samples", len(values)), "Add rows")
    if isinstance(source, MatrixGrower):
        category = np.array(inputs.category, bool)
        return source.grow(values, category, out_of_bag=out_of_bag, n_jobs=n_jobs)
    grown = adapt_forest(source, len(values) if out_of_bag else None)
    check_columns(source, grown.forest.n_inputs, inputs.owner, who)
    return grown
