"""Networks whose hidden units are similarities to prototypes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lookalike._runtime.folds import assign_folds
from lookalike._runtime.progress import Progress
from lookalike._runtime.random_state import make_generator
from lookalike.measures.task import MeasureTask, TaskSource
from lookalike.prediction import mixins
from lookalike.represent import prototypes as centers
from lookalike.represent.powers import similarity_activation
from lookalike.represent.representation import SimilarityRepresentation
from lookalike.saving import fields

TUNE, EACH = "tune", "each"
TRIED_P = (0.01, 0.05, 0.1, 0.5, 1.0, 10.0)  # values of p for "tune", chosen by hand


@dataclass(eq=False, repr=False)
class SimilarityNetwork(mixins.NamedTargetMixin, MeasureTask, ABC, abstract=True):
    """Base of both networks: hidden units, output weights, tuning."""

    FIELDS: ClassVar[fields.Fields] = {
        "prototypes": fields.Choice(*centers.METHODS),
        "n_prototypes": fields.Either(fields.Choice(TUNE), fields.Real()),
        "p": fields.Either(fields.Choice(TUNE, EACH), fields.Real(0.0)),
        "alpha": fields.Real(0.0),
        "cv": fields.Integer(2),
        "max_rows": fields.Integer(2, fields.INT64),
        "representation_": fields.Saved("SimilarityRepresentation"),
        "p_": fields.Either(fields.Real(0.0), fields.Array("float64", "prototypes", low=0.0)),
        "mean_": fields.Array("float64", "prototypes"),
        "unit_": fields.Array("float64", "prototypes"),
        "coef_": fields.Array("float64", "prototypes", "outputs"),
        "intercept_": fields.Array("float64", "outputs"),
        "cv_results_": fields.Sometimes(fields.Anything()),
    }

    REQUIRES_TARGET = True
    TARGET_TYPE: ClassVar[str]  # what y holds: classes or numbers

    prototypes: str = "medoids"
    n_prototypes: int | float | str = 0.05
    _: KW_ONLY
    p: float | str = TUNE
    alpha: float = 1e-6
    cv: int = 5
    kinds: Mapping[str, Any] | None = None
    max_rows: int = centers.MAX_ROWS
    random_state: Any = None
    n_jobs: int | None = None

    # -- what classifier and regressor write -------------------------------------------------------

    @abstractmethod
    def _learn_target(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the target, and what measures see of it (``mixins``)."""

    @abstractmethod
    def _losses(self, outputs: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Return what each row loses."""

    # -- fitting -----------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose the prototypes and learn the weights of the outputs.

        Parameters
        ----------
        X : table, frame, array, dict of columns or path
        y : array of n, or the name of a column
            A named column is taken out of the table. Missing values are an error.
        """
        source, values = self._read(X, y)
        learned, y_measure = self._learn_target(np.asarray(values))
        by_class = self.TARGET_TYPE == "classes"
        # An output per class, 1 for the row's own.
        target = np.eye(learned.max() + 1)[learned] if by_class else learned[:, None]
        self._remember_target(X, source.table, y)
        # One generator for folds, samples and prototypes: a fit is repeatable as a whole.
        rng = make_generator(self.random_state)
        n_prototypes, p = self._tune(source, target, y_measure, rng)
        self.p_: Any = p  # a number, or an array of them
        self.representation_ = SimilarityRepresentation(
            source.measure,
            self.prototypes,
            n_prototypes,
            max_rows=self.max_rows,
            random_state=rng,
            n_jobs=self.n_jobs,
        )
        similarities = self.representation_.fit_transform(source.table, y_measure)
        if self.p == EACH:
            self.p_ = tune_units(similarities, target, p, self.alpha)
        self.mean_, self.unit_, self.coef_, self.intercept_ = solve_ridge(
            similarity_activation(similarities, self.p_), target, self.alpha
        )
        self._remember_columns(X, source, self.representation_.measure_)
        return self

    def _tune(
        self,
        source: TaskSource,
        target: np.ndarray,
        y_measure: np.ndarray,
        rng: np.random.Generator,
    ) -> tuple[int, float]:
        who = type(self).__name__
        if isinstance(self.n_prototypes, str):
            sizes = centers.shares_to_try(len(source)) or [len(source)]
        else:
            sizes = [centers.count_prototypes(self.n_prototypes, len(source), who)]
        curves = TRIED_P if isinstance(self.p, str) else (float(self.p),)
        # Nothing to choose, or too few rows for two folds.
        if len(sizes) * len(curves) == 1 or len(source) < 2:
            return sizes[0], curves[-1]

        def learn(inside: np.ndarray, target: np.ndarray, outside: np.ndarray) -> list[np.ndarray]:
            predictions = []
            for p in curves:
                solved = solve_ridge(similarity_activation(inside, p), target, self.alpha)
                predictions.append(linear_outputs(similarity_activation(outside, p), *solved))
            return predictions

        classes = target.argmax(axis=1) if self.TARGET_TYPE == "classes" else None
        # Every fold has all classes; numbers are split at random.
        folds = assign_folds(classes, len(source), self.cv, rng, who)
        errors = centers.cross_validate_prototypes(
            source, y_measure, target, self.prototypes, sizes, learn, self._losses, folds, rng,
            target_type=self.TARGET_TYPE, max_rows=self.max_rows, n_jobs=self.n_jobs, who=who,
        )  # fmt: skip
        self.cv_results_ = {
            "n_prototypes": np.repeat(sizes, len(curves)),
            "p": np.tile(curves, len(sizes)),
            "error": errors.ravel(),
        }
        # On ties fewer prototypes, then the gentler curve.
        best = int(errors.min(axis=1).argmin())
        return sizes[best], curves[int(np.flatnonzero(errors[best] == errors[best].min())[-1])]

    def _outputs(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "coef_")
        # Hidden units are computed as they were for the fitted rows, then standardized by their
        # moments.
        hidden = similarity_activation(self.representation_.transform(X), self.p_)
        return linear_outputs(hidden, self.mean_, self.unit_, self.coef_, self.intercept_)

    def check_loaded(self, dims: fields.Dims) -> None:
        """Check after loading that there is a weight for every prototype."""
        inner, n, who = self.representation_, dims["prototypes"], type(self).__name__
        fields.require(inner.n_prototypes_ == n, f"{who}.mean_", "a weight per prototype", str(n))
        # A subclass could transform otherwise than the weights were learned for.
        plain = type(inner).__name__ == "SimilarityRepresentation"
        fields.require(plain, f"{who}.representation_", "SimilarityRepresentation")


def solve_ridge(
    hidden: np.ndarray, target: np.ndarray, alpha: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return mean and unit of the hidden units, and ridge weights and constants of the outputs."""
    mean, unit, left, values, right = _decompose(hidden)
    # The constant is not penalized, so the target is centered first.
    middle = target.mean(axis=0)
    shrunk = values / (values**2 + alpha)
    coef = right.T @ (shrunk[:, None] * (left.T @ (target - middle)))
    return mean, unit, coef, middle


def _decompose(hidden: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return mean and unit of the hidden units, and the singular values of standardized ones."""
    mean, unit = hidden.mean(axis=0), hidden.std(axis=0)
    unit[unit <= 1e-12] = 1.0  # a constant unit stays 0 instead of becoming rounding noise
    # Singular values rather than normal equations, whose condition number is the square.
    left, values, right = np.linalg.svd((hidden - mean) / unit, full_matrices=False)
    kept = values > 1e-12 * values.max(initial=0.0)  # with alpha = 0: the least-norm solution
    return mean, unit, left[:, kept], values[kept], right[kept]


def tune_units(similarities: np.ndarray, target: np.ndarray, p: Any, alpha: float) -> np.ndarray:
    """Return a p for each unit: coordinate descent, one round, from a p that all share.

    Ridge regression has the errors of leaving out each row in closed form (PRESS, Allen 1974):
    the residual over one minus the row's leverage.
    """
    tried = [*(each for each in TRIED_P if each != p), p]
    curves = {each: similarity_activation(similarities, each) for each in tried}
    hidden, chosen = curves[p].copy(), np.full(similarities.shape[1], float(p))

    def error() -> float:
        _, _, left, values, _ = _decompose(hidden)
        shrunk = values**2 / (values**2 + alpha)
        centered = target - target.mean(axis=0)
        leverage = (left**2 * shrunk).sum(axis=1) + 1 / len(target)
        residual = centered - left * shrunk @ (left.T @ centered)
        return float(((residual / np.maximum(1 - leverage, 1e-12)[:, None]) ** 2).mean())

    with Progress("curves of units", len(chosen)) as progress:
        for column in range(len(chosen)):
            errors = []
            for each in tried:
                hidden[:, column] = curves[each][:, column]
                errors.append(error())
            # On ties the shared one, which is the last.
            chosen[column] = tried[-1 - int(np.argmin(errors[::-1]))]
            hidden[:, column] = curves[chosen[column]][:, column]
            progress.advance()
    return chosen


def linear_outputs(
    hidden: np.ndarray, mean: np.ndarray, unit: np.ndarray, coef: np.ndarray, intercept: np.ndarray
) -> np.ndarray:
    """Return the outputs of hidden units: their standardized values, weighted, plus constants."""
    return np.asarray((hidden - mean) / unit @ coef + intercept)


class SimilarityNetworkClassifier(mixins.TableClassifierMixin, SimilarityNetwork):
    """Classify rows by a weighted sum of similarities to a few prototypes.

    A network of one hidden layer: each unit compares the row with a prototype, by any measure, and
    sharpens the similarity (``similarity_activation``); the outputs are weighted sums of the units
    [1]_. It takes mixed tables, missing values and objects included, is fast once fitted, and is
    trained by solving one linear system.

    Where the boundary between classes is intricate, ``NeighborClassifier`` or a forest will follow
    it better.

    Parameters
    ----------
    measure : Measure, optional
        How alike rows are; None: "auto" (``choose_measure``). A clone is fitted.
    prototypes : str
        How the centers of the units are chosen (see ``select_prototypes``).
    n_prototypes : int, float or "tune"
        How many, or a share of the rows. "tune": the best of 2 to 10 percent in cross-validation,
        the fewer on ties.
    p : float, "tune" or "each"
        Gentleness of the curve that all units share. "tune": the best of 0.01, 0.05, 0.1, 0.5, 1
        and 10 in cross-validation. "each": beginning with that one, each unit in turn gets the one
        of the six with the least squared error where every row is left out once.
    alpha : float
        Ridge penalty on the weights of the standardized units; the constant is free.
    cv : int
        Folds of "tune"; each fits the measure and chooses its prototypes anew.
    kinds : mapping of column to kind, optional
        What columns hold, where reading them does not guess it (see ``read_table``).
    max_rows : int
        Larger tables are sampled to choose prototypes (see ``select_prototypes``).
    random_state : None, int, RandomState or Generator
        For the folds, sampling and "random" prototypes.
    n_jobs : int, optional
        Threads; None: the setting of ``lookalike.config``.

    Attributes
    ----------
    classes_ : the classes, sorted
    representation_ : the fitted SimilarityRepresentation; ``prototypes_`` in it are the centers
    p_ : float, or array with the p of each unit
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
    >>> from lookalike.prediction import SimilarityNetworkClassifier
    >>> pets = {
    ...     "weight": [4.0, 5.0, None, 30.0, 25.0, 28.0],
    ...     "sound": ["meow", "meow", "meow", "woof", "woof", None],
    ... }
    >>> animals = ["cat", "cat", "cat", "dog", "dog", "dog"]
    >>> model = SimilarityNetworkClassifier(n_prototypes=2, p=0.5).fit(pets, animals)
    >>> print(*model.predict({"weight": [29.0, None], "sound": [None, "meow"]}))
    dog cat
    """

    FIELDS: ClassVar[fields.Fields] = {"classes_": mixins.classes_field("outputs")}

    TARGET_TYPE = "classes"
    REGRESSOR = "SimilarityNetworkRegressor"

    def _losses(self, outputs: np.ndarray, target: np.ndarray) -> np.ndarray:
        return np.asarray(outputs.argmax(axis=1) != target.argmax(axis=1))

    def predict(self, X: Any) -> np.ndarray:
        """Return the class with the largest output.

        Parameters
        ----------
        X : table, frame, array, record or list of records

        Returns
        -------
        array of n classes
        """
        codes = self._outputs(X).argmax(axis=1)  # first: it checks that the model is fitted
        return np.asarray(self.classes_[codes])

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
        outputs = np.maximum(self._outputs(X), 0.0)
        return np.asarray(outputs / outputs.sum(axis=1, keepdims=True))


class SimilarityNetworkRegressor(mixins.TableRegressorMixin, SimilarityNetwork):
    """Predict a number by a weighted sum of similarities to a few prototypes.

    The network of ``SimilarityNetworkClassifier`` with one output [1]_: a weighted sum of hidden
    units, each of which compares the row with a prototype. It does not follow a trend beyond the
    fitted rows.

    Parameters
    ----------
    measure : Measure, optional
    prototypes : str
    n_prototypes : int, float or "tune"
    p : float, "tune" or "each"
    alpha : float
    cv : int
    kinds : mapping of column to kind, optional
    max_rows : int
    random_state : None, int, RandomState or Generator
    n_jobs : int, optional
        All as for ``SimilarityNetworkClassifier``.

    Attributes
    ----------
    representation_ : the fitted SimilarityRepresentation; ``prototypes_`` in it are the centers
    p_ : float, or array with the p of each unit
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
    >>> from lookalike.prediction import SimilarityNetworkRegressor
    >>> rooms = {"area": [20.0, 30.0, 40.0, 50.0, 60.0], "sunny": ["no", "no", "no", "no", "no"]}
    >>> model = SimilarityNetworkRegressor(n_prototypes=5, p=10.0)
    >>> model.fit(rooms, [200.0, 300.0, 400.0, 500.0, 600.0])
    SimilarityNetworkRegressor(n_prototypes=5, p=10.0)
    >>> model.predict({"area": [35.0], "sunny": ["no"]}).round()
    array([350.])
    """

    TARGET_TYPE = "numbers"
    CLASSIFIER = "SimilarityNetworkClassifier"

    def _losses(self, outputs: np.ndarray, target: np.ndarray) -> np.ndarray:
        return np.asarray(((outputs - target) ** 2)[:, 0])

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
