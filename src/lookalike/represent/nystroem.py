"""Coordinates whose inner products are similarities."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lookalike.errors import LookalikeWarning
from lookalike.measures.contract.matrices import block_or_half
from lookalike.measures.contract.rows import Rows
from lookalike.measures.task import TaskSource
from lookalike.represent.prototypes import symmetric_square
from lookalike.represent.representation import SimilarityRepresentation
from lookalike.saving.fields import Array, Fields, Integer, Maybe

# Shares of the largest eigenvalue, chosen by hand.
MIN_EIGENVALUE = 1e-10  # smaller ones are round-off, and would be divided by
MAX_NEGATIVE = 1e-6  # negative ones beyond it mean that the measure is not a kernel


@dataclass(eq=False, repr=False, kw_only=True)
class NystroemRepresentation(SimilarityRepresentation):
    """Turn rows into points whose inner products are (nearly) their similarities.

    With K the similarities of the prototypes to each other and k(x) those of a row to them, the
    point is k(x) times the inverse square root of K [1]_. Between prototypes the inner products are
    exact, and so they are between all rows if every row is a prototype.

    Use it to give a measure that is a kernel (Gower without missing values, leaf sharing of
    forests) to linear learners, k-means or principal components. Where plain similarities will do,
    ``SimilarityRepresentation`` is easier to read: each of its columns is a row.

    Parameters
    ----------
    measure : Measure, optional
        How alike rows are; None: ``Gower()``. A clone is fitted.
    prototypes : str or array of positions
        As for ``SimilarityRepresentation``.
    n_prototypes : int, float or "tune"
        As for ``SimilarityRepresentation``; more of them come closer to the similarities.
    n_components : int, optional
        Keep at most so many columns, those of the largest eigenvalues of K.
    estimator : scikit-learn classifier or regressor, optional
        For ``n_prototypes="tune"``.
    cv : int
        Folds of "tune".
    kinds : mapping of column to kind, optional
    max_rows : int
    random_state : None, int, RandomState or Generator
    n_jobs : int, optional
        Threads; None: the setting of ``lookalike.config``.

    Attributes
    ----------
    prototypes_ : int64 array
        Positions of the prototypes in the fitted rows, sorted.
    eigenvalues_ : those of K that are kept, largest first
    map_ : array of shape (number of prototypes, number of columns)
    measure_ : the fitted measure
    feature_names_in_ : names of the columns, where the data had names
    n_features_in_ : number of columns

    Notes
    -----
    Negative eigenvalues of K, which a measure that is not a kernel has (Gower with missing values
    may have some), are left out with a warning; inner products are then only nearly similarities.

    References
    ----------
    .. [1] C. Williams and M. Seeger (2000). Using the Nystroem method to speed up kernel machines.
       Advances in Neural Information Processing Systems 13, 682-688.

    Examples
    --------
    >>> from lookalike.represent import NystroemRepresentation
    >>> pets = {"weight": [4.0, 5.0, 30.0], "animal": ["cat", "cat", "dog"]}
    >>> points = NystroemRepresentation(n_prototypes=3).fit_transform(pets)
    >>> (points @ points.T).round(2) + 0.0
    array([[1.  , 0.98, 0.  ],
           [0.98, 1.  , 0.02],
           [0.  , 0.02, 1.  ]])
    """

    FIELDS: ClassVar[Fields] = {
        "n_components": Maybe(Integer(1)),
        "eigenvalues_": Array("float64", "components"),
        "map_": Array("float64", "prototypes", "components"),
    }

    n_components: int | None = None

    def _fit_source(self, source: TaskSource, y: np.ndarray | None) -> Rows:
        rows = super()._fit_source(source, y)
        who = type(self).__name__
        k = symmetric_square(self.measure_, self.prototype_rows_, "similarity", self.n_jobs, who)
        # Symmetric by construction: the two directions were averaged.
        values, vectors = np.linalg.eigh(k)
        largest = max(float(values[-1]), 0.0)
        if values[0] < -MAX_NEGATIVE * largest:
            needed = "a measure whose similarities are inner products"
            found = f"an eigenvalue of {values[0]:.3g} beside the largest, {largest:.3g}"
            hint = (
                "Negative ones are left out; fill missing values, or use SimilarityRepresentation"
            )
            warnings.warn(LookalikeWarning(who, needed, found, hint), stacklevel=5)
        kept = np.flatnonzero(values > MIN_EIGENVALUE * largest)[::-1][: self.n_components]
        # Signs of eigenvectors are arbitrary: the largest entry is made positive.
        vectors = vectors[:, kept]
        signs = np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(len(kept))])
        self.eigenvalues_ = values[kept]
        # K to the power of -1/2 restricted to its large eigenvalues.
        self.map_ = vectors * (signs / np.sqrt(self.eigenvalues_))
        return rows

    def _represent(self, rows: Rows) -> np.ndarray:
        return block_or_half(self.measure_, rows, self.prototype_rows_) @ self.map_

    def _names_out(self) -> list[str]:
        return [f"nystroem {column}" for column in range(self.map_.shape[1])]
