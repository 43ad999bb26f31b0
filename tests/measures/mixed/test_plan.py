"""How a Gower is put together: kinds, weights, and scales of numbers (published, robust, ranks)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import lookalike as la
from columns import reference as columns_reference
from lookalike.columns import Circular, Presence
from lookalike.columns.number import Absolute, RankShare
from lookalike.errors import InvalidInput
from lookalike.kernels.first_use import compile_at_once
from lookalike.kernels.mixed import TILE_ROWS, all_compared
from lookalike.measures import Gower
from lookalike.measures.mixed.plan import TRIM, MixedPlan, PlanOptions
from lookalike.saving.fields import Misfit
from measures import reference

LEVELS = ["low", "mid", "high"]
N = TILE_ROWS + 30  # a full tile and a part of one


def wide(gaps, flags=True, seed=0):
    """Nine columns of every simple kind: two passes of four and one over, bits over two bytes."""
    random = np.random.default_rng(seed)
    columns, kinds = {}, {}
    for j in range(9):
        columns[f"number{j}"] = random.random(N).tolist()
        columns[f"category{j}"] = random.choice(["red", "green", "blue"], N).tolist()
        columns[f"order{j}"] = random.choice(LEVELS, N).tolist()
        if flags:
            columns[f"flag{j}"] = random.choice([True, False, False], N).tolist()
    for name, values in columns.items():
        kinds[name] = LEVELS if name[:-1] == "order" else name[:-1]
        for i in np.flatnonzero(random.random(N) < gaps):
            values[i] = None
    return columns, kinds


def slow_sums(columns, weights, midpoint, i, j):
    against = compared = 0.0
    for name, values in columns.items():
        x, y = values[i], values[j]
        there = [v for v in values if v is not None]
        kind, fact = name[:-1], None
        if kind == "number":
            fact = max(there) - min(there)
        elif kind == "order":
            fact = [there.count(level) for level in LEVELS]
            x, y = (None if v is None else LEVELS.index(v) for v in (x, y))
        s = reference.partial(kind, x, y, fact)
        if s is None and midpoint and (x is None or y is None):
            s = 0.5
        if s is not None:
            against += weights[name] * (1 - s)
            compared += weights[name]
    return against, compared


@pytest.mark.parametrize("equal", [True, False])
@pytest.mark.parametrize("midpoint", [False, True])
@pytest.mark.parametrize(("gaps", "flags"), [(0.0, False), (0.0, True), (0.2, False), (0.2, True)])
def test_wide_tables_equal_the_slow_reference(gaps, flags, midpoint, equal):
    columns, kinds = wide(gaps, flags)
    table = la.read_table(columns, kinds=kinds)
    plan = MixedPlan.fit(table, "test")
    rows = plan.encode(table)
    random = np.random.default_rng(1)
    weights = dict(
        zip(columns, np.ones(len(columns)) if equal else random.random(len(columns)), strict=True)
    )
    in_order = np.array([weights[name] for name in plan.names])
    few = {name: array[:5] for name, array in rows.items()}
    against, compared = plan.sums(few, rows, in_order, midpoint)
    compared = np.broadcast_to(compared, against.shape)
    for i in range(5):
        for j in [*range(6), TILE_ROWS - 1, TILE_ROWS, N - 1]:
            expected = slow_sums(columns, weights, midpoint, i, j)
            assert_allclose([against[i, j], compared[i, j]], expected, rtol=1e-12, atol=1e-12)
    whole = plan.sums(rows, rows, in_order, midpoint)
    assert_array_equal(whole[0][:5], against)
    assert_array_equal(whole[0], whole[0].T)


@pytest.mark.parametrize("midpoint", [False, True])
def test_a_pair_has_the_same_sums_in_every_block(midpoint):
    columns, kinds = wide(0.02)
    table = la.read_table(columns, kinds=kinds)
    plan = MixedPlan.fit(table, "test")
    rows = plan.encode(table)
    weights = np.random.default_rng(1).random(len(plan.names))
    against, compared = plan.sums(rows, rows, weights, midpoint)
    for i, j in [(0, 1), (3, TILE_ROWS), (N - 1, 2), (7, 7)]:
        one = [{"simple": rows["simple"][[k]]} for k in (i, j)]
        alone = plan.sums(*one, weights, midpoint)
        assert alone[0][0, 0] == against[i, j]
        assert alone[1][0, 0] == np.broadcast_to(compared, against.shape)[i, j]


def test_one_cell_does_where_everything_is_compared():
    for gaps, flags, midpoint, whole in [
        (0.0, False, False, True),
        (0.2, False, True, True),
        (0.2, False, False, False),
        (0.0, True, False, False),
        (0.0, True, True, False),
    ]:
        columns, kinds = wide(gaps, flags)
        table = la.read_table(columns, kinds=kinds)
        plan = MixedPlan.fit(table, "test")
        rows = plan.encode(table)
        assert all_compared(rows["simple"], rows["simple"], plan.ends, midpoint) == whole
        weights = np.ones(len(plan.names))
        with compile_at_once():  # numpy, which answers before that, writes every cell
            against, compared = plan.sums(rows, rows, weights, midpoint)
        assert compared.shape == ((1, 1) if whole else against.shape)


def test_no_rows_at_all():
    columns, kinds = wide(0.2)
    table = la.read_table(columns, kinds=kinds)
    plan = MixedPlan.fit(table, "test")
    rows = plan.encode(table)
    none = {name: array[:0] for name, array in rows.items()}
    weights = np.ones(len(plan.names))
    for midpoint in (False, True):
        assert plan.sums(none, rows, weights, midpoint)[0].shape == (0, N)
        assert plan.sums(rows, none, weights, midpoint)[0].shape == (N, 0)


def objects():
    columns = {
        "size": [1.0, None, 3.0, 5.0],
        "name": ["oak", "oats", None, "boat"],
        "wild": [False, False, True, None],
    }
    table = la.read_table(columns, kinds={"size": "number", "name": "text", "wild": "flag"})
    plan = MixedPlan.fit(table, "test", PlanOptions(distances={"wild": Presence(scale=2.0)}))
    return plan, plan.encode(table)


def test_differences_of_chosen_pairs_are_those_of_aligned_rows():
    plan, rows = objects()
    left, right = np.array([0, 0, 0, 2, 1, 1]), np.array([1, 3, 0, 0, 3, 1])
    cut = [{name: array[at] for name, array in rows.items()} for at in (left, right)]
    each = np.arange(len(left))
    chosen = plan.differences(rows, rows, left, right)
    assert_array_equal(chosen, plan.differences(*cut, each, each))
    assert plan.differences(rows, rows, left[:0], right[:0]).shape == (0, 3)
    assert_array_equal(plan.missing(rows)[:, plan.names.index("name")], [0, 0, 1, 0])


def test_a_flag_on_its_own_scale_and_absent_in_both_is_left_out_with_midpoints_too():
    plan, rows = objects()
    assert plan.objects[-1] == "wild"
    only = np.array([0.0, 0.0, 1.0])
    against, compared = plan.sums(rows, rows, only, midpoint=True)
    assert_array_equal(against, [[0, 0, 0.5, 0.5], [0, 0, 0.5, 0.5], [0.5, 0.5, 0, 0.5], [0.5] * 4])
    assert_array_equal(compared == 0, (np.arange(4)[:, None] < 2) & (np.arange(4) < 2))


def small():
    """One column of every group: a number, a category, a flag, two ordered ones, and a text."""
    columns = {
        "text": ["oak", "ash", "elm"],
        "cold": ["low", "high", "mid"],
        "size": [1.0, 2.0, 5.0],
        "hot": ["low", "mid", "low"],
        "color": ["red", "blue", "red"],
        "wild": [True, False, True],
        "same": [4.0, 4.0, 4.0],
    }
    kinds = {"text": "text", "cold": LEVELS, "hot": ["low", "mid"], "color": "category"}
    kinds |= {"wild": "flag", "size": "number", "same": "number"}
    return la.read_table(columns, kinds=kinds)


def test_columns_are_sorted_by_group_and_levels_laid_end_to_end():
    plan = MixedPlan.fit(small(), "test")
    assert plan.names == ("size", "color", "same", "wild", "cold", "hot", "text")
    assert (plan.n_simple, plan.objects) == (6, ("text",))
    assert plan.ends.tolist() == [1, 1, 3, 4, 6]
    assert plan.starts.tolist() == [[0, 0]] * 4 + [[0, 3], [9, 2]]
    assert len(plan.levels) == 9 + 4 + 1
    cold = plan.distances["cold"].similarities_
    assert_array_equal(plan.levels[:9].reshape(3, 3), 1.0 - cold)
    assert plan.dropped == ()
    options = PlanOptions(constant="drop", alpha=2.0, beta=0.5)
    curved = MixedPlan.fit(small(), "test", options)
    assert curved.dropped == ("same",)
    assert curved.ends.tolist() == [0, 1, 3, 4, 6]
    assert (curved.alpha[0], curved.beta[0]) == (2.0, 0.5)
    assert curved.alpha[1:].tolist()[0] == 1.0
    rows = plan.encode(small())
    assert rows["simple"][:, 0].tolist() == [0.0, 0.25, 1.0]  # a share of the range
    assert rows["simple"][:, 2].tolist() == [4.0] * 3  # constant, so as it is
    assert sorted(rows) == ["column text", "simple"]


def test_scales_and_ranges_choose_the_distance_of_numbers():
    table = small()
    for options, kind, trim, known in (
        (PlanOptions(), Absolute, 0.0, None),
        (PlanOptions(scale="robust"), Absolute, 0.05, None),
        (PlanOptions(scale="rank"), RankShare, None, None),
        (PlanOptions(scale={"size": "rank"}), RankShare, None, None),
        (PlanOptions(scale={"same": "rank"}), Absolute, 0.0, None),
        (PlanOptions(scale="rank", ranges={"size": 9.0}), Absolute, 0.0, 9.0),
    ):
        distance = options._distance_of(table["size"], "test")
        assert type(distance) is kind
        if kind is Absolute:
            assert (distance.trim, distance.scale) == (trim, known)
    rank = PlanOptions(order="rank_range")._distance_of(table["cold"], "test")
    assert type(rank).__name__ == "RankRange"
    for option in ("distances", "ranges", "scale"):
        with pytest.raises(
            InvalidInput, match=f"{option}.*columns of the table, found 'sice'. Did"
        ):
            PlanOptions(**{option: {"sice": 1.0}})._check_names(table, "test")
    with pytest.raises(InvalidInput, match="a column of numbers, found kind category"):
        PlanOptions(scale={"color": "rank"})._distance_of(table["color"], "test")
    with pytest.raises(InvalidInput, match="'ranked'"):
        PlanOptions(scale={"size": "ranked"})._distance_of(table["size"], "test")


def test_a_loaded_plan_fits_together():
    plan = MixedPlan.fit(small(), "test")

    def loaded(**changed):  # as the loader makes it
        made = object.__new__(MixedPlan)
        vars(made).update({"distances": plan.distances, "joined": (), **changed})
        made.check_loaded({})
        return made

    again = loaded()
    assert (again.names, again.dropped) == (plan.names, plan.dropped)
    for name in ("ends", "alpha", "beta", "levels", "starts"):
        assert_array_equal(getattr(again, name), getattr(plan, name))
    for changed, said in (
        ({"distances": {**plan.distances, "size": Absolute()}}, "a fitted distance"),
        ({"joined": (("lat", "lon"),)}, "columns of the plan"),
    ):
        with pytest.raises(Misfit, match=said):
            loaded(**changed)


def test_codes_of_loaded_rows_are_levels_or_missing():
    plan = MixedPlan.fit(small(), "test")
    rows = plan.encode(small())
    simple = rows["simple"]
    simple[1, 5] = np.nan
    plan.check_levels(rows)
    for column, code in ((4, -1.0), (4, 3.0), (5, 2.0), (4, 0.5)):
        forged = simple.copy()
        forged[0, column] = code
        with pytest.raises(Misfit, match=f"rows of '{plan.names[column]}'.*codes of its levels"):
            plan.check_levels({"simple": forged})


def test_a_cycle_keeps_its_distance_unless_the_caller_scales_it():
    table = la.read_table({"hour": [23.0, 1.0, 12.0], "x": [0.0, 4.0, 1.0]})
    hour = table["hour"]
    for scale in ("range", "robust", "rank", {"x": "rank"}):
        assert PlanOptions(scale=scale)._distance_of(hour, "Gower").period == 24
    given = PlanOptions(ranges={"x": 2.0}, distances={"x": "rank"})
    assert type(given._distance_of(hour, "Gower")) is Circular
    assert type(PlanOptions(scale={"hour": "rank"})._distance_of(hour, "Gower")) is RankShare
    assert type(PlanOptions(ranges={"hour": 5.0})._distance_of(hour, "Gower")) is Absolute
    assert PlanOptions(distances={"hour": "rank"})._distance_of(hour, "Gower").name == "rank"
    # (2 of 12 hours + all of the range) / 2, beside the plain number in the same row.
    measure = Gower().fit(table)
    assert_allclose(measure.distance()[0], [0, (2 / 12 + 1) / 2, (11 / 12 + 1 / 4) / 2])


@pytest.mark.parametrize("missing", ["ignore", "midpoint", "pessimistic"])
def test_cycles_of_new_and_missing_cells_add_up_and_are_saved(missing, tmp_path):
    cells = {"wind_dir": [350.0, 90.0, None, 181.0], "day": ["Mon", "Sun", "Tue", None]}
    measure = Gower(missing=missing).fit(cells)
    assert measure.plan_.distances["wind_dir"].period == 360
    new = {"wind_dir": [370.0], "day": ["Sat"]}  # no row has a Saturday
    half = {"midpoint": 0.5, "pessimistic": 1.0}.get(missing)
    expected = []
    for wind, day in ((20 / 180, 2 / 3), (80 / 180, 1 / 3), (half, 1.0), (171 / 180, half)):
        there = [part for part in (wind, day) if part is not None]
        expected.append(sum(there) / len(there))
    assert_allclose(measure.distance(new)[0], expected)
    measure.save(tmp_path / "measure")
    assert_array_equal(la.load(tmp_path / "measure").distance(new), measure.distance(new))
    explained = measure.explain(new, 0)
    assert_allclose(sum(explained.minus.values()), expected[0])
    assert_allclose(explained.minus["day"], 1 / 3)


few = settings(max_examples=40, deadline=None)
cells = st.integers(-8, 8).map(float) | st.none()
RNG = np.random.default_rng(4)


def tables(min_rows=2):
    row = st.tuples(cells, st.integers(0, 5).map(float), st.sampled_from(["a", "b"]))
    return st.lists(row, min_size=min_rows, max_size=12).map(
        lambda rows: dict(zip("xyz", map(list, zip(*rows, strict=True)), strict=True))
    )


KINDS = {"x": "number", "y": "number", "z": "category"}


def slow(columns, new=None):
    """Similarities by rank, pair by pair: the fitted rows, or new ones against them."""
    rows = list(zip(*columns.values(), strict=True))
    others = rows if new is None else list(zip(*new.values(), strict=True))
    fitted = [[v for v in columns[name] if v is not None] for name in ("x", "y")]
    out = np.full((len(others), len(rows)), np.nan)
    for i, a in enumerate(others):
        for j, b in enumerate(rows):
            differ = [float(a[2] != b[2])]
            for k in range(2):
                if a[k] is not None and b[k] is not None:
                    differ.append(columns_reference.rank_share(a[k], b[k], fitted[k]))
            out[i, j] = 1 - np.mean(differ)
    return out


@few
@given(columns=tables(), new=tables(1))
def test_ranks_equal_their_slow_reference_for_fitted_and_new_rows(columns, new):
    measure = Gower(KINDS, scale="rank").fit(columns)
    found = measure.similarity()
    expected = slow(columns)
    np.fill_diagonal(expected, 1.0)
    assert_allclose(found, expected, atol=1e-12)
    assert ((found >= 0) & (found <= 1)).all()
    assert_array_equal(found, found.T)
    assert_allclose(measure.similarity(new), slow(columns, new), atol=1e-12)


@few
@given(columns=tables())
def test_an_increasing_change_of_a_column_changes_nothing_at_all(columns):
    def change(x):
        return None if x is None else np.exp(x) * 1000 - 7

    other = columns | {"x": [change(x) for x in columns["x"]], "y": list(map(change, columns["y"]))}
    one, two = (Gower(KINDS, scale="rank").fit(c).similarity() for c in (columns, other))
    assert_array_equal(one, two)


def test_the_similarity_of_one_column_is_the_share_of_rows_not_between():
    x = RNG.permutation(50).astype(float)[:, None] ** 3
    s = Gower(scale="rank").fit(x).similarity()
    between = np.abs(np.argsort(np.argsort(x[:, 0]))[:, None] - np.argsort(np.argsort(x[:, 0])))
    assert_allclose(1 - s, between / 50, atol=1e-15)


def test_robust_is_range_where_the_quantiles_are_the_ends():
    x = RNG.normal(size=(int(1 / TRIM), 3))  # too few rows for one to be left out
    assert_array_equal(Gower(scale="robust").fit(x).similarity(), Gower().fit(x).similarity())


def test_an_extreme_value_squeezes_the_range_only():
    x = np.append(np.arange(99.0), 1e6)[:, None]
    near = {scale: Gower(scale=scale).fit(x).similarity()[0, 98] for scale in ("range", "rank")}
    robust = Gower(scale="robust").fit(x)
    assert near["range"] > 0.999
    assert near["rank"] == pytest.approx(1 - 0.98)
    # Of 100 values, int(0.05 * 99) = 4 are left out at each end: 4 to 95.
    assert robust.plan_.distances["x0"].scale_ == 91.0
    assert robust.similarity()[0, 98] == robust.similarity()[0, 99] == 0
    assert robust.similarity()[10, 30] == pytest.approx(1 - 20 / 91)


def test_a_mapping_scales_single_columns_and_ranges_win():
    x = RNG.lognormal(size=(60, 3))
    mixed = Gower(scale={"x0": "rank", "x1": "robust"}).fit(x).plan_.distances
    assert [mixed[n].name for n in ("x0", "x1", "x2")] == ["rank", "absolute", "absolute"]
    assert [mixed[n].trim for n in ("x1", "x2")] == [TRIM, 0.0]
    known = Gower(scale="rank", ranges={"x1": 5.0}).fit(x).plan_.distances
    assert (known["x0"].name, known["x1"].name, known["x1"].scale_) == ("rank", "absolute", 5.0)
    own = Gower(scale="rank", distances={"x0": "absolute"}).fit(x).plan_.distances
    assert (own["x0"].name, own["x1"].name) == ("absolute", "rank")


@pytest.mark.parametrize(
    ("scale", "explained"),
    [
        ("ranks", "scale='ranks'"),
        (
            {"x": "ranks"},
            "scale={'x': 'ranks'}\\): needs one of 'range', 'robust', 'rank', found 'ranks'",
        ),
        ({"w": "rank"}, r"scale=...\): needs columns of the table, found 'w'"),
        ({"z": "rank"}, "scale={'z': 'rank'}\\): needs a column of numbers, found kind category"),
        (3, "scale=3"),
    ],
)
def test_wrong_scales_are_refused(scale, explained):
    with pytest.raises(InvalidInput, match=explained):
        Gower(scale=scale).fit({"x": [1.0, 2.5], "z": ["a", "b"]})


@pytest.mark.parametrize("scale", ["robust", "rank", {"size": "rank"}])
def test_saved_reweighted_learned_and_explained(scale, tmp_path):
    size = RNG.lognormal(sigma=2, size=80)
    size[::9] = np.nan
    rows = {"size": size, "age": RNG.normal(size=80), "kind": RNG.choice(list("ab"), 80)}
    measure = Gower(scale=scale).fit(rows)
    measure.save(tmp_path / "m.zip")
    loaded = la.load(tmp_path / "m.zip")
    assert_array_equal(loaded.similarity(), measure.similarity())
    new = {"size": [1e9, 0.5, None], "age": [0.1, 9.0, -9.0], "kind": ["a", "b", "c"]}
    assert_array_equal(loaded.similarity(new), measure.similarity(new))
    heavy = Gower(scale=scale, weights={"size": 3}).fit(rows)
    assert_array_equal(measure.reweighted({"size": 3}).similarity(), heavy.similarity())
    target = np.nan_to_num(size) > np.nanmedian(size)
    learned = Gower(scale=scale, weights="relieff").fit(rows, target)
    assert learned.weights_["size"] > learned.weights_["age"]
    for pair in ((0, 1), (1, 20), (9, 30)):
        for explained in (measure.explain(*pair), loaded.explain(*pair)):
            assert sum(explained.plus.values()) == pytest.approx(measure.similarity()[pair])
            assert sum(explained.minus.values()) == pytest.approx(1 - measure.similarity()[pair])
        assert measure.explain(*pair).surprisal == loaded.explain(*pair).surprisal
