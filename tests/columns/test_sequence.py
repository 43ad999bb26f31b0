"""Distances of sequences and of sequences of sets."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from columns import reference
from columns.make import assert_errors, assert_worked, cells_of, column, compare, few, sets, tokens
from lookalike.columns import Edit, EditSets, sequence

WORKED = [
    (Edit(), "sequence", tuple("GGGC"), tuple("AGGCG"), 2),
    (Edit(normalized=True), "sequence", tuple("kitten"), tuple("sitting"), 3 / 7),
    (Edit(), "sequence", (), (), 0),
    (Edit(), "sequence", ({1, 2}, {3}), ({1, 2, 3}, {3}, {4}), 1 / 3 + 1),
    (EditSets(), "sequence", ({1, 2}, {3}), ({1, 2, 3}, {3}, {4}), 1 / 3 + 1),
    (EditSets(normalized=True), "sequence", ({1, 2}, {3}), ({1, 2, 3}, {3}, {4}), 4 / 9),
    (EditSets(), "sequence", (), (), 0),
    (EditSets(), "sequence", (), ({1}, set()), 2),
    (EditSets(), "sequence", (set(),), (set(),), 0),
    (Edit(relabel="unit"), "sequence", (frozenset("a"),), (frozenset("ab"),), 1),
]  # fmt: skip

BAD = [
    (Edit(), "sequence", [("a",), "abc"], TypeError, r"row 1: needs a sequence"),
    (EditSets(), "sequence", [({"a"},), ({"a"}, "b")], TypeError, r"row 1.*sets, found item 'b'"),
    (Edit(), "sequence", [(["a"],)], TypeError, r"list"),
]


def test_worked_numbers():
    assert_worked(WORKED)


def test_a_bad_cell_is_named():
    assert_errors(BAD)


@few
@given(st.lists(st.lists(tokens, max_size=90).map(tuple), min_size=3, max_size=3))
def test_long_sequences_equal_the_reference(cells):
    found = compare(Edit(), "sequence", cells)
    assert found.tolist() == [[reference.edit(u, v) for v in cells] for u in cells]


@few
@given(cells=cells_of("edit", max_size=5), letters=st.integers(3, 6))
def test_more_tokens_than_letters_change_nothing(cells, letters):
    expected = compare(Edit(), "sequence", cells)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sequence, "N_CODE_POINTS", letters)
        np.testing.assert_array_equal(compare(Edit(), "sequence", cells), expected)


@few
@given(st.lists(st.lists(sets, max_size=7).map(tuple), min_size=2, max_size=5))
def test_sequences_of_sets_equal_the_reference(cells):
    found = compare(EditSets(normalized=True), "sequence", cells)
    for i, u in enumerate(cells):
        for j, v in enumerate(cells):
            expected = reference.normalized_edit(u, v, reference.jaccard)
            assert found[i, j] == pytest.approx(expected, rel=1e-12, abs=1e-14)


def test_edit_chooses_by_its_items():
    of_sets = column("sequence", [(frozenset("a"),), None, ()])
    assert Edit().fit(of_sets).sets_
    assert not Edit(relabel="unit").fit(of_sets).sets_
    assert not Edit().fit(column("sequence", [("a",), (frozenset("a"),)])).sets_
    assert not Edit().fit(column("sequence", [(), None])).sets_


def test_scale_of_a_large_column_covers_its_extremes():
    cells = [(x,) for x in np.random.default_rng(0).permutation(5000).tolist()]
    cells[2500] = tuple(range(40))
    assert Edit().fit(column("sequence", cells)).scale_ == 40
