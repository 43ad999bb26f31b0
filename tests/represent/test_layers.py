"""Similarities of similarities: worked numbers, a reference, one layer, constant layers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lookalike as la
from lookalike.errors import InvalidInput, LookalikeWarning, TooFewRows
from lookalike.measures import Gower, Vector
from lookalike.represent import LayeredRepresentation, SimilarityRepresentation, select_prototypes
from lookalike.represent.layers import CONSTANT_RANGE, layer_widths
from represent import reference

POINTS = np.array([[0.0], [1.0], [3.0], [7.0]])


def test_worked_numbers():
    first = SimilarityRepresentation(Gower(), prototypes=[0, 2]).fit_transform(POINTS)
    np.testing.assert_allclose(first, [[1, 4 / 7], [6 / 7, 5 / 7], [4 / 7, 1], [0, 3 / 7]])
    second = Gower().fit(first).similarity()
    assert second[1, 0] == pytest.approx(45 / 56)
    assert reference.layers(POINTS, [[0, 2], [0]])[1, 0] == pytest.approx(45 / 56)


@pytest.mark.parametrize(
    ("schedule", "widths"),
    [("constant", [3, 3, 3]), ("decreasing", [9, 6, 3]), ("geometric", [12, 6, 3])],
)
def test_worked_widths(schedule, widths):
    assert layer_widths(schedule, 3, 3, 100) == widths
    assert max(layer_widths(schedule, 3, 3, 5)) <= 5
    x = np.random.default_rng(0).random((100, 4))
    layers = LayeredRepresentation(n_layers=3, schedule=schedule, n_prototypes=0.03).fit(x)
    assert [len(at) for at in layers.prototypes_] == widths
    assert layers.transform(x[:5]).shape == (5, 3)


def test_two_layers_of_the_source():
    assert layer_widths("decreasing", 2, 5, 100) == [10, 5]


@given(seed=st.integers(0, 10**6), n_layers=st.integers(1, 4))
def test_values_are_those_of_the_slow_reference(seed, n_layers):
    rng = np.random.default_rng(seed)
    x, new = rng.random((12, 2)), rng.random((4, 2)) * 1.5
    layers = LayeredRepresentation(Gower(), n_layers, n_prototypes=3).fit(x)
    found = layers.transform(new)
    np.testing.assert_allclose(found, reference.layers(x, layers.prototypes_, new), atol=1e-12)
    columns = layers.fit_transform(x)
    np.testing.assert_allclose(columns, reference.layers(x, layers.prototypes_), atol=1e-12)
    assert ((found >= 0) & (found <= 1)).all()
    assert (columns[layers.prototypes_[-1], np.arange(3)] == 1).all()


def test_prototypes_of_later_layers_are_medoids_by_cityblock():
    x = np.random.default_rng(2).random((20, 3))
    layers = LayeredRepresentation(Gower(), 2, n_prototypes=4).fit(x)
    first = SimilarityRepresentation(Gower(), prototypes=layers.prototypes_[0])
    first = first.fit_transform(x)
    assert layers.prototypes_[0].tolist() == select_prototypes(Gower(), x, n=4).tolist()
    again = select_prototypes(Vector("cityblock"), first, n=4)
    assert layers.prototypes_[1].tolist() == again.tolist()


@pytest.mark.parametrize("measure", [Gower(), Vector()], ids=repr)
def test_one_layer_is_the_plain_representation(measure):
    table = np.random.default_rng(0).random((30, 3))
    one = LayeredRepresentation(measure, n_layers=1, n_prototypes=0.1)
    plain = SimilarityRepresentation(measure, n_prototypes=0.1)
    np.testing.assert_array_equal(one.fit_transform(table), plain.fit_transform(table))
    np.testing.assert_array_equal(one.transform(table[:3] + 1), plain.transform(table[:3] + 1))
    assert one.get_feature_names_out().tolist() == plain.get_feature_names_out().tolist()


def test_mixed_rows_with_missing_cells_and_saving(tmp_path):
    table = {"a": [1.0, None, 3.0, 4.0, 9.0], "b": ["x", "y", None, "x", "y"]}
    layers = LayeredRepresentation(n_layers=2, n_prototypes=2).fit(table)
    layers.save(tmp_path / "a.lookalike")
    back = la.load(tmp_path / "a.lookalike")
    np.testing.assert_array_equal(back.transform(table), layers.transform(table))
    assert back.n_layers_ == 2


def test_all_columns_constant_stops_with_a_warning():
    with pytest.warns(LookalikeWarning, match="layer 1.*all of them constant. 1 of 3 layers"):
        layers = LayeredRepresentation(n_layers=3, n_prototypes=2).fit(np.ones((6, 2)))
    assert layers.n_layers_ == 1
    assert layers.transform(np.ones((2, 2))).tolist() == [[1, 1], [1, 1]]


def test_a_constant_column_finds_all_rows_alike():
    # Row 3 has nothing in common with the others, and row 0 is half like everything unknown.
    table = {"a": [None, 1.0, 2.0, 3.0], "b": ["x", None, None, None]}
    layers = LayeredRepresentation(n_layers=2, n_prototypes=4).fit(table)
    first = SimilarityRepresentation(prototypes=[0, 1, 2, 3]).fit_transform(table)
    found = layers.fit_transform(table)
    np.testing.assert_allclose(found, reference.layers(first, [[0, 1, 2, 3]]), atol=1e-12)
    flat = {"a": [0.0, 1.0, 1.0], "b": ["u", "u", "u"]}
    layers = LayeredRepresentation(n_layers=2, n_prototypes=3).fit(flat)
    assert layers.transform({"a": [0.5], "b": ["v"]}).shape == (1, 3)


def test_constant_column_in_a_later_layer_counts_as_alike():
    columns = np.array([[0.2, 0.5], [0.6, 0.5], [1.0, 0.5]])
    measure = Gower(ranges={"x1": CONSTANT_RANGE}).fit(columns)
    found = measure.similarity(np.array([[0.4, 0.9]]))[0]
    expected = [reference.numbers_gower([0.4, 0.9], c, [0.8, 0.0]) for c in columns]
    np.testing.assert_allclose(found, expected, rtol=1e-15)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"n_layers": 0}, InvalidInput, "an integer >= 1"),
        ({"schedule": "falling"}, InvalidInput, "'decreasing'"),
        ({"n_prototypes": 9}, TooFewRows, "n_samples=4"),
    ],
)
def test_bad_parameters(options, error, words):
    with pytest.raises(error, match=words):
        LayeredRepresentation(**options).fit(POINTS)
