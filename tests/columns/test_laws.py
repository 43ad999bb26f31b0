"""What every distance promises, asked of every distance there is."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from columns.make import CASES, cells_of, column_of
from lookalike.columns import DISTANCES, CallableDistance, variance
from lookalike.columns.base import missing_rows

few = settings(max_examples=25, deadline=None)
every = pytest.mark.parametrize("name", DISTANCES)


def encoded(name, cells):
    column = column_of(name, cells)
    distance = DISTANCES[name]().fit(column)
    return distance, distance.encode(column)


@pytest.mark.parametrize("name", [name for name in CASES if CASES[name][2] is not None])
@few
@given(data=st.data())
def test_compare_equals_its_slow_twin(name, data):
    cells = data.draw(cells_of(name, max_size=6 if name == "ged" else 8))
    twin = CASES[name][2]
    distance, code = encoded(name, cells)
    found = distance.compare(code, code)
    for i, u in enumerate(cells):
        for j, v in enumerate(cells):
            if u is None or v is None:
                assert np.isnan(found[i, j])
            else:
                assert found[i, j] == pytest.approx(twin(u, v), rel=1e-9, abs=1e-12)


@every
@few
@given(data=st.data())
def test_compare_is_symmetric_zero_on_equal_cells_and_pure(name, data):
    cells = data.draw(cells_of(name, max_size=5 if name == "ged" else 12))
    distance, code = encoded(name, cells)
    whole = distance.compare(code, code)
    missing = missing_rows(code)
    assert missing.tolist() == [cell is None for cell in cells]
    np.testing.assert_array_equal(whole, whole.T)
    assert (np.diag(whole)[~missing] == 0).all()
    assert (whole[~missing][:, ~missing] >= 0).all()
    rows = st.lists(st.integers(0, len(cells) - 1), min_size=1, max_size=4)
    I, J = np.array(data.draw(rows)), np.array(data.draw(rows))
    np.testing.assert_array_equal(distance.compare(code[I], code[J]), whole[I][:, J])
    np.testing.assert_array_equal(distance.compare(code[[I[0]]], code), whole[[I[0]]])
    # a row has the same code whichever table it came in
    alone = distance.encode(column_of(name, cells).take(I))
    np.testing.assert_array_equal(distance.compare(alone, code), whole[I])


@every
@few
@given(data=st.data())
def test_similarity_is_one_minus_the_share_of_the_scale(name, data):
    cells = data.draw(cells_of(name, max_size=5 if name == "ged" else 8))
    distance, code = encoded(name, cells)
    d, s = distance.compare(code, code), distance.similarity(code, code)
    if name == "presence":
        both_absent = np.array([[u == 0 and v == 0 for v in cells] for u in cells])
        assert np.isnan(s[both_absent]).all()
        d[both_absent] = np.nan
    np.testing.assert_array_equal(np.isnan(s), np.isnan(d))
    here = ~np.isnan(s)
    assert ((s[here] >= 0) & (s[here] <= 1)).all()
    expected = 1 - np.minimum(d / distance.scale_, 1) if distance.scale_ else (d == 0) * 1.0
    np.testing.assert_allclose(s[here], expected[here], rtol=0, atol=1e-15)


@every
@few
@given(data=st.data())
def test_scale_is_the_largest_distance_of_a_few_rows(name, data):
    if name in ("presence", "equal", "information", "rank_range", "cyclic", "rank"):
        return  # theirs is 1 by definition
    cells = data.draw(cells_of(name, max_size=5 if name == "ged" else 8))
    distance, code = encoded(name, cells)
    if name == "ged":
        distance.n_pivots = len(cells)
        distance.scale_ = distance._farthest(code)
    found = distance.compare(code, code)
    found = found[np.isfinite(found)]
    assert distance.scale_ == found.max(initial=0.0)


@every
def test_a_given_scale_is_used_and_a_bad_one_refused(name):
    column = column_of(name, [None, None])
    assert DISTANCES[name](scale=2.5).fit(column).scale_ == 2.5
    with pytest.raises(ValueError, match="scale=-1"):
        DISTANCES[name](scale=-1).fit(column)


@every
def test_a_column_of_gaps_is_allowed(name):
    distance, code = encoded(name, [None, None])
    assert np.isnan(distance.compare(code, code)).all()
    assert np.isnan(distance.similarity(code, code)).all()
    assert variance(distance, code) == 0
    empty = distance.encode(column_of(name, [None, None]).take(slice(0, 0)))
    assert distance.compare(empty, code).shape == (0, 2)
    assert distance.compare(code, empty).shape == (2, 0)


@every
@few
@given(data=st.data())
def test_what_is_learned_can_be_saved_as_arrays_and_json(name, data):
    distance, code = encoded(name, data.draw(cells_of(name, max_size=4)))
    for attribute, value in vars(distance).items():
        if isinstance(value, np.ndarray):
            assert value.dtype != object, attribute
        else:
            json.dumps(value)
    arrays = [code] if isinstance(code, np.ndarray) else [code.values, code.offsets, code.missing]
    assert all(array.dtype != object for array in arrays)


@every
def test_fit_leaves_the_unfitted_distance_alone(name):
    distance = DISTANCES[name]()
    before = dict(vars(distance))
    fitted = distance.fit(column_of(name, [None]))
    assert vars(distance) == before
    assert type(fitted) is type(distance)
    assert fitted.column_ == "thing"
    with pytest.raises(ValueError, match="fit"):
        distance.encode(column_of(name, [None]))


@pytest.mark.parametrize(
    "name", [n for n in CASES if n not in ("information", "levenshtein", "rank")]
)
@few
@given(data=st.data())
def test_a_callable_does_what_the_built_in_does(name, data):
    cells = data.draw(cells_of(name, max_size=4))
    column = column_of(name, cells)
    twin = CASES[name][2]
    if CASES[name][0] in ("category", "flag", "order"):  # a callable sees values, not codes
        place = {value: code for code, value in enumerate(column.kind.levels)}
        twin = lambda u, v: CASES[name][2](place[u], place[v])  # noqa: E731
    own = CallableDistance(twin).fit(column)
    built_in, code = encoded(name, cells)
    objects = own.encode(column)
    np.testing.assert_allclose(
        own.compare(objects, objects), built_in.compare(code, code), rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize(
    "name", ["jaccard", "edit", "edit_sets", "ged", "levenshtein_full", "euclidean", "earth_mover"]
)
@few
@given(data=st.data())
def test_metrics_keep_the_triangle_inequality(name, data):
    base = name.removesuffix("_full")
    cells = data.draw(st.lists(CASES[base][1], min_size=3, max_size=3))
    column = column_of(base, cells)
    options = {"normalized": False} if name != base else {}
    distance = DISTANCES[base](**options).fit(column)
    code = distance.encode(column)
    d = distance.compare(code, code)
    assert d[0, 2] <= d[0, 1] + d[1, 2] + 1e-9
