"""How much cells vary, and what loaded cells have to be."""

import functools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from columns import reference
from columns.make import CASES, FITTED, cells_of, column, column_of
from lookalike.columns import DISTANCES, Absolute, Equal, Jaccard, variance
from lookalike.columns.base import longest_of, sizes_of
from lookalike.saving.fields import Misfit
from lookalike.table.model.table import Graph

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
