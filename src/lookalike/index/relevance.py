"""What is near to some rows and far from others."""

from __future__ import annotations

from typing import Any

import numpy as np

from lookalike.errors import InvalidInput
from lookalike.saving.fields import Real


def rocchio(positive: Any, negative: Any = (), gamma: float = 0.5) -> Any:
    """Score rows by how near they are to what is wanted and how far from what is not.

    The mean distance to the wanted rows minus ``gamma`` times the mean distance to the unwanted
    ones [1]_ [2]_. Smaller is better; a score may be negative. Distances that are not known (NaN)
    are left out of the means.

    Parameters
    ----------
    positive : array of shape (p,) or (p, n)
        Distances of one row, or of n rows, to the p rows that are wanted; at least one.
    negative : array of shape (q,) or (q, n), optional
        Distances to the q rows that are not wanted. None of them: nothing is subtracted.
    gamma : float
        How much the unwanted rows count; 0 leaves them out, 0.5 is customary.

    Returns
    -------
    float or array of n; NaN where no distance to a wanted row is known

    References
    ----------
    .. [1] J. J. Rocchio (1971). Relevance feedback in information retrieval. In G. Salton (ed.),
       The SMART Retrieval System, 313-323, Prentice-Hall.
    .. [2] T. L. Fernando, G. I. Webb (2017). SimUSF: an efficient and effective similarity measure
       that is invariant to violations of the interval scale assumption. Data Mining and Knowledge
       Discovery 31. doi:10.1007/s10618-016-0463-0

    Examples
    --------
    >>> from lookalike.index import rocchio
    >>> rocchio([1, 3], [4], gamma=0.5)
    0.0
    >>> rocchio([[1.0, 2.0], [3.0, 2.0]], [[4.0, 0.0]])
    array([0., 2.])
    """
    near = np.asarray(positive, dtype=np.float64)
    far = np.asarray(negative, dtype=np.float64)
    if not len(near):
        hint = "Pass at least the distances to the query"
        raise InvalidInput("rocchio", "distances to at least one wanted row", "none", hint)
    if len(far) and far.shape[1:] != near.shape[1:]:
        found = f"shapes {near.shape} and {far.shape}"
        hint = "Give the distances of the same rows to both"
        raise InvalidInput("rocchio", "distances of the same rows", found, hint)
    marks = Marks(near.shape[1:], gamma)
    for row in near:
        marks.like(row)
    for row in far:
        marks.unlike(row)
    score = marks.score()
    return score if score.ndim else float(score)


class Marks:
    """The score of ``rocchio`` while rows are marked one after the other.

    Parameters
    ----------
    shape : tuple of int, of the distances to one marked row
    gamma : float
    """

    def __init__(self, shape: tuple[int, ...], gamma: float) -> None:
        check_gamma(gamma, "rocchio")
        self.gamma = gamma
        self._near, self._far = _Mean(shape), _Mean(shape)

    def like(self, distances: np.ndarray) -> None:
        """Add the distances to a wanted row."""
        self._near.add(distances)

    def unlike(self, distances: np.ndarray) -> None:
        """Add the distances to an unwanted row."""
        self._far.add(distances)

    def score(self) -> np.ndarray:
        """Return the score of each row, smaller for better."""
        score = self._near.value()
        if self._far.count and self.gamma:
            away = self._far.value()
            score = score - self.gamma * np.where(np.isnan(away), 0.0, away)
        return score


class _Mean:
    """A mean of arrays, added up in order: each entry for itself, gaps left out."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.count = 0
        self._total = np.zeros(shape)
        self._gaps: np.ndarray | None = None

    def add(self, distances: np.ndarray) -> None:
        gaps = np.isnan(distances)
        if gaps.any():
            self._gaps = gaps.astype(np.float64) if self._gaps is None else self._gaps + gaps
            distances = np.where(gaps, 0.0, distances)
        self._total = self._total + distances
        self.count += 1

    def value(self) -> np.ndarray:
        known = self.count if self._gaps is None else self.count - self._gaps
        with np.errstate(invalid="ignore"):  # 0 / 0 where nothing is known
            return np.asarray(self._total / known)


def check_gamma(gamma: Any, who: str) -> None:
    """Refuse a weight of unwanted rows that is not a finite number >= 0."""
    hint = "Use 0 to leave unwanted rows out, 0.5 as is customary"
    Real(0.0, 1e300, finite=True).check(who, "gamma", gamma, hint)
