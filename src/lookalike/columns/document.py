"""Long texts: how much two of them are about the same, by the words in them."""

import re
from collections import Counter
from collections.abc import Iterable
from itertools import chain
from typing import Any, ClassVar

import numpy as np

from lookalike.columns.base import Distance
from lookalike.columns.ragged import Ragged, RaggedOf
from lookalike.columns.sets import TokenNumbers, cells_of_type
from lookalike.saving.fields import Array, Fields, Flag, require
from lookalike.table.model.table import Column

# Words of a single letter are left out, as scikit-learn does.
_WORD = re.compile(r"\w\w+")
# Rounding leaves a few units of 1e-16 per word between a text and itself, which must be equal.
MAX_ROUNDING = 1e-12


class TfIdf(Distance):
    """How little two long texts are about the same: one minus the cosine of their weighted words.

    A word counts by its number in the text, times ``1 + log((1 + n) / (1 + m))`` where m of
    the n fitted texts have it, so rare words count most [1]_; texts are then brought to length 1,
    so that long ones have no advantage. Capital letters do not matter, nor does the order of
    words. Words that no fitted text has do not count. Two texts without any word are equal.

    Good for descriptions, reviews and articles; names and titles have too few words: choose
    "levenshtein" or "token_set" for those.

    Parameters
    ----------
    sublinear : bool, default True
        Count a word that comes k times as ``1 + log k`` instead of k.
    scale : float, optional
        The distance of similarity 0; None: the largest one seen (see ``Distance``).

    Attributes
    ----------
    words_ : int64 array
        The words of the fitted texts, sorted, each as its number (``token_id``).
    weights_ : float64 array
        What each of them counts.

    References
    ----------
    .. [1] G. Salton, C. Buckley (1988). Term-weighting approaches in automatic text retrieval.
       Information Processing & Management 24(5), 513-523. doi:10.1016/0306-4573(88)90021-0

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.table.model.table import Column, Kind
    >>> plot = np.array(["a ship sinks", "the ship sinks again", "two men, one bank"], dtype=object)
    >>> plot = Column("plot", Kind("text", role="document"), plot)
    >>> distance = TfIdf().fit(plot)
    >>> cells = distance.encode(plot)
    >>> distance.compare(cells[:1], cells).round(3)
    array([[0.   , 0.395, 1.   ]])
    """

    name = "tfidf"
    kinds = ("text",)
    # Of each word its position in the vocabulary, ascending, and its weight.
    CELLS = RaggedOf("float64", low=0.0, finite=True)
    FIELDS: ClassVar[Fields] = {
        "sublinear": Flag(),
        "words_": Array("int64", "words", ascending=True),
        "weights_": Array("float64", "words", low=1.0, finite=True),
    }

    words_: np.ndarray
    weights_: np.ndarray

    def __init__(self, sublinear: bool = True, scale: float | None = None) -> None:
        self.sublinear = sublinear
        self.scale = scale

    def _learn(self, column: Column) -> None:
        self._learn_parts(column, [column])

    def _learn_parts(self, like: Column, parts: Iterable[Column]) -> None:
        texts, n = Counter[str](), 0
        for part in parts:
            for cell in _texts(part):
                texts.update(set(words_of(cell or "")))
                n += cell is not None
        numbers = np.array(TokenNumbers().of(texts), dtype=np.int64)
        order = np.argsort(numbers)
        counts = np.fromiter(texts.values(), np.float64, len(texts))[order]
        self.words_, self.weights_ = numbers[order], 1.0 + np.log((1.0 + n) / (1.0 + counts))

    def _encode(self, column: Column) -> Ragged:
        bags = [Counter(words_of(cell or "")) for cell in _texts(column)]
        numbers = np.array(TokenNumbers().of(chain.from_iterable(bags)), dtype=np.int64)
        times = np.fromiter(chain.from_iterable(bag.values() for bag in bags), np.float64)
        at = np.searchsorted(self.words_, numbers)
        known = np.append(self.words_, 0)[at] == numbers  # no word has the number 0
        row = np.repeat(np.arange(len(bags)), [*map(len, bags)])[known]
        at, times = at[known], times[known]
        order = np.lexsort((at, row))
        row, at, times = row[order], at[order], times[order]
        weights = (1.0 + np.log(times) if self.sublinear else times) * self.weights_[at]
        # Word by word, in order: a text has the same bits whatever is encoded with it.
        weights /= np.sqrt(np.bincount(row, weights**2, len(bags)))[row]
        ends = 2 * np.cumsum([0, *np.bincount(row, minlength=len(bags))], dtype=np.int64)
        missing = np.array([cell is None for cell in column.values], dtype=bool)
        return Ragged(np.column_stack([at, weights]).ravel(), ends, missing)

    def _compare(self, a: Any, b: Any) -> np.ndarray:
        # The side with fewer words is turned around, which costs as much as it has words. Products
        # are added in the order of the vocabulary from either side: the same bits.
        if len(a.values) > len(b.values):
            return np.ascontiguousarray(self._compare(b, a).T)
        out = 1.0 - (self._matrix(b) @ self._matrix(a).T).toarray().T
        out[out < MAX_ROUNDING] = 0.0
        empty = (np.diff(cells.offsets) == 0 for cells in (a, b))
        out[np.ix_(*empty)] = 0.0
        return np.asarray(out)

    def _matrix(self, cells: Ragged) -> Any:
        from scipy.sparse import csr_matrix  # takes long to import, and few tables need it

        positions, weights = cells.values[::2].astype(np.int64), cells.values[1::2]
        parts = weights, positions, cells.offsets // 2
        return csr_matrix(parts, shape=(len(cells), len(self.words_)))

    def check_cells(self, cells: Any, n: int | None, where: str) -> None:
        """Refuse loaded cells whose words are not those of the vocabulary, each once."""
        super().check_cells(cells, n, where)
        even = not (cells.offsets % 2).any()
        require(even, where, "a position and a weight per word", "an odd number")
        positions, weights = cells.values[::2], cells.values[1::2]
        fits = (positions < len(self.words_)) & (positions == np.floor(positions)) & (weights <= 1)
        # Where a text begins, positions may fall.
        ascends = np.ones(len(positions), dtype=bool)
        ascends[1:] = positions[1:] > positions[:-1]
        ascends[cells.offsets[:-1][np.diff(cells.offsets) > 0] // 2] = True
        require((fits & ascends).all(), where, "words of the vocabulary, ascending", "others")


def _texts(column: Column) -> np.ndarray:
    hint = "Turn the cells into texts first, or read the column as another kind"
    return cells_of_type(column, str, "a text", hint)


def words_of(text: str) -> list[str]:
    """Return the words of a text, without case, as often as they come.

    Examples
    --------
    >>> words_of("The Sun, the sun!")
    ['the', 'sun', 'the', 'sun']
    """
    return _WORD.findall(text.casefold())
