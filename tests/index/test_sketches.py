"""Approximate search against exact search: what is found is exact, and most of it is found."""

import sys
import zipfile
from unittest import mock

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lookalike as la
from lookalike.errors import InvalidInput, LookalikeWarning, MissingExtra
from lookalike.index import sketches
from lookalike.index.sketches import Sketches, recall_of
from lookalike.measures import ForestProximity, Gower, StochasticForest, Vector
from lookalike.trees import SyntheticForest

pytest.importorskip("faiss")

MEASURES = [
    Vector(),
    Vector("cosine", scale="standard"),
    Vector("cityblock"),
    StochasticForest(40, 3, on_fail="relax", random_state=0),
    ForestProximity("shi", n_estimators=12, random_state=0),
    # Samples small enough that every two rows have trees which were grown on neither.
    ForestProximity("oob", SyntheticForest(60, max_samples=0.1), random_state=0),
]


def blobs(n, columns=4, seed=0):
    rng = np.random.default_rng(seed)
    center = rng.normal(size=(12, columns)) * 3
    return center[rng.integers(0, 12, n)] + rng.normal(size=(n, columns))


@pytest.fixture
def small():
    """Let few rows be searched by sketches."""
    with mock.patch.multiple(
        sketches, MIN_ROWS=64, MIN_LEAF_CODES=0, MAX_COMPARED_SHARE=2, SAMPLE_QUERIES=24
    ):
        yield


def fit(measure, X, **options):
    return la.Index(measure, approximate=True, **options).fit(X)


def walked(index):
    """Whether a search of the index walks a graph in every large segment."""
    tuned = [
        Sketches(index.recall).tuned(index.measure_, segment.rows)
        for segment in index.state_.segments.segments
        if len(segment) >= sketches.MIN_ROWS
    ]
    return bool(tuned) and all(part.graph is not None for part in tuned)


@pytest.mark.parametrize("measure", MEASURES[:-1], ids=str)
@settings(max_examples=8)
@given(seed=st.integers(0, 2**31 - 1), k=st.integers(1, 25), data=st.data())
def test_what_is_found_is_exact_and_may_be_found(measure, seed, k, data):
    with mock.patch.multiple(
        sketches, MIN_ROWS=64, MIN_LEAF_CODES=0, MAX_COMPARED_SHARE=2, SAMPLE_QUERIES=24
    ):
        X = blobs(400, seed=seed)
        index, exact = fit(measure, X, recall=0.8), la.Index(measure).fit(X)
        gone = data.draw(st.lists(st.integers(1, 399), unique=True, max_size=120))
        if gone:
            index.delete(gone)
            exact.delete(gone)
        for one in (index, exact):
            one.add(X[:5] + 0.1)
        choice = data.draw(st.sampled_from([None, {"x0": (">", 0.0)}, {"x0": (">", 1e9)}]))
        hits, truth = (one.search(0, k, filter=choice) for one in (index, exact))
        assert len(hits) == len(truth)
        assert len(set(hits.ids)) == len(hits.ids)
        assert not {0, *gone} & set(hits.ids)
        far = [hit.distance for hit in hits]
        assert far == sorted(far)
        for hit, best in zip(hits, truth, strict=True):
            assert hit.distance >= best.distance
            assert hit.distance == index.explain(0, hit.id).distance
            assert choice is None or hit.row["x0"] > choice["x0"][1]


@pytest.mark.parametrize("measure", MEASURES, ids=str)
def test_a_graph_is_walked_and_few_rows_are_compared(measure, small):
    X = blobs(2000)
    index = fit(measure, X)
    assert walked(index)
    compared = []
    with (
        mock.patch.object(type(index.measure_), "nearest", side_effect=AssertionError),
        mock.patch.object(
            type(index.measure_),
            "pair_distances",
            autospec=True,
            side_effect=lambda m, a, b, i, j: compared.append(len(i)) or far(m, a, b, i, j),
        ),
    ):
        from lookalike.measures.contract.matrices import pair_by_pair as far

        assert len(index.search(7, k=5)) == 5
    assert 5 <= sum(compared) < 600


@pytest.mark.parametrize(
    "measure", [Vector(), StochasticForest(512, 4, on_fail="relax", random_state=0)], ids=str
)
@pytest.mark.long
def test_recall_on_real_rows_is_what_it_says(measure, data_folder):
    table = pq.read_table(data_folder / "letter_recognition.parquet").drop_columns(["target"])
    index = fit(measure, table, recall=0.95)
    exact = la.Index(index.measure_.frozen()).fit(table)
    assert walked(index)
    assert 0.95 <= index.recall_ <= 1.0
    assert f"finds {index.recall_:.1%}" in repr(index)
    asked = np.random.default_rng(99).choice(20_000, 300, replace=False).tolist()
    found, truth = (
        np.array([[hit.distance for hit in hits] for hits in one.search(asked, 10)])
        for one in (index, exact)
    )
    assert recall_of(found, truth) > 0.93  # a sample of 3,000 neighbors, five standard errors


def test_a_lower_recall_reaches_less_far(small):
    measure = Vector().fit(np.random.default_rng(0).normal(size=(2000, 12)))
    low, high = (Sketches(recall).tuned(measure, measure.rows_) for recall in (0.6, 0.999))
    assert low.reach < high.reach
    assert low.graph is high.graph


def test_adding_deleting_saving_and_loading_keep_the_answers(small, tmp_path):
    X = blobs(600)
    index = fit(Vector(), X)
    index.add(X[:100] + 0.01)  # a segment of its own, with a graph of its own
    index.delete(range(0, 50))
    assert walked(index)
    assert len(index.state_.segments.segments) == 2
    index.save(tmp_path / "index.lookalike")
    again = la.load(tmp_path / "index.lookalike")
    assert walked(again)
    assert again.recall_ == index.recall_
    asked = list(range(60, 120))
    for one, other in zip(index.search(asked, 7), again.search(asked, 7), strict=True):
        assert one.ids == other.ids
        assert [hit.distance for hit in one] == [hit.distance for hit in other]
    with zipfile.ZipFile(tmp_path / "index.lookalike") as file:
        assert not [name for name in file.namelist() if not name.endswith((".npy", ".json"))]


def test_answers_do_not_depend_on_threads_or_on_the_run(small):
    X = blobs(3000)
    one, other = (fit(Vector(), X, n_jobs=jobs).search(list(range(200)), 9) for jobs in (1, 2))
    assert [hits.ids for hits in one] == [hits.ids for hits in other]


def test_refitting_makes_the_graph_again(small):
    index = fit(Vector(), blobs(300)).refit()
    assert walked(index)


def test_a_measure_without_sketch_is_searched_exactly_and_says_so(small):
    X = blobs(200)
    for measure in (Gower(), Vector("chebyshev"), ForestProximity("ting", n_estimators=5)):
        with pytest.warns(LookalikeWarning, match=r"has no sketch\. Rows are searched exactly"):
            index = fit(measure, X)
        assert index.recall_ == 1.0
        exact = la.Index(index.measure_.frozen()).fit(X)
        assert index.search(3, 5).ids == exact.search(3, 5).ids


def test_a_recall_out_of_reach_is_searched_exactly_and_says_so(small):
    with (
        mock.patch.object(sketches, "MAX_COMPARED_SHARE", 20),  # 16 of 300 rows would be too many
        pytest.warns(LookalikeWarning, match="was not reached"),
    ):
        index = fit(Vector(), blobs(300))
    assert index.recall_ == 1.0
    assert not walked(index)


def test_few_rows_are_searched_exactly_without_a_word():
    index = fit(Vector(), blobs(500))
    assert index.recall_ == 1.0
    assert index.search(3, 5).ids == la.Index(Vector()).fit(blobs(500)).search(3, 5).ids


def test_a_forest_of_few_trees_is_searched_exactly_without_a_word():
    measure = StochasticForest(10, 3, on_fail="relax", random_state=0)
    index = fit(measure, blobs(9000))
    assert index.recall_ == 1.0
    assert not walked(index)


def test_rows_with_missing_cells_are_found_too(small):
    X = blobs(600)
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    measure = StochasticForest(40, 3, on_fail="relax", random_state=0)
    index = fit(measure, X, recall=0.8)
    assert walked(index)
    assert 0.8 <= index.recall_ <= 1.0


def test_feedback_and_long_lists_look_at_everything(small):
    X = blobs(400)
    index, exact = fit(Vector(), X), la.Index(Vector()).fit(X)
    assert index.search(3, 5, like=[9]).ids == exact.search(3, 5, like=[9]).ids
    assert index.search(3, 399).ids == exact.search(3, 399).ids


def test_bad_parameters_and_a_missing_package_are_named(monkeypatch):
    with pytest.raises(InvalidInput, match="recall"):
        fit(Vector(), blobs(50), recall=1.5)
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(MissingExtra, match=r"lookalike\[fast\]"):
        fit(Vector(), blobs(50))


def test_a_folder_of_shards_may_be_searched_approximately(small, tmp_path):
    from lookalike.index import build_index

    X = {f"x{j}": column for j, column in enumerate(blobs(3000).T)}
    table = la.read_table(X)
    measure = Vector("cityblock")
    build_index(table, tmp_path / "index", measure, shard_rows=1024)
    exact = la.Index.open(tmp_path / "index")
    index = la.Index.open(tmp_path / "index", approximate=True, recall=0.9)
    assert exact.recall_ == 1.0
    assert walked(index)
    assert index.recall_ >= 0.9
    found = [hits.ids for hits in index.search(list(range(0, 3000, 50)), 10)]
    truth = [hits.ids for hits in exact.search(list(range(0, 3000, 50)), 10)]
    same = [len(set(one) & set(other)) for one, other in zip(found, truth, strict=True)]
    assert sum(same) >= 0.8 * 10 * len(truth)
    index.delete(found[0][:3])
    index.add({f"x{j}": [value] for j, value in enumerate(blobs(3000)[0])})
    again = index.search(0, 10)
    assert again.ids[0] == 3000
    assert not set(again.ids) & set(found[0][:3])
    with pytest.raises(InvalidInput, match="recall"):
        la.Index.open(tmp_path / "index", approximate=True, recall=2.0)
