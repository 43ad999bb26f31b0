"""Scores equal their definitions, edge cases included."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clustering import reference
from lookalike.clustering import clustering_f_measure, purity
from lookalike.clustering.scores import among, silhouette_of
from lookalike.errors import InvalidInput, UndefinedMeasure

DEFINITIONS = ("class_weighted", "hungarian", "pairwise")
CLASSES, CLUSTERS = [0, 0, 0, 1, 1, 1], [0, 0, -1, 1, 1, 0]


@st.composite
def labelings(draw, lowest=-1):
    n = draw(st.integers(2, 12))
    y = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    c = draw(st.lists(st.integers(lowest, 3), min_size=n, max_size=n))
    return y, c


@pytest.mark.parametrize(
    ("definition", "value"),
    [("class_weighted", 11 / 15), ("hungarian", 11 / 15), ("pairwise", 0.4)],
)
def test_worked_f_measures(definition, value):
    assert clustering_f_measure(CLASSES, CLUSTERS, definition) == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("definition", DEFINITIONS)
@given(pair=labelings())
def test_f_measure_is_its_definition(definition, pair):
    y, c = pair
    value = clustering_f_measure(y, c, definition)
    assert value == pytest.approx(reference.f_measure(y, c, definition), abs=1e-12)
    assert 0 <= value <= 1
    names = [f"class {10 - a}" for a in y]
    moved = [b if b < 0 else 7 - b for b in c]
    assert clustering_f_measure(names, moved, definition) == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("definition", DEFINITIONS)
def test_f_measure_at_its_ends(definition):
    assert clustering_f_measure([0, 0, 1, 1], [5, 5, 2, 2], definition) == 1
    assert clustering_f_measure([0, 0, 1, 1], [-1] * 4, definition) == 0
    assert clustering_f_measure([0, 0, 1, 1], [5, 5, 2, -1], definition) < 1


@given(pair=labelings())
def test_hungarian_is_no_more_than_the_mean_of_the_best(pair):
    y, c = pair
    classes, clusters, table = reference.f_table(y, c)
    best = [max((table[i, j] for j in clusters), default=0.0) for i in classes]
    assert clustering_f_measure(y, c, "hungarian") <= np.mean(best) + 1e-12


def test_worked_purity():
    assert purity(CLASSES, [0, 0, 1, 1, 1, 1]) == pytest.approx(5 / 6)


@given(pair=labelings())
def test_purity_is_its_definition(pair):
    y, c = pair
    assert purity(y, c) == pytest.approx(reference.purity(y, c))


def test_worked_silhouettes():
    d = reference.gaps(reference.TOY)
    assert silhouette_of(d, [0, 0, 0, 1, 1, 1]) == pytest.approx(0.865657, abs=1e-6)
    assert silhouette_of(d, [0, 0, 1, 1, 1, 1]) == pytest.approx(0.468561, abs=1e-6)


@given(
    points=st.lists(st.integers(0, 5), min_size=3, max_size=10),
    data=st.data(),
)
def test_silhouette_is_its_definition(points, data):
    n = len(points)
    c = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    d = reference.gaps(points)
    if len(set(c)) < 2:
        with pytest.raises(UndefinedMeasure, match="at least two clusters, found 1"):
            silhouette_of(d, c)
    else:
        assert silhouette_of(d, c) == pytest.approx(reference.silhouette(d, c), abs=1e-12)


def test_silhouette_of_rows_all_alone_or_all_alike():
    assert silhouette_of(reference.gaps([0, 1, 5]), [0, 1, 2]) == 0
    assert silhouette_of(np.zeros((4, 4)), [0, 0, 1, 1]) == 0


def test_wrong_labels_are_named():
    with pytest.raises(InvalidInput, match="one label for each of the 3 rows, found 2"):
        purity([0, 1], [0, 0, 1])
    with pytest.raises(InvalidInput, match="labels without missing values, found 1 missing"):
        clustering_f_measure([0, None, 1], [0, 0, 1])
    with pytest.raises(InvalidInput, match="integer labels"):
        purity([0, 1], [0.5, 1.0])
    with pytest.raises(InvalidInput, match="at least one row"):
        purity([], np.array([], dtype=int))
    with pytest.raises(InvalidInput, match="Did you mean 'hungarian'"):
        clustering_f_measure([0, 1], [0, 1], "hungarain")


def test_distances_of_all_rows_are_not_copied():
    distances = np.arange(9.0).reshape(3, 3)
    assert among(distances, np.arange(3)) is distances
    assert among(distances, np.array([0, 2])).tolist() == [[0, 2], [6, 8]]
