"""What must hold of a measure that comes from a file, and of the rows that it encoded."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from lookalike.measures.contract.rows import Rows
from lookalike.saving.fields import (
    Dims,
    Field,
    Fields,
    Flag,
    Integer,
    Objects,
    Real,
    Saved,
    Sometimes,
    Text,
    check_fields,
    require,
)


class CheckedRows:
    """Gives a measure its checks after loading; ``FIELDS`` and ``ROWS`` say what must hold."""

    FIELDS: ClassVar[Fields] = {
        "schema_": Saved("Schema"),
        "n_features_in_": Integer(0, high=2**31),
        "feature_names_in_": Sometimes(Objects("features", Text())),
        "rows_": Saved("Rows"),
        "scale_": Sometimes(Real(0.0, nan=True)),
        "n_streamed_": Sometimes(Integer(1)),
        "frozen_": Sometimes(Flag()),
    }
    ROWS: ClassVar[Fields | None] = None  # arrays of encoded rows, n of them

    traits: Any
    rows_: Rows
    n_features_in_: int

    @property
    def n_fitted_rows(self) -> int:
        """How many rows it was fitted to, whether they are kept or not."""
        return int(getattr(self, "n_streamed_", 0) or len(self.rows_))

    def check_loaded(self, dims: Dims) -> None:
        """Check after loading that what was learned fits together, and that the rows fit it."""
        who = type(self).__name__
        names = dims.get("features", self.n_features_in_)
        # A matrix of distances may come as one named column, and has as many features as rows.
        fits = names == self.n_features_in_ or self.traits.pairwise
        require(fits, who, f"{self.n_features_in_} names", str(names))
        if self.traits.conversion == "ratio":
            require(hasattr(self, "scale_"), who, "the field scale_", "none")
        n = len(self.rows_)
        if hasattr(self, "n_streamed_"):  # a sample, in the order of its draw
            in_order = n <= self.n_streamed_ and len(np.unique(self.rows_.seen)) == n
        else:
            in_order = np.array_equal(self.rows_.seen, np.arange(n))
        require(
            in_order and len(self.rows_), f"{who}.rows_", "fitted rows in their order", "others"
        )
        self._check_parts(dims)
        self.check_rows(self.rows_, f"{who}.rows_")

    def _check_parts(self, dims: Dims) -> None:
        """Check after loading that the learned parts fit together."""

    def rows_shape(self) -> tuple[Fields | None, Dims]:
        """Return what encoded rows look like, and the sizes that are known; None: not declared."""
        return self.ROWS, {}

    def inner_measures(self) -> dict[str, Any]:
        """Return the measures inside by the names of their rows in ``Rows.parts``."""
        return {}

    def check_row_forms(self, rows: Rows, where: str) -> tuple[dict[str, Field] | None, Dims]:
        """Refuse rows whose arrays are not of the types and sizes of this measure; none is read.

        Parameters
        ----------
        rows : Rows
        where : str
            Where they are, for the message.

        Returns
        -------
        the shapes of the arrays, None where any will do, and the sizes of their dimensions
        """
        shapes, dims = self.rows_shape()
        dims = {**dims, "n": len(rows)}
        if shapes is None:
            return None, dims
        kept = {name: shape for name, shape in shapes.items() if shape is not None}
        known = ", ".join(kept) or "no arrays"
        require(set(rows.arrays) == set(kept), where, known[:80], ", ".join(rows.arrays)[:80])
        for name, shape in kept.items():
            shape.form(rows.arrays[name], dims, f"{where}.{name}")
        inner = self.inner_measures()
        require(set(rows.parts) == set(inner), where, "rows of the measures inside", "others")
        for name, measure in inner.items():
            measure.check_row_forms(rows.parts[name], f"{where}.{name}")
        return kept, dims

    def check_rows(self, rows: Rows, where: str) -> None:
        """Refuse loaded rows that this measure would not have encoded.

        Parameters
        ----------
        rows : Rows
        where : str
            Where they are, for the message.
        """
        shapes, dims = self.check_row_forms(rows, where)
        if shapes is None:
            return
        check_fields(rows.arrays, shapes, where, dims)
        n = self.n_fitted_rows
        fitted = rows.seen.max(initial=-1) < n
        require(fitted, f"{where}.seen", f"positions below {n}", "others")
        for name, measure in self.inner_measures().items():
            measure.check_rows(rows.parts[name], f"{where}.{name}")
