"""Tokens as whole numbers that mean the same in every process, so that nothing has to be kept."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from lookalike.errors import WrongType


class Tokens:
    """Give tokens their numbers, each distinct one worked out once."""

    def __init__(self) -> None:
        self._known: dict[Any, int] = {}

    def of(self, items: Iterable[Any]) -> list[int]:
        """Return the numbers of some tokens, in order."""
        known = self._known
        found = []
        for item in items:
            number = known.get(item)
            if number is None:
                number = known[item] = token_id(item)
            found.append(number)
        return found


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
    if isinstance(value, bool | int | np.bool_ | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        number = float(value)
        return int(number) if number.is_integer() else number
    if isinstance(value, Decimal | Fraction):
        return _plain_fraction(value)
    if isinstance(value, tuple):
        return ("tuple", *(_plain(item) for item in value))
    if isinstance(value, frozenset):
        return ("set", *sorted(token_id(item) for item in value))
    if (
        getattr(type(value), "__repr__", None) is object.__repr__
    ):  # it would show an address, new in every process
        raise WrongType(
            "a token",
            "a text, number, tuple or frozenset, or a type with its own repr",
            f"a {type(value).__name__}",
            "Turn the items into texts first",
        )
    return (type(value).__qualname__, repr(value))


def _plain_fraction(value: Decimal | Fraction) -> Any:
    if isinstance(value, Decimal) and not value.is_finite():
        return _plain(float(value))
    exact = Fraction(value)
    if exact.denominator == 1:
        return exact.numerator
    near = float(exact)
    same = Fraction(near) == exact
    return near if same else ("fraction", exact.numerator, exact.denominator)
