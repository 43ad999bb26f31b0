"""How much cells vary, what loaded cells have to be, and columns that stay in files."""

import functools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from columns import reference
from columns.make import CASES, FITTED, cells_of, column, column_of
from lookalike.columns import (
    DISTANCES,
    Absolute,
    CallableDistance,
    Equal,
    Jaccard,
    MatrixDistance,
    variance,
)
from lookalike.columns.base import longest_of, sizes_of
from lookalike.errors import InvalidInput
from lookalike.saving.fields import Misfit
from lookalike.table import read_table
from lookalike.table.model.table import Graph
from table.parts import cut

SHORT = ["absolute", "rank", "presence", "equal", "rank_range", "cyclic", "information"]


def of(distance, kind, cells, **options):
    own = distance.fit(column(kind, cells))
    return variance(own, own.encode(column(kind, cells)), **options)


def test_worked_numbers():
    assert of(Absolute(), "number", [1.0, 3.0, 5.0]) == pytest.approx(8 / 3)
    assert of(Equal(), "category", [0, 0, 1]) == pytest.approx(2 / 9)
    sets = [frozenset(s) for s in ("ab", "abc", "a")]
    assert of(Jaccard(), "set", sets) == pytest.approx(0.089506, abs=5e-7)
    sets = [frozenset(s) for s in ("xy", "xyz", "bx")]
    assert of(Jaccard(), "set", sets) == pytest.approx(0.124228, abs=5e-7)


@pytest.mark.parametrize("name", DISTANCES)
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_variance_equals_half_the_mean_squared_distance(name, data):
    cells = data.draw(cells_of(name, max_size=5))
    own = DISTANCES[name]().fit(column_of(name, cells))
    code = own.encode(column_of(name, cells))
    there = [cell for cell in cells if cell is not None]
    reference_of = CASES[name][2]
    if name in FITTED:
        reference_of = functools.partial(FITTED[name], fitted=there)
    elif reference_of is None:
        reference_of = lambda u, v: 1 - own.similarities_[u, v]  # noqa: E731
    expected = reference.variance(there, reference_of) if there else 0.0
    assert variance(own, code) == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("name", SHORT)
def test_short_formulas_hold_for_many_cells_too(name):
    rng = np.random.default_rng(5)
    cells = rng.integers(0, 2 if name == "presence" else 4, 200).tolist()
    own = DISTANCES[name]().fit(column_of(name, cells))
    code = own.encode(column_of(name, cells))
    d = own.compare(code, code)
    assert variance(own, code) == pytest.approx((d**2).sum() / (2 * 200 * 200), rel=1e-12)


def test_equal_numbers_do_not_vary_at_all():
    assert of(Absolute(), "number", [0.1] * 3 + [None]) == 0
    assert of(Equal(), "category", [2] * 7) == 0


def test_many_cells_are_compared_with_one_drawn_at_random():
    cells = [frozenset("a")] * 20 + [frozenset("ab")] * 20
    own = Jaccard().fit(column("set", cells))
    code = own.encode(column("set", cells))
    draws = {variance(own, code, random_state=seed) for seed in range(20)}
    assert draws == {0.0625}  # half of the cells are at 1/2, whichever is drawn
    rng = np.random.default_rng(0)
    cells = [frozenset(rng.integers(0, 9, 4).tolist()) for _ in range(60)]
    code = own.encode(column("set", cells))
    again = [variance(own, code, random_state=np.random.default_rng(1)) for _ in range(2)]
    assert again[0] == again[1]
    assert len({variance(own, code, random_state=seed) for seed in range(20)}) > 5
    # The definition, a cell more or less: what is estimated does not change with the number.
    for n in (32, 33, 60):
        exact = (own.compare(code[:n], code[:n]) ** 2).mean() / 2
        mean = np.mean([variance(own, code[:n], random_state=seed) for seed in range(200)])
        assert mean == pytest.approx(exact, rel=0.05 if n > 32 else 1e-12)


def test_equal_objects_do_not_vary_at_all():
    cells = [frozenset("ab")] * 50 + [None]
    assert of(Jaccard(), "set", cells, random_state=0) == 0
    assert of(Jaccard(), "set", [*cells, frozenset("c")], random_state=0) > 0


def test_one_cell_does_not_vary():
    assert of(Jaccard(), "set", [frozenset("ab"), None]) == 0


def test_larger_cells_have_larger_sizes():
    """Edges count too: a graph with edges is larger than one without."""
    nodes = {1: "a", 2: "a", 3: "b"}
    edges = frozenset({(1, 2), (2, 3)})
    graphs = [Graph({1: "a"}, frozenset()), Graph(nodes, frozenset()), Graph(nodes, edges)]
    for name, cells in (("graph", graphs), ("set", [set(), {"a"}, {"a", "b"}])):
        made = column(name, [*cells, None])
        sizes = sizes_of(made, np.arange(4))
        assert (np.diff(sizes[:3]) > 0).all()
        assert longest_of(made, sizes) == sizes[2]
        assert sizes[3] == 0


def test_cells_of_any_form_are_as_many_as_rows():
    """Of a distance that says nothing about its cells, their number is checked."""

    class Own(Equal, abstract=True):
        def _cells_shape(self):
            return None

    Own().check_cells(["a", "b"], 2, "here")
    with pytest.raises(Misfit, match="3 cells"):
        Own().check_cells(["a", "b"], 3, "here")


# -- columns in files, whose fit is that of the column in memory -----------------------------------

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
    mine, theirs = vars(distance.fit(whole[name])), vars(distance.fit_in_parts(lazy, name))
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
            distance.fit_in_parts(tables[1], name)
    with pytest.raises(InvalidInput, match="a column of kind set"):
        Jaccard().fit_in_parts(tables[1], "number")


def test_infinite_numbers_are_named_by_row(tmp_path):
    rows = pa.table({"x": [1.0, 2.0, np.inf, 3.0]})
    lazy = read_table(cut(rows, tmp_path / "rows", [1]), lazy=True)
    with pytest.raises(InvalidInput, match="row 2: needs finite numbers"):
        Absolute().fit_in_parts(lazy, "x")
