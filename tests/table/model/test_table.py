"""Tables are cut into rows and columns without forgetting what they hold."""

import numpy as np
import pytest
from sklearn.model_selection import KFold, cross_val_score
from sklearn.utils import _safe_indexing

from lookalike.errors import InvalidInput
from lookalike.table import Column, Kind, Table, read_table
from lookalike.table.model.table import check_cells

N = 12


@pytest.fixture(scope="module")
def table():
    return read_table(
        {
            "id": list(range(N)),
            "x": np.arange(N) / 2,
            "color": ["red", "blue", "green"] * 4,
            "tags": [["a"], ["b", "a"], []] * 4,
            "point": np.arange(2.0 * N).reshape(N, 2),
            "remark": [f"a long and different remark {i}" for i in range(N)],
        }
    )


@pytest.mark.parametrize(
    "at",
    [
        slice(2, 5),
        slice(None, None, -1),
        [3, 1, 3],
        np.array([0, 11]),
        np.arange(N) % 2 == 0,
        [],
        (np.array([4, 2]), Ellipsis),
        (slice(1, 3), slice(None)),
    ],
    ids=str,
)
def test_slices_keep_the_kinds(at, table):
    part = table[at]
    picked = at[0] if isinstance(at, tuple) else at
    rows = np.arange(N)[picked if isinstance(picked, slice) or len(picked) else slice(0)]
    assert part.kinds is not table.kinds
    assert part.kinds == table.kinds
    assert part.schema == table.schema
    assert part.shape == (len(rows), 5)
    assert [part.record(i)["id"] for i in range(len(part))] == rows.tolist()
    for i, row in enumerate(rows):
        assert part.record(i) == table.record(row)


def test_scikit_learn_cuts_tables(table):
    part = _safe_indexing(table, np.array([5, 1]))
    assert isinstance(part, Table)
    assert part.record(0) == table.record(5)
    for train, test in KFold(3, shuffle=True, random_state=0).split(table):
        assert table[train].kinds == table[test].kinds == table.kinds
        assert len(table[train]) + len(table[test]) == N


def test_cross_validation_hands_tables_to_the_estimator(table):
    from sklearn.base import BaseEstimator, ClassifierMixin

    class Remember(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            assert X.kinds["color"].levels == ("blue", "green", "red")
            self.classes_ = np.unique(y)
            return self

        def predict(self, X):
            return np.where(X["x"].values > 2.6, 1, 0)

    y = (np.arange(N) > 5).astype(int)
    assert cross_val_score(Remember(), table, y, cv=KFold(3)).mean() == 1.0


def test_columns_by_name(table):
    assert table["x"].kind.name == "number"
    assert table["id"].kind.reason.startswith("identifier")
    assert "x" in table
    assert "id" not in table
    with pytest.raises(KeyError, match="Did you mean 'color'"):
        table["colour"]
    assert table.select(["tags", "x"]).names == ("tags", "x")
    assert table.drop("x").names == ("color", "tags", "point", "remark")
    assert [column.name for column in table.of_kind("set", "vector")] == ["tags", "point"]
    assert [column.name for column in table] == list(table.names)


def test_what_cannot_be_asked(table):
    with pytest.raises(TypeError, match=r"use table\.record"):
        table[3]
    with pytest.raises(IndexError, match="mask of 2"):
        table[np.array([True, False])]
    with pytest.raises(IndexError, match="Rows are counted from 0"):
        table.record(N)
    with pytest.raises(InvalidInput, match="columns of equal length"):
        Table([Column("a", Kind("number"), np.zeros(2)), Column("b", Kind("number"), np.zeros(3))])
    with pytest.raises(InvalidInput, match="'a' 2 times"):
        Table([Column("a", Kind("number"), np.zeros(2))] * 2)


def test_ten_thousand_columns_are_no_trouble():
    wide = read_table(np.zeros((3, 10_000)))
    assert wide[[0, 2]].shape == (2, 10_000)


def test_columns_are_compared_as_soon_as_they_are_named():
    words = [f"w{chr(97 + i)}x{chr(122 - i)}" for i in range(24)]
    data = {"w": words, "id": range(24), "one": [1] * 24, "x": [i % 5 for i in range(24)]}
    data["again"] = data["x"]
    table = read_table(data)
    assert table.names == ("x",)
    named = table.compare_also(["w", "id", "one", "again"])
    assert sorted(named.names) == ["again", "id", "one", "w", "x"]
    assert {column.kind.role for column in named.columns} == {""}
    assert table.compare_also(["x"]) is table
    # What the caller sets aside stays aside.
    by_hand = read_table(data, kinds={"w": "aside"})
    assert by_hand.compare_also(["w"]) is by_hand


def test_loaded_cells_are_checked():
    codes = np.array([0, 1])
    check_cells(codes, Kind("flag"), "x")
    check_cells(np.array([0, -9]), Kind("category", levels=("a",)), "x")
    check_cells(np.array(["a", None], dtype=object), Kind("text"), "x")
    objects = np.array([None, None], dtype=object)
    for kind in ("text", "set", "series", "graph", "object"):
        check_cells(objects, Kind(kind), kind)
    listed = np.empty(1, dtype=object)
    listed[0] = (["a"],)
    for kind, values in (
        (Kind("number"), codes), (Kind("number"), np.ones((1, 1))), (Kind("category"), codes),
        (Kind("flag"), np.array([2])), (Kind("category", levels=("a",)), np.array([1])),
        (Kind("order", levels=("a", "b")), np.array([0.0])), (Kind("text"), codes),
        (Kind("vector"), np.ones(2)), (Kind("vector"), objects),
        (Kind("text"), np.array([1], dtype=object)),
        (Kind("series"), np.array(["a"], dtype=object)), (Kind("sequence"), listed),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="x"):
            check_cells(values, kind, "x")
    assert Column("x", Kind("vector"), np.empty((2, 0))).missing.tolist() == [False, False]


def test_the_head_is_the_first_rows():
    table = read_table({"size": [float(i) for i in range(9)], "color": list("abcabcabc")})
    assert table.head().shape == (5, 2)
    assert table.head(2).to_pandas().equals(table.to_frame("pandas")[:2])
