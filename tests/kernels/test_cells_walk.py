"""Rows that go down similarity trees together end where each would end alone."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import lookalike as la
from lookalike.prediction import RandomSimilarityForestClassifier as Classifier
from lookalike.trees.cells import trees as cell_trees
from lookalike.trees.cells.columns import CellCache, encode_columns, fit_columns
from lookalike.trees.cells.growing import Goal, grow_trees
from trees.cell_reference import answers

SOME = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


def make_table(n, seed, gaps):
    rng = np.random.default_rng(seed)
    words = ["anna", "hanna", "bob", "rob", "robert", "zoe"]
    table = {
        "size": rng.normal(size=n).round(1).tolist(),
        "price": rng.normal(size=n).tolist(),
        "color": rng.choice(["red", "blue", "green"], n).tolist(),
        "tags": [set(rng.choice(list("abcdef"), 3).tolist()) for _ in range(n)],
        "name": [words[i] for i in rng.integers(0, 6, n)],
    }
    for cells in table.values() if gaps else ():
        for i in rng.choice(n, n // 6, replace=False):
            cells[i] = None
    kinds = {"size": "number", "price": "number", "color": "category", "tags": "set"}
    return la.read_table(table, kinds={**kinds, "name": "text"}), rng.integers(0, 3, n)


def descend_alone(trees, cells):
    """Follow every row through every tree, asking the outcome of each test by itself."""
    outcomes = answers(trees, cells)
    leaves = np.empty((len(outcomes), trees.n_trees), int)
    for row, own in enumerate(outcomes):
        for t in range(trees.n_trees):
            at = start = trees.offsets[t]
            while trees.feature[at] >= 0:
                goes = own[at] if own[at] < 2 else trees.default[at]
                at = at + 1 if goes else start + trees.right[at]
            leaves[row, t] = at - start
    return leaves


@SOME
@given(
    n=st.integers(6, 60), new=st.integers(1, 90), seed=st.integers(0, 99), gaps=st.booleans(),
    projected=st.sampled_from(["distance", "squared"]),
    numeric=st.sampled_from(["projection", "value"]), tall=st.sampled_from([1, 7, 2048]),
)  # fmt: skip
def test_rows_end_where_each_would_end_alone(n, new, seed, gaps, projected, numeric, tall):
    table, label = make_table(n, seed, gaps)
    columns = fit_columns(table, projection=projected, numeric=numeric)
    cache = CellCache.of(columns, encode_columns(columns, table, fitted=True), 10**6)
    trees = grow_trees(cache, Goal(label, n_classes=3), 3, random_state=seed).forest
    cells = trees.encode(make_table(new, seed + 1, gaps)[0])
    wanted = descend_alone(trees, cells)
    votes = np.random.default_rng(seed).random((len(trees.feature), 1 + seed % 3))
    total = np.zeros((new, votes.shape[1]))
    for t in range(trees.n_trees):
        total += votes[trees.offsets[t] + wanted[:, t]]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cell_trees, "MAX_BLOCK_ROWS", tall)
        assert_array_equal(trees.leaves(cells), wanted)
        assert_array_equal(trees.sum_votes(cells, votes), total)


def test_shares_of_votes_are_sums_over_the_trees():
    table, label = make_table(150, 5, True)
    new = make_table(70, 6, True)[0]
    for voting in ("majority", "soft"):
        model = Classifier(20, voting=voting, random_state=0).fit(table, label)
        trees = model.trees_
        shares = trees.value / trees.value.sum(axis=1, keepdims=True)
        if voting == "majority":
            shares[shares < shares.max(axis=1, keepdims=True) - 1e-9] = 0
        each = np.stack(
            [shares[leaf + trees.offsets[:-1]].sum(axis=0) for leaf in model.apply(new)]
        )
        wanted = each / each.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(model.predict_proba(new), wanted, atol=1e-12)
        assert len(np.unique(model.predict(new))) > 1
