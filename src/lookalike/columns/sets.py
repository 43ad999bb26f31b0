"""Sets of tokens: how much of them is shared."""

import hashlib
from collections.abc import Callable, Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from lookalike.columns.base import Distance
from lookalike.columns.ragged import Ragged, RaggedOf
from lookalike.errors import WrongType
from lookalike.kernels import fallback
from lookalike.kernels.first_use import pick
from lookalike.kernels.objects import shared_counts, unshared_of_counts
from lookalike.table.model.table import Column

_NUMBERS = (bool, int, np.bool_, np.integer, float, np.floating, Decimal, Fraction)


class TokenNumbers(dict[Any, int]):
    """The numbers of tokens, each distinct one worked out once."""

    def __missing__(self, token: Any) -> int:
        return self.setdefault(token, token_id(token))

    def of(self, tokens: Iterable[Any]) -> list[int]:
        """Return the numbers of some tokens, in order."""
        return [self[token] for token in tokens]


def token_id(value: Any) -> int:
    """Return the number of a token: below -1, equal for equal tokens, the same in every process.

    Tokens are equal as Python finds them: ``1``, ``1.0`` and ``True`` are one token, ``1`` and
    ``"1"`` are two. The number is a hash of 62 bits: among a million distinct tokens the chance
    that any two are taken for one is one in ten million.

    Examples
    --------
    >>> token_id("a") == token_id(np.str_("a")), token_id(1) == token_id(1.0)
    (True, True)
    >>> token_id("1") == token_id(1)
    False
    """
    plain = _plain(value)
    name = f"{type(plain).__name__}:{plain!r}"
    digest = hashlib.blake2b(name.encode(errors="surrogatepass"), digest_size=8).digest()
    return -2 - (int.from_bytes(digest, "little") >> 2)


def _plain(value: Any) -> Any:
    """Write a token in one way only, however it was spelled."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, _NUMBERS):
        return _plain_number(value)
    if isinstance(value, tuple):
        return ("tuple", *(_plain(item) for item in value))
    if isinstance(value, frozenset):
        return ("set", *sorted(token_id(item) for item in value))
    # Such a repr shows an address, which is another one in every process.
    if getattr(type(value), "__repr__", None) is object.__repr__:
        needed = "a text, number, tuple or frozenset, or a type with its own repr"
        hint = "Turn the items into texts first"
        raise WrongType("a token", needed, f"a {type(value).__name__}", hint)
    return (type(value).__qualname__, repr(value))


def _plain_number(value: Any) -> Any:
    """Write a number as the simplest of int, float and fraction that it equals."""
    if isinstance(value, np.bool_ | np.floating):
        value = float(value)
    try:
        exact = Fraction(value)
    except (ValueError, OverflowError):
        return float(value)  # NaN and infinities
    if exact.denominator == 1:
        return int(exact.numerator)
    near = float(exact)
    return near if Fraction(near) == exact else ("fraction", exact.numerator, exact.denominator)


def pack_each(cells: np.ndarray, numbers: Callable[[int, Any], list[int]]) -> Ragged:
    """Pack the token numbers of each cell, which a function of its row and the cell gives."""
    # One flat array for all rows: kernels take neither lists nor objects.
    given = (None if cell is None else numbers(row, cell) for row, cell in enumerate(cells))
    return Ragged.of(given, np.int64)


def shared(a: Ragged, b: Ragged) -> np.ndarray:
    """Count the equal tokens of every row of a and every row of b."""
    out = np.empty((len(a), len(b)))
    write = pick(shared_counts, fallback.shared_counts, len(a) * len(b.values))
    write(a.values, a.offsets, b.values, b.offsets, out)
    return out


def unshared(a: Ragged, b: Ragged, of_smaller: bool = False) -> np.ndarray:
    """Return the share of the union, or of the smaller set, that two rows do not share."""
    out = shared(a, b)
    write = pick(unshared_of_counts, fallback.unshared_of_counts, out.size)
    write(out, *(np.diff(cells.offsets).astype(np.float64) for cells in (a, b)), of_smaller)
    return out


class _Sets(Distance):
    kinds = ("set",)
    # Numbers of tokens are below -1, so -1 can mark missing codes elsewhere.
    CELLS = RaggedOf("int64", high=-2)
    of_smaller: ClassVar[bool] = False  # whether the share is one of the smaller set

    def _encode(self, column: Column) -> Ragged:
        tokens = TokenNumbers()
        # Sorted, as the kernel counts shared tokens by merging two rows.
        return pack_each(column.values, lambda _, cell: sorted(set(tokens.of(cell))))

    def _compare(self, a: Any, b: Any) -> np.ndarray:
        return unshared(a, b, self.of_smaller)


class Jaccard(_Sets):
    """How much of what two sets hold together is not held by both.

    ``1 - |u & v| / |u | v|``: 0 for equal sets, 1 for sets without a common token; two empty sets
    are equal. Tokens may be texts, numbers, tuples or frozensets; new tokens need no fitting.

    References
    ----------
    .. [1] P. Jaccard (1912). The distribution of the flora in the alpine zone. New Phytologist
       11(2), 37-50. doi:10.1111/j.1469-8137.1912.tb05611.x

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.table.model.table import Column, Kind
    >>> tags = np.array([frozenset({1, 2, 3}), frozenset({2, 3, 4}), frozenset(), None])
    >>> tags = Column("tags", Kind("set"), tags)
    >>> distance = Jaccard().fit(tags)
    >>> cells = distance.encode(tags)
    >>> distance.compare(cells[:1], cells)
    array([[0. , 0.5, 1. , nan]])
    """

    name = "jaccard"


class Overlap(_Sets):
    """How much of the smaller set is not in the larger one.

    ``1 - |u & v| / min(|u|, |v|)``: 0 as soon as one set contains the other, which makes it right
    for lists of different completeness and wrong where size matters. Two empty sets are at 0, an
    empty one and another at 1.

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.table.model.table import Column, Kind
    >>> tags = Column("tags", Kind("set"), np.array([frozenset("abc"), frozenset("bcxyz")]))
    >>> distance = Overlap().fit(tags)
    >>> cells = distance.encode(tags)
    >>> distance.compare(cells[:1], cells).round(3)
    array([[0.   , 0.333]])
    """

    name = "overlap"
    of_smaller = True
