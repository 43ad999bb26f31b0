"""A mutable index against a plain search of its rows, with and without byte codes."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import lookalike as la
from index import reference
from lookalike.errors import InvalidInput, LookalikeWarning, TooFewRows, WrongType
from lookalike.hubness import NICDM, MutualProximity
from lookalike.kernels.first_use import compile_at_once
from lookalike.measures import Gower, Precomputed, Ranked, StochasticForest, Vector
from lookalike.measures.contract import codes as bounded_search
from lookalike.table import Table

row = st.tuples(*[st.integers(-4, 4)] * 2)
some = st.lists(row, min_size=1, max_size=6)
steps = st.lists(st.one_of(some, st.integers(0, 30)), max_size=8)


def as_array(rows):
    return np.array(rows, dtype=float).reshape(-1, 2)


def quiet_add(index, rows):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LookalikeWarning)  # of drift, which is tested elsewhere
        return index.add(rows)


@settings(max_examples=60)
@given(some, steps, row, st.integers(1, 9), st.data())
def test_after_any_changes_it_finds_what_is_there(first, changes, query, k, data):
    index = la.Index(Vector("cityblock")).fit(as_array(first))
    live, given_out = dict(enumerate(first)), len(first)
    for change in changes:
        if isinstance(change, list):
            ids = quiet_add(index, as_array(change))
            assert ids == list(range(given_out, given_out + len(change)))
            live.update(zip(ids, change, strict=True))
            given_out += len(change)
        elif len(live) > 1:
            gone = list(live)[change % len(live)]
            index.delete(gone)
            del live[gone]
    assert index.ids == list(live)
    assert len(index) == len(live)

    hits = index.search(as_array([query]), k)
    expected = reference.search(query, live, k)
    assert [(hit.score, hit.id) for hit in hits] == expected
    assert [tuple(hit.row.values()) for hit in hits] == [live[id] for _, id in expected]

    start = data.draw(st.sampled_from(list(live)))
    others = [id for id in live if id != start]
    marked = data.draw(st.lists(st.sampled_from(others), unique=True, max_size=4)) if others else []
    cut = data.draw(st.integers(0, len(marked)))
    like, unlike = marked[:cut], marked[cut:]
    hits = index.search(start, k, like=like, unlike=unlike, gamma=0.25)
    expected = reference.search(
        live[start],
        live,
        k,
        [live[id] for id in like],
        [live[id] for id in unlike],
        gamma=0.25,
        leave_out=[start, *marked],
    )
    assert [hit.id for hit in hits] == [id for _, id in expected]
    assert np.allclose([hit.score for hit in hits], [score for score, _ in expected])
    assert [hit.distance for hit in hits] == [
        reference.cityblock(live[start], live[hit.id]) for hit in hits
    ]


@pytest.mark.parametrize(
    "measure",
    [
        Vector("euclidean", scale="standard"),
        Ranked(),
        StochasticForest(50, 3, random_state=0),
        NICDM(Vector(), n_neighbors=3),
        MutualProximity(Ranked(), model="gauss_independent"),
    ],
    ids=lambda measure: type(measure).__name__,
)
def test_every_measure_can_grow_and_shrink(measure):
    random = np.random.default_rng(0)
    fitted, later = random.random((60, 3)), random.random((25, 3))
    index = la.Index(measure).fit(fitted)
    for part in (later[:10], later[10:11], later[11:]):
        index.add(part)
    index.delete([3, 60, 71])
    alone = index.measure_
    rows = [alone.rows_, alone.encode(later)]
    query = random.random((4, 3))
    far = np.hstack([alone.block(alone.encode(query), part) for part in rows])
    far[:, [3, 60, 71]] = np.inf
    order = np.argsort(far, axis=1, kind="stable")[:, :12]
    found = index.search(query, 12)
    assert [hits.ids for hits in found] == order.tolist()
    assert [[hit.distance for hit in hits] for hits in found] == np.take_along_axis(
        far, order, axis=1
    ).tolist()


def test_many_deleted_rows_are_no_longer_found():
    points = np.arange(300.0)[:, None]
    index = la.Index(Vector()).fit(points)
    live = list(range(300))
    for start in range(1, 120, 10):
        gone = list(range(start, start + 10))
        index.delete(gone)
        live = [id for id in live if id not in gone]
        assert index.search(0, 5).ids == live[1:6]
    assert index.search(0, 1000).ids == live[1:]


def test_ids_stay_and_are_not_given_again():
    index = la.Index(Vector()).fit([[0.0], [1.0], [2.0]])
    index.delete(2)
    assert index.add([[5.0]]) == [3]
    index.delete([3])
    index.refit()
    assert index.ids == [0, 1]
    assert index.add([[7.0]]) == [4]
    assert index.get(4) == {"x0": 7.0}
    assert 4 in index
    assert 2 not in index


def test_refitting_equals_fitting_to_what_is_there():
    random = np.random.default_rng(1)
    rows = random.random((50, 3))
    index = la.Index(Ranked()).fit(rows[:30])
    index.add(rows[30:])
    index.delete([4, 33])
    kept = np.delete(np.arange(50), [4, 33])
    index.refit()
    fresh = la.Index(Ranked()).fit(rows[kept])
    query = rows[:5] + 0.01
    for ours, theirs in zip(index.search(query), fresh.search(query), strict=True):
        assert ours.ids == kept[theirs.ids].tolist()
        assert [hit.distance for hit in ours] == [hit.distance for hit in theirs]


def mixed():
    return pd.DataFrame(
        {
            "code": ["p", "q", "r", "s", "t"],
            "size": [1.0, 2.0, np.nan, 4.0, 5.0],
            "color": ["red", "blue", "red", None, "blue"],
            "tags": [{"a"}, {"a", "b"}, set(), {"b"}, {"c"}],
        }
    )


@pytest.fixture
def named():
    return la.Index(Gower(), id_column="code").fit(mixed())


def test_a_column_may_give_the_ids(named):
    assert named.ids == ["p", "q", "r", "s", "t"]
    hit = named.search("p", 1)[0]
    assert hit.row["code"] == hit.id == "r"
    assert "code" not in hit.explanation.plus
    assert named.add(mixed().iloc[:1].assign(code="z")) == ["z"]
    assert named.search("p", 1).ids == ["z"]
    named.delete("z")
    assert "z" not in named
    assert named.add({"code": "z", "size": 3.0, "color": "blue", "tags": ["c"]}) == ["z"]
    assert named.get("z")["size"] == 3.0


def test_large_numbers_are_good_ids(tmp_path):
    big = 2**60 + 1
    index = la.Index(Vector(), id_column="id").fit({"id": [big, big + 1], "x": [0.0, 1.0]})
    index.add({"id": [big + 2], "x": [0.5]})
    assert index.search(big).ids == [big + 2, big + 1]
    index.save(tmp_path / "index")
    assert la.load(tmp_path / "index").search(big).ids == [big + 2, big + 1]


def test_ids_keep_leading_zeros_where_they_are_texts(tmp_path):
    file = tmp_path / "table.csv"
    file.write_text("id,x\n007,1\n07,2\n7,4\n")
    index = la.Index(Vector(), id_column="id", kinds={"id": "text"}).fit(file)
    assert index.search("007").ids == ["07", "7"]


def test_the_forms_of_a_query_agree(named):
    first = mixed().iloc[0]
    as_record = {name: value for name, value in first.items() if name != "code"}
    found = [
        named.search(as_record, 3),
        named.search(first, 3),
        named.search(mixed().iloc[:1], 3),
        named.search(mixed().drop(columns="code").iloc[:1], 3),
        *named.search([as_record, as_record], 3),
    ]
    assert [hits.ids for hits in found] == [["p", "r", "q"]] * len(found)
    assert named.search("p", 3).ids == ["r", "q", "s"]
    both = named.search(["p", as_record, "q"], 2)
    assert [hits.ids for hits in both] == [["r", "q"], ["p", "r"], named.search("q", 2).ids]
    assert both[0].query["code"] == "p"


def test_whole_numbers_in_any_form_are_ids():
    index = la.Index(Vector()).fit([[0.0], [1.0], [5.0]])
    one = index.search(1).ids
    assert index.search(np.int64(1)).ids == one == [0, 2]
    assert [hits.ids for hits in index.search(np.array([1, 2]))] == [one, [1, 0]]
    assert [hits.ids for hits in index.search((1,))] == [one]
    assert [hits.ids for hits in index.search({1, 2})] == [one, [1, 0]]


def test_a_record_may_have_missing_cells(named):
    assert named.search({"color": "blue"}, 2).ids == ["q", "t"]
    assert named.search({"size": 4.1, "color": None}, 1).ids == ["s"]
    assert la.Index(Vector()).fit({"x": [0.0, 2.0], "y": [1.0, 5.0]}).search(
        {"y": 2.0, "x": 1}
    ).ids == [0, 1]
    with pytest.raises(InvalidInput, match="Gower"):
        la.Index(Vector()).fit({"x": [0.0, 2.0], "y": [1.0, 5.0]}).search({"x": 1.0})


def test_rows_with_nothing_to_compare_come_last(named):
    hits = named.search({"color": "red"}, 9)
    assert hits.ids == ["p", "r", "q", "t", "s"]
    assert hits[-1].distance is hits[-1].similarity is hits[-1].score is None


def test_hits_tell_what_was_asked_and_found(named):
    hits = named.search("p", 3, like="q")
    assert isinstance(hits[:2], type(hits))
    assert hits[0].id == hits.ids[0]
    assert [hit.score for hit in hits] == sorted(hit.score for hit in hits)
    for hit in hits:
        reasons = hit.explanation
        assert reasons.similarity == hit.similarity
        assert np.isclose(sum(reasons.plus.values()), hit.similarity)
        assert np.isclose(sum(reasons.plus.values()) + sum(reasons.minus.values()), 1)
        assert reasons.cells["size"] == (1.0, hit.row["size"])
        assert named.explain("p", hit.id).plus == reasons.plus
    plain = hits.to_dict()
    assert plain["query"]["row"]["code"] == "p"
    assert [hit["id"] for hit in plain["hits"]] == hits.ids
    frame = hits.to_frame()
    assert list(frame["id"]) == hits.ids
    ours = ["id", "score", "distance", "similarity", "compared", "compared_of"]
    assert list(frame.columns) == [*ours, *mixed().columns]
    assert len(str(hits).splitlines()) == 4 + 3  # a heading, the query and a rule
    assert "score" in str(hits)
    assert "score" not in str(named.search("p", 3))
    assert repr(hits.ids) in repr(hits)


def test_an_answer_stays_what_it_was(named):
    hit = named.search("p", 1)[0]
    named.delete(hit.id)
    named.refit()
    assert hit.row["code"] == "r"
    assert hit.explanation.similarity == hit.similarity


@pytest.mark.parametrize("id_column", [None, "code"])
def test_saving_keeps_rows_ids_and_answers(tmp_path, id_column):
    rows = mixed() if id_column else mixed().drop(columns="code")
    index = la.Index(Gower(), id_column=id_column).fit(rows)
    index.add(rows.iloc[:2].assign(**({"code": ["u", "v"]} if id_column else {}), size=[9.0, 2.5]))
    index.delete(index.ids[1])
    index.save(tmp_path / "index.lookalike")
    again = la.load(tmp_path / "index.lookalike")
    assert again.ids == index.ids
    assert again.records() == index.records()
    assert again.reason_ == index.reason_
    for id in index.ids:
        ours, theirs = index.search(id), again.search(id)
        assert [hit.to_dict() for hit in ours] == [hit.to_dict() for hit in theirs]
    more = rows.iloc[:1].assign(**({"code": ["w"]} if id_column else {}))
    assert again.add(more) == index.add(more)
    assert again.drift() == index.drift()


def test_fitted_rows_are_shared_not_copied():
    index = la.Index(Vector()).fit(np.random.default_rng(0).random((20, 2)))
    index.add(np.random.default_rng(1).random((20, 2)))
    index.add(np.random.default_rng(2).random((20, 2)))
    assert index.state_.segments.segments[0].rows is index.measure_.rows_
    assert len(index.state_.segments.segments) == 2  # the added rows were joined


def test_adding_does_not_encode_old_rows_again(monkeypatch):
    encoded = []
    encode = Vector._encode

    def watch(self, table, seen):
        encoded.append(len(table))
        return encode(self, table, seen)

    monkeypatch.setattr(Vector, "_encode", watch)
    index = la.Index(Vector()).fit(np.zeros((50, 2)))
    for _ in range(4):
        index.add(np.zeros((3, 2)))
    index.search(0)
    assert encoded == [50, 3, 3, 3, 3]


def test_a_target_is_used_and_used_again():
    random = np.random.default_rng(0)
    x = random.random((80, 3))
    frame = pd.DataFrame(x, columns=["a", "b", "c"]).assign(label=np.where(x[:, 1] > 0.5, "u", "v"))
    index = la.Index(Gower(weights="relieff")).fit(frame, y="label")
    weights = index.measure_.weights_
    assert weights["b"] > max(weights["a"], weights["c"])
    assert "label" not in index.schema_.kinds
    assert index.get(0)["label"] == frame["label"][0]
    index.add(frame.iloc[:5])
    index.refit()
    assert len(index) == 85
    assert index.measure_.weights_["b"] > index.measure_.weights_["a"]
    by_array = la.Index(Gower(weights="relieff")).fit(x, frame["label"])
    with pytest.raises(InvalidInput, match="a target, as in fit"):
        by_array.refit()
    assert by_array.refit(frame["label"]).ids == list(range(80))


def test_a_frozen_measure_keeps_what_it_learned():
    measure = Vector("cityblock", scale="minmax").fit([[0.0, 0.0], [10.0, 1.0]])
    index = la.Index(measure.frozen()).fit([[0.0, 0.0], [0.0, 0.5], [4.0, 0.0]])
    assert [hit.distance for hit in index.search(0)] == [0.4, 0.5]
    assert index.search(0).ids == [2, 1]


def test_known_distances_can_be_searched():
    matrix = np.array([[0, 1, 4], [1, 0, 2], [4, 2, 0]], dtype=float)
    index = la.Index(Precomputed()).fit(matrix)
    assert index.search(2).ids == [1, 0]
    assert index.search([[3.0, 0.5, 1.0]]).ids == [1, 2, 0]
    assert index.add([[3.0, 0.5, 1.0]]) == [3]
    assert index.search(1).ids == [3, 0, 2]
    with pytest.raises(InvalidInput, match="distances to fitted rows"):
        index.refit()
    with pytest.raises(InvalidInput, match="distances and nothing else"):
        la.Index(Precomputed(), kinds={"a": "number"}).fit(matrix)


def test_threads_change_nothing():
    rows = np.random.default_rng(0).random((3000, 4))
    one, two = (la.Index(Ranked(), n_jobs=jobs).fit(rows) for jobs in (1, 2))
    assert two.measure_.n_jobs == 2
    for index in (one, two):
        index.delete([5, 2000])
    for marks in ({}, {"like": [7, 9], "unlike": [11]}):
        ours, theirs = (index.search(3, 20, **marks) for index in (one, two))
        assert [hit.to_dict() for hit in ours] == [hit.to_dict() for hit in theirs]


def test_a_mark_counts_once_and_the_query_is_not_its_own_mark():
    index = la.Index(Vector("cityblock")).fit(np.array([[0.0], [1.0], [4.0], [6.0], [9.0]]))
    plain = [hit.score for hit in index.search(0, like=[3], unlike=[2])]
    assert [hit.score for hit in index.search(0, like=[3, 3, 0], unlike=[2, 2])] == plain
    by_record = index.search(0, like={"x0": 6.0}, unlike=[{"x0": 4.0}])
    assert by_record.ids == [1, 3, 2, 4]
    assert {hit.id: hit.score for hit in by_record}[4] == plain[
        index.search(0, like=3, unlike=2).ids.index(4)
    ]


# -- what cannot be answered ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ask", "error", "message"),
    [
        (lambda i: i.search("unknown"), InvalidInput, "'unknown'"),
        (lambda i: i.search(["p", "unknown"]), InvalidInput, "'unknown'"),
        (lambda i: i.search("p", like="unknown"), InvalidInput, "like.*'unknown'"),
        (lambda i: i.search("p", unlike=["unknown"]), InvalidInput, "unlike.*'unknown'"),
        (lambda i: i.search("p", like="q", unlike=["t", "q"]), InvalidInput, "'q' in unlike"),
        (lambda i: i.search("p", unlike="p"), InvalidInput, "'p' in unlike and as the query"),
        (lambda i: i.search([]), InvalidInput, "an empty list"),
        (lambda i: i.search({}), InvalidInput, "without any"),
        (lambda i: i.search({"code": "p"}), InvalidInput, "without any"),
        (lambda i: i.search({"colour": "red"}), InvalidInput, "Did you mean 'color'"),
        (lambda i: i.search({"size": "large"}), (InvalidInput, WrongType), "size"),
        (lambda i: i.search("p", 0), InvalidInput, "k=0"),
        (lambda i: i.search("p", 1.5), InvalidInput, "k=1.5"),
        (lambda i: i.search("p", gamma=-1), InvalidInput, "gamma"),
        (lambda i: i.delete("unknown"), InvalidInput, "'unknown'"),
        (lambda i: i.delete(["p", "p"]), InvalidInput, "'p' twice"),
        (lambda i: i.get("unknown"), InvalidInput, "'unknown'"),
        (lambda i: i.explain("p", ["q", "r"]), InvalidInput, "2 rows"),
        (lambda i: i.add({"size": 1.0, "color": "red", "tags": []}), InvalidInput, "code"),
        (lambda i: i.add(mixed()), InvalidInput, "'p' again"),
        (lambda i: i.add(mixed().assign(code="x")), InvalidInput, "'x' 5 times"),
        (lambda i: i.add(mixed().assign(code=None)), InvalidInput, "none in row 0"),
        (lambda i: i.add(mixed().rename(columns={"size": "sise"})), InvalidInput, "'size'"),
    ],
)
def test_bad_input_is_named_and_changes_nothing(named, ask, error, message):
    with pytest.raises(error, match=message):
        ask(named)
    assert named.ids == ["p", "q", "r", "s", "t"]
    assert named.search("p", 3).ids == ["r", "q", "s"]


def test_deleting_twice_names_the_id():
    index = la.Index(Vector()).fit([[0.0], [1.0]])
    index.delete(1)
    with pytest.raises(InvalidInput, match="1, which was deleted"):
        index.delete(1)
    with pytest.raises(InvalidInput, match="1, which was deleted"):
        index.search(0, like=1)
    with pytest.raises(InvalidInput, match="found 7"):
        index.search(7)
    with pytest.raises(WrongType, match="id_column"):
        index.search("name")
    with pytest.raises(WrongType, match="True"):
        index.search(True)


@pytest.mark.parametrize(
    ("options", "rows", "message"),
    [
        ({"id_column": "id"}, {"id": [1, 1], "x": [0.0, 1.0]}, "1 twice"),
        ({"id_column": "id"}, {"id": ["a", None], "x": [0.0, 1.0]}, "none in row 1"),
        ({"id_column": "id"}, {"id": [[1], [2]], "x": [0.0, 1.0]}, "a list in row 0"),
        ({"id_column": "nmae"}, {"name": [1, 2], "x": [0.0, 1.0]}, "Did you mean 'name'"),
        ({"id_column": "id"}, {"id": [1, 2]}, "beside the ids"),
        ({"measure": "gowwer"}, {"x": [0.0]}, "gower"),
        ({"id_column": 3}, {"x": [0.0]}, "name of a column"),
    ],
)
def test_bad_tables_and_parameters_are_refused(options, rows, message):
    with pytest.raises(InvalidInput, match=message):
        la.Index(**options).fit(rows)


def test_an_index_may_become_empty():
    index = la.Index(Vector()).fit([[0.0], [1.0]])
    index.delete([0, 1])
    assert len(index) == 0
    assert index.ids == []
    assert len(index.search([[1.0]])) == 0
    assert len(index.table) == 0
    with pytest.raises(InvalidInput, match="at least one row"):
        index.refit()
    assert index.add([[3.0]]) == [2]
    assert index.search([[1.0]]).ids == [2]


def test_a_category_that_no_row_has_is_pointed_out(named):
    with pytest.warns(LookalikeWarning, match="'redd'.*Did you mean 'red'"):
        named.search({"color": "redd", "size": 1.0})
    named.add({"code": "n", "size": 1.0, "color": "redd", "tags": []})
    assert named.search({"color": "redd"}, 1).ids == ["n"]  # now a row has it


def test_what_is_set_aside_stays_with_its_row():
    rows = {"x": [1.0, 2.0, 3.0], "note": ["a", "b", "c"]}
    index = la.Index(Vector(), kinds={"note": "aside"}).fit(rows)
    index.add([{"x": 4.0, "note": "d"}, {"x": 5.0, "note": "e"}])
    index.add([{"x": 6.0}])
    assert [record.get("note") for record in index.records()] == ["a", "b", "c", "d", "e", None]
    assert [index.table.record(i)["note"] for i in range(6)] == ["a", "b", "c", "d", "e", None]
    assert index.refit().get(5) == {"note": None, "x": 6.0}


def test_reasons_carry_the_cells_that_were_compared():
    rows = {"size": [1.0, 2.0, 5.0], "color": ["red", "red", "blue"]}
    hit = la.Index(Gower()).fit(rows).search(0, k=1)[0]
    plus, minus = hit.reasons()
    assert plus[0] == {
        "column": "color",
        "kind": "category",
        "share": 0.5,
        "query": "red",
        "found": "red",
        "text": "same color: red",
    }
    assert minus == [
        {
            "column": "size",
            "kind": "number",
            "share": 0.125,
            "query": 1.0,
            "found": 2.0,
            "text": "size 1 against 2 (a little higher)",
        }
    ]
    assert [len(side) for side in hit.reasons(1)] == [1, 1]
    assert sum(hit.explanation.plus.values()) == pytest.approx(hit.similarity)


def test_a_record_without_numbers_is_refused_with_their_names():
    index = la.Index(Ranked()).fit({"a": [1.0, 2.0], "b": [3.0, 1.0]})
    with pytest.raises(InvalidInput, match="with Ranked: .* found a record without 'b'"):
        index.search({"a": 1.0})


def test_a_note_says_that_all_rows_are_tied():
    rows = {"color": ["red", "red", "red", "blue", "blue"], "size": [1.0, 1.0, 1.0, 3.0, 2.0]}
    index = la.Index(Gower()).fit(rows)
    hits = index.search(0, k=2)
    assert hits.note == "both rows are equally near; their order is that of the table"
    assert hits.to_dict()["note"] == hits.note
    assert hits[:1].note is None
    assert index.search(0, k=3).note is None


def test_a_note_says_that_almost_nothing_was_compared():
    rows = {f"x{j}": [1.0, 2.0, 4.0, 3.0] for j in range(8)}
    for j in range(1, 8):
        rows[f"x{j}"] = [1.0, None if j > 1 else 2.0, 4.0, 2.5 + j / 10]
    index = la.Index(Gower()).fit(rows)
    assert index.search({"x0": 1.0, "x5": 1.0}, k=1).note is None  # only two are asked for
    hits = index.search(1, k=3)
    assert hits.note == "3 of 3 rows can be compared in few columns, one in 2 of 8"
    assert index.search(2, k=1).note is None
    assert index.search(1, k=3, columns=["x0", "x1"]).note is None
    every = index.search({f"x{j}": 2.0 for j in range(8)}, k=4)
    assert every.note == "1 of 4 rows can be compared in few columns, one in 2 of 8"


def test_an_index_without_sketches_says_so_when_it_is_fitted_and_not_again(monkeypatch):
    pytest.importorskip("faiss")
    monkeypatch.setattr("lookalike.index.sketches.MIN_ROWS", 4)
    with pytest.warns(LookalikeWarning, match="found Gower has no sketch") as given:
        index = la.Index("gower", approximate=True).fit({"x": [0.0, 1.0, 2.0, 3.0, 4.0]})
    assert len(given) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error", LookalikeWarning)
        index.add({"x": [0.5, 1.5, 2.5, 3.5, 3.0]})
        index.delete(0)
        assert index.recall_ == 1.0
        assert index.search(1, k=1).ids == [5]
    said = "  # finds 100.0% of the ten nearest rows, for queries like the rows"
    assert repr(index).endswith(said)
    for text in (la.Index.__doc__, la.Index.recall_.__doc__):
        assert "queries like the rows" in " ".join(text.split())


PETS = {"weight": [4.0, 30.0, 5.0, 28.0, 4.5], "animal": ["cat", "dog", "cat", "wolf", "cat"]}


def test_partial_records_have_missing_cells():
    index = la.Index().fit(PETS)
    assert index.add({"weight": 6.0}) == [5]
    assert index.add([{"weight": 7.0}, {"animal": "dog"}]) == [6, 7]
    assert index.add(pd.DataFrame({"animal": ["cat", "wolf"]})) == [8, 9]
    assert index.add(la.read_table({"animal": ["cat", "dog", "cat"]})) == [10, 11, 12]
    assert index.get(5) == {"weight": 6.0, "animal": None}
    assert index.get(7) == {"weight": None, "animal": "dog"}
    assert index.get(12) == {"weight": None, "animal": "cat"}
    assert index.search(5, 1)[0].compared == 1
    whole = la.Index().fit(PETS)
    whole.add({"weight": 6.0, "animal": None})
    assert whole.search(5, 3).ids == index.search(5, 3, filter=range(5)).ids


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ({"wieght": 6.0, "animal": "cat"}, "columns of the table, found 'wieght'. Did you mean 'w"),
        ([{"weight": 6.0, "animal": "cat", "age": 3}], "columns of the table, found 'age'"),
        (pd.DataFrame({"weight": [1.0], "x": [1]}), "columns of the table, found 'x'"),
        ({"x": [1.0]}, "the 2 columns of the fitted table"),
        ([[1.0]], "2 columns, found 1"),
    ],
)
def test_unknown_columns_are_not_added(rows, message):
    index = la.Index().fit(PETS)
    with pytest.raises(InvalidInput, match=message):
        index.add(rows)
    assert len(index) == 5


def test_partial_records_need_an_id_and_a_measure_that_takes_missing_cells():
    named = la.Index(id_column="name").fit(
        {"name": list("abc"), "x": [1.0, 2.0, 4.0], "y": list("uvu")}
    )
    assert named.add({"name": "d", "x": 3.0}) == ["d"]
    with pytest.raises(InvalidInput, match="an id for every row, found none in row 0"):
        named.add({"x": 3.0})
    with pytest.raises(InvalidInput, match="missing"):
        la.Index("vector").fit({"x": [1.0, 2.0], "y": [3.0, 5.0]}).add({"x": 1.0})


def test_kneighbors_is_scikit_learns():
    index = la.Index().fit(PETS)
    distances, indices = index.kneighbors(n_neighbors=2)
    expected = index.measure_.kneighbors(n_neighbors=2)
    np.testing.assert_array_equal(indices, expected[1])
    np.testing.assert_allclose(distances, expected[0])
    np.testing.assert_array_equal(index.kneighbors(n_neighbors=2, return_distance=False), indices)
    frame = pd.DataFrame({"weight": [4.0, 29.0], "animal": ["cat", "wolf"]})
    distances, indices = index.kneighbors(frame, 5)
    assert indices[:, 0].tolist() == [0, 3]  # a row that is in the index is its own neighbor
    assert distances[0, 0] == 0
    assert (np.diff(distances) >= 0).all()
    assert sorted(indices[0]) == [0, 1, 2, 3, 4]
    assert index.kneighbors([0, 2], 1)[1].tolist() == [[4], [4]]  # by id: not itself


def test_kneighbors_counts_live_rows():
    index = la.Index().fit(PETS)
    index.delete(0)
    indices = index.kneighbors([{"weight": 4.0, "animal": "cat"}], 2, return_distance=False)
    assert [index.ids[i] for i in indices[0]] == [4, 2]
    assert [row["weight"] for row in index.table[indices[0]].to_pandas().to_dict("records")] == [
        4.5,
        5.0,
    ]
    own = index.kneighbors(n_neighbors=1)[1]
    assert [index.ids[i] for i in own[[0, 1, 3], 0]] == [3, 4, 2]
    with pytest.raises(TooFewRows, match=r"kneighbors\(n_neighbors=4\): needs at least 5 rows"):
        index.kneighbors(n_neighbors=4)
    with pytest.raises(TooFewRows, match="Use n_neighbors=4"):
        index.kneighbors([{"weight": 4.0}], 5)


N = 5000
KINDS = {"color": "category", "tags": "set"}


def rows(n, seed=0):
    rng = np.random.default_rng(seed)
    size = rng.random(n).round(3)
    size[rng.random(n) < 0.1] = np.nan
    tags = [frozenset(rng.choice(list("abcd"), 2).tolist()) for _ in range(n)]
    columns = {"size": size, "age": rng.gamma(2.0, size=n), "tags": tags}
    return columns | {"color": [f"c{i}" for i in rng.integers(0, 9, n)]}


@pytest.fixture(scope="module", autouse=True)
def compiled():
    """Ask the bytes from the first question on, also where no earlier test compiled their loops."""
    with compile_at_once():
        yield


@pytest.fixture(scope="module")
def index():
    return la.Index(Gower(), kinds=KINDS).fit(rows(N))


@pytest.fixture
def plain(monkeypatch):
    """Answer a question by looking at everything."""

    def ask(index, *question, **options):
        with monkeypatch.context() as patch:
            patch.setattr(bounded_search, "pays", lambda b, k, n=1: False)
            return index.search(*question, **options)

    return ask


def parts(index):
    return index.state_.segments.segments


def has_codes(segment):
    return segment.rows.cache.get("codes") is not None


def assert_same_hits(hits, others):
    assert hits.ids == others.ids
    assert [hit.distance for hit in hits] == [hit.distance for hit in others]
    assert [hit.similarity for hit in hits] == [hit.similarity for hit in others]


def test_codes_are_there_before_the_first_question(tmp_path):
    index = la.Index(Vector("cityblock")).fit(np.random.default_rng(0).random((N, 3)))
    assert has_codes(parts(index)[0])
    index.add(np.random.default_rng(1).random((N, 3)))
    assert [has_codes(part) for part in parts(index)] == [True, True]
    index.save(tmp_path / "index.lookalike")
    again = la.load(tmp_path / "index.lookalike")
    for part, other in zip(parts(index), parts(again), strict=True):
        assert has_codes(other)
        codes, made = (p.rows.cache["codes"].codes for p in (part, other))
        assert_array_equal(codes.tiles, made.tiles)


def test_few_rows_have_no_codes():
    index = la.Index(Vector("cityblock")).fit(np.random.default_rng(0).random((50, 3)))
    assert not has_codes(parts(index)[0])


@pytest.mark.parametrize(
    "options",
    [
        {"filter": {"color": {"in": ["c1", "c2", "c3"]}}},
        {"filter": {"color": "c4", "size": ("<", 0.05)}},  # few rows: cut out
        {"filter": {"age": ("<", -1)}},  # none at all
        {"weights": {"tags": 5.0, "size": 0.0}},
        {"columns": ["size", "tags"], "filter": {"age": (">", 1.0)}},
    ],
)
def test_questions_give_what_looking_at_everything_gives(index, plain, options):
    for query in (7, {"size": 0.4, "tags": {"a", "b"}}):
        assert_same_hits(index.search(query, 12, **options), plain(index, query, 12, **options))


def test_deleted_rows_are_stepped_over_and_not_copied(plain):
    index = la.Index(Gower(), kinds=KINDS).fit(rows(N))
    nearest = index.search(0, 200).ids
    index.delete(nearest)
    hits = index.search(0, 12)
    assert not set(hits.ids) & set(nearest)
    assert "live_rows" not in parts(index)[0].__dict__
    assert has_codes(parts(index)[0])
    assert_same_hits(hits, plain(index, 0, 12))
    index.add(rows(N, seed=3))
    assert_same_hits(index.search(1, 12), plain(index, 1, 12))
    index.refit()
    assert_same_hits(index.search(1, 12), plain(index, 1, 12))


def test_no_record_is_read_before_it_is_asked_for(index, monkeypatch):
    read = []
    record = Table.record
    monkeypatch.setattr(Table, "record", lambda self, at: read.append(at) or record(self, at))
    hits = index.search(11, 5)
    assert read == []
    assert hits.query["color"] == rows(N)["color"][11]
    assert hits[0].row["color"] == rows(N)["color"][hits[0].id]
    assert len(read) == 2


def test_reasons_are_the_same_alone_and_together(index):
    for options in ({}, {"weights": {"size": 3.0}}):
        together = index.search(5, 8, **options)
        together[0].explanation  # noqa: B018  the first alone, the second with all others
        for at, hit in enumerate(together):
            alone = index.search(5, 8, **options)[at].explanation
            assert repr(hit.explanation) == repr(alone)  # every number in full; NaN is NaN


def test_lists_drawn_from_a_wider_list():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 12))
    index = la.Index(Vector()).fit(rows)
    every = range(len(rows))
    nearest = [found.ids for found in index.search(list(every), k=10)]
    drawn = [found.ids for found in index.search(list(every), k=5, among=10)]
    for wide, some in zip(nearest, drawn, strict=True):
        assert len(some) == 5
        assert [id for id in wide if id in some] == some  # in the order of the wider list
    assert len({tuple(map(w.index, d)) for w, d in zip(nearest, drawn, strict=True)}) > 50
    # A row has one list, whatever is asked with it; other seeds have others, and cover all ten.
    assert index.search(7, k=5, among=10).ids == drawn[7]
    others = [index.search(7, k=5, among=(10, seed)).ids for seed in range(30)]
    assert others[0] == drawn[7]
    assert len({tuple(ids) for ids in others}) > 10
    assert set().union(*others) == set(nearest[7])
    reached = len(set().union(*drawn)), len(set().union(*(ids[:5] for ids in nearest)))
    assert reached[0] > reached[1]
    few = index.search(7, k=5, among=50, filter=list(range(6)))
    assert len(few) == 5
    assert set(few.ids) <= set(range(6))
    liked = index.search(7, k=5, like=[1, 2], among=10)
    assert set(liked.ids) <= set(index.search(7, k=10, like=[1, 2]).ids)
    with pytest.raises(InvalidInput, match=r"among=3.*at least k, 5"):
        index.search(7, k=5, among=3)
    with pytest.raises(InvalidInput, match=r"among=\(3, 1\).*at least k, 5"):
        index.search(7, k=5, among=(3, 1))
    with pytest.raises(InvalidInput, match=r"a seed: .*found 'x'"):
        index.search(7, k=5, among=(10, "x"))
    with pytest.raises(InvalidInput, match=r"an integer >= 1"):
        index.search(7, k=5, among=(10, 1, 2))
    # None draws anew: thirty draws of 5 of 10 rows cannot all be one list.
    anew = {tuple(index.search(7, k=5, among=(10, None)).ids) for _ in range(30)}
    assert len(anew) > 1


def test_an_index_in_a_few_lines():
    index = la.Index("gower").fit({f"c{j}": [1.0, 2.0, 3.0, 4.0] for j in range(14)})
    html = index._repr_html_()
    assert "c0 (number)" in html
    assert "c11 (number) and 2 more" in html
    assert "c12" not in html
    assert "0, 1, 2, …" in html
    assert "Gower" in html
    few = la.Index("gower").fit({"c": [1.0, 2.0, 3.0]})._repr_html_()
    assert "0, 1, 2" in few
    assert "…" not in few
    assert "more" not in few
