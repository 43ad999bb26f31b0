"""Cross-validation in which each fold fits its own measure and chooses its own prototypes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lookalike.errors import TooFewRows, message
from lookalike.measures.source import Source
from lookalike.represent._blocks import compared
from lookalike.represent.prototypes import Choice

__all__ = ["cross_validate", "deal", "shares_to_try"]

# Takes the columns of rows to learn from, their target, and the columns of other rows; returns
# answers for these, one row of answers per setting.
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
    # Whole numbers first: 0.07 * 50 is not exactly 3.5, which must become 4.
    found = {max(2, round(percent * n_rows / 100)) for percent in range(2, 11)}
    return sorted(n for n in found if n <= n_rows)


def deal(
    groups: np.ndarray | None, n: int, cv: int, rng: np.random.Generator, who: str
) -> np.ndarray:
    """Return the fold of each row; rows of one group (a class) are spread over all folds."""
    if n < 2:
        raise TooFewRows(message(f"{who}.fit", "at least 2 rows", f"n_samples={n}", "Add rows"))
    order = rng.permutation(n)
    if groups is not None:
        order = order[np.argsort(groups[order], kind="stable")]
    folds = np.empty(n, dtype=np.int64)
    folds[order] = np.arange(n) % min(cv, n)
    return folds


def cross_validate(
    source: Source,
    shown: np.ndarray,
    goal: np.ndarray,
    method: str,
    numbers: Sequence[int],
    learn: Learn,
    loss: Callable[[np.ndarray, np.ndarray], np.ndarray],
    folds: np.ndarray,
    rng: np.random.Generator,
    **options: Any,
) -> np.ndarray:
    """Return the mean loss on held-out rows, of shape (numbers of prototypes, settings).

    Parameters
    ----------
    source : Source
    shown : the target as measures and prototype methods are to see it
    goal : the target that is learned
    method : how prototypes are chosen
    numbers : numbers of prototypes to try; more than a fold has rows means all of them
    learn : see above
    loss : what each answer loses where the target is true
    folds : fold of each row
    rng : Generator
    options : handed to ``Choice``
    """
    losses: list[list[np.ndarray]] = [[] for _ in numbers]
    for fold in range(int(folds.max()) + 1):
        known, held = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        measure, rows = source.fit(shown, known)
        others = source.ask(measure, known, held)
        choice = Choice(measure, rows, shown[known], method, rng, **options)
        for place, n in enumerate(numbers):
            prototypes = rows[choice.pick(min(n, len(rows)))]
            inside = compared(measure, rows, prototypes, n_jobs=choice.n_jobs)
            outside = compared(measure, others, prototypes, n_jobs=choice.n_jobs)
            answers = learn(inside, goal[known], outside)
            losses[place].append(np.array([loss(found, goal[held]) for found in answers]))
    return np.array([np.concatenate(parts, axis=1).mean(axis=1) for parts in losses])
