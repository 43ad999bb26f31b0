"""K-means for mixed columns, against indicators in a plain matrix and against the definition."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import lookalike as la
from lookalike.clustering import MixedKMeans, profile_clusters
from lookalike.datasets import load_penguins
from lookalike.errors import InvalidInput, LookalikeWarning, TooFewRows, UnreadableFile


@parametrize_with_checks([MixedKMeans(3, random_state=0), MixedKMeans(random_state=0)])
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def mixed(n=60, seed=0, gaps=0.0):
    rng = np.random.default_rng(seed)
    half = rng.integers(2, size=n)
    size = rng.normal(0, 1, n) + 3 * half
    color = np.array(["red", "blue", "green"])[rng.integers(3, size=n) * half].astype(object)
    width = rng.exponential(2.0, n)
    size[rng.random(n) < gaps] = np.nan
    color[rng.random(n) < gaps] = None
    return {"size": size, "color": color.tolist(), "width": width}, half


def indicators(table, weight):
    """The matrix of factor analysis of mixed data: plain k-means on it is the same."""
    columns = []
    for name in ("size", "width"):
        x = np.asarray(table[name], dtype=float)
        columns.append((x - x.mean()) / x.std())
    color = np.array(table["color"])
    for level in sorted(set(color)):
        there = (color == level).astype(float)
        columns.append(weight * there / np.sqrt(there.mean()))
    return np.column_stack(columns)


@pytest.mark.parametrize("weight", [0.0, 0.5, 1.0, 2.0])
def test_complete_tables_are_k_means_on_indicators(weight):
    table, _ = mixed(n=80, seed=3)
    ours = MixedKMeans(4, category_weight=weight, n_init=20, random_state=0).fit(table)
    matrix = indicators(table, weight)
    theirs = KMeans(4, n_init=20, random_state=0).fit(matrix)
    assert ours.inertia_ <= theirs.inertia_ * 1.02
    # The same labels make the same centers, so our sum of squares is theirs for our labels.
    again = KMeans(
        4,
        init=np.array([matrix[ours.labels_ == k].mean(axis=0) for k in range(4)]),
        n_init=1,
        max_iter=1,
    ).fit(matrix)
    assert_allclose(ours.inertia_, again.inertia_, rtol=1e-9)


def slow_distances(model, table):
    """Squared distances by the definition, a cell at a time."""
    space, centers = model.space_, model.centers_
    numbers, codes = space.encode(la.table.as_table(table, model.schema_))
    out = np.zeros((len(numbers), len(centers)))
    for i in range(len(numbers)):
        for k in range(len(centers)):
            for j, x in enumerate(numbers[i]):
                if not np.isnan(x):
                    out[i, k] += (x - centers.means[k, j]) ** 2
            for j, code in enumerate(codes[i]):
                if code == -1:
                    continue
                for level in range(space.starts[j], space.starts[j + 1]):
                    here = 1.0 if level - space.starts[j] == code else 0.0
                    q, p = centers.shares[k, level], space.shares[level]
                    out[i, k] += space.weight * (here - q) ** 2 / p
    return out


@given(st.integers(0, 10_000), st.integers(1, 5), st.floats(0, 2))
def test_rows_are_with_the_nearest_center(seed, k, weight):
    table, _ = mixed(n=25, seed=seed, gaps=0.2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LookalikeWarning)
        model = MixedKMeans(k, category_weight=weight, n_init=2, random_state=seed).fit(table)
    far = slow_distances(model, table)
    assert_allclose(model.exemplar_distances_**2, far.min(axis=1), atol=1e-9)
    assert_allclose(far[np.arange(25), model.labels_], far.min(axis=1), atol=1e-9)
    assert_array_equal(model.predict(table), model.labels_)
    assert_array_equal(model.labels_[model.exemplars_], np.arange(model.n_clusters_))
    new = {"size": [0.5, None], "color": ["violet", None], "width": [1.0, 2.0]}
    assert_allclose(
        slow_distances(model, new).argmin(axis=1), model.predict(new)
    )  # an unknown level counts, a gap does not


def gappy(seed):
    """A small table in which cells, and whole rows, are missing; and which rows have a cell."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 30))
    size, color = rng.integers(0, 4, n).astype(float), rng.choice(["red", "blue"], n).astype(object)
    size[rng.random(n) < 0.3] = np.nan
    color[rng.random(n) < 0.3] = None
    blank = rng.random(n) < 0.2
    size[blank], color[blank] = np.nan, None
    return {"size": size, "color": color.tolist()}, ~(np.isnan(size) & (color == None))  # noqa: E711


@given(st.integers(0, 10_000), st.sampled_from([1, 2, 3, 5, "auto"]))
def test_predict_repeats_the_labels_of_the_fitted_rows(seed, k):
    """Also where rows are equally near to several centers, as a row without a cell is to all."""
    table, _ = gappy(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LookalikeWarning)  # fewer different rows than clusters
        model = MixedKMeans(k, n_init=2, random_state=seed).fit(table)
    assert_array_equal(model.predict(table), model.labels_)
    assert_array_equal(np.unique(model.labels_), np.arange(model.n_clusters_))
    firsts = [int(np.argmax(model.labels_ == label)) for label in range(model.n_clusters_)]
    assert firsts == sorted(firsts)


@given(st.integers(0, 10_000), st.sampled_from([1, 2, 3, 5, "auto"]))
def test_a_blank_row_is_never_an_exemplar(seed, k):
    table, has_cell = gappy(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LookalikeWarning)
        model = MixedKMeans(k, n_init=2, random_state=seed).fit(table)
    assert has_cell[model.exemplars_].all() or not has_cell.any()
    assert_array_equal(model.labels_[model.exemplars_], np.arange(model.n_clusters_))


def test_answers_do_not_depend_on_threads():
    table, _ = mixed(n=20_000, gaps=0.1)
    one, two = (MixedKMeans(3, n_init=1, random_state=0, n_jobs=j).fit(table) for j in (1, 2))
    assert_array_equal(one.labels_, two.labels_)
    assert one.inertia_ == two.inertia_
    assert_array_equal(one.exemplar_distances_, two.exemplar_distances_)


def test_penguins_are_separated_better_than_by_k_prototypes():
    penguins = load_penguins()
    species = [penguins["species"].cell(row) for row in range(len(penguins))]
    model = MixedKMeans(3, random_state=0).fit(penguins, "species")
    assert adjusted_rand_score(species, model.labels_) > 0.72
    profile = profile_clusters(model, penguins, "species")
    assert {one.majority for one in profile} == {"Adelie", "Chinstrap", "Gentoo"}


def test_the_number_of_clusters_is_found():
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(4), 50)
    table = {"x": 10.0 * group + rng.normal(size=200), "c": list(np.array(list("abcd"))[group])}
    model = MixedKMeans(random_state=0).fit(table)
    assert model.n_clusters_ == 4
    assert max(model.silhouettes_, key=model.silhouettes_.get) == 4
    assert adjusted_rand_score(group, model.labels_) == 1.0
    assert "silhouettes_" not in vars(model.set_params(n_clusters=2).fit(table))


def test_it_is_saved_and_loaded(tmp_path):
    table, _ = mixed(gaps=0.1)
    model = MixedKMeans(3, random_state=0).fit(table)
    model.save(tmp_path / "means.lookalike")
    assert_array_equal(la.load(tmp_path / "means.lookalike").predict(table), model.labels_)


def test_a_file_holds_what_can_have_been_fitted(tmp_path):
    pets = {"weight": [4.0, 5.0, None, 30.0, 25.0, 28.0], "sound": ["m", "m", "m", "w", "w", "w"]}
    path = tmp_path / "x"
    for name, bad in (
        ("inertia_", [np.inf, -1.0]),
        ("n_clusters_", [0, 3]),
        ("n_iter_", [-1]),
        ("labels_", [np.array([0, 0, 0, 1, 1, value]) for value in (-1, 2)]),
        ("exemplars_", [np.array([0, value]) for value in (-1, 6)]),
        ("exemplar_distances_", [np.array([0.0] * 5 + [value]) for value in (-1.0, np.inf)]),
        ("silhouettes_", [{-1: 0.5}, {2: 1.5}, {2: -1.5}]),
    ):
        for value in bad:
            model = MixedKMeans(2, random_state=0).fit(pets)
            setattr(model, name, value)
            model.save(path)
            with pytest.raises(UnreadableFile, match=name):
                la.load(path)
    model = MixedKMeans(2, random_state=0).fit(pets)
    model.silhouettes_, model.inertia_, model.n_iter_ = {0: -1.0, 2: np.nan, 3: 1.0}, 0.0, 0
    model.save(path)
    assert la.load(path).silhouettes_.keys() == {0, 2, 3}


@pytest.mark.parametrize("part", ["means", "shares"])
def test_loaded_centers_have_the_width_of_their_columns(part, tmp_path):
    """Kernels index centers by the columns without checking."""
    pets = {"weight": [4.0, 5.0, 25.0, 28.0], "sound": ["m", "m", "w", "w"]}
    model = MixedKMeans(2, random_state=0).fit(pets)
    wider = np.hstack([getattr(model.centers_, part), np.zeros((2, 1))])
    model.centers_ = replace(model.centers_, **{part: wider})
    model.save(tmp_path / "x")
    with pytest.raises(UnreadableFile, match="numbers and levels.*in Centers"):
        la.load(tmp_path / "x")


def test_far_away_numbers_neither_overflow_nor_lose_their_order():
    model = MixedKMeans(2, random_state=0).fit({"a": [1e300, 1.1e300, -1e300, -1.1e300]})
    assert_array_equal(model.labels_, [0, 0, 1, 1])
    model = MixedKMeans(2, random_state=0).fit({"a": [1e15, 1e15 + 1, 1e15 + 9, 1e15 + 10]})
    assert_array_equal(model.labels_, [0, 0, 1, 1])


def test_what_cannot_be_clustered_is_said():
    with pytest.raises(TooFewRows, match="at least 9 rows"):
        MixedKMeans(9).fit({"a": [1.0, 2.0]})
    with pytest.raises(InvalidInput, match="at least one column of numbers"):
        MixedKMeans(2).fit({"t": [["a"], ["b"], ["a", "c"]]})
    with pytest.warns(LookalikeWarning, match="'t'"):
        MixedKMeans(2).fit({"t": [["a"], ["b"], ["a", "c"]], "a": [1.0, 2.0, 9.0]})
    with pytest.warns(LookalikeWarning, match="2 different kinds"):
        assert MixedKMeans(2).fit({"a": ["x", "x", "x"], "b": [1.0, 1.0, 1.0]}).n_clusters_ == 1


def test_two_clusters_are_the_most_that_may_be_asked_for():
    rows = {"x": [1.0, 1.1, 5.0, 5.2, 9.0, 9.1]}
    assert MixedKMeans("auto", max_clusters=2, random_state=0).fit(rows).n_clusters_ == 2
    with pytest.raises(InvalidInput, match="max_clusters.*an integer >= 2"):
        MixedKMeans("auto", max_clusters=1).fit(rows)


def test_it_says_which_rows_it_looked_at():
    model = MixedKMeans(2, n_init=3, random_state=0).fit({"x": [1.0, 1.1, 5.0, 5.2]})
    assert model.exactness_ == "on all 4 rows, the best of 3 starts"
