"""Question-time changes of a search: relevance feedback (Rocchio) and column weights."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from lookalike.errors import InvalidInput, Param, Phrase, WrongType, suggest
from lookalike.measures.contract.base import Measure
from lookalike.saving.fields import Real
from lookalike.table import Schema


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


def reweigh(
    measure: Measure, schema: Schema, weights: Any, columns: Any, who: str, *sides: Any
) -> Measure:
    """Return a fitted measure under the weights of a question; without any, the measure itself.

    Parameters
    ----------
    measure : Measure, fitted
    schema : Schema of the rows
    weights : None, or mapping of column to number of at least 0
        Multiplied with the fitted weights.
    columns : None, or names
        Only these count.
    who : str, the caller
    sides : what is compared: columns that a record does not name are not part of the question
    """
    factors: dict[str, Any] = {}
    if weights is not None:
        if not isinstance(weights, Mapping):
            hint = Phrase("Pass for example ", Param("weights", {"year": 3}))
            raise WrongType(
                Param("weights", of=who), "a mapping of column to number", repr(weights), hint
            )
        _check_names(weights, schema, Phrase(Param("weights", of=who)))
        factors = dict(weights)
    if columns is not None:
        only = _read_columns(columns, schema, Phrase(Param("columns", of=who)))
        extra = [name for name in factors if name not in only]
        if extra:
            found = f"a weight for {extra[0]!r}, which is not compared"
            hint = Phrase("Add it to ", Param("columns"), ", or leave its weight out")
            raise InvalidInput(
                Param("weights", of=who), "weights of the columns compared", found, hint
            )
        factors |= {name: 0.0 for name in schema.kinds if name not in only}
    if measure.traits.weighs_columns:
        factors |= dict.fromkeys(_unnamed(sides, schema), 0.0)
    return measure.reweighted(factors, who) if factors or columns is not None else measure


def _unnamed(sides: tuple[Any, ...], schema: Schema) -> list[str]:
    """Return the columns that no record names; none where a row of the table is compared.

    At the midpoint, a column that the query does not have would add the same half to every
    distance: the order is the same without it, and an equal row has similarity 1.
    """
    records = [side for side in sides if isinstance(side, Mapping)]
    unnamed = [name for name in schema.kinds if any(name not in record for record in records)]
    return [] if len(unnamed) == len(schema.kinds) else unnamed


def _read_columns(columns: Any, schema: Schema, who: str) -> list[str]:
    if not isinstance(columns, str | Iterable):
        raise WrongType(
            who,
            "names of columns",
            repr(columns),
            ("Pass for example ", Param("columns", ["year"])),
        )
    names = [columns] if isinstance(columns, str) else list(columns)
    if not names:
        raise InvalidInput(who, "at least one column", "none", "Name a column")
    _check_names(names, schema, who)
    return names


def _check_names(names: Iterable[Any], schema: Schema, who: str) -> None:
    """Refuse what is not the name of a compared column."""
    for name in names:
        if name in schema.kinds:
            continue
        if name in schema.aside:
            found = f"{name!r}, which is set aside"
            hint = "Have it compared by giving its kind when the table is read"
            raise InvalidInput(who, "columns that are compared", found, hint)
        hint = suggest(str(name), schema.kinds)
        raise InvalidInput(who, "columns of the table", repr(name), hint)
