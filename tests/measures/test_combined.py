"""Combined: weighted proximities, z-scores, and the parts' parameters."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

import lookalike as la
from lookalike.errors import InvalidInput
from lookalike.hubness import NICDM, MutualProximity
from lookalike.measures import Combined, Gower, Precomputed, Ranked, Vector

RNG = np.random.default_rng(0)
ROWS = {"size": RNG.random(20), "age": RNG.random(20) * 50, "city": RNG.random(20)}
NEW = {name: values[:3] + 0.05 for name, values in ROWS.items()}
X = np.column_stack(list(ROWS.values()))


@pytest.mark.parametrize("model", ["empirical", "gauss_independent"])
def test_proximities_are_added_by_weight(model):
    size, age = MutualProximity(Vector(), model), MutualProximity(Ranked(), model)
    combined = Combined([(3, size, ["size", "city"]), (7, age, "age")]).fit(ROWS)
    assert_allclose(combined.weights_, [0.3, 0.7])
    one = MutualProximity(Vector(), model).fit(X[:, [0, 2]])
    two = MutualProximity(Ranked(), model).fit(X[:, 1:2])
    expected = 0.3 * one.similarity() + 0.7 * two.similarity()
    assert_allclose(combined.similarity(), expected, rtol=1e-12)
    new = np.column_stack(list(NEW.values()))
    expected = 0.3 * one.similarity(new[:, [0, 2]]) + 0.7 * two.similarity(new[:, 1:2])
    assert_allclose(combined.similarity(NEW), expected, rtol=1e-12)


def test_two_numbers():
    # Proximities of 0.5 and 0.25 with weights 0.3 and 0.7 make 0.325: rows 0 and 1 of two lines.
    line, other = [0.0, 1.0, 3.0, 7.0], [0.0, 3.0, 1.0, 7.0]
    each = MutualProximity(Vector(), "empirical")
    combined = Combined([(0.3, each, "a"), (0.7, each, "b")]).fit({"a": line, "b": other})
    assert_allclose(combined.similarity()[0, 1], 0.325)


def test_z_scores():
    parts = [(1, Vector(), "size"), (3, Vector("cityblock"), ["age", "city"])]
    combined = Combined(parts, "zscore").fit(ROWS)
    d1 = Vector().fit(X[:, :1]).distance()
    d2 = Vector("cityblock").fit(X[:, 1:]).distance()
    off = ~np.eye(20, dtype=bool)
    z = sum(
        w * (d - d[off].mean()) / d[off].std() for w, d in ((0.25, d1), (0.75, d2))
    )  # fmt: skip
    assert_allclose((combined.distance() - combined.offset_)[off], z[off], atol=1e-12)
    # Columns of z-scores have no weight of their own, those of a sum of parts may have one.
    gowers = [(1, Gower(), "size"), (3, Gower(), ["age", "city"])]
    assert [Combined(gowers, how).traits.weighs_columns for how in ("zscore", "similarity")] == [
        False, True
    ]  # fmt: skip


def test_z_scores_of_equal_distances_count_nothing():
    parts = [(1, Precomputed(), "a"), (1, Precomputed(), "b")]
    d = Vector().fit(X).distance()
    combined = Combined(parts, "zscore").fit({"a": 0.1 * (1 - np.eye(20)), "b": d})
    assert combined.units_[0] == 0
    off = ~np.eye(20, dtype=bool)
    assert_allclose(combined.distance(), 0.5 * d / d[off].std(), rtol=1e-12)
    assert np.isfinite(combined.distance()).all()


def test_z_scores_from_a_sample():
    x = np.random.default_rng(1).normal(size=(80, 3))
    whole, some = (
        Combined([(1, Vector())], "zscore", sample=sample, random_state=0).fit(x)
        for sample in (None, 40)
    )
    assert_allclose(some.units_, whole.units_, rtol=0.1)
    assert_allclose(some.offset_, whole.offset_, rtol=0.1)
    assert some.units_[0] != whole.units_[0]


def test_several_matrices():
    d = Vector().fit(X).distance()
    each = MutualProximity(Precomputed(), "empirical")
    combined = Combined([(0.3, each, "rhythm"), (0.7, each, "timbre")]).fit(
        {"rhythm": d, "timbre": d**2}
    )
    expected = MutualProximity(Precomputed()).fit(d).similarity()
    assert_allclose(combined.similarity(), expected)  # counts do not see the square
    far = Vector().fit(X).distance(X[:2] + 0.1)
    assert_allclose(
        combined.similarity({"rhythm": far, "timbre": far**2}),
        MutualProximity(Precomputed()).fit(d).similarity(far),
    )


def test_similarities_and_proximities_as_they_are():
    ready = MutualProximity(Vector(), "empirical")
    combined = Combined([(1, ready), (0, Ranked())]).fit(X)
    assert_array_equal(combined.similarity(), ready.fit(X).similarity())
    plain = Combined([(1, Vector()), (1, Ranked())], "similarity").fit(X)
    expected = (Vector().fit(X).similarity() + Ranked().fit(X).similarity()) / 2
    assert_allclose(plain.similarity(), expected)


def test_parameters_of_the_parts():
    combined = Combined([(1, MutualProximity(Vector())), (2, NICDM(Ranked()))])
    params = combined.get_params()
    assert params["0__model"] == "auto"
    assert params["1__n_neighbors"] == 10
    assert params["1__measure__metric"] == "cityblock"
    changed = clone(combined).set_params(
        **{"0__model": "gauss", "1__n_neighbors": 3, "how": "zscore"}
    )
    assert changed.parts[0][1].model == "gauss"
    assert changed.parts[1][1].n_neighbors == 3
    assert changed.how == "zscore"
    assert combined.parts[0][1].model == "auto"
    assert changed.set_params(**{"0": Ranked()}).parts[0][1].metric == "cityblock"
    with pytest.raises(InvalidInput, match="parts numbered 0 to 1"):
        changed.set_params(**{"2__metric": "cosine"})


def test_explanations_add_up_over_the_parts():
    plain = [(0.3, Vector(), ["size", "city"]), (0.7, Ranked(), "age")]
    repaired = [(w, MutualProximity(m, "gauss_independent"), c) for w, m, c in plain]
    for parts, how in ((repaired, "similarity"), (plain, "zscore"), (plain, "similarity")):
        explained = Combined(parts, how).fit(ROWS).explain(0, 5)
        assert {name for name in explained.minus if name} == {"size", "age", "city"}
        assert len(explained.inner) == 2
        assert_allclose(sum(explained.plus.values()) + sum(explained.minus.values()), 1)


def test_combinations_are_saved_and_read(tmp_path):
    combined = Combined([(1, Vector(), "size"), (2, Ranked(), ["age"])]).fit(ROWS)
    combined.save(tmp_path / "both.lookalike")
    again = la.load(tmp_path / "both.lookalike")
    assert_array_equal(again.similarity(NEW), combined.similarity(NEW))


@pytest.mark.parametrize(
    ("parts", "complaint"),
    [
        ([], "a list of"),
        (Vector(), "a list of"),
        ([Vector()], r"\(weight, measure\)"),
        ([(0, Vector()), (0.0, Ranked())], "a weight above 0"),
        ([(-1, Vector()), (2, Ranked())], "at least 0"),
        ([(np.nan, Vector())], "finite"),
        ([("1", Vector())], "finite numbers"),
        ([(1, Vector)], "a measure in second place"),
        ([(1, "euclidian")], "Did you mean 'euclidean'"),
        ([(1, Vector(), [])], "at least one column"),
    ],
)
def test_bad_parts_are_refused(parts, complaint):
    with pytest.raises(InvalidInput, match=complaint):
        Combined(parts).fit(X)


def test_unknown_columns_are_refused():
    with pytest.raises(ValueError, match="weight"):
        Combined([(1, Vector(), "weight")]).fit(ROWS)
