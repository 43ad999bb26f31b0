"""A network whose hidden units are similarities to prototypes."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from lookalike._config import count_jobs
from lookalike._params import KINDS, N_JOBS, AnyOf, AtLeast, Between, Is, OneOf, Rule, check_params
from lookalike._random import RANDOM_STATE, make_generator
from lookalike._save import Saved
from lookalike.errors import InvalidInput, message
from lookalike.measures.base import Measure
from lookalike.measures.gower import Gower
from lookalike.measures.source import Source, read_source
from lookalike.predict._base import _one_axis
from lookalike.predict.neighbors import _as_classes
from lookalike.represent._base import IsMeasure
from lookalike.represent._tune import cross_validate, deal, shares_to_try
from lookalike.represent.activation import similarity_activation
from lookalike.represent.prototypes import MAX_ROWS, METHODS, count_prototypes
from lookalike.represent.representation import SimilarityRepresentation
from lookalike.table import Kind, Schema, Table, as_table, read_table
from lookalike.table.targets import split_target

__all__ = ["SimilarityNetworkClassifier", "SimilarityNetworkRegressor"]

TUNE = "tune"
SHARPNESS = (0.01, 0.05, 0.1, 0.5, 1.0, 10.0)


class _SimilarityNetwork(Saved, BaseEstimator):
    """Base of both networks: hidden units, output weights, tuning."""

    PARAMS: ClassVar[dict[str, Rule]] = {
        "measure": IsMeasure(),
        "prototypes": OneOf(*METHODS),
        "n_prototypes": AnyOf(OneOf(TUNE), Is(numbers.Real, named="a number or a share")),
        "p": AnyOf(OneOf(TUNE), Between(0.0)),
        "alpha": Between(0.0),
        "cv": AtLeast(2),
        "kinds": KINDS,
        "max_rows": AtLeast(2),
        "random_state": RANDOM_STATE,
        "n_jobs": N_JOBS,
    }

    def __init__(
        self,
        measure: Measure | None = None,
        prototypes: str = "medoids",
        n_prototypes: int | float | str = 0.05,
        *,
        p: float | str = TUNE,
        alpha: float = 1e-6,
        cv: int = 5,
        kinds: Mapping[str, Any] | None = None,
        max_rows: int = MAX_ROWS,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.measure = measure
        self.prototypes = prototypes
        self.n_prototypes = n_prototypes
        self.p = p
        self.alpha = alpha
        self.cv = cv
        self.kinds = kinds
        self.max_rows = max_rows
        self.random_state = random_state
        self.n_jobs = n_jobs

    # -- what classifier and regressor write -------------------------------------------------------

    def _learn_target(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return what the outputs are to be, of shape (n, outputs), and what measures see."""
        raise AssertionError("written by the subclasses")

    def _losses(self, outputs: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        """Return what each row loses."""
        raise AssertionError("written by the subclasses")

    # -- fitting -----------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose the prototypes and learn the weights of the outputs.

        Parameters
        ----------
        X : table, frame, array, dict of columns or path
        y : array of n, or the name of a column
            A named column is taken out of the table. Gaps are an error.
        """
        check_params(self)
        count_jobs(self.n_jobs)
        who = type(self).__name__
        source, target = read_source(
            self.measure, X, _one_axis(y, who), who, self.kinds, self.n_jobs
        )
        wanted, shown = self._learn_target(np.asarray(target))
        # Kept so that a target named in score is read as it was here.
        self.target_kind_: Kind | None = source.table[y].kind if isinstance(y, str) else None
        rng = make_generator(self.random_state)
        many, self.p_ = self._tune(source, wanted, shown, rng)
        self.representation_ = SimilarityRepresentation(
            source.measure,
            self.prototypes,
            many,
            max_rows=self.max_rows,
            random_state=rng,
            n_jobs=self.n_jobs,
        )
        similarities = self.representation_.fit_transform(_whole(source), shown)
        self.mean_, self.unit_, self.coef_, self.intercept_ = _solve(
            similarity_activation(similarities, self.p_), wanted, self.alpha
        )
        self.n_features_in_ = self.representation_.n_features_in_
        if isinstance(X, Table | Mapping) or hasattr(X, "columns"):
            self.feature_names_in_ = np.asarray(source.table.names, dtype=object)
        return self

    def _tune(
        self, source: Source, wanted: np.ndarray, shown: np.ndarray, rng: np.random.Generator
    ) -> tuple[int, float]:
        who = type(self).__name__
        sizes = (
            shares_to_try(len(source)) or [len(source)]
            if isinstance(self.n_prototypes, str)
            else [count_prototypes(self.n_prototypes, len(source), who)]
        )
        curves = SHARPNESS if isinstance(self.p, str) else (float(self.p),)
        if len(sizes) * len(curves) == 1 or len(source) < 2:
            return sizes[0], curves[-1]

        def learn(inside: np.ndarray, known: np.ndarray, outside: np.ndarray) -> list[np.ndarray]:
            answers = []
            for p in curves:
                found = _solve(similarity_activation(inside, p), known, self.alpha)
                answers.append(_outputs(similarity_activation(outside, p), *found))
            return answers

        groups = wanted.argmax(axis=1) if wanted.shape[1] > 1 else None
        folds = deal(groups, len(source), self.cv, rng, who)
        errors = cross_validate(
            source, shown, wanted, self.prototypes, sizes, learn, self._losses, folds, rng,
            target=self._holds, max_rows=self.max_rows, n_jobs=self.n_jobs, who=who,
        )  # fmt: skip
        self.cv_results_ = {
            "n_prototypes": np.repeat(sizes, len(curves)),
            "p": np.tile(curves, len(sizes)),
            "error": errors.ravel(),
        }
        # On ties fewer prototypes, then the gentler curve.
        place = int(errors.min(axis=1).argmin())
        best = errors[place]
        return sizes[place], curves[int(np.flatnonzero(best == best.min())[-1])]

    def _outputs(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "coef_")
        hidden = similarity_activation(self.representation_.transform(X), self.p_)
        return _outputs(hidden, self.mean_, self.unit_, self.coef_, self.intercept_)

    _holds: ClassVar[str]

    def _true_target(self, X: Any, y: Any) -> Any:
        """Return the target as an array; a name is looked up in X and read as it was in fit."""
        if not isinstance(y, str):
            return y
        check_is_fitted(self, "coef_")
        who = f"{type(self).__name__}.score"
        column = read_table(X)[y]
        if self.target_kind_ is not None:
            column = as_table(Table([column]), Schema({y: self.target_kind_}), who=who)[y]
        return split_target(Table([column]), y, who)[1]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        measure = Gower() if self.measure is None else self.measure
        if isinstance(measure, Measure):
            inner = get_tags(measure).input_tags
            for name in ("allow_nan", "categorical", "string", "pairwise", "positive_only"):
                setattr(tags.input_tags, name, getattr(inner, name))
        return tags


class SimilarityNetworkClassifier(ClassifierMixin, _SimilarityNetwork):
    """Say what a row is by a weighted sum of how alike it is to a few prototypes.

    A network of one hidden layer: each unit compares the row with a prototype, by any measure, and
    sharpens the similarity (``similarity_activation``); the outputs are weighted sums of the units
    [1]_. It takes tables as they come, gaps and objects included, is fast once fitted, and is
    trained by solving one linear system.

    Where the boundary between classes is intricate, ``NeighborClassifier`` or a forest will follow
    it better.

    Parameters
    ----------
    measure : Measure, optional
        How alike rows are; None: ``Gower()``. A clone is fitted.
    prototypes : str
        How the centers of the units are chosen (see ``select_prototypes``).
    n_prototypes : int, float or "tune"
        How many, or a share of the rows. "tune": the best of 2 to 10 percent in cross-validation,
        the fewer on ties.
    p : float or "tune"
        Gentleness of the curve that all units share. "tune": the best of 0.01, 0.05, 0.1, 0.5, 1
        and 10 in cross-validation.
    alpha : float
        Ridge penalty on the weights of the standardized units; the constant is free.
    cv : int
        Folds of "tune"; each fits the measure and chooses its prototypes anew.
    kinds : mapping of column to kind, optional
        What columns hold, where reading them does not guess it (see ``read_table``).
    max_rows : int
        Larger tables are sampled to choose prototypes (see ``select_prototypes``).
    random_state : None, int or Generator
        For the folds, sampling and "random" prototypes.
    n_jobs : int, optional
        Threads; None: the setting of ``lookalike.config``.

    Attributes
    ----------
    classes_ : the classes, sorted
    representation_ : the fitted SimilarityRepresentation; ``prototypes_`` in it are the centers
    p_ : float
    coef_, intercept_ : weights of the standardized units, of shape (units, classes)
    cv_results_ : dict of arrays, where something was tuned
        ``n_prototypes``, ``p`` and ``error`` (share of wrong rows).
    feature_names_in_ : names of the columns, where the data had names
    n_features_in_ : number of columns

    References
    ----------
    .. [1] L. A. Belanche and J. Hernandez (2014). Similarity networks for classification: a case
       study in the Horse Colic problem. doi:10.48550/arXiv.1403.4540

    Examples
    --------
    >>> from lookalike.predict import SimilarityNetworkClassifier
    >>> pets = {
    ...     "weight": [4.0, 5.0, None, 30.0, 25.0, 28.0],
    ...     "sound": ["meow", "meow", "meow", "woof", "woof", None],
    ... }
    >>> animals = ["cat", "cat", "cat", "dog", "dog", "dog"]
    >>> model = SimilarityNetworkClassifier(n_prototypes=2, p=0.5).fit(pets, animals)
    >>> print(*model.predict({"weight": [29.0, None], "sound": [None, "meow"]}))
    dog cat
    """

    _holds = "classes"

    def _learn_target(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        y = _as_classes(y, type(self).__name__)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise InvalidInput(
                message(
                    f"{type(self).__name__}.fit",
                    "at least 2 classes",
                    f"{len(self.classes_)} class",
                    "Give rows of another class too",
                )
            )
        # Measures that learn from a target take numbers for amounts and words for classes.
        words = np.array([f"class {code}" for code in range(len(self.classes_))])
        return np.eye(len(self.classes_))[codes], words[codes]

    def _losses(self, outputs: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        return np.asarray(outputs.argmax(axis=1) != wanted.argmax(axis=1))

    def predict(self, X: Any) -> np.ndarray:
        """Return the class with the largest output.

        Parameters
        ----------
        X : table, frame, array, record or list of records

        Returns
        -------
        array of n classes
        """
        outputs = self._outputs(X)
        return np.asarray(self.classes_[outputs.argmax(axis=1)])

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return a probability for each class: the outputs, negative ones as 0, of sum 1.

        Parameters
        ----------
        X : table, frame, array, record or list of records

        Returns
        -------
        array of shape (n, number of classes), columns in the order of ``classes_``
        """
        # Outputs sum to 1, because the targets do, so the largest is above 0 and stays the largest.
        found = np.maximum(self._outputs(X), 0.0)
        return np.asarray(found / found.sum(axis=1, keepdims=True))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of rows whose class is predicted right.

        Parameters
        ----------
        X : table, frame, array or list of records
        y : array of n, or the name of a column of X
        sample_weight : array of n, optional
        """
        return float(super().score(X, self._true_target(X, y), sample_weight))


class SimilarityNetworkRegressor(RegressorMixin, _SimilarityNetwork):
    """Predict a number by a weighted sum of how alike a row is to a few prototypes.

    A network of one hidden layer: each unit compares the row with a prototype, by any measure, and
    sharpens the similarity (``similarity_activation``); the output is a weighted sum of the units
    [1]_. It takes tables as they come, gaps and objects included, and is trained by solving one
    linear system. It does not follow a trend beyond the fitted rows.

    Parameters
    ----------
    measure : Measure, optional
        How alike rows are; None: ``Gower()``. A clone is fitted.
    prototypes : str
        How the centers of the units are chosen (see ``select_prototypes``).
    n_prototypes : int, float or "tune"
        How many, or a share of the rows. "tune": the best of 2 to 10 percent in cross-validation,
        the fewer on ties.
    p : float or "tune"
        Gentleness of the curve that all units share. "tune": the best of 0.01, 0.05, 0.1, 0.5, 1
        and 10 in cross-validation.
    alpha : float
        Ridge penalty on the weights of the standardized units; the constant is free.
    cv : int
        Folds of "tune"; each fits the measure and chooses its prototypes anew.
    kinds : mapping of column to kind, optional
        What columns hold, where reading them does not guess it (see ``read_table``).
    max_rows : int
        Larger tables are sampled to choose prototypes (see ``select_prototypes``).
    random_state : None, int or Generator
        For the folds, sampling and "random" prototypes.
    n_jobs : int, optional
        Threads; None: the setting of ``lookalike.config``.

    Attributes
    ----------
    representation_ : the fitted SimilarityRepresentation; ``prototypes_`` in it are the centers
    p_ : float
    coef_, intercept_ : weights of the standardized units, of shape (units, 1)
    cv_results_ : dict of arrays, where something was tuned
        ``n_prototypes``, ``p`` and ``error`` (mean squared error).
    feature_names_in_ : names of the columns, where the data had names
    n_features_in_ : number of columns

    References
    ----------
    .. [1] L. A. Belanche and J. Hernandez (2014). Similarity networks for classification: a case
       study in the Horse Colic problem. doi:10.48550/arXiv.1403.4540

    Examples
    --------
    >>> from lookalike.predict import SimilarityNetworkRegressor
    >>> rooms = {"area": [20.0, 30.0, 40.0, 50.0, 60.0], "sunny": ["no", "no", "no", "no", "no"]}
    >>> model = SimilarityNetworkRegressor(n_prototypes=5, p=10.0)
    >>> model.fit(rooms, [200.0, 300.0, 400.0, 500.0, 600.0])
    SimilarityNetworkRegressor(n_prototypes=5, p=10.0)
    >>> model.predict({"area": [35.0], "sunny": ["no"]}).round()
    array([350.])
    """

    _holds = "numbers"

    def _learn_target(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        try:
            values = np.asarray(y, dtype=np.float64)
        except (TypeError, ValueError):
            values = np.full(len(y), np.nan)
        if not np.isfinite(values).all():
            raise InvalidInput(
                message(
                    f"{type(self).__name__}.fit",
                    "a target of finite numbers",
                    "other values (NaN, inf or words)",
                    "Drop these rows, or use SimilarityNetworkClassifier",
                )
            )
        return values[:, None], values

    def _losses(self, outputs: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        return np.asarray(((outputs - wanted) ** 2)[:, 0])

    def predict(self, X: Any) -> np.ndarray:
        """Return the predicted number of each row.

        Parameters
        ----------
        X : table, frame, array, record or list of records

        Returns
        -------
        array of n
        """
        return self._outputs(X)[:, 0]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return R squared: the share of the variance of y that is predicted.

        Parameters
        ----------
        X : table, frame, array or list of records
        y : array of n, or the name of a column of X
        sample_weight : array of n, optional
        """
        return float(super().score(X, self._true_target(X, y), sample_weight))


def _whole(source: Source) -> Any:
    """Return what a measure is fitted to: the table, or the matrix of distances in it."""
    return source._cut(np.arange(len(source)), np.arange(len(source)))


def _solve(
    hidden: np.ndarray, wanted: np.ndarray, alpha: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return mean and unit of the hidden units, and ridge weights and constants of the outputs."""
    mean = hidden.mean(axis=0)
    unit = hidden.std(axis=0)
    unit[unit <= 1e-12] = 1.0  # a unit that says nothing stays 0
    middle = wanted.mean(axis=0)
    left, values, right = np.linalg.svd((hidden - mean) / unit, full_matrices=False)
    kept = values > 1e-12 * values.max(initial=0.0)  # with alpha = 0: the least-norm solution
    shrunk = values[kept] / (values[kept] ** 2 + alpha)
    coef = right[kept].T @ (shrunk[:, None] * (left[:, kept].T @ (wanted - middle)))
    return mean, unit, coef, middle


def _outputs(
    hidden: np.ndarray, mean: np.ndarray, unit: np.ndarray, coef: np.ndarray, intercept: np.ndarray
) -> np.ndarray:
    return np.asarray((hidden - mean) / unit @ coef + intercept)
