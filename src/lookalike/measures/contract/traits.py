"""Facts about a measure, stated once."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Traits:
    """Facts about a measure, stated once and read by search, docs, tests and the command line.

    Parameters
    ----------
    native : {"similarity", "distance"}
        What ``compare`` returns: a similarity in [0, 1] or a distance of at least 0.
    conversion : {"one_minus", "sqrt", "ratio"}
        How the other one is made: d = 1 - s, d = sqrt(1 - s), or ``s = scale_ / (scale_ + d)``.
    symmetric : bool
        Whether compare(a, b) equals compare(b, a).T, bit for bit.
    exact_self : bool
        Whether a row with itself is set to exactly 1 or 0.
    unseen_pairs : bool
        Whether two rows that were not fitted can be compared.
    missing : bool
        Whether gaps are taken.
    kinds : tuple of str
        Kinds of column that are compared; others are left out with a warning. Empty: every kind.
    pairwise : bool
        Whether X is a matrix of distances.
    needs_all : bool
        Whether fitting looks at all pairs of rows.
    undefined_last : bool
        Whether neighbors at an undefined distance stand at the end of a list instead of being an
        error.
    weighs_columns : bool
        Whether a fitted measure takes other column weights without being fitted again
        (``reweighted``).
    """

    native: str = "similarity"
    conversion: str = "one_minus"
    symmetric: bool = True
    exact_self: bool = True
    unseen_pairs: bool = True
    missing: bool = False
    kinds: tuple[str, ...] = ()
    pairwise: bool = False
    needs_all: bool = False
    undefined_last: bool = False
    weighs_columns: bool = False
