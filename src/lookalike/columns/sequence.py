"""Sequences of tokens, or of sets of tokens: how many edits turn one into the other."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from lookalike.columns.base import Distance, cell_error, missing_rows, show
from lookalike.columns.ragged import Ragged, RaggedOf
from lookalike.columns.sets import TokenNumbers, pack_each
from lookalike.columns.text import matrix, strings
from lookalike.errors import Param, Phrase, WrongType
from lookalike.kernels.objects import edit_sets_block, shared_codes
from lookalike.saving.fields import Choice, Field, Fields, Flag, require
from lookalike.table.model.table import Column

N_CODE_POINTS = 0x110000  # of Unicode


@dataclass(eq=False, repr=False)
class Edit(Distance):
    """How many items must be inserted, deleted or replaced to turn one sequence into another.

    Inserting and deleting cost 1. Replacing costs 1 as well, or, in sequences of sets, the Jaccard
    distance of the two sets [1]_: changing one of ten tags is a tenth of an edit or so.

    Parameters
    ----------
    normalized : bool, default False
        Divide by the length of the longer sequence.
    relabel : {"auto", "unit", "jaccard"}, default "auto"
        The cost of replacing one item by another. "auto": "jaccard" if every item of the fitted
        column is a frozenset, "unit" otherwise.
    scale : float, optional
        The distance of similarity 0; None: the largest one seen (see ``Distance``).

    Attributes
    ----------
    sets_ : bool
        Whether items are compared as sets.

    References
    ----------
    .. [1] M. Piernik, D. Brzezinski, P. Zawadzki (2022). Random similarity forests.
       doi:10.48550/arXiv.2204.05389

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.table.model.table import Column, Kind
    >>> visits = np.empty(2, dtype=object)
    >>> visits[:] = [("x-ray", "cast", "check"), ("x-ray", "check", "check", "discharge")]
    >>> visits = Column("visits", Kind("sequence"), visits)
    >>> distance = Edit().fit(visits)
    >>> cells = distance.encode(visits)
    >>> distance.compare(cells[:1], cells)
    array([[0., 2.]])
    """

    FIELDS: ClassVar[Fields] = {
        "normalized": Flag(),
        "relabel": Choice("auto", "unit", "jaccard"),
        "sets_": Flag(),
    }

    name = "edit"
    kinds = ("sequence",)

    normalized: bool = False
    relabel: str = "auto"
    scale: float | None = None

    def _learn(self, column: Column) -> None:
        self._learn_parts(column, [column])

    def _learn_parts(self, like: Column, parts: Iterable[Column]) -> None:
        self.sets_ = self.relabel == "jaccard"
        if self.relabel == "auto":
            cells = (cell for part in parts for cell in part.values)
            lists = (cell for cell in cells if isinstance(cell, tuple | list))
            self.sets_ = {isinstance(i, frozenset | set) for cell in lists for i in cell} == {True}

    def _encode(self, column: Column) -> Ragged:
        tokens = TokenNumbers()

        def numbers(row: int, cell: Any) -> list[int]:
            return _nested(cell, tokens, column.name, row) if self.sets_ else tokens.of(cell)

        return pack_each(column.values, numbers)

    def _compare(self, a: Any, b: Any) -> np.ndarray:
        if self.sets_:
            out = np.empty((len(a), len(b)))
            edit_sets_block(a.values, a.offsets, b.values, b.offsets, out)
        else:
            out = _edit(a, b)
        if self.normalized:
            longer = np.maximum(self.lengths(a)[:, None], self.lengths(b))
            out /= np.maximum(longer, 1)
        return out

    def lengths(self, cells: Ragged) -> np.ndarray:
        """Return how many items each sequence has; 0 where it is missing."""
        if not self.sets_:
            return np.diff(cells.offsets)
        lengths = np.zeros(len(cells), dtype=np.int64)
        here = ~missing_rows(cells)
        # Each row begins with its length.
        lengths[here] = cells.values[cells.offsets[:-1][here]]
        return lengths

    def _cells_shape(self) -> Field:
        return RaggedOf("int64") if self.sets_ else RaggedOf("int64", high=-2)

    def check_cells(self, cells: Any, n: int | None, where: str) -> None:
        """Refuse loaded cells that are not sequences, or not sequences of sets where those are."""
        super().check_cells(cells, n, where)
        for row in np.flatnonzero(~cells.missing) if self.sets_ else ():
            require(_is_nested(cells.row(int(row))), where, "sequences of sets", "others")


@dataclass(eq=False, repr=False)
class EditSets(Edit):
    """How many sets must be inserted, deleted or changed to turn one sequence of sets into another.

    ``Edit`` with the Jaccard distance of two sets as the cost of putting one in the other's place.

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.table.model.table import Column, Kind
    >>> carts = np.empty(2, dtype=object)
    >>> carts[0] = (frozenset({1, 2}), frozenset({3}))
    >>> carts[1] = (frozenset({1, 2, 3}), frozenset({3}), frozenset({4}))
    >>> carts = Column("carts", Kind("sequence"), carts)
    >>> distance = EditSets().fit(carts)
    >>> cells = distance.encode(carts)
    >>> distance.compare(cells[:1], cells).round(6)
    array([[0.      , 1.333333]])
    """

    name = "edit_sets"

    # No parameter of sequences that are known to be of sets.
    relabel: str = field(init=False, default="jaccard")


def _is_nested(row: np.ndarray) -> bool:
    """Say whether a row is the number of its sets, their sizes, and as many tokens."""
    if not len(row) or not 0 <= row[0] < len(row):
        return False
    sizes, tokens = row[1 : 1 + row[0]], row[1 + row[0] :]
    # Bounded before they are summed, since sums of untrusted sizes could overflow.
    fits = (sizes >= 0).all() and (sizes <= len(row)).all() and (tokens < -1).all()
    return bool(fits and sizes.sum() == len(tokens))


def _nested(cell: Any, tokens: TokenNumbers, column: str, row: int) -> list[int]:
    """Return the number of sets, their sizes, and the tokens of set after set."""
    sets = []
    for item in cell:
        if not isinstance(item, frozenset | set):
            hint = Phrase("Make every item a set, or choose ", Param("relabel", "unit", of="Edit"))
            needed, found = "a sequence of sets", f"item {show(item)}"
            raise cell_error(column, row, needed, found, hint, WrongType)
        sets.append(set(tokens.of(item)))
    return [len(sets), *map(len, sets), *(number for one in sets for number in one)]


def _edit(a: Ragged, b: Ragged) -> np.ndarray:
    """Count unit-cost edits.

    The distance only asks which items are equal, so items can be renamed to letters and passed to
    rapidfuzz, which works on 64 of them in parallel.
    """
    from rapidfuzz.distance.Levenshtein import distance

    a_codes, b_codes, used = shared_codes(a.values, b.values)
    if used > N_CODE_POINTS:  # more items than there are letters
        x, y = ([cells.row(i).tolist() for i in range(len(cells))] for cells in (a, b))
        counts = [float(distance(one, other)) for one in x for other in y]
        return np.reshape(counts, (len(a), len(b)))
    a_words = strings(Ragged(a_codes, a.offsets, a.missing))
    b_words = strings(Ragged(b_codes, b.offsets, b.missing))
    return matrix(a_words, b_words, distance)
