"""Distances of sets, and the numbers of tokens."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from columns import reference
from columns.make import (
    assert_errors,
    assert_worked,
    column,
    compare,
)
from lookalike.columns import (
    Jaccard,
    Overlap,
)
from lookalike.columns.sets import token_id

WORKED = [
    (Jaccard(), "set", frozenset({1, 2, 3}), frozenset({2, 3, 4}), 0.5),
    (Jaccard(), "set", frozenset(), frozenset(), 0),
    (Jaccard(), "set", frozenset(), frozenset("a"), 1),
    (Overlap(), "set", frozenset("ab"), frozenset("abc"), 0),
    (Overlap(), "set", frozenset(), frozenset("a"), 1),
    (Overlap(), "set", frozenset(), frozenset(), 0),
]  # fmt: skip

BAD = [
    (Jaccard(), "set", [frozenset("a"), "abc"], TypeError, r"column 'thing', row 1: needs a set"),
    (Overlap(), "set", ["abc"], TypeError, r"row 0: needs a set, found 'abc'"),
]


def test_worked_numbers():
    assert_worked(WORKED)


def test_a_bad_cell_is_named():
    assert_errors(BAD)


def test_tokens_are_equal_as_python_finds_them():
    for one, other in [(1, 1.0), (1, True), (1, np.int64(1)), ("a", np.str_("a")), (0.0, -0.0),
                       (0.5, Fraction(1, 2)), (Decimal("1.0"), 1), (0.5, np.float32(0.5)),
                       (("a", 1), ("a", 1.0)), (frozenset("ab"), frozenset("ba")),
                       (Fraction(1, 3), Fraction(2, 6)), (Decimal("0.1"), Fraction(1, 10)),
                       (Decimal("1e999"), 10**999)]:  # fmt: skip
        assert one == other
        assert token_id(one) == token_id(other)
    different = ["1", 1, 1.5, None, b"1", ("1",), frozenset("1"), (1,), "", (), frozenset(), -1,
                 Fraction(1, 3), Decimal("0.1"), 0.1, float("nan"), ("a", "b"), "ab"]  # fmt: skip
    assert len({token_id(token) for token in different}) == len(different)
    assert all(token_id(token) < -1 for token in different)
    assert token_id(Decimal("NaN")) == token_id(float("nan"))


def test_token_numbers_never_change():
    """Saved models hold these numbers, so a new version must not make others."""
    assert token_id("a") == -3855943937275546800
    assert token_id(1) == -3963749567050032768


def test_an_object_without_a_lasting_name_cannot_be_a_token():
    class Thing:
        pass

    with pytest.raises(TypeError, match="Thing"):
        compare(Jaccard(), "set", [frozenset({Thing()})])


def test_new_tokens_are_compared_like_old_ones():
    own = Jaccard().fit(column("set", [frozenset("ab")]))
    new = own.encode(column("set", [frozenset("xy"), frozenset("yz")]))
    assert own.compare(new, new)[0, 1] == pytest.approx(2 / 3)


def test_many_sets_equal_the_reference():
    rng = np.random.default_rng(3)
    cells = [frozenset(rng.integers(0, 60, rng.integers(0, 12)).tolist()) for _ in range(150)]
    expected = [[reference.jaccard(u, v) for v in cells] for u in cells]
    np.testing.assert_allclose(compare(Jaccard(), "set", cells), expected, atol=1e-15)


def test_a_bad_cell_of_a_large_column_is_named_by_its_own_row():
    cells = [frozenset("a")] * 5000
    cells[4321] = "a" * 500  # the largest cell, so it is always looked at
    with pytest.raises(TypeError, match="row 4321"):
        Jaccard().fit(column("set", cells))
