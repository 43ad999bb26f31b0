"""Search options that need no refitting: relevance feedback (Rocchio) and column weights."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from lookalike.errors import InvalidInput, Param, Phrase, WrongType, suggest
from lookalike.measures.contract.base import Measure
from lookalike.saving.fields import Real
from lookalike.table import Schema

if TYPE_CHECKING:
    from lookalike.index.query import Queries


Sums = tuple[int, np.ndarray, np.ndarray]


def rocchio(positive: Any, negative: Any = (), gamma: float = 0.5) -> Any:
    """Score rows by their distances to wanted and unwanted rows (Rocchio's feedback).

    The mean distance to the wanted rows minus ``gamma`` times the mean distance to the unwanted
    ones [1]_ [2]_. Smaller is better; a score may be negative. Undefined distances (NaN) are left
    out of the means.

    Parameters
    ----------
    positive : array of shape (p,) or (p, n)
        Distances of one row, or of n rows, to the p rows that are wanted; at least one.
    negative : array of shape (q,) or (q, n), optional
        Distances to the q rows that are not wanted. None of them: nothing is subtracted.
    gamma : float
        The weight of the unwanted rows; 0 leaves them out, 0.5 is customary.

    Returns
    -------
    float or array of n; NaN where no distance to a wanted row is defined

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
    for rows, wanted in ((near, True), (far, False)):
        for row in rows:
            marks.mark(row, wanted)
    score = marks.score()
    return score if score.ndim else float(score)


class Marks:
    """The score of ``rocchio`` while rows are marked in turn.

    Parameters
    ----------
    shape : tuple of int, of the distances to one marked row
    gamma : float
    """

    def __init__(self, shape: tuple[int, ...], gamma: float) -> None:
        check_gamma(gamma, "rocchio")
        self.gamma = gamma
        # Of wanted and unwanted rows: their number, the sums of distances, and those undefined.
        none: Sums = 0, np.zeros(shape), np.zeros(shape)
        self._sums = {True: none, False: none}

    def mark(self, distances: np.ndarray, wanted: bool) -> None:
        """Add the distances to a wanted row, or to an unwanted one."""
        # In order: blocks of any size then give the same bits (decision 3).
        count, total, undefined = self._sums[wanted]
        gone = np.isnan(distances)
        self._sums[wanted] = count + 1, total + np.where(gone, 0.0, distances), undefined + gone

    def score(self) -> np.ndarray:
        """Return the score of each row, smaller for better."""
        with np.errstate(invalid="ignore"):  # 0 / 0 where all are undefined
            near, far = (total / (n - gone) for n, total, gone in self._sums.values())
        # A row that cannot be compared with any unwanted one is not moved by them.
        moves = self.gamma and self._sums[False][0]
        return np.asarray(near - self.gamma * np.where(np.isnan(far), 0.0, far) if moves else near)


def check_gamma(gamma: Any, who: str) -> None:
    """Refuse a weight of unwanted rows that is not a finite number >= 0."""
    hint = "Use 0 to leave unwanted rows out, 0.5 as is customary"
    Real(0.0, 1e300, finite=True).check(who, "gamma", gamma, hint)


def reweigh(
    measure: Measure, schema: Schema, weights: Any, columns: Any, who: str, *sides: Queries
) -> Measure:
    """Return a fitted measure under the weights of a search; without any, the measure itself.

    Parameters
    ----------
    measure : Measure, fitted
    schema : Schema of the rows
    weights : None, or mapping of column to number >= 0
        Multiplied with the fitted weights.
    columns : None, or names
        Only these count.
    who : str, the caller
    sides : what is compared: columns that a record leaves open are not part of the question
    """
    by_weights, by_columns = Phrase(Param("weights", of=who)), Phrase(Param("columns", of=who))
    if not isinstance(weights, Mapping | None):
        hint = Phrase("Pass for example ", Param("weights", {"year": 3}))
        raise WrongType(by_weights, "a mapping of column to number", repr(weights), hint)
    factors: dict[str, Any] = dict(weights or {})
    _check_names(factors, schema, by_weights)
    if columns is not None:
        only = _read_columns(columns, schema, by_columns)
        extra = [name for name in factors if name not in only]
        if extra:
            found = f"a weight for {extra[0]!r}, which is not compared"
            hint = Phrase("Add it to ", Param("columns"), ", or leave its weight out")
            raise InvalidInput(by_weights, "weights of the columns compared", found, hint)
        # Leaving a column out is a weight of 0, so the rows need not be encoded again.
        factors |= {name: 0.0 for name in schema.kinds if name not in only}
    if measure.traits.weighs_columns:
        factors |= dict.fromkeys(_unfilled(measure, schema, factors, sides), 0.0)
    return measure.reweighted(factors, who) if factors or columns is not None else measure


def _unfilled(
    measure: Measure, schema: Schema, factors: dict[str, Any], sides: tuple[Queries, ...]
) -> list[str]:
    """Return the columns in which a record has no value; those of rows in the index count.

    At the midpoint, a missing cell of the query adds the same half to every distance: the order is
    the same without the column, and a row equal in the others has similarity 1.
    """
    records = [side.cells[0] for side in sides if len(side) == 1 and side.positions[0] < 0]
    unfilled = [column.name for table, row in records for column in table if column.missing[row]]
    own = getattr(measure, "weights_", None)
    own = own if isinstance(own, Mapping) else {}
    # None of them where nothing would be left to compare.
    left = [name for name in schema.kinds if name not in unfilled]
    counts = any(factors.get(name, 1.0) != 0 and own.get(name, 1.0) != 0 for name in left)
    return unfilled if counts else []


def _read_columns(columns: Any, schema: Schema, who: str) -> list[str]:
    if not isinstance(columns, str | Iterable):
        hint = ("Pass for example ", Param("columns", ["year"]))
        raise WrongType(who, "names of columns", repr(columns), hint)
    names = [columns] if isinstance(columns, str) else list(columns)
    if not names:
        raise InvalidInput(who, "at least one column", "none", "Name a column")
    _check_names(names, schema, who)
    return names


def _check_names(names: Iterable[Any], schema: Schema, who: str) -> None:
    """Refuse what is not the name of a compared column."""
    for name in names:
        if name in schema.aside:
            found = f"{name!r}, which is set aside"
            hint = "Have it compared by giving its kind when the table is read"
            raise InvalidInput(who, "columns that are compared", found, hint)
        if name not in schema.kinds:
            hint = suggest(str(name), schema.kinds)
            raise InvalidInput(who, "columns of the table", repr(name), hint)
