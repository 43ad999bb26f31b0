"""The default comparison: one measure for every table, surface and estimator, with its reason."""

import inspect
import re

import numpy as np
import pytest

import lookalike as la
from lookalike import clustering, prediction, represent
from lookalike.measures import Gower, Vector, choose_measure
from lookalike.measures.default import default_measure, is_auto
from lookalike.measures.names import as_measure

DEFAULT = "Gower(missing='midpoint', scale='rank')"
random = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        (random.random((50, 3)), "numbers are compared by rank$"),
        ({"a": [1.0, None, 3.0]}, "by rank; 1 missing cell counts as half alike$"),
        ({"a": [1.0, None, None]}, "2 missing cells count as half alike$"),
        ({"b": ["x", "y"]}, "every column is compared by its kind$"),
        ({"a": [1.0, 1e300, -1e300], "b": ["x", "y", "y"]}, "numbers are compared by rank"),
    ],
)
def test_the_default_and_its_reason(rows, reason):
    measure, text = choose_measure(rows)
    assert repr(measure) == DEFAULT
    assert text.startswith("Gower: ")
    assert re.search(reason, text), text
    index = la.Index().fit(rows)
    assert repr(index.measure_) == DEFAULT
    assert index.reason_ == text


def test_vectors_alone_are_compared_by_the_cosine():
    cells = {"v": [[0.1, 0.2], [0.3, -0.4], [5.0, 9.0]]}
    table = la.read_table(cells, kinds={"v": "vector"})
    measure, reason = choose_measure(table)
    assert repr(measure) == "Vector(metric='cosine')"
    assert reason == "Vector by cosine: every column is a vector"
    assert isinstance(la.Index().fit(table).measure_, Vector)
    model = prediction.NeighborClassifier("auto", n_neighbors=1).fit(table, [0, 0, 1])
    assert isinstance(model.measure_, Vector)
    beside = la.read_table(cells | {"size": [1.0, 2.0, 3.0]}, kinds={"v": "vector"})
    assert repr(choose_measure(beside)[0]) == DEFAULT
    gappy = la.read_table({"v": [[0.1, 0.2], None, [5.0, 9.0]]}, kinds={"v": "vector"})
    assert repr(choose_measure(gappy)[0]) == DEFAULT


def test_kinds_are_those_of_the_caller():
    rows = {"a": [1.0, 2.0, 4.0], "b": [[3.0, 1.0], [2.0, 2.0], [0.0, 1.0]]}
    assert repr(choose_measure(rows, kinds={"b": "vector"})[0]) == DEFAULT
    assert isinstance(choose_measure({"b": rows["b"]}, kinds={"b": "vector"})[0], Vector)


def test_auto_is_a_name_for_the_default():
    assert is_auto(" Auto")
    assert is_auto(None)
    assert not is_auto("gower")
    assert repr(as_measure("auto")) == repr(as_measure(None)) == repr(default_measure()) == DEFAULT
    assert repr(as_measure("gower")) == "Gower()"


def estimators():
    """Return every estimator class with a measure, in the packages of tasks."""
    classes = [
        value
        for package in (prediction, clustering, represent)
        for _, value in inspect.getmembers(package, inspect.isclass)
        if "measure" in inspect.signature(value).parameters
    ]
    return sorted(set(classes), key=lambda cls: cls.__name__)


def test_every_estimator_takes_auto_and_means_the_default():
    rng = np.random.default_rng(1)
    table = {
        "size": [None, *rng.exponential(size=59).tolist()],
        "color": rng.choice(["red", "blue", "green"], 60).tolist(),
    }
    y = rng.integers(0, 2, 60)
    seen = 0
    for cls in estimators():
        if inspect.signature(cls).parameters["measure"].default is not None:
            continue  # wrappers whose default is a method of their own
        for asked in ("auto", None):
            model = cls(measure=asked).fit(table, y)
            inner = getattr(model, "representation_", model)
            measure = getattr(inner, "measures_", [getattr(inner, "measure_", None)])[0]
            # Clusters by components weigh the columns of the default measure.
            measure = (
                measure.set_params(weights=None)
                if cls is clustering.SimilarityClustering
                else measure
            )
            assert repr(measure) == DEFAULT, (cls.__name__, asked)
        seen += 1
    assert seen >= 8


def test_vectors_alone_are_compared_by_the_cosine_in_estimators_too():
    rows = {"v": [[float(i), 1.0, float(i % 3)] for i in range(12)]}
    model = prediction.NeighborClassifier(kinds={"v": "vector"}).fit(rows, [0, 1] * 6)
    assert repr(model.measure_) == "Vector(metric='cosine')"


def test_an_almost_empty_row_is_not_the_nearest():
    # Row 1 agrees in its only filled cell; row 2 agrees nearly in all three.
    rows = {
        "a": [5.0, 5.0, 5.1, 1.0, 9.0, 3.0],
        "b": [2.0, None, 2.1, 9.0, 1.0, 4.0],
        "c": ["x", None, "x", "y", "z", "y"],
    }
    assert la.Index(Gower(scale="rank")).fit(rows).search(0, 1).ids == [1]
    assert la.Index().fit(rows).search(0, 1).ids == [2]
    assert la.search(rows, 0, k=1).ids == [2]
