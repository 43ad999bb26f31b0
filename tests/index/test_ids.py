"""Ids of rows: integers, values of a column, labels of a pandas frame."""

import pandas as pd
import polars as pl
import pytest

import lookalike as la
from lookalike.clustering import SimilarityClustering, profile_clusters
from lookalike.errors import InvalidInput, LookalikeWarning
from lookalike.index import build_index
from lookalike.measures import Gower, Precomputed, Vector

ROWS = {"size": [1.0, 2.0, 9.0, 8.0], "color": ["red", "red", "blue", "blue"]}
NAMES = ["cust10", "cust11", "cust12", "cust13"]


@pytest.fixture
def frame():
    return pd.DataFrame(ROWS, index=NAMES)


@pytest.fixture
def index(frame):
    return la.Index(Gower()).fit(frame)


def test_rows_are_asked_for_and_found_by_their_labels(index):
    assert index.ids == NAMES
    assert index.search("cust10", k=2).ids == ["cust11", "cust13"]
    assert index.search(["cust10", "cust12"], k=1)[1].ids == ["cust13"]
    assert index.get("cust12")["size"] == 9
    assert index.search("cust10", k=1, unlike="cust11").ids == ["cust13"]
    assert index.explain("cust10", {"size": 9.0}).minus["size"] > 0
    assert index.search("cust10", 1)[0].row["index"] == "cust11"
    with pytest.raises(InvalidInput, match="Did you mean 'cust1"):
        index.search("cust1o")


def test_labels_are_not_compared(frame, index):
    plain = la.Index(Gower()).fit(frame.reset_index(drop=True))
    ours = [hit.distance for hit in index.search("cust10", 3)]
    assert ours == [hit.distance for hit in plain.search(0, 3)]
    assert index.n_features_in_ == 2
    assert index.id_column is None  # what the caller set stays as it is


def test_added_rows_bring_their_labels(frame, index):
    more = pd.DataFrame({"color": ["red"], "size": [3.0]}, index=["new"])
    assert index.add(more) == ["new"]
    assert index.add({"index": "last", "size": 3.5, "color": "red"}) == ["last"]
    assert index.search("new", 1).ids == ["last"]
    with pytest.raises(InvalidInput, match="'new' again"):
        index.add(more)
    with pytest.raises(InvalidInput, match="index"):
        index.add({"size": 4.0, "color": "red"})
    index.delete("cust11")
    index.refit()
    assert "cust11" not in index.ids


def test_labels_are_saved(index, tmp_path):
    index.save(tmp_path / "x.lookalike")
    again = la.load(tmp_path / "x.lookalike")
    assert again.search("cust10", 2).ids == index.search("cust10", 2).ids
    assert again.add(pd.DataFrame({"size": [1.0], "color": ["red"]}, index=["z"])) == ["z"]


def test_numbers_and_dates_can_be_labels(frame):
    frame.index = [7, 3, 9, 100]
    index = la.Index(Gower()).fit(frame)
    assert index.search(7, 1).ids == [3]
    frame.index = pd.date_range("2020-01-01", periods=4)
    index = la.Index(Gower()).fit(frame)
    assert index.search(pd.Timestamp("2020-01-01"), 1).ids[0] == pd.Timestamp("2020-01-02")


def test_the_name_of_the_index_is_kept_and_gives_way(frame):
    frame.index.name = "customer"
    assert "customer" in la.Index(Gower()).fit(frame).get("cust10")
    assert la.Index(Gower(), id_column="customer").fit(frame).ids == NAMES
    frame.index.name = "size"
    assert "index" in la.Index(Gower()).fit(frame).get("cust10")


def test_a_column_of_ids_comes_first(frame):
    frame["code"] = list("abcd")
    assert la.Index(Gower(), id_column="code").fit(frame).ids == list("abcd")


@pytest.mark.parametrize(
    "labels", [[0, 1, 2, 3], pd.MultiIndex.from_tuples([(1, 2), (1, 3), (2, 2), (2, 3)])]
)
def test_counts_and_levels_are_no_labels(frame, labels):
    frame.index = labels
    assert la.Index(Gower()).fit(frame).ids == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("labels", "found"), [(list("aabc"), "'a' twice"), (["a", None, "b", "c"], "a missing one")]
)
def test_labels_that_do_not_name_rows_are_pointed_out(frame, labels, found):
    frame.index = labels
    with pytest.warns(LookalikeWarning, match=found):
        assert la.Index(Gower()).fit(frame).ids == [0, 1, 2, 3]


def test_other_frames_and_matrices_are_numbered(frame):
    distances = Vector().fit(frame[["size"]]).distance()
    assert la.Index(Precomputed()).fit(pd.DataFrame(distances)).ids == [0, 1, 2, 3]
    assert la.Index(Gower()).fit(la.read_table(frame)).ids == [0, 1, 2, 3]


def test_profiles_of_clusters_name_rows(frame):
    model = SimilarityClustering(n_clusters=2).fit(frame)
    profile = profile_clusters(model, frame)
    typical = {name for cluster in profile for name in cluster.typical}
    assert typical == set(NAMES)
    assert "typical rows cust1" in str(profile)
    assert frame.loc[list(profile[0].typical)].shape[0] == len(profile[0].typical)


def test_labels_are_shown_once(index):
    hits = index.search("cust10", k=2)
    assert str(hits).splitlines()[4].split()[0] == "cust11"
    assert str(hits).count("cust11") == 1
    assert hits._repr_html_().count("cust11") == 1
    assert str(index.search("cust10", filter={"size": (">", 100)})).startswith("no row meets")


# -- ids of rows in general ------------------------------------------------------------------------


def test_integers_are_ids_until_their_row_is_deleted():
    index = la.Index("gower").fit({"x": [1.0, 2.0, 3.0]})
    index.delete(1)
    names = index.state_.names
    assert [names.find(id) for id in (0, 1, 2, 3, -1, True, "0", 0.0)] == [
        0, None, 2, None, None, None, None, 0
    ]  # fmt: skip
    assert names.present([0, 1, 2, 7]) == {0, 2}
    for id, found in ((1, "1, which was deleted"), (3, "found 3"), ("a", "Ids are integers")):
        with pytest.raises(InvalidInput, match=found):
            names.position(id, "test")


def test_the_last_row_with_an_id_counts():
    index = la.Index("gower", id_column="name").fit({"name": ["a", "b"], "x": [1.0, 2.0]})
    index.delete("a")
    assert "a" not in index
    index.add({"name": ["a"], "x": [9.0]})
    assert index.get("a")["x"] == 9.0
    assert index.state_.names.find(["a"]) is None  # not hashable
    with pytest.raises(InvalidInput, match="Did you mean 'b'"):
        index.get("bb")


@pytest.mark.parametrize(
    ("ids", "found"),
    [
        (["a", None], "none in row 1"),
        (["a", "a"], "'a' twice"),
        ([["a"], ["b"]], "a list in row 0|a tuple in row 0|a frozenset in row 0|a set in row 0"),
    ],
)
def test_ids_are_checked(ids, found):
    with pytest.raises(InvalidInput, match=found):
        la.Index("gower", id_column="name").fit(la.read_table({"name": ids, "x": [1.0, 2.0]}))


def test_a_column_beside_the_ids_is_needed():
    with pytest.raises(InvalidInput, match="only 'name'"):
        la.Index("gower", id_column="name").fit({"name": ["a", "b"]})
    with pytest.raises(InvalidInput, match=r"a column of ids.*Did you mean 'name'"):
        la.Index("gower", id_column="nme").fit({"name": ["a", "b"], "x": [1.0, 2.0]})


def test_repeated_ids_are_listed_with_the_way_out():
    rows = {"species": ["a", "b", "a", "b", "a", "c"], "x": [1.0, 2, 3, 4, 5, 6]}
    with pytest.raises(InvalidInput, match="'a' 3 times, 'b' twice") as error:
        la.Index(id_column="species").fit(rows)
    assert "label_column='species'" in str(error.value)


@pytest.mark.parametrize("form", ["dict", "frame", "polars", "csv", "labels", "folder"])
def test_no_word_among_ids_means_missing_and_no_blank(form, tmp_path):
    words = ["null", "NA", "None", "nan", "x1", "\n", " ", "\t "]
    rows = {"id": words, "v": [float(v) for v in range(1, 9)], "c": list("abababab")}
    frame = pd.DataFrame(rows)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    frame.to_parquet(tmp_path / "rows.parquet")
    sources = {"csv": tmp_path / "rows.csv", "dict": rows, "labels": frame.set_index("id")}
    sources["polars"] = pl.DataFrame(rows)
    if form == "folder":
        index = build_index(tmp_path / "rows.parquet", tmp_path / "x", "gower", id_column="id")
        index = la.Index.open(tmp_path / "x")
    else:
        index = la.Index("gower", id_column=None if form == "labels" else "id")
        index.fit(sources.get(form, frame))
    assert index.ids == words
    assert index.search("NA", k=2).ids[0] == "nan"
    assert index.get("\n")["v"] == 6.0
    if form != "labels":
        assert index.add([{"id": "\r\n", "v": 9.0, "c": "a"}]) == ["\r\n"]
        for blank in ("", None):
            with pytest.raises(InvalidInput, match="an id for every row, found none in row 0"):
                index.add([{"id": blank, "v": 9.0, "c": "a"}])
