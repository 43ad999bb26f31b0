"""How well a model does on rows it has not learned from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.metrics import mean_absolute_error, r2_score, roc_auc_score
from sklearn.utils import get_tags

from lookalike._runtime.folds import assign_folds
from lookalike.errors import InvalidInput, Param, Phrase, TooFewRows
from lookalike.saving.fields import Integer
from lookalike.table import read_table
from lookalike.table.model.targets import keep_repeated, read_classes, read_numbers, split_target

WHO = "cross_validate"


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """Predictions for rows that were held out of fitting, and their scores.

    Parameters
    ----------
    n_splits : int
        How many folds there were.
    scores : mapping of name to float
        Of a classifier ``accuracy`` and, where it gives probabilities, ``auc``: the area under the
        ROC curve, of several classes the mean of one against the rest. Of a regressor ``r2`` and
        ``mean_absolute_error``. Each is computed over all rows, not fold by fold.
    baseline : mapping of name to float
        What needs no model: the ``accuracy`` of always saying the commonest class; the
        ``mean_absolute_error`` of always saying the median of the other folds.
    predictions : array of n
        For each row what the model predicts that has not seen it.
    probabilities : array of shape (n, classes) or None
    classes : array or None
        Of the columns of ``probabilities``.
    """

    n_splits: int
    scores: Mapping[str, float]
    baseline: Mapping[str, float]
    predictions: np.ndarray
    probabilities: np.ndarray | None = None
    classes: np.ndarray | None = None

    def __str__(self) -> str:
        words = ", ".join(f"{name} {value:.3f}" for name, value in self.scores.items())
        guess = ", ".join(f"{name} {value:.3f}" for name, value in self.baseline.items())
        return f"{self.n_splits}-fold cross-validation: {words} (without a model: {guess})"


def cross_validate(
    model: Any,
    X: Any,
    y: Any,
    *,
    n_splits: int = 5,
    kinds: Mapping[str, Any] | None = None,
    random_state: Any = None,
) -> CrossValidation:
    """Score a model on rows it has not learned from (k-fold cross-validation).

    The rows are split into folds, for a classifier with equal shares of each class in all of them
    (stratified folds). Each fold is predicted by a clone of the model that was fitted to the
    others. The table is read once, so every fold sees the same kinds of column.

    scikit-learn's function of this name takes arrays and gives scores per fold; this one takes
    tables, and also returns the predictions.

    Parameters
    ----------
    model : classifier or regressor
        It is cloned, not changed.
    X : table, frame, array, dict of columns or path
        A matrix of distances where the measure of the model takes one.
    y : array of n, or the name of a column
    n_splits : int
        Folds, at least 2. A class of fewer rows lowers their number to its size; one of a single
        row is left out of learning and of the scores, with a warning.
    kinds : mapping of column to kind, optional
        What columns hold, where reading them does not guess it (see ``read_table``).
    random_state : None, int, numpy Generator or RandomState
        How rows are shuffled before they are split. None: the same folds in every call.

    Returns
    -------
    CrossValidation

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.measures import Gower
    >>> from lookalike.prediction import NeighborClassifier, cross_validate
    >>> X = np.concatenate([np.arange(10.0), np.arange(30.0, 40.0)])[:, None]
    >>> model = NeighborClassifier(Gower(), n_neighbors=3)
    >>> result = cross_validate(model, X, X[:, 0] > 20, random_state=0)
    >>> print(result)
    5-fold cross-validation: accuracy 1.000, auc 1.000 (without a model: accuracy 0.500)
    >>> result.predictions[:2]
    array([False, False])
    """
    Integer(2).check(WHO, "n_splits", n_splits, "Use 5 or 10")
    pairwise = get_tags(model).input_tags.pairwise
    rows, target = X, y
    if not pairwise:
        # A matrix of distances stays as it is: its rows and columns are cut together.
        rows, target = split_target(read_table(X, kinds=kinds), y, WHO)
    if target is None:
        raise InvalidInput(WHO, "a target", "none", ("Pass ", Param("y")))
    target = np.asarray(target)
    n = len(target)
    classes, codes, kept = None, None, np.ones(n, dtype=bool)
    if is_classifier(model):
        read_classes(target, WHO, "a regressor", 2)
        kept = keep_repeated(target)
        classes, codes = read_classes(target[kept], WHO, "a regressor", 2)
        n_splits = _splits_of_classes(classes, codes, n_splits)
    else:
        target = read_numbers(target, WHO, "Use a classifier")
        if n < n_splits:
            fewer = Phrase("Use ", Param("n_splits", n), " or add rows")
            hint = fewer if n > 1 else "Add rows"  # of one row there are no two folds
            raise TooFewRows(WHO, f"at least {n_splits} rows", Param("n_samples", n), hint)
    # Rows that are left out are predicted with the first fold, and never learned from.
    folds = np.zeros(n, dtype=np.int64)
    folds[kept] = assign_folds(codes, int(kept.sum()), n_splits, random_state, WHO)
    # Of the type of the target, so that classes compare equal to it.
    predictions = np.empty(n, dtype=target.dtype)
    shares = None
    if classes is not None and hasattr(model, "predict_proba"):
        # Columns in the order of all classes: every fold knows them all, being stratified.
        shares = np.zeros((n, len(classes)))
    for fold in range(n_splits):
        known, held = np.flatnonzero((folds != fold) & kept), np.flatnonzero(folds == fold)
        fitted = clone(model).fit(_cut(rows, known, known, pairwise), target[known])
        new = _cut(rows, held, known, pairwise)
        predictions[held] = fitted.predict(new)
        if shares is not None:
            shares[held] = fitted.predict_proba(new)
    judged = None if shares is None else shares[kept]
    scores = _score(target[kept], predictions[kept], codes, judged)
    baseline = _score_baseline(target, codes, folds)
    return CrossValidation(n_splits, scores, baseline, predictions, shares, classes)


def _cut(rows: Any, positions: np.ndarray, known: np.ndarray, pairwise: bool) -> Any:
    """Return some rows; of a matrix of distances their columns to the known rows."""
    return np.asarray(rows)[np.ix_(positions, known)] if pairwise else rows[positions]


def _splits_of_classes(classes: np.ndarray, codes: np.ndarray, n_splits: int) -> int:
    """Return how many folds every class has a row for."""
    # Each fold needs a row of every class, and so do the rows that are left to fit.
    counts = np.bincount(codes)
    rare = int(counts.argmin())
    if counts[rare] < 2:
        found = f"a class with a single row, {classes.tolist()[rare]!r}"
        raise TooFewRows(WHO, "two rows or more of each class", found, "Add rows")
    return min(n_splits, int(counts[rare]))


def _score_baseline(
    target: np.ndarray, codes: np.ndarray | None, folds: np.ndarray
) -> dict[str, float]:
    """Score what needs no model: the commonest class, or the median of the other folds."""
    if codes is not None:
        return {"accuracy": float(np.bincount(codes).max() / len(codes))}
    medians = np.empty(len(target))
    for fold in np.unique(folds):  # like the model, without the rows that are predicted
        medians[folds == fold] = np.median(target[folds != fold])
    return {"mean_absolute_error": float(mean_absolute_error(target, medians))}


def _score(
    target: np.ndarray,
    predictions: np.ndarray,
    codes: np.ndarray | None,
    shares: np.ndarray | None,
) -> dict[str, float]:
    if codes is None:
        absolute = float(mean_absolute_error(target, predictions))
        return {"r2": float(r2_score(target, predictions)), "mean_absolute_error": absolute}
    scores = {"accuracy": float((predictions == target).mean())}
    if shares is not None:
        # scikit-learn takes the probability of the second class, or a column for each of several.
        of_classes = shares[:, 1] if shares.shape[1] == 2 else shares
        scores["auc"] = float(roc_auc_score(codes, of_classes, multi_class="ovr"))
    return scores
