"""Neighbors by tiles and by draws in leaves (RF-GAP, which votes as the forest does)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier, RandomForestRegressor

import lookalike as la
from lookalike.errors import InvalidInput, LookalikeWarning
from lookalike.measures import ForestProximity, Gap, Ratio
from lookalike.measures.forest import neighbors as forest_neighbors
from lookalike.measures.forest import proximity
from lookalike.prediction import (
    RandomSimilarityForestClassifier,
    RandomSimilarityForestRegressor,
)
from lookalike.trees import SyntheticForest

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(60, 3))
AMOUNTS = ROWS @ [1.0, -2.0, 0.5] + RNG.normal(size=60)
CLASSES = np.digitize(AMOUNTS, [-1.0, 1.0])


def slow(leaves, times, query=None):
    """The definition of the paper, pair by pair: leaves and draws of n rows in the trees."""
    n, n_trees = leaves.shape
    asked = leaves if query is None else query
    out = np.zeros((len(asked), n))
    for i in range(len(asked)):
        counts = [t for t in range(n_trees) if query is not None or times[i, t] == 0]
        for t in counts or range(n_trees):
            members = [j for j in range(n) if leaves[j, t] == asked[i, t] and times[j, t]]
            drawn = sum(times[j, t] for j in members)
            for j in members:
                out[i, j] += times[j, t] / drawn / len(counts or range(n_trees))
    return out


def draws_of(forest, n):
    return np.stack([np.bincount(rows, minlength=n) for rows in forest.estimators_samples_], axis=1)


def similarities(measure, X=None):
    """Similarities to fitted rows, as the formula has them: 0 of a row to itself."""
    out = measure.similarity(X)
    if X is None:
        np.fill_diagonal(out, 0.0)
    return out


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(4, 25),
    trees=st.integers(1, 12),
    leaf=st.integers(1, 4),
)
def test_values_are_those_of_the_definition(seed, n, trees, leaf):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 4, (n, 2)).astype(float)
    forest = RandomForestRegressor(trees, min_samples_leaf=leaf, random_state=seed)
    forest.fit(rows, rng.normal(size=n))
    measure = ForestProximity("gap", model=forest).fit(rows)
    times, leaves = draws_of(forest, n), forest.apply(rows)
    expected = slow(leaves, times)
    # Of rows that all trees were grown on, all trees count, and the row itself among the draws.
    np.fill_diagonal(expected, 0.0)
    assert_allclose(similarities(measure), expected, atol=1e-13)
    new = rng.integers(0, 4, (3, 2)).astype(float)
    assert_allclose(similarities(measure, new), slow(leaves, times, forest.apply(new)), atol=1e-13)


def test_two_trees_by_hand():
    """Rows 0 to 3; tree 1 drew 0, 0, 1, 3 and tree 2 drew 2, 2, 2, 3: leaves {0, 1}, {2, 3}."""
    leaves = np.array([[0, 0], [0, 0], [1, 1], [1, 1]])
    times = np.array([[2, 0], [1, 0], [0, 3], [1, 1]])
    expected = slow(leaves, times)
    assert_allclose(expected[2], [0, 0, 0, 1])  # tree 1 alone: only row 3 was drawn there
    assert_allclose(expected[0], [0, 0, 0, 0])  # tree 2 alone, whose leaf holds no draw
    assert_allclose(expected[3], [0, 0, 3 / 8, 1 / 2 + 1 / 8])  # both trees were grown on it


@pytest.mark.parametrize("bootstrap", [{}, {"max_samples": 0.5}])
def test_votes_are_the_out_of_bag_predictions(bootstrap):
    options = {"n_estimators": 80, "oob_score": True, "random_state": 0, **bootstrap}
    new = RNG.normal(size=(20, 3))
    forest = RandomForestRegressor(**options).fit(ROWS, AMOUNTS)
    measure = ForestProximity("gap", model=forest).fit(ROWS)
    assert_allclose(similarities(measure).sum(axis=1), 1.0, rtol=1e-12)
    assert_allclose(similarities(measure) @ AMOUNTS, forest.oob_prediction_, rtol=0, atol=1e-12)
    assert_allclose(similarities(measure, new) @ AMOUNTS, forest.predict(new), rtol=0, atol=1e-12)
    one_hot = np.eye(3)[CLASSES]
    for cls in (RandomForestClassifier, ExtraTreesClassifier):
        forest = cls(**{"bootstrap": True, **options}).fit(ROWS, CLASSES)
        measure = ForestProximity("gap", model=forest).fit(ROWS)
        votes = similarities(measure) @ one_hot
        assert_allclose(votes, forest.oob_decision_function_, rtol=0, atol=1e-12)
        votes = similarities(measure, new) @ one_hot
        assert_allclose(votes, forest.predict_proba(new), rtol=0, atol=1e-12)


def test_similarity_forests_on_objects_vote_alike():
    """Sets and texts beside numbers, missing cells included."""
    rng = np.random.default_rng(1)
    words = [frozenset(rng.choice(list("abcdef"), 3).tolist()) for _ in ROWS]
    table = la.read_table(
        {
            "words": words,
            "size": [None if i % 9 == 0 else x for i, x in enumerate(ROWS[:, 0])],
            "name": ["".join(sorted(cell)) for cell in words],
        },
        kinds={"name": "text"},
    )
    options = {"n_estimators": 60, "oob_score": True, "random_state": 0}
    y = np.array([len(cell) + ("a" in cell) for cell in words]) + (ROWS[:, 0] > 0)
    forest = RandomSimilarityForestClassifier(**options, voting="soft").fit(table, y)
    votes = similarities(ForestProximity("gap", model=forest).fit(table)) @ (
        y[:, None] == forest.classes_
    )
    assert_allclose(votes, forest.oob_decision_function_, rtol=0, atol=1e-12)
    forest = RandomSimilarityForestRegressor(**options).fit(table, AMOUNTS)
    means = similarities(ForestProximity("gap", model=forest).fit(table)) @ AMOUNTS
    assert_allclose(means, forest.oob_prediction_, rtol=0, atol=1e-12)


@pytest.mark.parametrize("trees", [{"n_estimators": 5}, {"min_samples_leaf": 5}])
@pytest.mark.parametrize("k", [1, 7, 59])
def test_lists_by_members_are_those_of_the_blocks(k, trees, monkeypatch):
    """Where fewer rows than k share any leaf, so that others fill the list; where most do."""
    forest = RandomForestRegressor(**trees, random_state=0).fit(ROWS, AMOUNTS)
    measure = ForestProximity("gap", model=forest).fit(ROWS)
    new = RNG.normal(size=(20, 3))
    lists = {}
    for limit in (1, 10**9):
        monkeypatch.setattr(proximity, "MIN_QUERIES_FOR_MEMBERS", limit)
        lists[limit] = [measure.neighbors(X, k) for X in (None, new)]
    for fast, plain in zip(*lists.values(), strict=True):
        assert_array_equal(fast.indices, plain.indices)
        assert_array_equal(fast.distances, plain.distances)
    d = 1.0 - similarities(measure)
    np.fill_diagonal(d, np.inf)
    assert_array_equal(lists[1][0].indices, np.argsort(d, axis=1, kind="stable")[:, :k])


def test_lists_of_a_part_of_the_rows_merge_to_those_of_all(monkeypatch):
    """A share is one of all draws in a leaf, whichever rows are searched."""
    forest = RandomForestRegressor(12, min_samples_leaf=4, random_state=0).fit(ROWS, AMOUNTS)
    measure = ForestProximity("gap", model=forest).fit(ROWS)
    rows, own = measure.rows_, np.arange(60)
    for limit in (1, 10**9):
        monkeypatch.setattr(proximity, "MIN_QUERIES_FOR_MEMBERS", limit)
        parts = [
            measure.nearest(rows, rows[at], 7, exclude=own, ids=at)
            for at in (np.arange(0, 60, 3), np.setdiff1d(own, np.arange(0, 60, 3)))
        ]
        merged, whole = parts[0].merge(parts[1]), measure.nearest(rows, rows, 7, exclude=own)
        assert_allclose(merged.distances, whole.distances, atol=1e-14)
        d = 1.0 - similarities(measure)[:, ::3]
        d[np.arange(60)[:, None] == np.arange(0, 60, 3)] = np.inf
        assert_allclose(parts[0].distances, np.sort(d, axis=1)[:, :7], atol=1e-14)


def test_a_row_that_may_find_itself_does(monkeypatch):
    monkeypatch.setattr(proximity, "MIN_QUERIES_FOR_MEMBERS", 1)
    forest = RandomForestRegressor(5, random_state=0).fit(ROWS, AMOUNTS)
    measure = ForestProximity("gap", model=forest).fit(ROWS)
    rows = measure.rows_
    nowhere = np.full(len(rows), -1)
    lists = measure.nearest(rows, rows, 60, exclude=nowhere)
    itself = lists.indices == np.arange(60)[:, None]
    assert (itself.sum(axis=1) == 1).all()
    assert (lists.distances[itself] == 0).all()


def test_a_query_whose_leaves_hold_no_draw_is_near_nothing():
    measure = ForestProximity("gap", SyntheticForest(9, max_samples=0.5), random_state=0).fit(ROWS)
    measure.values_ = np.zeros(len(measure.values_))
    shares, n_trees = forest_neighbors.draw_shares(measure._fitted(), measure.rows_)
    assert not shares.any()
    assert not n_trees.any()
    assert_array_equal(measure.compare(measure.rows_, measure.rows_), np.zeros((60, 60)))


def test_reasons_add_up():
    forest = RandomForestClassifier(30, random_state=0).fit(ROWS, CLASSES)
    measure = ForestProximity("gap", model=forest).fit(ROWS)
    nearest = measure.neighbors(None, 1).indices[:, 0]
    for i in (0, 5, 17):
        reasons = measure.explain(i, int(nearest[i]))
        assert sum(reasons.plus.values()) == pytest.approx(reasons.similarity, abs=1e-12)
        assert sum(reasons.minus.values()) == pytest.approx(1 - reasons.similarity, abs=1e-12)
        assert reasons.minus[None] > 0  # other rows in the leaves they share


def test_forests_without_labels_and_directions():
    measure = ForestProximity("gap", SyntheticForest(200), random_state=0).fit(ROWS)
    found = similarities(measure)
    assert_allclose(found.sum(axis=1), 1.0, rtol=1e-12)
    assert not measure.traits.symmetric
    assert not measure.traits.unseen_pairs
    assert not np.allclose(found, found.T)
    assert repr(ForestProximity(Gap()).method) == "Gap()"


def test_forests_that_know_no_draws_are_refused():
    forest = RandomForestClassifier(3, bootstrap=False).fit(ROWS, CLASSES)
    with pytest.raises(InvalidInput, match="trees that were each grown on a sample"):
        ForestProximity("gap", model=forest).fit(ROWS)


@pytest.mark.long
def test_votes_are_the_predictions_on_published_tables(data_folder):
    """Thirty tables, missing cells included: classes, and the first column as amounts."""
    pq = pytest.importorskip("pyarrow.parquet")
    tried = 0
    for path in sorted(data_folder.glob("*.parquet")):
        frame = pq.read_table(path).to_pandas()
        numbers = frame.drop(columns="target").select_dtypes("number").dropna(axis=1, how="all")
        if numbers.shape[1] < 2:
            continue
        some = np.random.default_rng(0).permutation(len(frame))[:200]
        X, y = numbers.to_numpy(float)[some], np.array([str(c) for c in frame["target"]])[some]
        options = {"n_estimators": 60, "oob_score": True, "random_state": 0}
        forest = RandomForestClassifier(**options).fit(X, y)
        votes = similarities(ForestProximity("gap", model=forest).fit(X)) @ (
            y[:, None] == forest.classes_
        )
        assert_allclose(votes, forest.oob_decision_function_, rtol=0, atol=1e-12, err_msg=path.name)
        known = ~np.isnan(X[:, 0])
        X, amounts = X[known][:, 1:], X[known, 0] / np.abs(X[known, 0]).max()
        forest = RandomForestRegressor(**options).fit(X, amounts)
        means = similarities(ForestProximity("gap", model=forest).fit(X)) @ amounts
        assert_allclose(means, forest.oob_prediction_, rtol=0, atol=1e-12, err_msg=path.name)
        tried += 1
    assert tried >= 30


@pytest.mark.long
def test_similarity_forests_vote_alike_on_published_tables(data_folder):
    """Numbers, categories, texts, sequences and vectors, classes and amounts, missing cells."""
    pq = pytest.importorskip("pyarrow.parquet")
    options = {"n_estimators": 30, "oob_score": True, "random_state": 0}
    tried, kinds = 0, set()
    for path in sorted(data_folder.glob("*.parquet")):
        whole = pq.read_table(path)
        some = whole.take(np.random.default_rng(0).permutation(len(whole))[:100])
        y = np.array([str(cell) for cell in some["target"].to_pylist()])
        columns = [name for name in some.column_names if name != "target"][:30]
        table = la.read_table(some.select(columns))
        forest = RandomSimilarityForestClassifier(**options, voting="soft").fit(table, y)
        votes = similarities(ForestProximity("gap", model=forest).fit(table)) @ (
            y[:, None] == forest.classes_
        )
        oob = forest.oob_decision_function_
        assert_allclose(votes, oob, rtol=0, atol=1e-12, err_msg=path.name)
        amounts = np.unique(y, return_inverse=True)[1] + np.linspace(0, 0.5, len(y))
        forest = RandomSimilarityForestRegressor(**options).fit(table, amounts)
        means = similarities(ForestProximity("gap", model=forest).fit(table)) @ amounts
        assert_allclose(means, forest.oob_prediction_, rtol=0, atol=1e-12, err_msg=path.name)
        tried, kinds = tried + 1, kinds | {column.kind.name for column in table}
    assert tried >= 30
    assert kinds >= {"number", "category", "order", "flag", "text", "sequence", "vector"}


def test_pairs_without_a_usable_tree_are_counted():
    with pytest.warns(LookalikeWarning, match="pairs of rows have no tree"):
        measure = ForestProximity("oob", n_estimators=3, random_state=0).fit(ROWS[:40])
    bag = measure.in_bag_ > 0
    lost = (bag[:, None] | bag).all(axis=2)
    assert measure.n_fallback_pairs_ == lost[np.triu_indices(40, 1)].sum() > 0


@pytest.mark.parametrize("parting", ["twice", "once"])
@pytest.mark.parametrize("gaps", [0.0, 0.2])
@pytest.mark.parametrize("new", [False, True])
def test_ratio_neighbors_do_not_depend_on_the_tiles(monkeypatch, parting, gaps, new):
    monkeypatch.setattr("lookalike.trees.thresholds.proximity.MAX_TILE_ROWS", 64)
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(150, 4)).round(1)
    rows[:, 1:][rng.random((150, 3)) < gaps] = np.nan  # something is left to compare
    measure = ForestProximity(Ratio(parting=parting), n_estimators=5, random_state=0).fit(rows)
    asked = rows[40:110] if new else None
    distances, indices = measure.kneighbors(asked, n_neighbors=7)
    square = measure.distance(asked)
    if not new:
        np.fill_diagonal(square, np.inf)
    order = np.argsort(square, axis=1, kind="stable")[:, :7]
    assert (indices == order).all()
    assert (distances == np.take_along_axis(square, order, axis=1)).all()
