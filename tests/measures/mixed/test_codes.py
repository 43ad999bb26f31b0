"""Bytes of mixed rows: bounds of objects by number, size and coordinates."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import lookalike as la
from lookalike.columns import Euclidean
from lookalike.kernels.bounds import LOOKUP, NUMBER, ROOT, SQUARE, TILE_ROWS
from lookalike.measures import Gower
from lookalike.measures.contract import codes as bounded_search
from lookalike.measures.mixed import codes as mixed_codes_module
from lookalike.measures.mixed.codes import mixed_codes
from lookalike.testing import tables
from neighbors.test_codes import GOWERS, OBJECTS, OF_OBJECTS, assert_same_lists


@pytest.fixture(autouse=True)
def always(monkeypatch):
    """Search by bounds however few the rows."""
    monkeypatch.setattr(bounded_search, "pays", lambda b, k, n=1: True)


@settings(deadline=None, max_examples=60)
@given(tables(kinds=OBJECTS, min_rows=2, max_rows=12), GOWERS, OF_OBJECTS, st.integers(1, 4))
def test_objects_by_size_and_by_coordinates(table, options, distances, k):
    """Cells are not numbered here, as if all of many were distinct: the other bounds must do."""
    given = {c.name: distances[c.kind.name] for c in table if c.kind.name in distances}
    measure = Gower(distances=given, **options).fit(table)
    rows, k = measure.rows_, min(k, len(table))
    new = measure.encode(table[::-1])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mixed_codes_module, "MAX_NUMBERED_CELLS", 0)
        assert_same_lists(measure, rows, rows, k, exclude=np.arange(len(table)))
        assert_same_lists(measure, new, rows, k)


def objects(n, seed=0):
    """Return a table in which objects decide who is near, with gaps in every column."""
    rng = np.random.default_rng(seed)

    def gaps(cells):
        return [None if rng.random() < 0.05 else cell for cell in cells]

    words = [f"w{i}" for i in range(40)]
    centers = rng.dirichlet(np.ones(8), 30)
    near = rng.integers(0, 30, n)
    return la.read_table(
        {
            "x": rng.random(n),
            "title": gaps([" ".join(rng.choice(words, rng.integers(1, 9))) for _ in range(n)]),
            "tags": gaps([frozenset(rng.choice(words[:6], rng.integers(0, 4))) for _ in range(n)]),
            "many": gaps([frozenset(rng.choice(words, rng.integers(0, 9))) for _ in range(n)]),
            "steps": gaps([tuple(rng.choice(words, rng.integers(0, 6))) for _ in range(n)]),
            "shares": gaps([0.9 * centers[i] + 0.1 * rng.dirichlet(np.ones(8)) for i in near]),
        },
        kinds={
            "title": "text", "tags": "set", "many": "set", "steps": "sequence",
            "shares": "histogram",
        },
    )  # fmt: skip


@pytest.mark.parametrize("width", [1, 3, 40])
def test_vectors_in_a_straight_line(width):
    """Near ones, far ones whose squares overflow narrow sums, and ones outside."""
    rng = np.random.default_rng(width)
    centers = rng.normal(size=(40, width)) * rng.gamma(1.0, size=width)
    x = centers[np.arange(2 * TILE_ROWS) % 40] + rng.normal(size=(2 * TILE_ROWS, width)) / 20
    y = rng.random(len(x))
    table = la.read_table({"x": list(x), "y": y}, kinds={"x": "vector"})
    measure = Gower(distances={"x": Euclidean()}).fit(table)
    kept = mixed_codes(measure.plan_, measure.rows_.arrays)
    assert kept.kind.tolist() == [NUMBER, *[SQUARE] * (min(width, 16) - 1), ROOT]
    assert_same_lists(measure, measure.rows_[:20], measure.rows_, 6, exclude=np.arange(20))
    outside = [100 * x[0], -100 * x[1], x[2] * 1.5]
    new = measure.encode({"x": outside, "y": y[:3]})
    assert_same_lists(measure, new, measure.rows_, 6)
    again = measure.reweighted({"y": 1e-9})
    assert_same_lists(again, again.rows_[:20], again.rows_, 6, exclude=np.arange(20))


@pytest.mark.parametrize("missing", ["ignore", "midpoint"])
def test_many_rows_of_objects(missing):
    table = objects(2 * TILE_ROWS + 100)
    measure = Gower(missing=missing).fit(table)
    kept = mixed_codes(measure.plan_, measure.rows_.arrays)
    assert set(kept.objects) == {"title", "tags", "many", "steps", "shares"}
    assert kept.objects["tags"].kind == LOOKUP  # few distinct sets are numbered
    assert kept.objects["shares"].width == 8
    assert_same_lists(measure, measure.rows_[:30], measure.rows_, 6, exclude=np.arange(30))
    again = measure.reweighted({"x": 0.0, "title": 0.0, "shares": 4.0})
    assert_same_lists(again, again.rows_[:30], again.rows_, 6, exclude=np.arange(30))


def test_cells_with_one_hash_are_not_taken_for_one(monkeypatch):
    table = objects(300)
    measure = Gower().fit(table)
    monkeypatch.setattr(
        mixed_codes_module, "_hashes", lambda cells: np.zeros(len(cells), np.uint64)
    )
    kept = mixed_codes(measure.plan_, measure.rows_.arrays)
    assert kept.objects["tags"].ask(measure.rows_.arrays["column tags"][:1])[1][0].max() > 0
    assert_same_lists(measure, measure.rows_[:10], measure.rows_, 4, exclude=np.arange(10))


def test_a_distance_of_ones_own_has_no_bytes():
    """A subclass may compare in another way, so what bounds its parent does not bound it."""

    class Backwards(Euclidean):
        def _compare(self, a, b):
            return 1.0 / (1.0 + super()._compare(a, b))

    table = objects(400)
    measure = Gower(distances={"shares": Backwards()}).fit(table)
    coded = mixed_codes(measure.plan_, measure.rows_.arrays)
    assert "shares" not in coded.objects
    # Its weight may be part of the divisor of any row, so it is added to that of the bounds.
    weights = np.ones(len(measure.plan_.names))
    more = np.where(np.array(measure.plan_.names) == "shares", 3.0, weights)
    units = [
        coded.queries(measure.rows_[:2].arrays, each, True)(slice(0, 2)).unit
        for each in (weights, more)
    ]
    assert_allclose(units[1] / units[0], len(weights) / (len(weights) + 2))
    assert_same_lists(measure, measure.rows_[:10], measure.rows_, 5, exclude=np.arange(10))


def test_what_was_worked_out_is_not_pickled():
    measure = Gower().fit(objects(300))
    measure.nearest(measure.rows_[:1], measure.rows_, 3)
    assert "codes" in measure.rows_.cache
    again = pickle.loads(pickle.dumps(measure))
    assert "codes" not in again.rows_.cache
    assert_same_lists(again, again.rows_[:5], again.rows_, 3, exclude=np.arange(5))
