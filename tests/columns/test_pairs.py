"""Similarities of single pairs are those of a block, to the last bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from columns.make import cells_of, column_of
from lookalike.columns import DISTANCES, pairs


@pytest.mark.parametrize("compiled", [True, False])
@settings(max_examples=60, deadline=None)
@given(name=st.sampled_from(sorted(DISTANCES)), data=st.data())
def test_pairs_are_entries_of_a_block(name, data, compiled):
    cells = data.draw(cells_of(name, max_size=4 if name == "ged" else 8))
    column = column_of(name, cells)
    distance = DISTANCES[name]().fit(column)
    code = distance.encode(column)
    position = st.integers(0, len(cells) - 1)
    drawn = data.draw(st.lists(st.tuples(position, position), max_size=9))
    left, right = np.array(sorted(drawn), np.int64).reshape(-1, 2).T
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairs, "worth_compiling", lambda loop, work: compiled)
        found = pairs.pair_similarities(distance, code, code, left, right)
    assert found.shape == left.shape  # None would equal an empty array
    np.testing.assert_array_equal(found, distance.similarity(code, code)[left, right])
