"""The vote rule, alone and behind the estimators, against counting by hand."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from lookalike.evaluate import vote as votes
from lookalike.evaluate.vote import (
    class_totals,
    list_weights,
    means,
    vote,
    winners,
)
from lookalike.measures import Gower, Vector
from lookalike.prediction import NeighborClassifier, NeighborRegressor
from prediction import make, reference

POINTS, LABELS = [[0.0], [1.0], [3.0], [7.0]], [0, 0, 1, 1]

# Powers of two: 1 / d and its sums are exact, so that ties are ties in both forms.
lists = st.lists(
    st.tuples(st.sampled_from([0.0, 0.25, 0.5, 1.0, 2.0, np.inf]), st.integers(0, 3)),
    min_size=1,
    max_size=8,
).map(lambda pairs: sorted(pairs, key=lambda pair: pair[0]))
weightings = st.sampled_from(["uniform", "distance", "kernel"])
ties = st.sampled_from(["first", "nearest"])


@given(lists, weightings, ties)
def test_votes_are_counted_as_by_hand(found, weights, tie):
    distances, codes = np.array([[d for d, _ in found]]), np.array([[c for _, c in found]])
    counted = list_weights(distances, weights, np.inf)
    totals = class_totals(codes, counted, 4)
    by_hand = reference.weigh([d for d, _ in found], weights)
    share = reference.shares([c for _, c in found], by_hand)
    assert_allclose(totals[0] / totals.sum(), [share.get(c, 0.0) for c in range(4)])
    assert winners(totals, codes, tie)[0] == reference.vote(codes[0].tolist(), by_hand, tie)


@given(lists, weightings)
def test_means_are_weighted_as_by_hand(found, weights):
    distances, values = np.array([[d for d, _ in found]]), np.array([[float(v) for _, v in found]])
    counted = list_weights(distances, weights, np.inf)
    by_hand = reference.weigh([d for d, _ in found], weights)
    assert_allclose(means(values, counted), [reference.mean(values[0].tolist(), by_hand)])


@pytest.mark.parametrize(
    ("k", "expected"), [(1, [0, 0, 0, 1]), (2, [0, 0, 0, 1]), (3, [1, 1, 0, 0])]
)
@pytest.mark.parametrize("tie", ["first", "nearest"])
def test_worked_example_leave_one_out(k, expected, tie):
    model = NeighborClassifier(Vector(), n_neighbors=k, weights="uniform", tie=tie)
    model.fit(POINTS, LABELS)
    assert model.predict(None).tolist() == expected
    assert model.score(None, LABELS) == np.mean(np.array(expected) == LABELS)


def test_the_two_tie_rules_differ_only_with_three_classes():
    # Nearest is a; b and c have two votes each, b before c.
    X, y = [[1.0], [2.0], [3.0], [4.0], [5.0]], ["a", "b", "c", "c", "b"]
    first = NeighborClassifier(Vector(), 5, weights="uniform", tie="first").fit(X, y)
    nearest = NeighborClassifier(Vector(), 5, weights="uniform", tie="nearest").fit(X, y)
    assert first.predict([[0.0]]).tolist() == ["b"]
    assert nearest.predict([[0.0]]).tolist() == ["a"]
    assert_allclose(first.predict_proba([[0.0]]), [[0.2, 0.4, 0.4]])


def test_rows_at_distance_zero_decide_alone():
    X, y = [[0.0], [0.0], [1e-300], [1.0]], ["a", "b", "c", "c"]
    options = {"measure": Vector("cityblock"), "n_neighbors": 4, "weights": "distance"}
    model = NeighborClassifier(**options).fit(X, y)
    assert_allclose(model.predict_proba([[0.0]]), [[0.5, 0.5, 0.0]])
    assert model.predict([[0.0]]).tolist() == ["a"]
    amounts = NeighborRegressor(**options)
    assert amounts.fit(X, [1.0, 2.0, 30.0, 40.0]).predict([[0.0]]).tolist() == [1.5]


def test_kernel_weights_fall_to_two_deviations_at_the_last_neighbor():
    weights = list_weights(np.array([[0.0, 1.0, 2.0], [0.0, 0.0, 0.0]]), "kernel", np.inf)
    assert_allclose(weights, [[1.0, np.exp(-0.5), np.exp(-2.0)], [1.0, 1.0, 1.0]])
    unknown = list_weights(np.array([[1.0, np.inf], [np.inf, np.inf]]), "kernel", np.inf)
    assert_allclose(unknown, [[np.exp(-2.0), 0.0], [1.0, 1.0]])
    assert_allclose(list_weights(np.array([[1.0, np.inf]]), "distance", 4.0), [[1.0, 0.25]])


def test_tiny_distances_do_not_overflow():
    tiny = 5e-324
    counted = list_weights(np.array([[tiny, tiny, 1.0]]), "distance", np.inf)
    assert_array_equal(counted, [[1.0, 1.0, tiny]])


def test_nearer_rows_count_more():
    X, y = [[1.0], [10.0], [10.0]], ["near", "far", "far"]
    plain = NeighborClassifier(Vector(), n_neighbors=3, weights="uniform").fit(X, y)
    weighted = NeighborClassifier(Vector(), n_neighbors=3, weights="distance").fit(X, y)
    assert plain.predict([[0.0]]).tolist() == ["far"]
    assert weighted.predict([[0.0]]).tolist() == ["near"]
    assert_allclose(weighted.predict_proba([[0.0]]), [[1 / 6, 5 / 6]])


def test_pairs_with_nothing_to_compare_have_similarity_zero():
    # The query has a color only; rows 0 and 1 have none, row 2 differs, row 3 agrees.
    table = {"size": [1.0, 2.0, None, None], "color": [None, None, "red", "blue"]}
    query = [{"size": None, "color": "blue"}]
    y = ["a", "a", "b", "c"]
    model = NeighborClassifier(Gower(), n_neighbors=4).fit(table, y)
    distances, positions = model.kneighbors(query)
    assert positions.tolist() == [[3, 2, 0, 1]]
    assert_array_equal(distances, [[0.0, 1.0, np.inf, np.inf]])
    query = [{"size": None, "color": "green"}]  # at distance 1 from b and c, the rest undefined
    model = NeighborClassifier(Gower(), n_neighbors=4, weights="distance").fit(table, y)
    assert_allclose(model.predict_proba(query), [[0.5, 0.25, 0.25]])


def test_a_row_without_any_cell_still_gets_an_answer():
    table = {"size": [1.0, 2.0, 3.0], "color": ["red", "red", "blue"]}
    for weights in ("uniform", "distance"):
        model = NeighborClassifier(n_neighbors=3, weights=weights).fit(table, ["a", "b", "b"])
        assert model.predict([{"size": None, "color": None}]).tolist() == ["b"]


@settings(max_examples=60, deadline=None)
@given(
    make.rows(2, 10),
    make.rows(1, 4),
    st.integers(1, 10),
    weightings,
    ties,
    st.lists(st.sampled_from(["no", "yes", "hm"]), min_size=10, max_size=10),
    st.booleans(),
)
def test_mixed_tables_with_missing_cells_end_to_end(known, new, k, weights, tie, labels, own):
    assume(k <= len(known) - own)
    y = labels[: len(known)]
    amounts = [float(len(label)) for label in y]
    spans = reference.ranges_of(known, make.NUMERIC)
    queries = known if own else new
    X = None if own else make.columns(queries)
    options = {"n_neighbors": k, "weights": weights, "kinds": make.KINDS, "measure": Gower()}
    model = NeighborClassifier(tie=tie, **options).fit(make.columns(known), y)
    means = NeighborRegressor(**options).fit(make.columns(known), amounts)
    answers, proba, numbers = model.predict(X), model.predict_proba(X), means.predict(X)
    for at, query in enumerate(queries):
        s = [reference.gower(query, row, spans) for row in known]
        # Rounded: sums in another order must not turn ties into an order.
        d = [None if v is None else round(1 - v, 12) for v in s]
        near = reference.nearest(d, k, leave_out=at if own else None)
        away = [1.0 if d[i] is None else d[i] for i in near]
        counted = reference.weigh(away, weights)
        found = model.kneighbors(X)[0][at]
        assert_allclose(np.where(np.isinf(found), 1.0, found), away, atol=1e-9)
        if model.kneighbors(X, return_distance=False)[at].tolist() != near:
            continue  # equal but for round-off: d does not fix the order of such neighbors
        share = reference.shares([y[i] for i in near], counted)
        assert_allclose(proba[at], [share.get(c, 0.0) for c in model.classes_], atol=1e-6)
        assert_allclose(numbers[at], reference.mean([amounts[i] for i in near], counted), rtol=1e-6)
        top = sorted(share.values())[::-1]
        if weights == "uniform" or len(top) == 1 or top[0] - top[1] > 1e-6:
            assert answers[at] == reference.vote([y[i] for i in near], counted, tie)


def test_blocks_of_rows_vote_as_all_rows_do(monkeypatch):
    rng = np.random.default_rng(0)
    codes, weights = rng.integers(0, 4, (50, 5)), rng.random((50, 5))
    whole = winners(class_totals(codes, weights, 4), codes, "first")
    monkeypatch.setattr(votes, "MAX_TOTALS", 7 * 4)
    assert_array_equal(vote(codes, weights, 4, "first"), whole)
    assert len(set(whole.tolist())) > 1
