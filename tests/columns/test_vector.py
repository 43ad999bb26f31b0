"""Distances of vectors and histograms."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from columns import reference
from columns.make import assert_errors, assert_worked, column, compare, few
from lookalike.columns import (
    Cosine,
    EarthMover,
    Euclidean,
    Gaussian,
    GreatCircle,
    KullbackLeibler,
    NormalizedEuclidean,
)
from lookalike.columns.vector import blocks_of, pairs_of
from lookalike.table.model.kind import Kind
from lookalike.table.model.table import Column

WORKED = [
    (Euclidean(), "series", [0, 0], [3, 4], 5),
    (Euclidean(), "histogram", [1, 0], [0, 1], np.sqrt(2)),
    (NormalizedEuclidean(), "histogram", [1, 3], [10, 30], 0),
    (NormalizedEuclidean(), "histogram", [0, 0], [5, 0], 1),
    (EarthMover(), "histogram", [1, 0, 0], [0, 0, 1], 2),
    (EarthMover(), "histogram", [2, 0, 0], [0, 0, 1], 2 + 2 + 1),
    (EarthMover(normalized=True), "histogram", [2, 0, 0], [0, 0, 1], 2),
    (EarthMover(normalized=True), "histogram", [0, 0, 0], [0, 0, 1], 1),
    # A quarter of the meridian; antipodes; one degree across the 180th meridian; a pole has no
    # longitude.
    (GreatCircle(), "vector", [0, 10], [90, 50], np.pi / 2 * 6371.0088),
    (GreatCircle(), "vector", [0, 0], [0, 180], np.pi * 6371.0088),
    (GreatCircle(), "vector", [0, 179.5], [0, -179.5], np.pi / 180 * 6371.0088),
    (GreatCircle(), "vector", [0, 359.5], [0, 0.5], np.pi / 180 * 6371.0088),
    (KullbackLeibler(1e-300), "histogram", [5, 5], [1, 3], np.log(3) / 8),
    (KullbackLeibler(1.0), "histogram", [5, 5], [1, 3], 0),
    (KullbackLeibler(0.5), "histogram", [0, 0], [2, 0], np.log(3) / 8),
    (Cosine(), "vector", [1, 0], [0, 2], 1),
    (Cosine(), "vector", [1, 0], [-3, 0], 2),
    (Cosine(), "vector", [0, 0], [1, 1], 1),
    (Cosine(), "vector", [1e-200, 0], [1e200, 1e200], 1 - np.sqrt(0.5)),
]  # fmt: skip

BAD = [
    (Euclidean(), "series", [[1.0], [1.0, 2.0]], ValueError, r"row 1: needs 1 numbers.*'dtw'"),
    (Euclidean(), "vector", [[1.0, 2.0], [np.inf, 1.0]], ValueError, r"row 1.*inf at position 0"),
    (GreatCircle(), "vector", [[1, 2], [-90.5, 1]], ValueError, r"row 1.*latitude.*\[-90.5, 1.0\]"),
    (GreatCircle(), "vector", [[1, 2], [1, 361]], ValueError, r"row 1.*longitude"),
    (GreatCircle(), "vector", [[1, 2], [1, np.inf]], ValueError, r"row 1.*inf"),
    (GreatCircle(), "vector", [[1, 2, 3], [1, 1, 1]], ValueError, r"latitude and longitude"),
    (EarthMover(), "histogram", [[1, 2], [np.nan, 1]], ValueError, r"row 1.*nan at position 0"),
]


def test_worked_numbers():
    assert_worked(WORKED)


def test_a_bad_cell_is_named():
    assert_errors(BAD)


def test_pairs_have_the_bits_of_their_block():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(4, 7)), rng.normal(size=(5, 14))[:, ::2]  # b is strided
    left, right = np.array([3, 0, 0, 1]), np.array([4, 4, 0, 2])
    for metric in ("euclidean", "cityblock", "chebyshev", "cosine"):
        block = blocks_of(metric, a, b)
        np.testing.assert_array_equal(pairs_of(metric, a, b, left, right), block[left, right])
    one, other, first = np.array([[1.0, 5.0]]), np.array([[4.0, 3.0]]), np.array([0])
    assert pairs_of("cityblock", one, other, first, first).tolist() == [5.0]


def test_cosine_of_equal_vectors_is_exactly_zero():
    rng = np.random.default_rng(0)
    cells = rng.normal(size=(50, 7))
    assert (np.diag(compare(Cosine(), "vector", cells.tolist())) == 0).all()


def test_narrow_vectors_are_compared_as_wide_ones():
    values = np.array([[0.1, 0.2], [0.3, 0.9]], dtype=np.float32)
    narrow = Column("thing", Kind("vector"), values)
    own = Euclidean().fit(narrow)
    code = own.encode(narrow)
    wide = values.astype(np.float64)
    assert own.compare(code, code)[0, 1] == pytest.approx(reference.euclidean(*wide), rel=1e-15)


def test_series_of_one_length_are_stacked():
    values = np.empty(3, dtype=object)
    values[:] = [np.array([1.0, 2.0]), None, np.array([4.0, 6.0])]
    ragged = Column("thing", Kind("series"), values)
    own = Euclidean().fit(ragged)
    code = own.encode(ragged)
    np.testing.assert_array_equal(own.compare(code[:1], code), [[0, np.nan, 5]])


def test_ragged_series_are_refused_by_row():
    values = np.empty(3, dtype=object)
    values[:] = [np.array([1.0, 2.0]), np.array([3.0, 4.0]), np.array([5.0])]
    with pytest.raises(ValueError, match=r"column 'thing', row 2: needs 2 numbers.*found 1"):
        Euclidean().fit(Column("thing", Kind("series"), values))


@pytest.mark.parametrize("distance", [Euclidean(), NormalizedEuclidean(), EarthMover()])
def test_histograms_of_another_width_are_refused(distance):
    own = distance.fit(column("histogram", [[1.0, 2.0]]))
    with pytest.raises(ValueError, match="2 numbers per cell"):
        own.encode(column("histogram", [[1.0, 2.0, 3.0]]))


def test_a_few_far_places_do_not_set_the_scale():
    places = column("vector", [[0.0, x / 100] for x in range(99)] + [[80.0, 0.0]])
    whole, trimmed = GreatCircle().fit(places).scale_, GreatCircle(trim=0.05).fit(places).scale_
    assert whole > 8800 > 110 > trimmed > 80
    # Nearly all in one place: the others still differ from it.
    same = column("vector", [[0.0, 0.0]] * 99 + [[1.0, 0.0]])
    assert GreatCircle(trim=0.05).fit(same).scale_ == pytest.approx(np.pi / 180 * 6371.0088)
    assert GreatCircle(trim=0.05).fit(column("vector", [[0.0, 0.0]] * 9)).scale_ == 0.0


@few
@given(seed=st.integers(0, 1000), d=st.integers(1, 4))
def test_normal_distributions_equal_their_reference(seed, d):
    rng = np.random.default_rng(seed)
    roots = rng.normal(size=(5, d, d))
    full = roots @ roots.transpose(0, 2, 1) + np.eye(d) / 4
    means = rng.normal(size=(5, d))
    cells = [[*mean, *matrix.ravel()] for mean, matrix in zip(means, full, strict=True)]
    expected = [[reference.gaussian(u, v) for v in cells] for u in cells]
    found = compare(Gaussian(), "vector", cells)
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)
    assert (np.diag(found) == 0).all()
    np.testing.assert_array_equal(found, found.T)
    variances = np.diagonal(full, axis1=1, axis2=2)
    diagonal = compare(Gaussian("diagonal"), "vector", np.hstack([means, variances]).tolist())
    whole = [[*m, *np.diag(v).ravel()] for m, v in zip(means, variances, strict=True)]
    np.testing.assert_allclose(diagonal, compare(Gaussian(), "vector", whole), rtol=1e-12)


def test_what_is_no_normal_distribution_is_refused():
    assert_errors([
        (Gaussian(), "vector", [[0.0, 1.0], [0.0, -1.0]], ValueError, "row 1.*positive definite"),
        (Gaussian(), "vector", [[0, 0, 1, 0.5, 0.2, 1]], ValueError, "row 0.*symmetric"),
        (Gaussian(), "vector", [[0.0, 1.0, 2.0]], ValueError, "3 numbers"),
        (Gaussian("diagonal"), "vector", [[0.0, 0.0, 1.0, 0.0]], ValueError, "row 0"),
    ])  # fmt: skip
