"""Similarities explained from the distances of a list are those of comparing again, bit for bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.measures import MEASURES, Gower
from lookalike.saving.load import import_packages
from lookalike.table import read_table

import_packages()
EXAMPLES = [
    pytest.param(example, id=repr(example))
    for cls in MEASURES.values()
    if cls.__module__.startswith("lookalike.")
    for example in cls.examples()
]


def rows_of(measure, n=40):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, 4)).round(1)
    x[1] = x[0]
    if measure.traits.pairwise:
        return np.abs(x[:, None] - x).sum(axis=2)
    columns = {f"x{j}": x[:, j] for j in range(4)}
    words = not measure.traits.kinds or "category" in measure.traits.kinds
    if words:
        columns["c"] = np.array(["red", "green", "blue", "blue"])[rng.integers(0, 4, n)]
    return read_table(columns)


@pytest.mark.filterwarnings("ignore::lookalike.errors.LookalikeWarning")
@pytest.mark.parametrize("measure", EXAMPLES)
def test_every_measure_tells_the_same_similarities(measure):
    fitted = measure.fit(rows_of(measure))
    rows = fitted.rows_
    graph = fitted.nearest(rows, rows, 5, exclude=np.arange(len(rows)))
    explained = 0
    for i in range(len(rows)):
        d, s = fitted.both_blocks(rows[i : i + 1], rows[graph.indices[i]])
        found = fitted.similarity_at(graph.distances[i])
        if found is not None:
            explained += 1
            np.testing.assert_array_equal(graph.distances[i], d[0])
            np.testing.assert_array_equal(found, s[0])
    if fitted.traits.native == "distance":
        assert explained == len(rows)
    elif fitted.traits.conversion != "one_minus":
        assert not explained


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=8))
@settings(deadline=None)
def test_what_one_minus_loses_is_not_guessed(similarities):
    measure = Gower().fit({"x": [0.0, 1.0]})
    s = np.array(similarities)
    found = measure.similarity_at(measure.to_distance(s.copy()))
    if found is not None:
        np.testing.assert_array_equal(found, s)
    # Between one half and one every similarity comes back.
    assert found is not None or not ((s > 0.5) & (s < 1.0)).all()
