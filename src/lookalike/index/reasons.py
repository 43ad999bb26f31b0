"""Why rows were found: one explanation when one is asked for, the others all together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

from lookalike.index.hits import Cell, with_cells
from lookalike.measures.contract.base import Measure
from lookalike.measures.contract.explanation import Explanation
from lookalike.measures.contract.rows import Rows
from lookalike.show.reasons import Styles


class Reasons:
    """Explanations of one row against those that were found for it, made when they are asked for.

    The first that is asked for is made alone. Who asks for a second will want the rest, and
    explaining rows together takes less time than one by one.

    Parameters
    ----------
    measure : Measure
    query : Rows of length one
    one : where the query stands
    find : callable that returns the rows that were found, as Rows
    cells : where they stand
    styles : how cells are written in words
    """

    def __init__(
        self,
        measure: Measure,
        query: Rows,
        one: Cell,
        find: Callable[[], Rows],
        cells: Sequence[Cell],
        styles: Styles,
    ) -> None:
        self._measure, self._query, self._one = measure, query, one
        self._find, self._cells, self._styles = find, cells, styles
        self._known: dict[int, Explanation] = {}

    @cached_property
    def rows(self) -> Rows:
        """The rows that were found, encoded; cut out when they are first needed."""
        return self._find()

    def of(self, at: int) -> Explanation:
        """Return the explanation of one of the rows, by its number among those found."""
        if at not in self._known:
            every = range(len(self._cells)) if self._known else [at]
            some = [number for number in every if number not in self._known]
            rows = self.rows[some[0] : some[0] + 1] if len(some) == 1 else self.rows
            # All rows at once where there are several: cutting some out is not worth it.
            found = self._measure.explain_many(self._query, rows)
            for number, explanation in zip(some if len(some) == 1 else every, found, strict=True):
                told = with_cells(explanation, self._one, self._cells[number], self._styles)
                self._known.setdefault(number, told)
        return self._known[at]
