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
SCALE_IS_1 = ("presence", "equal", "information", "rank_range", "cyclic", "rank")  # by definition


def encoded(name, cells):
    column = column_of(name, cells)
    distance = DISTANCES[name]().fit(column)
    return distance, distance.encode(column)


@pytest.mark.parametrize("name", DISTANCES)
@few
@given(data=st.data())
def test_a_distance_keeps_its_promises(name, data):
    cells = data.draw(cells_of(name, max_size=5 if name == "ged" else 8))
    distance, code = encoded(name, cells)
    whole = distance.compare(code, code)
    assert missing_rows(code).tolist() == [cell is None for cell in cells]
    assert_reference(CASES[name][2], cells, whole)
    assert_metric_like(whole, missing_rows(code))
    assert_pure(name, distance, code, cells, whole, data)
    assert_similarity(name, distance, code, cells)
    assert_scale(name, distance, code, whole)
    assert_saveable(distance, code)


def assert_reference(reference, cells, found):
    for i, u in enumerate(cells):
        for j, v in enumerate(cells):
            if u is None or v is None:
                assert np.isnan(found[i, j])
            elif reference is not None:
                assert found[i, j] == pytest.approx(reference(u, v), rel=1e-9, abs=1e-12)


def assert_metric_like(whole, missing):
    """Symmetric, zero on equal cells, never negative."""
    np.testing.assert_array_equal(whole, whole.T)
    assert (np.diag(whole)[~missing] == 0).all()
    assert (whole[~missing][:, ~missing] >= 0).all()


def assert_pure(name, distance, code, cells, whole, data):
    """An entry depends on its own two cells only, to the last bit."""
    rows = st.lists(st.integers(0, len(cells) - 1), min_size=1, max_size=4)
    I, J = np.array(data.draw(rows)), np.array(data.draw(rows))
    np.testing.assert_array_equal(distance.compare(code[I], code[J]), whole[I][:, J])
    np.testing.assert_array_equal(distance.compare(code[[I[0]]], code), whole[[I[0]]])
    # a row has the same code whichever table it came in
    alone = distance.encode(column_of(name, cells).take(I))
    np.testing.assert_array_equal(distance.compare(alone, code), whole[I])


def assert_similarity(name, distance, code, cells):
    """One minus the share of the scale."""
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


def assert_scale(name, distance, code, whole):
    """The largest distance, of so few rows that all are looked at."""
    if name in SCALE_IS_1:
        return
    scale = distance.scale_
    if name == "circular":
        assert scale == 180  # half of the circle, whatever was fitted
        return
    if name == "ged":
        distance.n_pivots = len(code)
        scale = distance._farthest(code)
    assert scale == whole[np.isfinite(whole)].max(initial=0.0)


def assert_saveable(distance, code):
    """What is learned are arrays of numbers, and values that JSON can hold."""
    for attribute, value in vars(distance).items():
        if isinstance(value, np.ndarray):
            assert value.dtype != object, attribute
        else:
            json.dumps(value)
    arrays = [code] if isinstance(code, np.ndarray) else [code.values, code.offsets, code.missing]
    assert all(array.dtype != object for array in arrays)
    distance.check_cells(code, len(code), "cells")
    with pytest.raises(ValueError, match=f"{len(code) + 1}"):
        distance.check_cells(code, len(code) + 1, "cells")


def test_a_given_scale_is_used_and_a_bad_one_refused():
    for name in DISTANCES:
        column = column_of(name, [None, None])
        assert DISTANCES[name](scale=2.5).fit(column).scale_ == 2.5, name
        with pytest.raises(ValueError, match="scale=-1"):
            DISTANCES[name](scale=-1).fit(column)


def test_a_column_of_missing_cells_is_allowed():
    for name in DISTANCES:
        distance, code = encoded(name, [None, None])
        assert np.isnan(distance.compare(code, code)).all(), name
        assert np.isnan(distance.similarity(code, code)).all(), name
        assert variance(distance, code) == 0, name
        empty = distance.encode(column_of(name, [None, None]).take(slice(0, 0)))
        assert distance.compare(empty, code).shape == (0, 2), name
        assert distance.compare(code, empty).shape == (2, 0), name


def test_fit_leaves_the_unfitted_distance_alone():
    for name in DISTANCES:
        distance = DISTANCES[name]()
        before = dict(vars(distance))
        fitted = distance.fit(column_of(name, [None]))
        assert vars(distance) == before, name
        assert type(fitted) is type(distance)
        assert fitted.column_ == "thing"
        with pytest.raises(ValueError, match="fit"):
            distance.encode(column_of(name, [None]))


@few
@given(data=st.data())
def test_a_callable_does_what_the_built_in_does(data):
    name = data.draw(st.sampled_from([n for n in CASES if CASES[n][2] and n != "levenshtein"]))
    cells = data.draw(cells_of(name, max_size=4))
    column = column_of(name, cells)
    reference = CASES[name][2]
    if CASES[name][0] in ("category", "flag", "order"):  # a callable sees values, not codes
        code_of = {value: code for code, value in enumerate(column.kind.levels)}
        reference = lambda u, v: CASES[name][2](code_of[u], code_of[v])  # noqa: E731
    own = CallableDistance(reference).fit(column)
    built_in, code = encoded(name, cells)
    objects = own.encode(column)
    np.testing.assert_allclose(
        own.compare(objects, objects), built_in.compare(code, code), rtol=1e-9, atol=1e-12
    )


METRICS = ["jaccard", "edit", "edit_sets", "ged", "levenshtein_full", "euclidean", "earth_mover"]


@settings(max_examples=100, deadline=None)
@given(name=st.sampled_from(METRICS), data=st.data())
def test_metrics_keep_the_triangle_inequality(name, data):
    base = name.removesuffix("_full")
    cells = data.draw(st.lists(CASES[base][1], min_size=3, max_size=3))
    column = column_of(base, cells)
    options = {"normalized": False} if name != base else {}
    distance = DISTANCES[base](**options).fit(column)
    code = distance.encode(column)
    d = distance.compare(code, code)
    assert d[0, 2] <= d[0, 1] + d[1, 2] + 1e-9
