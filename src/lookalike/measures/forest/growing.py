"""The forest of a ``ForestProximity``: grown here, or taken from a fitted estimator."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from lookalike._runtime.config import settings
from lookalike._runtime.threads import blocks, run
from lookalike.columns.base import Cells
from lookalike.errors import InvalidInput, Param, Phrase, name_some
from lookalike.measures.contract.matrices import check_pairs
from lookalike.measures.numeric import plan_inputs
from lookalike.saving.encode import saveable
from lookalike.saving.fields import Dims, Fields, Saved, Text, TupleOf, require
from lookalike.table import Column, Schema, Table
from lookalike.trees.cells.trees import SimilarityTrees
from lookalike.trees.growers import CellSimilarityForest
from lookalike.trees.growing import GrownForest
from lookalike.trees.models import TreeModel
from lookalike.trees.thresholds.flat import Forest, bin_type

MAX_PROJECTION_BYTES = 2**25  # per thread; both limits were chosen by hand
MAX_BIN_BYTES = 2**27  # where only leaves are kept


class Projected(ABC):
    """Inputs of a forest that are computed from the cells of a row: more of them than columns.

    A forest may have as many inputs as it has different tests: tens of thousands. Their values are
    computed for a few rows at a time and stored as bins, mostly in a byte each.
    """

    @abstractmethod
    def encode(self, table: Table) -> Any:
        """Return the cells of a table as the inputs are computed from them."""

    @abstractmethod
    def project(self, cells: Any, part: slice) -> np.ndarray:
        """Return the inputs of some rows."""

    def parts(self, forest: Forest, n: int) -> list[slice]:
        """Cut n rows so that the bins of a part are small."""
        tall = MAX_BIN_BYTES // (forest.n_inputs * np.dtype(bin_type(forest)).itemsize)
        return list(blocks(n, tall)) or [slice(0, 0)]

    def bins(
        self, forest: Forest, cells: Any, part: slice, n_jobs: int | None = None
    ) -> np.ndarray:
        """Return the bins of a part of the rows."""
        start, stop, limit = part.start, part.stop, settings().memory_limit
        out_type = np.dtype(bin_type(forest))
        # Checked before any work: the answers of all rows to all tests may be many gigabytes.
        what = f"what {stop - start:,} rows answer to different tests"
        smaller = Phrase("Grow smaller trees with ", Param("max_samples", 256))
        sizes = stop - start, forest.n_inputs
        check_pairs("A forest", *sizes, smaller, bytes_per_pair=out_type.itemsize, what=what)
        out = np.empty((stop - start, forest.n_inputs), out_type)
        tall = max(1, min(MAX_PROJECTION_BYTES, limit) // (8 * forest.n_inputs))

        def project(rows: slice) -> None:
            some = slice(start + rows.start, start + rows.stop)
            out[rows] = forest.bins(self.project(cells, some), 1)

        run(project, [(rows,) for rows in blocks(len(out), tall)], n_jobs, "projecting rows")
        return out


@saveable
@dataclass(frozen=True, eq=False)
class CellInputs(Projected):
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

    def encode(self, table: Table) -> tuple[Cells, ...]:
        """Return the cells of every column that is tested."""
        return self.trees.encode(table)

    def project(self, cells: tuple[Cells, ...], part: slice) -> np.ndarray:
        """Return the differences of the distances to two cells, for every pair of cells."""
        return self.trees.inputs(cells, part, 1)

    def check_loaded(self, dims: Dims) -> None:
        """Check after loading that trees test columns of the table."""
        known = all(one.column < len(self.owner) for one in self.trees.columns)
        require(known, "CellInputs.owner", "a name for every column that is tested", "fewer")


@saveable
@dataclass(frozen=True, eq=False)
class ModelInputs(Projected):
    """The inputs of the trees of a fitted model: its features as it knows them, and its tests.

    Parameters
    ----------
    model : TreeModel
    names : tuple of str
        Columns of the table in the order of the model.
    owner : tuple of str
        The column of each feature; ``Forest.column`` has the feature of each input.
    """

    FIELDS: ClassVar[Fields] = {
        "model": Saved("TreeModel"),
        "names": TupleOf(Text()),
        "owner": TupleOf(Text(), "columns"),
    }

    model: TreeModel
    names: tuple[str, ...]
    owner: tuple[str, ...]

    def encode(self, table: Table) -> np.ndarray:
        """Return the features of rows: categories as the model codes them, NaN where missing."""
        entries: list[np.ndarray] = []
        for name in self.names:
            column, first = table[name], len(entries)
            if column.values.ndim == 2:
                entries += list(column.values.T)
            elif column.kind.levels:
                levels = None if self.model.asked else self.model.levels[first]
                entries.append(_known_as(column, levels))
            elif known := self.model.levels[first]:
                entries.append(_positions(column.values, known))
            else:
                entries.append(column.values)
        out = np.empty((len(table), len(entries)), object if self.model.asked else np.float64)
        for j, entry in enumerate(entries):
            out[:, j] = entry
        return out

    def project(self, cells: np.ndarray, part: slice) -> np.ndarray:
        """Return the features, and the answers to the tests on categories."""
        return self.model.inputs(cells[part])

    def bins(
        self, forest: Forest, cells: Any, part: slice, n_jobs: int | None = None
    ) -> np.ndarray:
        """Return the bins of a part of the rows."""
        if (self.model.side < 0).all():  # flat arrays, as they are
            return forest.bins(cells[part], n_jobs)
        # A model that is asked itself uses threads of its own.
        return super().bins(forest, cells, part, 1 if self.model.asked else n_jobs)

    def check_loaded(self, dims: Dims) -> None:
        """Check after loading that every feature has a column."""
        same = len(self.owner) == len(self.model.levels)
        require(same, "ModelInputs.owner", "a column for every feature", "others")


def _known_as(column: Column, levels: Sequence[Any] | None) -> np.ndarray:
    """Return the cells of a column of levels as a model knows them.

    Parameters
    ----------
    column : Column
    levels : sequence or None
        Categories of the model, by the position of which it knows a cell; none at all for a
        number. None: the model is asked by the cell itself.
    """
    # Levels that the fitted table did not have may well be known to the model.
    words = dict(enumerate(column.kind.levels)) | dict(column.unknown)
    place = {_word(level): float(i) for i, level in enumerate(levels or ())}

    def known(code: int) -> Any:
        if code not in words or levels is None:
            return words.get(code, np.nan)
        return place.get(_word(words[code]), np.nan) if levels else _number(words[code])

    at, where = np.unique(column.values, return_inverse=True)
    cells = [known(int(code)) for code in at]
    return np.array(cells, object if levels is None else np.float64)[where]


def _word(level: Any) -> str:
    """Return a category in the one spelling that all libraries can agree on."""
    return str(int(level)) if isinstance(level, float) and level.is_integer() else str(level)


def _number(level: Any) -> float:
    try:
        return float(level)
    except (TypeError, ValueError):
        needed = "numbers where the model was fitted on numbers"
        hint = "Fit the measure on the rows as the model was given them"
        raise InvalidInput("ForestProximity", needed, repr(level), hint) from None


def _positions(values: np.ndarray, levels: Sequence[Any]) -> np.ndarray:
    """Return where numbers are among the categories of a model, NaN if they are not there."""
    numbers = np.array([_number(level) for level in levels])
    order = np.argsort(numbers)
    at = np.minimum(np.searchsorted(numbers[order], values), len(numbers) - 1)
    return np.where(numbers[order][at] == values, order[at], np.nan)


# Asked before and after the shorthands are resolved, hence names as well as objects.
def tests_cells(forest: Any) -> bool:
    """Whether ``forest=`` or ``model=`` means trees that compare cells, grown here or fitted."""
    if isinstance(forest, str):
        return forest == "similarity"
    return isinstance(forest, CellSimilarityForest) or has_cell_trees(forest)


def schema_of(forest: Any) -> Schema | None:
    """Return what a fitted similarity forest remembers of its table; None for other forests."""
    schema = getattr(forest, "schema_", None)
    return schema if has_cell_trees(forest) and isinstance(schema, Schema) else None


def has_cell_trees(forest: Any) -> bool:
    """Whether trees that compare cells were grown in a forest already."""
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
    if not all(one.fits(names) for one in trees.columns):
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


def choose_columns(model: TreeModel, table: Table) -> Table:
    """Return a table with the columns of a model compared, in its order, and no others."""
    if not model.names:
        return table
    # LightGBM writes spaces in names as underscores.
    known = {column.name.replace(" ", "_"): column.name for column in table.columns + table.aside}
    known |= {name: name for name in known.values()}
    lost = [name for name in model.names if name not in known]
    if lost:
        needed = "the columns that the model was fitted on"
        hint = "Give the table that the model was fitted on"
        raise InvalidInput("ForestProximity", needed, f"no column {name_some(lost)}", hint)
    return table.compare_by([known[name] for name in model.names])


def plan_model(model: TreeModel, table: Table, who: str) -> ModelInputs:
    """Find the column of each feature of a model."""
    inputs = plan_inputs(table, who, categories=True)
    n_features = len(model.levels)
    if len(inputs.owner) != n_features:
        needed = f"the {n_features} columns that the model was fitted on"
        hint = "Fit the measure on the model's own columns"
        found = f"{len(inputs.owner)}: " + ", ".join(inputs.owner[:8])
        raise InvalidInput(who, needed, found, hint)
    return ModelInputs(model, inputs.names, inputs.owner)
