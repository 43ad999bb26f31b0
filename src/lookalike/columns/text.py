"""Texts: how many letters, or which words, two of them differ by; long ones by their words."""

import itertools
import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable
from itertools import chain
from typing import Any, ClassVar

import numpy as np

from lookalike.columns.base import Distance
from lookalike.columns.ragged import Ragged, RaggedOf
from lookalike.columns.sets import TokenNumbers
from lookalike.saving.fields import Array, Fields, Flag, Real, require
from lookalike.table.model.table import Column


def letters(column: Column) -> Ragged:
    """Pack texts as code points; None is a missing one."""
    full = ["" if text is None else text for text in column.values]
    # surrogatepass: texts cut in the middle of a character exist, and have to come back unchanged
    points = np.frombuffer("".join(full).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    ends = np.cumsum([0, *map(len, full)], dtype=np.int64)
    return Ragged(points, ends, column.missing)


def strings(cells: Ragged) -> list[str]:
    """Return packed texts as Python strings, "" where one is missing."""
    text = cells.values.astype(np.uint32, copy=False).tobytes().decode("utf-32-le", "surrogatepass")
    ends = cells.offsets.tolist()
    return [text[low:high] for low, high in itertools.pairwise(ends)]


def matrix(a: list[str], b: list[str], scorer: Any, **options: Any) -> np.ndarray:
    """Score all texts of a against all of b, one thread (blocks are what runs side by side)."""
    # rapidfuzz is loaded where texts are compared: it asks pandas, if that is there, for its NA.
    from rapidfuzz import process

    if not a or not b:
        return np.zeros((len(a), len(b)))
    kwargs = options or None
    scores = process.cdist(a, b, scorer=scorer, scorer_kwargs=kwargs, dtype=np.float64, workers=1)
    return np.asarray(scores)


class _Text(Distance):
    kinds = ("text",)
    # Code points of Unicode: a larger number could not be decoded.
    CELLS = RaggedOf("uint32", high=0x10FFFF)

    def _encode(self, column: Column) -> Ragged:
        return letters(column)

    def _compare(self, a: Any, b: Any) -> np.ndarray:
        return self._score(strings(a), strings(b))

    @abstractmethod
    def _score(self, a: list[str], b: list[str]) -> np.ndarray:
        """Return the distances of all texts of a to all of b."""


class Levenshtein(_Text):
    """How many letters must be inserted, deleted or replaced to turn one text into another.

    Good for names, codes and short texts with slips of the pen. For texts whose words come in
    another order choose "token_set".

    Parameters
    ----------
    normalized : bool, default True
        Divide by the length of the longer text, which gives a share in [0, 1].
    scale : float, optional
        The distance of similarity 0; None: the largest one seen (see ``Distance``).

    References
    ----------
    .. [1] V. I. Levenshtein (1966). Binary codes capable of correcting deletions, insertions, and
       reversals. Soviet Physics Doklady 10(8), 707-710.

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.table.model.table import Column, Kind
    >>> word = Column("word", Kind("text"), np.array(["kitten", "sitting", None], dtype=object))
    >>> distance = Levenshtein(normalized=False).fit(word)
    >>> cells = distance.encode(word)
    >>> distance.compare(cells[:1], cells)
    array([[ 0.,  3., nan]])
    """

    name = "levenshtein"
    FIELDS: ClassVar[Fields] = {"normalized": Flag()}

    def __init__(self, normalized: bool = True, scale: float | None = None) -> None:
        self.normalized = normalized
        self.scale = scale

    def _score(self, a: list[str], b: list[str]) -> np.ndarray:
        from rapidfuzz.distance import Levenshtein as scorers

        return matrix(a, b, scorers.normalized_distance if self.normalized else scorers.distance)


class TokenSet(_Text):
    """How much the words of two texts differ, whatever their order and however often they come.

    One minus rapidfuzz's token set ratio: words that both texts have are set aside, and the rest is
    compared letter by letter. A text whose words all occur in the other is at distance 0, so this
    is not a metric; it is meant for titles and addresses with parts left out. Capital letters
    matter.

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.table.model.table import Column, Kind
    >>> title = np.array(["the iron giant", "giant, the iron", "iron giant"], dtype=object)
    >>> title = Column("title", Kind("text"), title)
    >>> distance = TokenSet().fit(title)
    >>> cells = distance.encode(title)
    >>> distance.compare(cells[:1], cells).round(3)
    array([[0.   , 0.034, 0.   ]])
    """

    name = "token_set"

    def _score(self, a: list[str], b: list[str]) -> np.ndarray:
        from rapidfuzz.fuzz import token_set_ratio

        out = 1.0 - matrix(a, b, token_set_ratio) / 100.0
        # the ratio of two texts without words is 0; they are equal, so the distance has to be
        empty = (np.array([not text.split() for text in texts], bool) for texts in (a, b))
        out[np.ix_(*empty)] = 0.0
        return np.maximum(out, 0.0)


class JaroWinkler(_Text):
    """How much two short names differ, forgiving swapped letters and honoring an equal start.

    Parameters
    ----------
    prefix_weight : float, default 0.1
        How much up to four equal first letters help, between 0 and 0.25.
    scale : float, optional
        The distance of similarity 0; None: the largest one seen (see ``Distance``).

    References
    ----------
    .. [1] W. E. Winkler (1990). String comparator metrics and enhanced decision rules in the
       Fellegi-Sunter model of record linkage. Proceedings of the Section on Survey Research
       Methods, American Statistical Association, 354-359.

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.table.model.table import Column, Kind
    >>> name = Column("name", Kind("text"), np.array(["martha", "marhta"], dtype=object))
    >>> distance = JaroWinkler().fit(name)
    >>> cells = distance.encode(name)
    >>> distance.compare(cells[:1], cells).round(4)
    array([[0.    , 0.0389]])
    """

    name = "jaro_winkler"
    FIELDS: ClassVar[Fields] = {"prefix_weight": Real(0.0, 0.25)}

    def __init__(self, prefix_weight: float = 0.1, scale: float | None = None) -> None:
        self.prefix_weight = prefix_weight
        self.scale = scale

    def _score(self, a: list[str], b: list[str]) -> np.ndarray:
        from rapidfuzz.distance.JaroWinkler import normalized_distance

        return matrix(a, b, normalized_distance, prefix_weight=float(self.prefix_weight))


def score_pairs(a: list[str], b: list[str]) -> np.ndarray:
    """Return similarities of pairs of texts: the larger of Levenshtein's and the token sort ratio.

    Each is, to the last bit, 1 minus the distance of ``Levenshtein`` or ``TokenSet``.

    Parameters
    ----------
    a, b : lists of str, of one length

    Examples
    --------
    >>> score_pairs(["kitten", "giant, the iron"], ["mitten", "the iron giant,"]).round(3).tolist()
    [0.833, 1.0]
    """
    from rapidfuzz import fuzz, process
    from rapidfuzz.distance import Levenshtein as letters_of

    words, edits = (
        np.asarray(process.cpdist(a, b, scorer=scorer, dtype=np.float64, workers=1))
        for scorer in (fuzz.token_sort_ratio, letters_of.normalized_distance)
    )
    return np.maximum(words / 100.0, 1.0 - edits)


# -- long texts, by their words --------------------------------------------------------------------


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
            for cell in part.values:
                texts.update(set(words_of(cell or "")))
                n += cell is not None
        numbers = np.array(TokenNumbers().of(texts), dtype=np.int64)
        order = np.argsort(numbers)
        counts = np.fromiter(texts.values(), np.float64, len(texts))[order]
        self.words_, self.weights_ = numbers[order], 1.0 + np.log((1.0 + n) / (1.0 + counts))

    def _encode(self, column: Column) -> Ragged:
        bags = [Counter(words_of(cell or "")) for cell in column.values]
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
        return Ragged(np.column_stack([at, weights]).ravel(), ends, column.missing)

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


def words_of(text: str) -> list[str]:
    """Return the words of a text, without case, as often as they come.

    Examples
    --------
    >>> words_of("The Sun, the sun!")
    ['the', 'sun', 'the', 'sun']
    """
    return _WORD.findall(text.casefold())
