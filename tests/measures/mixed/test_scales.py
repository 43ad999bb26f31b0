"""Scales of number columns in Gower: published, robust, and by rank."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import lookalike as la
from columns import reference
from lookalike.errors import InvalidInput
from lookalike.measures import Gower
from lookalike.measures.mixed.plan import TRIM

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
                    differ.append(reference.rank_share(a[k], b[k], fitted[k]))
            out[i, j] = 1 - np.mean(differ)
    return out


@few
@given(columns=tables(), new=tables(1))
def test_ranks_equal_their_slow_twin_for_fitted_and_new_rows(columns, new):
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


def test_a_mapping_scales_columns_one_by_one_and_ranges_win():
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
