"""What every measure has, tried on simple ones."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

import lookalike as la
from lookalike.errors import InvalidInput, LookalikeWarning, TooFewRows, TooLarge
from lookalike.hubness import LocalScaling
from lookalike.measures import Gower, Ranked, Vector
from lookalike.saving.fields import Misfit
from lookalike.table.model.targets import split_target

LINE = [[0.0], [1.0], [3.0], [7.0]]
RNG = np.random.default_rng(0)


def test_neighbors_leave_out_the_row_itself_by_its_position():
    distances, indices = Vector().fit([[1.0], [1.0], [1.0], [5.0]]).kneighbors(n_neighbors=2)
    assert_array_equal(indices, [[1, 2], [0, 2], [0, 1], [0, 1]])  # ties to the lower index
    assert_array_equal(distances[0], [0, 0])  # duplicates are neighbors


def test_loaded_rows_have_those_of_the_measures_inside():
    measure = LocalScaling(Vector(), 2).fit(LINE)
    measure.check_rows(measure.rows_, "rows")
    with pytest.raises(Misfit, match="rows of the measures inside"):
        measure.check_rows(replace(measure.rows_, parts={}), "rows")
    inner = dict.fromkeys(measure.rows_.parts, Gower().fit(LINE).rows_)
    with pytest.raises(Misfit):
        measure.check_rows(replace(measure.rows_, parts=inner), "rows")


def test_new_rows_may_find_themselves():
    _, indices = Vector().fit(LINE).kneighbors(LINE, n_neighbors=1)
    assert_array_equal(indices.ravel(), [0, 1, 2, 3])


@pytest.mark.parametrize("k", [0, -1, 2.0, "3", True])
def test_k_must_be_a_whole_number_above_zero(k):
    with pytest.raises(InvalidInput, match="an integer >= 1"):
        Vector().fit(LINE).kneighbors(n_neighbors=k)


def test_k_is_never_shrunk():
    measure = Vector().fit(LINE)
    with pytest.raises(TooFewRows, match=r"at least 5 rows, found n_samples=4. Use n_neigh.*=3"):
        measure.kneighbors(n_neighbors=4)
    assert measure.kneighbors(LINE, n_neighbors=4)[1].shape == (4, 4)
    with pytest.raises(TooFewRows, match="Use n_neighbors=4"):
        measure.kneighbors(LINE, n_neighbors=5)


def test_one_row_has_no_neighbors_but_a_distance():
    measure = Vector().fit([[1.0, 2.0]])
    assert_array_equal(measure.distance(), [[0.0]])
    with pytest.raises(TooFewRows, match="found n_samples=1. Add rows"):
        measure.kneighbors(n_neighbors=1)
    assert measure.kneighbors([[5.0, 2.0]], n_neighbors=1)[0] == [[4.0]]


@pytest.mark.parametrize("empty", [np.empty((0, 3)), {}, {"a": []}, []])
def test_empty_tables_are_refused(empty):
    with pytest.raises(ValueError, match="needs"):
        Vector().fit(empty)


def test_a_matrix_over_the_memory_limit_is_refused_before_it_starts():
    measure = Vector().fit(RNG.random((2000, 2)))
    with la.config(memory_limit="10MB"):
        with pytest.raises(
            TooLarge, match=r"2,000 x 2,000 = 32 MB. Ask for neighbors by kneighbors"
        ):
            measure.distance()
        found = measure.kneighbors(n_neighbors=3)[1]
    assert_array_equal(found, measure.kneighbors(n_neighbors=3)[1])


def test_similarity_is_half_at_the_typical_distance():
    measure = Vector().fit(LINE)
    assert measure.scale_ == np.median([1, 3, 7, 2, 6, 4])
    assert measure.similarity([[measure.scale_]])[0, 0] == 0.5


@pytest.mark.parametrize("measure", [Vector(), Vector("cityblock"), Ranked(), Gower()], ids=repr)
def test_any_number_of_threads_gives_the_same_answer(measure):
    x, new = RNG.random((700, 9)), RNG.random((90, 9))
    found = []
    for jobs in (1, 2, 5, -1):
        m = clone(measure).set_params(n_jobs=jobs).fit(x)
        found.append((m.kneighbors(new, 8), m.kneighbors(n_neighbors=4), m.distance(new)))
    for (one, own, full), (other, other_own, other_full) in pairwise(found):
        for left, right in zip(one + own, other + other_own, strict=True):
            assert_array_equal(left, right)
        assert_array_equal(full, other_full)


def test_eight_threads_may_ask_concurrently():
    measure = Vector().fit(RNG.random((3000, 12)))
    queries = [RNG.random((50, 12)) for _ in range(8)]
    alone = [measure.kneighbors(q, 5) for q in queries]
    gate = threading.Barrier(8)

    def ask(q):
        gate.wait()
        return measure.kneighbors(q, 5)

    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(ask, queries))
    for (d, i), (e, j) in zip(alone, together, strict=True):
        assert_array_equal(d, e)
        assert_array_equal(i, j)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_child_can_search():
    measure = Vector().fit(RNG.random((2000, 12)))
    expected = measure.kneighbors(n_neighbors=3)[1]
    child = os.fork()
    if child == 0:
        found = measure.kneighbors(n_neighbors=3)[1]
        os._exit(0 if np.array_equal(found, expected) else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_new_rows_by_name_come_in_any_order():
    measure = Vector("cityblock").fit({"a": [1.0, 2.0], "b": [10.0, 30.0]})
    assert_array_equal(measure.distance({"b": [30.0], "a": [1.0]}), [[20.0, 1.0]])
    assert_array_equal(measure.distance({"b": 30.0, "a": 1.0}), [[20.0, 1.0]])  # a record
    with pytest.raises(InvalidInput, match="'b'"):
        measure.distance({"a": [1.0]})
    with pytest.warns(LookalikeWarning, match="'c'"):
        measure.distance({"a": [1.0], "b": [10.0], "c": [5.0]})


def test_explain_takes_positions_and_records():
    measure = Vector("cityblock").fit({"a": [1.0, 2.0], "b": [10.0, 30.0]})
    assert measure.explain(0, 1).distance == 21.0
    assert measure.explain(0, {"a": 1.0, "b": 11.0}).distance == 1.0
    with pytest.raises(InvalidInput, match="a position from 0 to 1, found 2"):
        measure.explain(0, 2)
    with pytest.raises(InvalidInput, match="one row on each side, found 2 rows"):
        measure.explain(0, {"a": [1.0, 2.0], "b": [1.0, 2.0]})


def test_a_frozen_measure_is_left_alone():
    measure = Vector().fit(LINE).frozen()
    assert clone(measure) is measure
    measure.fit([[100.0]])
    assert len(measure.rows_) == 4


def test_target_by_name_is_taken_out_of_the_table():
    table = la.read_table({"x": [1.0, 2.0], "label": ["a", "b"]})
    rest, y = split_target(table, "label", "Test")
    assert rest.names == ("x",)
    assert y.tolist() == ["a", "b"]
    measure = Gower().fit(table, "label")
    assert measure.schema_.aside["label"] == "the target"
    measure.distance(table)  # the target among the new rows is no surprise


def test_targets_are_checked():
    table = la.read_table({"x": [1.0, 2.0]})
    with pytest.raises(InvalidInput, match=r"each of the 2 rows, found an array of shape \(3,\)"):
        split_target(table, [1, 2, 3], "Test")
    with pytest.raises(InvalidInput, match="a target without missing values"):
        split_target(table, [1.0, np.nan], "Test")
    with pytest.raises(InvalidInput, match="the name of a column, found 'y'"):
        split_target(table, "y", "Test")
