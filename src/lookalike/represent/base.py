"""Base of all representations: reading, names of columns, new rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from lookalike._runtime.threads import blocks, run
from lookalike.measures.contract.base import Measure
from lookalike.measures.contract.rows import Rows
from lookalike.measures.task import MeasureTask, TaskSource
from lookalike.saving.fields import INT64, Fields, Integer, Saved
from lookalike.table import as_table

BLOCK_ROWS = 8192  # rows that are encoded and compared in one block


class Representation(TransformerMixin, MeasureTask, ABC, abstract=True):
    """Base of the transformers that turn rows into similarities."""

    FIELDS: ClassVar[Fields] = {"max_rows": Integer(2, INT64), "measure_": Saved("Measure")}

    random_state: Any
    measure_: Measure

    # -- what a representation writes --------------------------------------------------------------

    @abstractmethod
    def _fit_source(self, source: TaskSource, y: np.ndarray | None) -> Rows:
        """Learn from what was read, and return its rows encoded."""

    @abstractmethod
    def _represent(self, rows: Rows) -> np.ndarray:
        """Return the new columns of rows that ``measure_`` has encoded."""

    @abstractmethod
    def _names_out(self) -> list[str]:
        """Return the names of the new columns."""

    # -- fitting and transforming ------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from rows, and choose the prototypes.

        Parameters
        ----------
        X : table, frame, array, dict of columns or path
        y : array of n, or the name of a column, optional
            Needed where prototypes, their number or the measure are learned from a target. A named
            column is taken out of the table.
        """
        self._fit(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Learn from rows and return their new columns, each row known to be a fitted one.

        Parameters
        ----------
        X : table, frame, array, dict of columns or path
        y : array of n, or the name of a column, optional

        Returns
        -------
        array of shape (n, number of new columns)
        """
        # Not encoded again: fitted rows carry their positions, so a prototype is exactly 1 alike to
        # itself.
        return self._in_blocks(self._fit(X, y))

    def _fit(self, X: Any, y: Any) -> Rows:
        source, target = self._read(X, y)
        rows = self._fit_source(source, target)
        self._remember_columns(X, source, self.measure_)
        return rows

    def transform(self, X: Any) -> np.ndarray:
        """Return the new columns of any rows, a block at a time.

        Parameters
        ----------
        X : table, frame, array, record or list of records

        Returns
        -------
        array of shape (n, number of new columns)
        """
        check_is_fitted(self, "measure_")
        # A matrix of distances has a column per fitted row, and cannot be read as a table of the
        # schema.
        if self.measure_.traits.pairwise:
            return self._in_blocks(self.measure_.encode(X))
        # Encoded block by block, so the encoded rows of a long table are never all in memory.
        table = as_table(X, self.measure_.schema_, who=type(self).__name__)
        return self._in_blocks(table, self.measure_.encode)

    def _in_blocks(self, rows: Any, encode: Callable[[Any], Rows] | None = None) -> np.ndarray:
        out = np.empty((len(rows), len(self._names_out())))

        def represent(part: slice) -> None:
            out[part] = self._represent(rows[part] if encode is None else encode(rows[part]))

        parts = [(part,) for part in blocks(len(rows), BLOCK_ROWS)]
        run(represent, parts, self.n_jobs, "comparing with prototypes")
        return out

    # -- scikit-learn ------------------------------------------------------------------------------

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the new columns; names of the old ones are not looked at."""
        check_is_fitted(self, "measure_")
        return np.asarray(self._names_out(), dtype=object)
