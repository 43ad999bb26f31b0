"""Choosing how many neighbors vote, and how their votes are weighted, by cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lookalike.errors import Param, Phrase, TooFewRows
from lookalike.evaluate.folds import assign_folds
from lookalike.evaluate.vote import WEIGHTS
from lookalike.measures.contract.base import Measure
from lookalike.measures.task import Source
from lookalike.neighbors.graph import NeighborGraph

TUNE = "tune"
FOLDS = 5
FEW = 15  # up to here every k is tried
STEPS = (20, 25, 30, 40, 50, 65, 80, 100, 125, 160, 200)  # beyond, steps of about a quarter
ALWAYS = 50  # tried on small tables, too
Choice = tuple[int, str]


def candidate_k(n: int, most: int) -> list[int]:
    """Return the numbers of neighbors to try.

    Every k from 1 to 15, then 20, 25, 30, 40, 50, and in steps of about a quarter up to twice the
    square root of n, at most 200: where a vote is noisy, the best k grows with the table.

    Parameters
    ----------
    n : int
        Rows of the table.
    most : int
        The fewest rows that any fold has to learn from; no more are asked for.

    Examples
    --------
    >>> candidate_k(1000, 800)[-4:], candidate_k(10_000, 8000)[-1], candidate_k(12, 9)[-1]
    ([25, 30, 40, 50], 200, 9)
    """
    top = min(most, max(ALWAYS, int(np.ceil(2 * np.sqrt(n)))))
    tried = {*range(1, min(FEW, top) + 1), *(k for k in STEPS if k <= top)}
    return sorted(tried)


def candidate_choices(ks: Sequence[int], weights: str) -> list[Choice]:
    """Return every k with every weighting; small k and plain votes come first."""
    return [(k, word) for k in ks for word in (WEIGHTS if weights == TUNE else (weights,))]


def held_out_losses(
    source: Source,
    strata: np.ndarray | None,
    y_measure: np.ndarray,
    n_neighbors: int | str,
    weights: str,
    random_state: Any,
    who: str,
    lose: Callable[[Measure, NeighborGraph, np.ndarray, np.ndarray, str], np.ndarray],
) -> tuple[list[Choice], np.ndarray, np.ndarray]:
    """Predict every row from the rows of the other folds, with every choice of k and weights.

    Each fold fits the measure to its known part and searches neighbors once, as many as the
    largest k; all choices are answered from these lists.

    Parameters
    ----------
    source : Source
    strata : array of n, optional
        Classes that are spread evenly over the folds.
    y_measure : array of n
        The target as measures see it.
    n_neighbors, weights : the choices left; ``"tune"`` for all
    random_state : how rows are split
    who : str
    lose : function of (measure, lists, known rows, held-out rows, weights)
        Returns what each held-out row loses.

    Returns
    -------
    choices : list of (k, weights)
    losses : array of shape (n, number of choices)
    folds : array of n
    """
    folds = assign_folds(strata, len(source), FOLDS, random_state, who)
    least = len(folds) - int(np.bincount(folds).max())
    if n_neighbors == TUNE:
        ks = candidate_k(len(source), least)
    else:
        ks = [int(n_neighbors)]
        if ks[0] > least:
            hint = Phrase("Use ", Param("n_neighbors", least), ", or set ", Param("weights"))
            raise TooFewRows(who, f"folds with at least {ks[0]} known rows", f"{least}", hint)
    choices = candidate_choices(ks, weights)
    losses = np.empty((len(source), len(choices)))
    for fold in range(int(folds.max()) + 1):
        train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        measure, rows = source.fit(y_measure, train)
        lists = measure.nearest(source.ask(measure, train, test), rows, ks[-1]).finish("last")
        for at, (k, word) in enumerate(choices):
            losses[test, at] = lose(measure, lists[:, :k], train, test, word)
    return choices, losses, folds


def summarize(
    choices: Sequence[Choice], losses: np.ndarray, folds: np.ndarray, sample_weight: np.ndarray
) -> dict[str, np.ndarray]:
    """Return the mean loss of each choice, over all rows and in each fold.

    Parameters
    ----------
    choices : sequence of (k, weights)
    losses : array of shape (n, number of choices)
        What each row, held out, lost.
    folds : array of n
    sample_weight : array of n
        What each row counts in the mean; a fold without weight has no error (NaN).
    """
    parts = [
        _mean(losses[folds == fold], sample_weight[folds == fold])
        for fold in range(int(folds.max()) + 1)
    ]
    return {
        "n_neighbors": np.array([k for k, _ in choices]),
        "weights": np.array([word for _, word in choices]),
        "error": _mean(losses, sample_weight),
        "fold_errors": np.array(parts),
    }


def _mean(losses: np.ndarray, weight: np.ndarray) -> np.ndarray:
    if not weight.any():
        return np.full(losses.shape[1], np.nan)
    if (weight == weight[0]).all():  # to the last bit what it is without weights
        return np.asarray(losses.mean(axis=0))
    return np.asarray(weight @ losses / weight.sum())
