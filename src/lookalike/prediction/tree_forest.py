"""What the forests of similarity trees share: reading tables, and walking down the trees."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from lookalike._runtime.config import count_jobs
from lookalike._runtime.random_state import RANDOM_STATE
from lookalike.columns.base import Cells
from lookalike.errors import InvalidInput, Param, Phrase
from lookalike.saving.encode import SaveMixin
from lookalike.saving.fields import (
    KINDS,
    N_JOBS,
    Choice,
    Dims,
    Fields,
    Instance,
    Integer,
    Maybe,
    Objects,
    Saved,
    Sometimes,
    Text,
    check_params,
    require,
)
from lookalike.table import Schema, Table, as_table, read_table
from lookalike.table.model.names import remember_columns
from lookalike.table.model.targets import split_target
from lookalike.trees.cells.columns import TreeColumn, encode_columns, fit_columns
from lookalike.trees.cells.trees import SimilarityTrees


class TreeForest(SaveMixin, BaseEstimator, abstract=True):
    """Reading and encoding tables for trees, and what can be asked of any fitted forest."""

    FIELDS: ClassVar[Fields] = {
        "n_estimators": Integer(1),
        "distances": Maybe(Instance(Mapping, named="a mapping of column to distance")),
        "projection": Choice("distance", "squared"),
        "numeric": Choice("projection", "value"),
        "kinds": KINDS,
        "random_state": RANDOM_STATE,
        "n_jobs": N_JOBS,
        "schema_": Saved("Schema"),
        "n_features_in_": Integer(0, high=2**31),
        "feature_names_in_": Sometimes(Objects("features", Text())),
        "trees_": Saved("SimilarityTrees"),
    }

    n_estimators: int
    distances: Mapping[str, Any] | None
    projection: Any
    numeric: str
    kinds: Mapping[str, Any] | None
    random_state: Any
    n_jobs: int | None
    trees_: SimilarityTrees
    schema_: Schema

    # -- reading -----------------------------------------------------------------------------------

    def _read(self, X: Any, y: Any = None) -> tuple[Table, np.ndarray | None]:
        """Check parameters, read the table, take out the target."""
        check_params(self)
        count_jobs(self.n_jobs)
        who = type(self).__name__
        table, target = split_target(self._read_table(X), y, who)
        if not table.columns:
            hint = Phrase(
                "Give columns to learn from, or name them in ",
                Param("kinds"),
                " if they were set aside",
            )
            raise InvalidInput(f"{who}.fit", "a column to compare", "none", hint)
        self.schema_ = table.schema
        remember_columns(self, X, table)
        return table, target

    def _read_table(self, X: Any) -> Table:
        return read_table(X, kinds=self.kinds).with_objects(getattr(self, "distances", None) or ())

    def _fit_columns(self, table: Table) -> tuple[tuple[TreeColumn, ...], tuple[Cells, ...]]:
        """Choose the distances, and encode the fitted rows."""
        columns = fit_columns(
            table,
            self.distances,
            projection=self.projection,
            numeric=self.numeric,
            who=type(self).__name__,
        )
        return columns, encode_columns(columns, table, fitted=True)

    def _encode(self, X: Any) -> tuple[Cells, ...]:
        """Encode new rows."""
        check_is_fitted(self, "trees_")
        return self.trees_.encode(as_table(X, self.schema_, who=type(self).__name__))

    # -- what can be asked -------------------------------------------------------------------------

    def apply(self, X: Any) -> np.ndarray:
        """Return the leaf in which each row ends, one column per tree.

        Parameters
        ----------
        X : new rows

        Returns
        -------
        int32 array of shape (n, n_estimators)
            Node numbers, counted within each tree.
        """
        cells = self._encode(X)
        return self.trees_.leaves(cells, self.n_jobs)

    def decision_path(self, X: Any) -> tuple[csr_matrix, np.ndarray]:
        """Return the nodes that each row passes, as scikit-learn's forests do.

        Parameters
        ----------
        X : new rows

        Returns
        -------
        indicator : sparse matrix of shape (n, nodes)
            1 where a row passes a node.
        n_nodes_ptr : array of n_estimators + 1
            Tree t has the columns ``n_nodes_ptr[t]:n_nodes_ptr[t + 1]``.
        """
        leaves = self.apply(X)
        nodes, ends = self.trees_.path(leaves)
        ones = np.ones(len(nodes), np.int64)
        shape = (len(leaves), len(self.trees_.feature))
        return csr_matrix((ones, nodes, ends), shape=shape), self.trees_.offsets

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    # -- loading -----------------------------------------------------------------------------------

    def check_loaded(self, dims: Dims) -> None:
        """Check after loading that trees test columns of the table."""
        names = list(self.schema_.kinds)
        who = type(self).__name__
        require(self.n_features_in_ == len(names), f"{who}.n_features_in_", str(len(names)))
        self._check_columns(names)

    def _check_columns(self, names: list[str]) -> None:
        for one in self.trees_.columns:
            known = names[one.column : one.column + 1] == [one.name]
            require(known, f"{type(self).__name__}.trees_", "columns of the table", one.name[:40])
