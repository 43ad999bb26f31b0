"""How many rows and columns a tree sees: shares, whole numbers and words turned into counts."""

from __future__ import annotations

import math
import numbers

from lookalike.errors import InvalidInput, Param


def count_share(share: float | int, n: int, name: str) -> int:
    """Turn a share in (0, 1] or a number above 1 into a number of rows, at most n."""
    whole = isinstance(share, numbers.Integral) and not isinstance(share, bool)
    if whole and share > 1:
        return min(int(share), n)
    if isinstance(share, numbers.Real) and not isinstance(share, bool) and 0 < share <= 1:
        return max(1, int(round(float(share) * n, 6)))
    raise InvalidInput(
        Param(name, share), "a share in (0, 1] or an integer above 1", repr(share), "Use one"
    )


def count_features(share: float | int | str | None, d: int) -> int:
    """Turn a share of the columns, a number, "sqrt" or None (all) into a number of columns."""
    if share is None:
        return d
    if share == "sqrt":
        return max(1, math.isqrt(d))
    whole = isinstance(share, numbers.Integral) and not isinstance(share, bool)
    if whole and int(share) >= 1:
        return min(int(share), d)
    if isinstance(share, float) and 0 < share <= 1:
        return max(1, int(share * d))
    raise InvalidInput(
        "max_features",
        "a share in (0, 1], a whole number of at least 1, 'sqrt' or None",
        repr(share),
        "Use one",
    )
