"""Where the forest of a ``ForestProximity`` comes from: a grower, or a fitted forest."""

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

PROJECTED = 2**25  # bytes of projections that a thread holds at once
BINNED = 2**27  # bytes of bins held at once where only leaves are kept


@saveable
@dataclass(frozen=True, eq=False)
class CellInputs:
    """The inputs of a forest whose tests compare a cell with two others.

    Parameters
    ----------
    trees : SimilarityTrees
    owner : tuple of str
        Names of the table's columns; ``Forest.column`` gives the place of each input among them.
    """

    FIELDS: ClassVar[Fields] = {
        "trees": Saved("SimilarityTrees"),
        "owner": TupleOf(Text(), "columns"),
    }

    trees: SimilarityTrees
    owner: tuple[str, ...]

    def parts(self, forest: Forest, n: int) -> list[slice]:
        """Cut n rows so that the bins of a part are small."""
        tall = BINNED // (forest.n_inputs * np.dtype(bin_type(forest)).itemsize)
        return list(blocks(n, tall)) or [slice(0, 0)]

    def bins(
        self,
        forest: Forest,
        cells: tuple[Cells, ...],
        part: slice | None = None,
        n_jobs: int | None = None,
    ) -> np.ndarray:
        """Return the bins of rows, all of them or a part, without all projections at once.

        A forest has as many inputs as it has different pairs of cells: tens of thousands. Their
        values are computed for a few rows at a time and kept as bins, mostly in a byte each.
        """
        start, stop, _ = (part or slice(None)).indices(len(cells[0]))
        limit = settings().memory_limit
        out_type = np.dtype(bin_type(forest))
        size = (stop - start) * forest.n_inputs * out_type.itemsize
        if size > limit:
            raise TooLarge(
                "a forest of similarity trees",
                f"{show_bytes(size)} for what {stop - start:,} rows answer to "
                f"{forest.n_inputs:,} pairs of cells",
                f"a memory limit of {show_bytes(limit)}",
                (
                    "Grow smaller trees with ",
                    Param("max_samples", 256),
                    ", or raise ",
                    Param("memory_limit", of="config"),
                ),
            )
        out = np.empty((stop - start, forest.n_inputs), out_type)
        tall = max(1, min(PROJECTED, limit) // (8 * forest.n_inputs))

        def one(rows: slice) -> None:
            here = slice(start + rows.start, start + rows.stop)
            out[rows] = forest.bins(self.trees.inputs(cells, here, 1), 1)

        run(one, [(rows,) for rows in blocks(len(out), tall)], n_jobs, "projecting rows")
        return out

    def check_loaded(self, dims: Dims) -> None:
        """Check after loading that trees test columns of the table."""
        known = all(one.column < len(self.owner) for one in self.trees.columns)
        require(known, "CellInputs.owner", "a name for every column that is tested", "fewer")


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


def take_over(forest: Any, table: Table, wants_bag: bool, who: str) -> GrownForest[SimilarityTrees]:
    """Use the trees of a fitted similarity forest as they are."""
    trees: SimilarityTrees = forest.trees_
    schema = schema_of(forest)
    names = [] if schema is None else list(schema.kinds)
    if any(names[one.column : one.column + 1] != [one.name] for one in trees.columns):
        raise InvalidInput(
            who,
            "a forest whose trees test columns",
            f"{type(forest).__name__}, which compares whole rows",
            "Use RandomSimilarityForestClassifier or RandomSimilarityForestRegressor",
        )
    if not wants_bag:
        return GrownForest(trees)
    bag = getattr(forest, "in_bag_", None)
    if bag is None:
        raise InvalidInput(
            who,
            "a forest that knows which rows each tree was grown on",
            f"{type(forest).__name__} fitted without out-of-bag score",
            ("Fit it with ", Param("oob_score", True), ", or use another method"),
        )
    if len(bag) != len(table):
        raise InvalidInput(
            who,
            f"the {len(bag):,} rows that the forest was fitted on",
            f"{len(table):,} rows",
            "Fit the measure on the forest's own training rows",
        )
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
) -> GrownForest[SimilarityTrees]:
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
