"""Points whose inner products are similarities."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lookalike as la
from lookalike.errors import LookalikeWarning
from lookalike.measures import Gower, Vector
from lookalike.represent import NystroemRepresentation

GAPS = np.array([[1, 2, 3, 1], [1, 3, 3, np.nan], [1, 3, 3, 5]])


def table(seed, n=15):
    rng = np.random.default_rng(seed)
    return {"a": rng.random(n), "b": rng.choice(["x", "y", "z"], n), "c": rng.integers(0, 9, n)}


@given(seed=st.integers(0, 10**6))
def test_inner_products_of_prototypes_are_their_similarities(seed):
    rows = table(seed)
    represent = NystroemRepresentation(Gower(), n_prototypes=5)
    points = represent.fit_transform(rows)
    s = Gower().fit(rows).similarity()
    at = represent.prototypes_
    np.testing.assert_allclose(points[at] @ points[at].T, s[np.ix_(at, at)], atol=1e-7)
    # Others are projected onto the span of the prototypes: never too alike to themselves.
    k = s[np.ix_(at, at)]
    expected = s[:, at] @ np.linalg.pinv(k, rcond=1e-10, hermitian=True) @ s[:, at].T
    np.testing.assert_allclose(points @ points.T, expected, atol=1e-6)
    assert ((points**2).sum(axis=1) <= 1 + 1e-7).all()


def test_all_rows_as_prototypes_give_all_similarities():
    rows = table(0)
    points = NystroemRepresentation(Gower(), n_prototypes=15).fit_transform(rows)
    np.testing.assert_allclose(points @ points.T, Gower().fit(rows).similarity(), atol=1e-7)


def test_fewer_components_are_the_first_ones():
    rows = table(1)
    whole = NystroemRepresentation(n_prototypes=6).fit(rows)
    few = NystroemRepresentation(n_prototypes=6, n_components=2).fit(rows)
    np.testing.assert_array_equal(few.transform(rows), whole.transform(rows)[:, :2])
    assert (np.diff(whole.eigenvalues_) <= 0).all()
    assert few.get_feature_names_out().tolist() == ["nystroem 0", "nystroem 1"]


def test_a_measure_that_is_no_kernel_is_warned_about():
    measure = Gower(ranges={f"x{j}": 4.0 for j in range(4)})
    with pytest.warns(LookalikeWarning, match="an eigenvalue of -"):
        represent = NystroemRepresentation(measure, n_prototypes=3).fit(GAPS)
    assert (represent.eigenvalues_ > 0).all()
    assert np.isfinite(represent.transform(GAPS)).all()


def test_saved_and_loaded(tmp_path):
    rows = table(2)
    represent = NystroemRepresentation(Vector(), "farthest", 4).fit({"a": rows["a"]})
    represent.save(tmp_path / "a.lookalike")
    back = la.load(tmp_path / "a.lookalike")
    one = {"a": rows["a"][:3]}
    np.testing.assert_array_equal(back.transform(one), represent.transform(one))
