"""A measure that looks distances up in a given matrix."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from lookalike.columns.custom import check_entries, check_matrix
from lookalike.errors import InPython, InvalidInput
from lookalike.measures.contract.base import Measure, Traits
from lookalike.measures.contract.rows import Rows
from lookalike.saving.fields import Array, Dims, Fields, Flag, require
from lookalike.table import Column, Kind, Table

NAME = "distances"


class Precomputed(Measure):
    """Use a matrix of distances that you have already.

    Fit takes the n x n matrix; new rows bring their distances to the n fitted rows (m x n). Two
    new rows cannot be compared with each other, because nothing is known about them.

    Parameters
    ----------
    symmetric : bool
        Whether d(x, y) = d(y, x). True: an asymmetric matrix is an error (relative tolerance
        1e-8). False: entry (i, j) is the distance from row i to row j.
    n_jobs : int, optional
        Threads; None: the setting of ``lookalike.config``.

    Attributes
    ----------
    n_features_in_ : number of fitted rows
    scale_ : the median distance of fitted pairs, which becomes the similarity 1/2

    Examples
    --------
    >>> from lookalike.measures import Precomputed
    >>> measure = Precomputed().fit([[0, 1, 4], [1, 0, 2], [4, 2, 0]])
    >>> measure.kneighbors(n_neighbors=1)[1].ravel()
    array([1, 0, 1])
    >>> measure.kneighbors([[3, 1, 2]], n_neighbors=2)[1]
    array([[1, 2]])
    """

    FIELDS: ClassVar[Fields] = {"symmetric": Flag()}

    def __init__(self, *, symmetric: bool = True, n_jobs: int | None = None) -> None:
        self.symmetric = symmetric
        self.n_jobs = n_jobs

    @property
    def traits(self) -> Traits:  # type: ignore[override]
        """Facts about this measure."""
        same = bool(self.symmetric)
        return Traits("distance", "ratio", symmetric=same, unseen_pairs=False, pairwise=True)

    @classmethod
    def examples(cls) -> list[Measure]:
        """Return both kinds of matrix."""
        return [cls(), cls(symmetric=False)]

    def read(self, X: Any) -> Table:
        """Read a square matrix of distances, checked."""
        matrix = _as_matrix(X, "Precomputed.fit")
        check_matrix(matrix, "Precomputed.fit", bool(self.symmetric))
        # Within the tolerance the two directions may differ; their mean is then the distance.
        return _table((matrix + matrix.T) / 2 if self.symmetric else matrix)

    def read_new(self, X: Any) -> Table:
        """Read distances of new rows to the fitted ones."""
        matrix = _as_matrix(X, "Precomputed")
        n = len(self.rows_) if hasattr(self, "rows_") else matrix.shape[1]
        if matrix.shape[1] != n:
            # scikit-learn's checks look for its own sentence.
            width, needed = matrix.shape[1], f"the distances of each new row to all {n} fitted rows"
            same = f"; X has {width} features, but Precomputed is expecting {n} features as input"
            found = (f"{width} columns", InPython(same))
            raise InvalidInput("Precomputed", needed, found, "Give one column per fitted row")
        check_entries(matrix, "Precomputed")
        return _table(matrix)

    def _fit(self, table: Table, y: np.ndarray | None) -> None:
        self.n_features_in_ = len(table)

    def _encode(self, table: Table, seen: np.ndarray) -> Rows:
        return Rows(seen, {"row": table[NAME].values})

    def compare(self, a: Rows, b: Rows) -> np.ndarray:
        """Return the known distances; NaN for two rows that were not fitted."""
        out = np.full((len(a), len(b)), np.nan)
        ends = np.flatnonzero(b.seen >= 0)
        out[:, ends] = a.arrays["row"][:, b.seen[ends]]
        starts = np.flatnonzero(a.seen >= 0)
        # A new row brings its distances to the fitted ones: a pair may be known from either side.
        if self.symmetric and len(starts) and len(ends) < len(b):
            back = b.arrays["row"][:, a.seen[starts]].T
            out[starts] = np.where(np.isnan(out[starts]), back, out[starts])
        return out

    def _check_parts(self, dims: Dims) -> None:
        n = len(self.rows_)
        require(self.n_features_in_ == n, "Precomputed.n_features_in_", f"{n} fitted rows")
        require(NAME in self.schema_.kinds, "Precomputed.schema_", f"a column {NAME!r}", "none")

    def rows_shape(self) -> tuple[Fields, Dims]:
        """Return what encoded rows look like: a distance to every fitted row."""
        return {"row": Array("float64", "n", self.n_features_in_, low=0, finite=True)}, {}


def _as_matrix(X: Any, who: str) -> np.ndarray:
    from sklearn.utils import check_array

    if isinstance(X, Table):
        if X.names == (NAME,):
            return np.asarray(X[NAME].values)
        X = np.column_stack([column.values for column in X])
    if hasattr(X, "to_numpy"):
        X = X.to_numpy()
    try:
        return np.asarray(check_array(X, dtype=np.float64, ensure_all_finite=False))
    except (TypeError, ValueError) as error:
        hint = "To compare rows by their cells, fit a measure to them, such as Gower"
        raise InvalidInput(who, "a matrix of distances", str(error), hint) from error


def _table(matrix: np.ndarray) -> Table:
    # One column of vectors: slicing rows of the table then slices rows of the matrix.
    kind = Kind("vector", "distances to the fitted rows")
    return Table([Column(NAME, kind, matrix)])
