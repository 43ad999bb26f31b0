"""Shared nearest neighbors: rows are alike if they have the same neighbors."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np

from lookalike.hubness.reducer import _Reducer
from lookalike.measures.contract.base import Measure, Traits
from lookalike.measures.contract.rows import Rows
from lookalike.saving.fields import Array, Dims, Fields, Flag


class SharedNeighbors(_Reducer):
    """Count how many of their nearest neighbors two rows have in common.

    The similarity is the number of rows in both lists of k nearest neighbors, divided by k [1]_.
    Only the order of the distances matters, and there are k + 1 different values: expect many
    ties, and ask ``k_occurrence`` for ``ties="expected"``.

    Parameters
    ----------
    measure : Measure, or name of one
        Whose hubness is reduced; it is cloned and fitted.
    n_neighbors : int
        Length k of the lists.
    include_self : bool
        Let each row be in its own list, which then has k + 1 members.
    n_candidates : int, optional
        Re-rank only that many nearest rows of the inner measure in neighbor search.
        None: exact, over all rows.
    n_jobs : int, optional
        Threads; None: the setting of ``lookalike.config``.

    Attributes
    ----------
    measure_ : the fitted inner measure

    References
    ----------
    .. [1] Jarvis, Patrick (1973). Clustering Using a Similarity Measure Based on Shared Near
       Neighbors. IEEE Transactions on Computers C-22. doi:10.1109/T-C.1973.223640

    Examples
    --------
    >>> from lookalike.hubness import SharedNeighbors
    >>> from lookalike.measures import Vector
    >>> rows = [[0.0], [1.0], [3.0], [7.0]]
    >>> SharedNeighbors(Vector(), n_neighbors=2).fit(rows).similarity()[0]
    array([1. , 0.5, 0.5, 1. ])
    """

    FIELDS: ClassVar[Fields] = {"include_self": Flag()}

    def __init__(
        self,
        measure: Measure,
        n_neighbors: int = 10,
        *,
        include_self: bool = False,
        n_candidates: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(measure, n_neighbors, n_candidates=n_candidates, n_jobs=n_jobs)
        self.include_self = include_self

    @property
    def traits(self) -> Traits:  # type: ignore[override]
        """Traits: symmetric, and defined where distances are not, since lists are compared."""
        return replace(super().traits, symmetric=True, unseen_pairs=True)

    def _facts(self, inner: Rows) -> dict[str, np.ndarray]:
        near = self._near(inner, self.n_neighbors).indices
        if self.include_self:
            # A new row has no position among the fitted ones: -1, which no list holds.
            near = np.hstack([near, inner.seen[:, None]])
        return {"near": near}

    def compare(self, a: Rows, b: Rows) -> np.ndarray:
        """Return the share of common neighbors."""
        from lookalike.kernels.hubness import overlaps

        out = np.empty((len(a), len(b)))
        near = a.arrays["near"]
        overlaps(near, b.arrays["near"], len(self.measure_.rows_), out)
        out /= near.shape[1]
        return out

    def _factors(self, a: Rows, b: Rows, d: float) -> dict[str, float]:
        shared = float(self.compare(a, b)[0, 0]) * a.arrays["near"].shape[1]
        return {"shared": round(shared)}

    def rows_shape(self) -> tuple[Fields, Dims]:
        """Return the form of encoded rows: lists of fitted rows."""
        fitted, k = len(self.measure_.rows_), self.n_neighbors + bool(self.include_self)
        return {"near": Array("int64", "n", k, low=-1, below=fitted)}, {}
