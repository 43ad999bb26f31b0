"""Cross-validation in which each fold fits its own measure and chooses its own prototypes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lookalike.measures.task import TaskSource
from lookalike.represent.prototypes import PrototypeSelector, compare_with_prototypes

# Takes the columns of training rows, their target, and the columns of other rows; returns
# predictions for these, one row of predictions per setting.
Learn = Callable[[np.ndarray, np.ndarray, np.ndarray], Sequence[np.ndarray]]


def shares_to_try(n_rows: int) -> list[int]:
    """Return 2, 3, ..., 10 percent of the rows: rounded half to even, at least 2, no repeats.

    Examples
    --------
    >>> shares_to_try(200)
    [4, 6, 8, 10, 12, 14, 16, 18, 20]
    >>> shares_to_try(50)
    [2, 3, 4, 5]
    """
    # Integers first: 0.07 * 50 is not exactly 3.5, which must become 4.
    sizes = {max(2, round(percent * n_rows / 100)) for percent in range(2, 11)}
    return sorted(n for n in sizes if n <= n_rows)


def cross_validate_prototypes(
    source: TaskSource,
    y: np.ndarray,
    target: np.ndarray,
    method: str,
    sizes: Sequence[int],
    learn: Learn,
    loss: Callable[[np.ndarray, np.ndarray], np.ndarray],
    folds: np.ndarray,
    rng: np.random.Generator,
    **options: Any,
) -> np.ndarray:
    """Return the mean loss on held-out rows, of shape (numbers of prototypes, settings).

    Parameters
    ----------
    source : TaskSource
    y : the target as measures and prototype methods see it
    target : the target that is learned
    method : how prototypes are chosen
    sizes : numbers of prototypes to try; more than a fold has rows means all of them
    learn : see above
    loss : what each prediction loses, given the true target
    folds : fold of each row
    rng : Generator
    options : passed to ``PrototypeSelector``
    """
    losses: list[list[np.ndarray]] = [[] for _ in sizes]
    for fold in range(int(folds.max()) + 1):
        train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        measure, rows = source.fit(y, train)
        others = source.ask(measure, train, test)
        # One selector for all sizes: what they share is computed once per fold.
        selector = PrototypeSelector(measure, rows, y[train], method, rng, **options)
        for n, of_size in zip(sizes, losses, strict=True):
            # A fold has fewer rows than the table that sizes were chosen for.
            prototypes = rows[selector.select(min(n, len(rows)))]
            inside = compare_with_prototypes(measure, rows, prototypes, selector.n_jobs)
            outside = compare_with_prototypes(measure, others, prototypes, selector.n_jobs)
            predictions = learn(inside, target[train], outside)
            of_size.append(np.array([loss(found, target[test]) for found in predictions]))
    return np.array([np.concatenate(parts, axis=1).mean(axis=1) for parts in losses])
