"""What both similarity networks share: hidden units, output weights, tuning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lookalike._runtime.random_state import make_generator
from lookalike.evaluate.folds import assign_folds
from lookalike.measures.contract.base import Measure
from lookalike.measures.task import MeasureTask, Source
from lookalike.prediction.mixins import NamedTargetMixin
from lookalike.represent.activation import similarity_activation
from lookalike.represent.cross_validation import cross_validate_prototypes, shares_to_try
from lookalike.represent.prototype_selector import MAX_ROWS
from lookalike.represent.prototypes import METHODS, count_prototypes
from lookalike.represent.representation import SimilarityRepresentation
from lookalike.saving.fields import (
    INT64,
    Anything,
    Array,
    Choice,
    Dims,
    Either,
    Fields,
    Integer,
    Maybe,
    Real,
    Saved,
    Sometimes,
    Text,
    require,
)

TUNE = "tune"
SHARPNESS = (0.01, 0.05, 0.1, 0.5, 1.0, 10.0)


class SimilarityNetwork(NamedTargetMixin, MeasureTask, abstract=True):
    """Base of both networks: hidden units, output weights, tuning."""

    FIELDS: ClassVar[Fields] = {
        "prototypes": Choice(*METHODS),
        "n_prototypes": Either(Choice(TUNE), Real()),
        "p": Either(Choice(TUNE), Real(0.0)),
        "alpha": Real(0.0),
        "cv": Integer(2),
        "max_rows": Integer(2, INT64),
        "target_": Maybe(Text()),
        "target_kind_": Maybe(Saved("Kind")),
        "representation_": Saved("SimilarityRepresentation"),
        "p_": Real(0.0),
        "mean_": Array("float64", "prototypes"),
        "unit_": Array("float64", "prototypes"),
        "coef_": Array("float64", "prototypes", "outputs"),
        "intercept_": Array("float64", "outputs"),
        "cv_results_": Sometimes(Anything()),
    }

    REQUIRES_TARGET = True
    TARGET_TYPE: ClassVar[str]  # what y holds: classes or numbers

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
        """Return what the outputs should be, of shape (n, outputs), and what measures see."""
        raise AssertionError("written by the subclasses")

    def _losses(self, outputs: np.ndarray, target: np.ndarray) -> np.ndarray:
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
        source, values = self._read(X, y)
        target, y_measure = self._learn_target(np.asarray(values))
        self._remember_target(X, source.table, y)
        rng = make_generator(self.random_state)
        n_prototypes, self.p_ = self._tune(source, target, y_measure, rng)
        self.representation_ = SimilarityRepresentation(
            source.measure,
            self.prototypes,
            n_prototypes,
            max_rows=self.max_rows,
            random_state=rng,
            n_jobs=self.n_jobs,
        )
        similarities = self.representation_.fit_transform(source.table, y_measure)
        self.mean_, self.unit_, self.coef_, self.intercept_ = solve_ridge(
            similarity_activation(similarities, self.p_), target, self.alpha
        )
        self._remember_columns(X, source, self.representation_.measure_)
        return self

    def _tune(
        self, source: Source, target: np.ndarray, y_measure: np.ndarray, rng: np.random.Generator
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

        def learn(inside: np.ndarray, target: np.ndarray, outside: np.ndarray) -> list[np.ndarray]:
            predictions = []
            for p in curves:
                solved = solve_ridge(similarity_activation(inside, p), target, self.alpha)
                predictions.append(linear_outputs(similarity_activation(outside, p), *solved))
            return predictions

        classes = target.argmax(axis=1) if self.TARGET_TYPE == "classes" else None
        folds = assign_folds(classes, len(source), self.cv, rng, who)
        errors = cross_validate_prototypes(
            source, y_measure, target, self.prototypes, sizes, learn, self._losses, folds, rng,
            target_type=self.TARGET_TYPE, max_rows=self.max_rows, n_jobs=self.n_jobs, who=who,
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
        return linear_outputs(hidden, self.mean_, self.unit_, self.coef_, self.intercept_)

    def check_loaded(self, dims: Dims) -> None:
        """Check after loading that there is a weight for every prototype."""
        inner, n = self.representation_, dims["prototypes"]
        require(
            inner.n_prototypes_ == n,
            f"{type(self).__name__}.mean_",
            "a weight per prototype",
            str(n),
        )
        plain = type(inner).__name__ == "SimilarityRepresentation"
        require(plain, f"{type(self).__name__}.representation_", "SimilarityRepresentation")


def solve_ridge(
    hidden: np.ndarray, target: np.ndarray, alpha: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return mean and unit of the hidden units, and ridge weights and constants of the outputs."""
    mean = hidden.mean(axis=0)
    unit = hidden.std(axis=0)
    unit[unit <= 1e-12] = 1.0  # a unit that says nothing stays 0
    middle = target.mean(axis=0)
    left, values, right = np.linalg.svd((hidden - mean) / unit, full_matrices=False)
    kept = values > 1e-12 * values.max(initial=0.0)  # with alpha = 0: the least-norm solution
    shrunk = values[kept] / (values[kept] ** 2 + alpha)
    coef = right[kept].T @ (shrunk[:, None] * (left[:, kept].T @ (target - middle)))
    return mean, unit, coef, middle


def linear_outputs(
    hidden: np.ndarray, mean: np.ndarray, unit: np.ndarray, coef: np.ndarray, intercept: np.ndarray
) -> np.ndarray:
    """Return the outputs of hidden units: their standardized values, weighted, plus constants."""
    return np.asarray((hidden - mean) / unit @ coef + intercept)
