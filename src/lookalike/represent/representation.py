"""Rows as numbers: their similarities to a few prototypes."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone, is_classifier

from lookalike._runtime.folds import assign_folds
from lookalike._runtime.random_state import make_generator
from lookalike.errors import InPython, InvalidInput, LookalikeWarning, Param, Phrase
from lookalike.measures.contract.matrices import block_or_half
from lookalike.measures.contract.rows import Rows
from lookalike.measures.task import TaskSource
from lookalike.represent import prototypes as selection
from lookalike.represent.base import Representation
from lookalike.saving import fields
from lookalike.saving.fields import Dims, Fields, require

TUNE = "tune"


@dataclass(eq=False, repr=False)
class SimilarityRepresentation(Representation):
    """Turn rows of any table into numbers: similarities to a few prototypes.

    This is how mixed columns, missing values and objects enter every learner that takes numbers:
    put it in front of one in a pipeline [1]_. Use it when a learner that is not about neighbors is
    wanted, or when comparing with all rows is too slow. Where only the nearest rows matter,
    ``NeighborClassifier`` needs no prototypes.

    Parameters
    ----------
    measure : Measure, optional
        How alike rows are; None: "auto" (``choose_measure``). A clone is fitted.
    prototypes : str or array of positions
        How prototypes are chosen: "medoids", "medoids_similarity", "relieff", "cfs", "random" or
        "farthest" (see ``select_prototypes``), or which rows they are.
    n_prototypes : int, float or "tune"
        How many, or a share of the fitted rows (at least 2). "tune": the number from 2 to 10
        percent of the rows with the smallest error of ``estimator`` in cross-validation, the fewer
        on ties; every fold fits the measure and chooses its prototypes anew.
    estimator : scikit-learn classifier or regressor, optional
        For "tune" only: the learner that the columns are for.
    cv : int
        Folds of "tune".
    kinds : mapping of column to kind, optional
        What columns hold, where reading them does not guess it (see ``read_table``).
    max_rows : int
        Larger tables are sampled to choose prototypes (see ``select_prototypes``).
    random_state : None, int, RandomState or Generator
        For "random" prototypes, sampling and the folds of "tune".
    n_jobs : int, optional
        Threads; None: the setting of ``lookalike.config``.

    Attributes
    ----------
    prototypes_ : int64 array
        Positions of the prototypes in the fitted rows, sorted.
    n_prototypes_ : int
    measure_ : the fitted measure
    cv_results_ : dict of arrays, with "tune" only
        ``n_prototypes`` and ``error``: the share of wrong rows, or the mean squared error.
    feature_names_in_ : names of the columns, where the data had names
    n_features_in_ : number of columns

    Notes
    -----
    A row with nothing to compare with a prototype is half alike to it (1/2). ``fit_transform``
    knows its rows to be the fitted ones, so a prototype is exactly 1 alike to itself; ``transform``
    reads all rows as new. New rows are read and compared block by block.

    References
    ----------
    .. [1] E. Pekalska and R. P. W. Duin (2005). The Dissimilarity Representation for Pattern
       Recognition. World Scientific. doi:10.1142/5965

    Examples
    --------
    >>> from lookalike.represent import SimilarityRepresentation
    >>> pets = {"weight": [4.0, 5.0, 30.0, None], "animal": ["cat", "cat", "dog", "dog"]}
    >>> represent = SimilarityRepresentation(n_prototypes=2)
    >>> represent.fit_transform(pets).round(2)
    array([[1.  , 0.17],
           [0.83, 0.33],
           [0.17, 1.  ],
           [0.25, 0.75]])
    >>> represent.get_feature_names_out()
    array(['like row 0', 'like row 2'], dtype=object)
    >>> represent.transform({"weight": 17.0, "animal": "cat"}).round(2)
    array([[0.75, 0.42]])
    """

    FIELDS: ClassVar[Fields] = {
        "cv": fields.Integer(2),
        "prototypes": fields.Anything(),
        "n_prototypes": fields.Either(fields.Choice(TUNE), selection.NUMBER),
        "estimator": fields.Anything(),
        "prototypes_": fields.Array("int64", "prototypes", low=0),
        "n_prototypes_": fields.Integer(0, size="prototypes"),
        "prototype_rows_": fields.Saved("Rows"),
        "cv_results_": fields.Sometimes(fields.Anything()),
    }

    prototypes: Any = "medoids"
    n_prototypes: int | float | str = 0.05
    _: KW_ONLY
    estimator: Any = None
    cv: int = 5
    kinds: Mapping[str, Any] | None = None
    max_rows: int = selection.MAX_ROWS
    random_state: Any = None
    n_jobs: int | None = None

    def _fit_source(self, source: TaskSource, y: np.ndarray | None) -> Rows:
        who = type(self).__name__
        rng = make_generator(self.random_state)
        if isinstance(self.prototypes, str):
            selection.check_method(self.prototypes, y, who, "prototypes")
            if isinstance(self.n_prototypes, str):
                n = self._tune(source, y, rng)
            else:
                n = selection.count_prototypes(self.n_prototypes, len(source), who)
            self.measure_, rows = source.fit(y)
            options: dict[str, Any] = {"max_rows": self.max_rows, "n_jobs": self.n_jobs, "who": who}
            selector = selection.PrototypeSelector(
                self.measure_, rows, y, self.prototypes, rng, **options
            )
            self.prototypes_ = selector.select(n)
        else:
            self.prototypes_ = check_positions(self.prototypes, len(source), who)
            self.measure_, rows = source.fit(y)
        self.n_prototypes_ = len(self.prototypes_)
        self.prototype_rows_ = rows[self.prototypes_]
        return rows

    def _tune(self, source: TaskSource, y: np.ndarray | None, rng: np.random.Generator) -> int:
        who = Phrase(Param("n_prototypes", self.n_prototypes, of=type(self).__name__))
        if self.estimator is None or y is None:
            missing = "estimator=None" if self.estimator is None else "y=None"
            hint = Phrase(InPython("Pass estimator=LogisticRegression(), say, and call fit(X, y)"))
            raise InvalidInput(who, "a learner and a target to tune for", missing, hint)
        sizes = selection.shares_to_try(len(source))
        # cfs chooses their number itself.
        if self.prototypes == "cfs" or len(sizes) < 2:  # nothing to choose from
            return sizes[0] if sizes else len(source)
        classes = is_classifier(self.estimator)

        def learn(inside: np.ndarray, target: np.ndarray, outside: np.ndarray) -> list[np.ndarray]:
            return [clone(self.estimator).fit(inside, target).predict(outside)]

        def loss(found: np.ndarray, true: np.ndarray) -> np.ndarray:
            if classes:
                return np.asarray(found != true)
            # Some regressors return a column.
            return (np.asarray(found, dtype=np.float64).reshape(len(true)) - true) ** 2

        folds = assign_folds(y if classes else None, len(source), self.cv, rng, who)
        errors = selection.cross_validate_prototypes(
            source, y, y, self.prototypes, sizes, learn, loss, folds, rng,
            max_rows=self.max_rows, n_jobs=self.n_jobs, who=who,
        )[:, 0]  # fmt: skip
        self.cv_results_ = {"n_prototypes": np.array(sizes), "error": errors}
        return sizes[int(errors.argmin())]

    def _represent(self, rows: Rows) -> np.ndarray:
        return block_or_half(self.measure_, rows, self.prototype_rows_)

    def _names_out(self) -> list[str]:
        return [f"like row {position}" for position in self.prototypes_]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # scikit-learn then passes y in its checks and pipelines.
        learned = isinstance(self.prototypes, str) and self.prototypes in selection.NEED_TARGET
        tags.target_tags.required = learned or self.n_prototypes == TUNE
        return tags

    def check_loaded(self, dims: Dims) -> None:
        """Check after loading that the rows are those of the prototypes."""
        who, n = f"{type(self).__name__}.prototype_rows_", dims["prototypes"]
        require(len(self.prototype_rows_) == n, who, f"{n} rows", str(len(self.prototype_rows_)))
        self.measure_.check_rows(self.prototype_rows_, who)


def check_positions(prototypes: Any, n_rows: int, who: str) -> np.ndarray:
    """Return the given positions, sorted; repeats and what is not a position are refused."""
    given = np.asarray(prototypes)
    integers = given.ndim == 1 and len(given) and given.dtype.kind in "iu"
    positions = np.unique(given) if integers else given
    if not integers or positions[0] < 0 or positions[-1] >= n_rows or len(positions) < len(given):
        needed = f"a method, or different positions from 0 to {n_rows - 1}"
        hint = "Count the fitted rows from 0"
        raise InvalidInput(Param("prototypes", of=who), needed, f"{prototypes!r}", hint)
    return positions.astype(np.int64)


# -- inner products --------------------------------------------------------------------------------
# Coordinates whose inner products are similarities.

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
        How alike rows are; None: "auto" (``choose_measure``). A clone is fitted.
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
    array([[1.  , 0.83, 0.17],
           [0.83, 1.  , 0.33],
           [0.17, 0.33, 1.  ]])
    """

    FIELDS: ClassVar[Fields] = {
        "n_components": fields.Maybe(fields.Integer(1)),
        "eigenvalues_": fields.Array("float64", "components"),
        "map_": fields.Array("float64", "prototypes", "components"),
    }

    n_components: int | None = None

    def _fit_source(self, source: TaskSource, y: np.ndarray | None) -> Rows:
        rows = super()._fit_source(source, y)
        own, who = self.prototype_rows_, type(self).__name__
        k = selection.symmetric_square(self.measure_, own, "similarity", self.n_jobs, who)
        # Symmetric by construction: the two directions were averaged.
        values, vectors = np.linalg.eigh(k)
        largest = max(float(values[-1]), 0.0)
        if values[0] < -MAX_NEGATIVE * largest:
            needed = "a measure whose similarities are inner products"
            found = f"an eigenvalue of {values[0]:.3g} beside the largest, {largest:.3g}"
            hint = "They are left out; fill missing values, or use SimilarityRepresentation"
            warnings.warn(LookalikeWarning(who, needed, found, hint), stacklevel=4)
        kept = np.flatnonzero(values > MIN_EIGENVALUE * largest)[::-1][: self.n_components]
        # Signs of eigenvectors are arbitrary: the largest entry is made positive.
        vectors = vectors[:, kept]
        signs = np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(len(kept))])
        self.eigenvalues_ = values[kept]
        # K to the power of -1/2 restricted to its large eigenvalues.
        self.map_ = vectors * (signs / np.sqrt(self.eigenvalues_))
        return rows

    def _represent(self, rows: Rows) -> np.ndarray:
        return super()._represent(rows) @ self.map_

    def _names_out(self) -> list[str]:
        return [f"nystroem {column}" for column in range(self.map_.shape[1])]
