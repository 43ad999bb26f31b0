"""Bytes of mixed rows: bounds of objects by number, size and coordinates."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import lookalike as la
from lookalike.columns import EarthMover, Euclidean, Jaccard, Levenshtein
from lookalike.columns.ragged import Ragged
from lookalike.kernels.bounds import LOOKUP, NUMBER, ROOT, SQUARE, TILE_ROWS
from lookalike.measures import Gower
from lookalike.measures.contract import codes as bounded_search
from lookalike.measures.mixed import codes as mixed_codes_module
from lookalike.measures.mixed.codes import mixed_codes
from lookalike.table import Kind
from lookalike.table.model.table import Column
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


@pytest.mark.parametrize("missing", ["ignore", "midpoint", "pessimistic"])
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
        coded.queries(measure.rows_[:2].arrays, each, True)(slice(0, 2)).bounds(coded.codes).unit
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


@pytest.mark.parametrize("missing", ["ignore", "midpoint", "pessimistic"])
@pytest.mark.parametrize("values", [24, 100_000])
def test_circles(values, missing):
    """Few cells are numbered, many have no bytes: neighbors are those of a plain scan."""
    rng = np.random.default_rng(values)
    n = 2 * TILE_ROWS
    hour = rng.integers(0, values, n) * (24 / values)
    hour[rng.random(n) < 0.05] = np.nan
    days = rng.choice(["Mon", "Wed", "Fri", "Sun", None], n)
    table = la.read_table({"hour": hour, "x": rng.random(n) / 5, "day": days})
    measure = Gower(missing=missing).fit(table)
    kept = mixed_codes(measure.plan_, measure.rows_.arrays)
    numbered = values == 24
    assert kept.kind.tolist() == [NUMBER, LOOKUP, LOOKUP][: 2 + numbered]
    assert ("hour" in kept.objects) == numbered
    assert_same_lists(measure, measure.rows_[:20], measure.rows_, 6, exclude=np.arange(20))
    new = measure.encode(
        {"hour": [23.99, -3.0, 0.01, 24.0, None], "x": [0.1] * 5, "day": ["Tue"] * 5}
    )
    assert_same_lists(measure, new, measure.rows_, 6)


# -- bounds by worked numbers ----------------------------------------------------------------------


def ragged(*rows):
    sizes = [len(row or ()) for row in rows]
    values = np.array([item for row in rows for item in row or ()], np.int64)
    missing = np.array([row is None for row in rows])
    return Ragged(values, np.cumsum([0, *sizes]), missing)


def fitted(distance, scale=1.0, **more):
    for name, value in {"scale_": scale, **more}.items():
        setattr(distance, name, value)
    return distance


def test_sizes_bound_edits_and_sets():
    cells = ragged([-2, -3], [], None, [-4] * 300)
    plain, share = fitted(Levenshtein(normalized=False), 4.0), fitted(Levenshtein(normalized=True))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mixed_codes_module, "MAX_NUMBERED_CELLS", 0)
        coded, codes = mixed_codes_module.object_bytes(plain, cells)
    assert codes.tolist() == [[2], [0], [0], [254]]
    assert (coded.kind, coded.width, coded.kinds, coded.numbered) == (LOOKUP, 1, [LOOKUP], None)
    own, table = coded.ask(cells)
    assert (own.tolist(), table.shape, table[:, 255].tolist()) == ([[0]] * 4, (4, 256), [0] * 4)
    near = 1 - 1e-9
    assert_allclose(table[0, :8], np.array([2, 1, 0, 1, 2, 3, 4, 4]) / 4 * near, rtol=1e-15)
    assert_allclose(table[1, :3], np.array([0, 1, 2]) / 4 * near, rtol=1e-15)
    # 300 items are in the last size, which bounds nothing: another may have 254 or a million.
    assert table[3, 254] == 0.0
    assert table[3, 253] == near
    assert table[0, 254] == near
    table = mixed_codes_module._size_table(share, cells)
    assert_allclose(table[0, :5], np.array([1, 0.5, 0, 1 / 3, 0.5]) * near, rtol=1e-15)
    assert_allclose(table[1, :3], np.array([0, 1, 1]) * near, rtol=1e-15)
    table = mixed_codes_module._size_table(fitted(Jaccard()), cells)
    assert_allclose(table[0, :5], np.array([1, 0.5, 0, 1 / 3, 0.5]) * near, rtol=1e-15)
    exactly = mixed_codes_module._size_table(fitted(Jaccard()), ragged([-2] * 254, [-2] * 253))
    assert exactly[0, 254] == 0.0
    assert exactly[1, 254] > 0.0


def test_few_cells_are_numbered_and_looked_up():
    cells = ragged([-2, -3], [-2], None, [-2, -3], [-3, -2])
    sets = np.array([frozenset("ab"), frozenset("a")], object)
    distance = Jaccard().fit(Column("x", Kind("set"), sets))
    at, numbers = mixed_codes_module._distinct(cells, cells.missing)
    assert len(at) == 3
    assert numbers[2] == 0
    assert numbers[0] == numbers[3]
    assert len({numbers[0], numbers[1], numbers[4]}) == 3
    coded, codes = mixed_codes_module.object_bytes(distance, cells)
    assert codes[:, 0].tolist() == numbers.tolist()
    _, table = coded.ask(cells)
    wanted = 1.0 - distance.similarity(cells, cells)
    for i in (0, 1, 3, 4):
        for j in (0, 1, 3, 4):
            assert table[i, codes[j, 0]] == wanted[i, j]
    assert (table[:, 3:] == 0.0).all()
    for limit, found in ((3, True), (2, False)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(mixed_codes_module, "MAX_NUMBERED_CELLS", limit)
            found_now = mixed_codes_module._distinct(cells, cells.missing) is not None
            assert found_now is found
    assert mixed_codes_module._distinct(cells, np.ones(5, bool)) is None
    for scale, has in ((1e-140, False), (1.1e-140, True), (0.9e140, True), (1e140, False)):
        assert (mixed_codes_module.object_bytes(fitted(Jaccard(), scale), cells) is not None) is has
    dense = np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 2.0]])
    assert mixed_codes_module._distinct(dense, np.zeros(3, bool))[1].tolist() == [0, 1, 0]


def test_coordinates_that_vary_most_bound_vectors():
    rng = np.random.default_rng(0)
    cells = rng.normal(size=(300, 20)) * np.arange(20)
    cells[7] = np.nan
    gone = np.isnan(cells[:, 0])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mixed_codes_module, "MAX_NUMBERED_CELLS", 0)
        coded, codes = mixed_codes_module.object_bytes(fitted(Euclidean(), 100.0), cells)
        summed, steps = mixed_codes_module.object_bytes(fitted(EarthMover(), 1000.0), cells)
    assert (coded.kind, coded.width) == (ROOT, 16)
    assert coded.kinds == [SQUARE] * 15 + [ROOT]
    most = np.sort(np.argsort(-cells[~gone].std(axis=0))[:16])
    assert coded.state["most"].tolist() == summed.state["most"].tolist() == most.tolist()
    low, high = np.nanmin(cells, axis=0)[most], np.nanmax(cells, axis=0)[most]
    assert_allclose(summed.state["low"], low)
    assert_allclose(summed.state["span"], high - low)
    step = float(coded.state["step"][0])
    apart = np.sqrt(2) * np.linalg.norm(cells[~gone].std(axis=0)[most])
    assert step == pytest.approx(max((high - low).max(), apart) / 254)
    own, worth = coded.ask(cells[:5])
    assert own.tolist() == codes[:5].tolist()
    assert_allclose(worth, step / 100.0)
    assert (summed.kind, summed.kinds) == (NUMBER, [NUMBER] * 16)
    own, worth = summed.ask(cells[:5])
    assert own.tolist() == steps[:5].tolist()
    within = np.clip(cells[:5, most], low, high)
    reach = np.maximum(within - low, high - within).sum(axis=1, keepdims=True)
    assert_allclose(worth, (high - low) / np.maximum(1000.0, reach), rtol=1e-8)
    small = replace(summed, distance=fitted(EarthMover(), 1.0)).ask(cells[:5])
    assert_allclose(small[1], (high - low) / reach, rtol=1e-8)
    for bad in (np.ones((5, 3)), np.full((5, 3), np.nan), np.array([[1e308], [-1e308]])):
        missing = np.isnan(bad[:, 0])
        assert mixed_codes_module._coordinates(fitted(Euclidean()), bad, missing, True) is None
