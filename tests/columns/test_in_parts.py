"""Distances learned from a column in files are those learned from the column in memory."""

import numpy as np
import pyarrow as pa
import pytest

from lookalike.columns import DISTANCES, Absolute, CallableDistance, Jaccard, MatrixDistance
from lookalike.columns.in_parts import fit_in_parts
from lookalike.errors import InvalidInput
from lookalike.table import read_table
from table.parts import cut

N = 40
RNG = np.random.default_rng(0)
CELLS = {
    "number": pa.array([*RNG.normal(size=N - 1).round(1), None]),
    "category": pa.array(["red", "blue", "green", None] * 10),
    "order": pa.array(["low", "high", "medium", "low", None] * 8),
    "flag": pa.array([True, False, None, True] * 10),
    "text": pa.array([f"{'ab' * (i % 7)} c{i % 5} d" for i in range(N)]),
    "set": pa.array([["a", "b", "c"][: i % 4] for i in range(N)]),
    "sequence": pa.array([["a", "b", "a"][: i % 4] for i in range(N)]),
    "series": pa.array([[float(i), 1.0, 2.0] for i in range(N)]),
    "histogram": pa.array([[float(i % 4), 4.0 - i % 4] for i in range(N)]),
    "vector": pa.array([[float(i), 1.0] for i in range(N)]),
}
# Where there is no value, or no two that differ.
EDGES = {"empty": pa.nulls(N, pa.float64()), "constant": pa.array([7.0, None] * 20)}
CELLS["position"] = pa.array([float(i % 3) for i in range(N)])


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    rows = pa.table(CELLS | EDGES)
    kinds = {"text": "text", "series": "series", "order": ["low", "medium", "high"]}
    kinds |= dict.fromkeys(EDGES, "number")
    folder = cut(rows, tmp_path_factory.mktemp("rows") / "in", [3, 20], group=7)
    return read_table(rows, kinds=kinds), read_table(folder, kinds=kinds, lazy=True)


def assert_same_learned(distance, tables, name):
    whole, lazy = tables
    mine, theirs = vars(distance.fit(whole[name])), vars(fit_in_parts(distance, lazy, name))
    assert mine.keys() == theirs.keys(), distance
    for attribute, value in mine.items():
        np.testing.assert_array_equal(theirs[attribute], value, err_msg=f"{distance} {attribute}")


def test_every_distance_learns_the_same(tables):
    of_tokens = [distance for distance in DISTANCES.values() if distance.name != "edit_sets"]
    for distance in of_tokens:
        for kind in distance.kinds:
            if kind == "series" and distance.name not in ("dtw", "msm", "twe"):
                continue  # series of one length are learned as vectors are
            if kind in CELLS and tables[0].kinds[kind].name == kind:
                assert_same_learned(distance(), tables, kind)
                assert_same_learned(distance(scale=2.0), tables, kind)
    for trim in (0.1, 0.49):
        assert_same_learned(Absolute(trim=trim), tables, "number")
    assert_same_learned(
        MatrixDistance(np.abs(np.subtract.outer(*[np.arange(9.0)] * 2))), tables, "position"
    )


@pytest.mark.parametrize("name", EDGES)
def test_columns_without_two_values_are_learned_the_same(tables, name):
    for distance in (cls for cls in DISTANCES.values() if "number" in cls.kinds):
        assert_same_learned(distance(), tables, name)
    assert_same_learned(Absolute(trim=0.1), tables, name)


def test_what_cannot_be_learned_in_parts_is_said(tables):
    class Own(Jaccard):
        pass

    for distance, name in ((CallableDistance(lambda u, v: 0.0), "number"), (Own(), "set")):
        with pytest.raises(InvalidInput, match="learned in parts"):
            fit_in_parts(distance, tables[1], name)
    with pytest.raises(InvalidInput, match="a column of kind set"):
        fit_in_parts(Jaccard(), tables[1], "number")


def test_infinite_numbers_are_named_by_row(tmp_path):
    rows = pa.table({"x": [1.0, 2.0, np.inf, 3.0]})
    lazy = read_table(cut(rows, tmp_path / "rows", [1]), lazy=True)
    with pytest.raises(InvalidInput, match="row 2: needs finite numbers"):
        fit_in_parts(Absolute(), lazy, "x")
