"""What a profile says of a clustering, against counts by hand."""

import datetime as dt
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score

from lookalike.clustering import (
    AutoClustering,
    SimilarityClustering,
    clustering_f_measure,
    profile_clusters,
    purity,
)
from lookalike.clustering.profile import column_differences
from lookalike.errors import InvalidInput
from lookalike.measures import Gower, Vector
from lookalike.table import read_table

X = np.array([0.0, 0.1, 0.2, 5.0, 5.1, 5.3, 5.4, 99.0])[:, None]
CLASSES = np.array(["cat", "dog", "cat", "dog", "dog", "cat", "dog", "cow"])


def fitted():
    return SimilarityClustering(Vector(), method="density", eps=0.5, min_neighbors=2).fit(X)


def test_sizes_examples_and_noise():
    model = fitted()
    profile = profile_clusters(model, X)
    assert [(one.cluster, one.rows, one.share) for one in profile] == [
        (0, 3, 3 / 8),
        (1, 4, 4 / 8),
    ]
    assert [one.typical[0] for one in profile] == model.exemplars_.tolist()
    assert (profile.noise, profile.silhouette, profile.scores) == (1, None, {})
    assert all(one.majority is one.majority_share is None for one in profile)
    assert "1 row belongs to no cluster" in str(profile)


def test_known_classes():
    model = fitted()
    profile = profile_clusters(model, X, CLASSES)
    assert [(one.majority, one.majority_share) for one in profile] == [
        ("cat", 2 / 3),
        ("dog", 3 / 4),
    ]
    labels = model.labels_
    assert profile.scores == {
        "purity": purity(CLASSES, labels),
        "adjusted_rand": adjusted_rand_score(CLASSES, labels),
        "f_measure": clustering_f_measure(CLASSES, labels),
    }
    assert profile.records()[0]["majority"] == "cat"
    objects = profile_clusters(model, X, np.array(CLASSES, dtype=object))  # a column of pandas
    assert [one.majority for one in objects] == ["cat", "dog"]
    named = profile_clusters(model, {"x": X[:, 0], "class": CLASSES}, "class")
    assert named.scores == profile.scores
    assert {one.column for cluster in named for one in cluster.columns} == {"x"}


def test_the_silhouette_that_decided():
    model = SimilarityClustering(Vector(), method="ward").fit(X[:-1])
    profile = profile_clusters(model, X[:-1])
    assert profile.silhouette == model.silhouettes_[model.n_clusters_]
    assert f"mean silhouette {profile.silhouette:.3f}" in profile.notes


def test_typical_rows_are_nearest_and_borderline_rows_between():
    line = np.array([0.0, 1.0, 2.0, 4.4, 10.0, 11.0, 12.0])[:, None]
    model = SimilarityClustering(Vector(), 2, method="medoids").fit(line)
    one, other = profile_clusters(model, line, n_examples=2)
    assert (model.exemplars_.tolist(), model.labels_.tolist()) == ([1, 5], [0] * 4 + [1] * 3)
    assert one.typical == (1, 0)
    assert one.borderline == (3, 2)
    assert other.borderline == (4, 6)
    single = profile_clusters(SimilarityClustering(Vector(), 1).fit(line), line)
    assert single[0].borderline == single[0].columns == ()


TABLE = {
    "size": [1.0, 2.0, 3.0, None, 10.0, 20.0, 30.0, 1000.0],
    "few": [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 8.0],
    "color": ["red", "red", "red", "blue", "blue", "blue", "red", "green"],
    "tags": [{"a", "b"}, {"a"}, {"a"}, {"c"}, {"b"}, {"c"}, {"b"}, {"b", "c"}],
    "note": ["Old cat", "old dog", "OLD cow", "new", "new thing", "new one", "a b", "c d"],
    "grade": pd.Categorical(list("LLMMMHHH"), list("LMH"), ordered=True),
    "day": [dt.datetime(2020, 1, day) for day in range(1, 9)],
    "flag": [True, False] * 4,
    "empty": [None, None, None, 4.0, 5.0, 4.5, 4.2, 5.1],
}
KINDS = {"tags": "set", "note": "text", "day": "number", "color": "category"}
LABELS = np.array([0, 0, 0, 0, 1, 1, 1, 1])


def differences(name, labels=LABELS):
    column = read_table(pd.DataFrame(TABLE), kinds=KINDS)[name]
    return column_differences(column, labels, int(labels.max()) + 1)


def test_differences_by_kind_as_counted_by_hand():
    size = differences("size")[0]
    assert (size.what, size.inside, size.outside, size.size) == ("median", 2.0, 25.0, 0.75)
    few = differences("few")[1]  # the medians are the same
    assert (few.what, few.inside, few.outside, few.size) == ("mean", 2.0, 0.0, 0.25)
    color = differences("color")[0]
    assert (color.what, color.value) == ("share", "red")
    assert (color.inside, color.outside) == (0.75, 0.25)
    assert color.size == pytest.approx((0.5 + 0.25 + 0.25) / 2)
    tags = differences("tags")[0]
    assert (tags.value, tags.inside, tags.outside, tags.size) == ("a", 0.75, 0.0, 0.75)
    note = differences("note")[0]
    assert (note.value, note.inside, note.outside) == ("old", 0.75, 0.0)
    grade = differences("grade")[0]
    assert (grade.what, grade.inside, grade.outside) == ("median", "L", "H")
    day = differences("day")[1]
    assert (day.inside, day.outside) == (dt.datetime(2020, 1, 6), dt.datetime(2020, 1, 2))
    assert differences("flag")[0].size == 0
    empty = differences("empty")[0]
    assert (empty.what, empty.inside, empty.outside, empty.size) == ("missing", 0.75, 0.0, 0.75)
    assert str(empty) == "empty missing 75% (others 0%)"


def test_levels_with_one_middle_are_counted():
    column = read_table({"grade": pd.Categorical(list("LMMMMH"), list("LMH"), ordered=True)})[
        "grade"
    ]
    one = column_differences(column, np.array([0, 0, 0, 1, 1, 1]), 2)[0]
    assert (one.what, one.value, one.inside, one.outside) == ("share", "L", 1 / 3, 0.0)


@given(
    st.lists(st.integers(0, 5), min_size=2, max_size=12),
    st.integers(1, 11),
)
def test_size_is_cliffs_delta(values, cut):
    cut = min(cut, len(values) - 1)
    labels = (np.arange(len(values)) >= cut).astype(int)
    column = read_table(np.array(values, float)[:, None]).columns[0]
    a, b = values[:cut], values[cut:]
    delta = sum((x > y) - (x < y) for x in a for y in b) / (len(a) * len(b))
    one, other = column_differences(column, labels, 2)
    assert one.size == pytest.approx(abs(delta))
    assert other.size == pytest.approx(abs(delta))


def test_noise_belongs_to_the_others():
    labels = np.array([0, 0, 0, 0, 1, 1, 1, -1])
    assert differences("size", labels)[0].outside == 25.0
    assert differences("size", labels)[1].inside == 20.0
    assert differences("tags", labels)[0].outside == 0.0


def test_columns_are_sorted_and_cut():
    model = SimilarityClustering(Gower(), 2, method="ward", kinds=KINDS).fit(pd.DataFrame(TABLE))
    frame = read_table(pd.DataFrame(TABLE), kinds=KINDS)
    for one in profile_clusters(model, frame, n_columns=3):
        sizes = [difference.size for difference in one.columns]
        assert len(sizes) == 3
        assert sizes == sorted(sizes, reverse=True)
    full = profile_clusters(model, frame, n_columns=99)
    assert all(difference.size > 0 for one in full for difference in one.columns)
    assert full[0].columns[:3] == profile_clusters(model, frame, n_columns=3)[0].columns


def test_every_form():
    profile = profile_clusters(LABELS, read_table(pd.DataFrame(TABLE), kinds=KINDS))
    assert len(json.loads(json.dumps(profile.records()))) == 2
    frame = profile.to_frame()
    assert set(frame["cluster"]) == {0, 1}
    assert {"column", "what", "inside", "outside", "size"} <= set(frame.columns)
    page = profile.to_html()
    assert page.startswith("<!doctype html>")
    assert "size 2 (others 25)" in page
    assert "<li>" in page
    assert "&lt;li" not in page


def test_labels_alone():
    profile = profile_clusters(LABELS, read_table(pd.DataFrame(TABLE), kinds=KINDS))
    assert [one.rows for one in profile] == [4, 4]
    assert all(LABELS[row] == one.cluster for one in profile for row in one.typical)
    assert profile.exactness == ""
    many = np.arange(2000.0)[:, None]  # more members than typical rows are compared with
    halves = (np.arange(2000) >= 1000).astype(int)
    middle = profile_clusters(halves, many)[0].typical[0]
    assert 400 < middle < 600


def test_a_search_is_profiled_by_its_winner():
    search = AutoClustering([Gower()], methods=["ward"], n_clusters=2).fit(X[:-1])
    assert [one.rows for one in profile_clusters(search, X[:-1])] == [3, 4]


def test_shuffled_labels_set_nothing_apart():
    rng = np.random.default_rng(0)
    table = {"x": np.repeat([0.0, 9.0], 100) + rng.normal(size=200), "y": rng.normal(size=200)}
    labels = np.repeat([0, 1], 100)
    true = profile_clusters(labels, table)[0].columns[0]
    assert (true.column, true.size) == ("x", 1.0)
    assert profile_clusters(rng.permutation(labels), table)[0].columns[0].size < 0.3


def test_only_of_a_fitted_model_and_its_own_rows():
    with pytest.raises(NotFittedError):
        profile_clusters(SimilarityClustering(), X)
    with pytest.raises(InvalidInput, match="the 8 rows that have labels, found 7"):
        profile_clusters(fitted(), X[:-1])
    with pytest.raises(InvalidInput, match="one integer >= -1 per row"):
        profile_clusters(["a"] * 8, X)
    with pytest.raises(InvalidInput, match="rows in every cluster, found none in 0"):
        profile_clusters(np.ones(8, dtype=int), X)
    with pytest.raises(InvalidInput, match="n_columns=0"):
        profile_clusters(fitted(), X, n_columns=0)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([12000, 15000, 9000, 8000], "x 13,500 (others 8,500)"),
        ([1, 2, 3, 5], "x 1.5 (others 4.0)"),
        ([1000.25, 2000.5, 3.25, 4.0], "x 1500.38 (others 3.62)"),
        (["$1,000", "$3,000", "$5", "$7"], "x $2000 (others $6)"),
    ],
)
def test_middles_are_written_as_the_column_is(values, said):
    (found, _) = column_differences(read_table({"x": values})["x"], np.array([0, 0, 1, 1]), 2)
    assert str(found) == said
    assert "style" not in found.to_dict()
    # How numbers are written is not part of the difference.
    assert "style" not in repr(found)
    assert replace(found, style=None) == found


def test_codes_of_which_every_row_has_another_set_nothing_apart():
    cells = [f"2015-{i // 2:06d}" for i in range(200)]
    codes = read_table({"order": cells}, kinds={"order": "code"})
    assert column_differences(codes["order"], np.repeat([0, 1], 100), 2) == [None, None]


def test_rows_of_mostly_missing_cells_are_no_examples():
    rows = {name: [None, None, 1.0, 1.2, 0.9, None, 9.0, 9.2, 8.8, 9.1] for name in "abc"}
    rows["d"] = [1.0, 1.0, 1.1, 1.0, 1.3, 9.0, 9.0, 9.1, 8.9, 9.3]
    labels = np.array([0] * 5 + [1] * 5)
    profile = profile_clusters(labels, rows, n_examples=5)
    shown = {row for one in profile for row in (*one.typical, *one.borderline)}
    assert shown == {2, 3, 4, 6, 7, 8, 9}
    # Unless there is nothing else.
    empty = profile_clusters(np.zeros(5, int), {name: cells[:5] for name, cells in rows.items()})
    assert len(empty[0].typical) == 3
    alone = profile_clusters(np.array([0, 0, 1, 1, 1, 1, 1, 1, 1, 1]), rows)
    assert set(alone[0].typical) == {0, 1}
