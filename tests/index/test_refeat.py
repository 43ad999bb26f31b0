"""Ranking by an isolation forest: path lengths, weights and scores."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import lookalike as la
from index import reference
from lookalike.errors import InvalidInput, TooFewRows, TooLarge
from lookalike.index import ReFeat
from lookalike.index.refeat import average_path, tree_weights
from lookalike.trees.growers import ExtraForest


def test_worked_numbers():
    assert_allclose(average_path(np.array([1, 2, 4, 8])), [0, 1, 13 / 6, 3.435714], atol=5e-7)
    query, row, other = [3.0, 2.0], [3.0, 1.0], [1.0, 3.0]
    weights = tree_weights([query], (), 4, 0.5)
    assert_allclose(weights, [0.384615, -0.076923], atol=5e-7)
    assert_allclose(weights @ row / 2, 0.538462, atol=5e-7)
    assert_allclose(tree_weights([query], [other], 4, 0.5) @ row / 2, 0.846154, atol=5e-7)
    assert_allclose(reference.refeat([row], [query], [other], 4, 0.5), [0.846154], atol=5e-7)


def test_two_rows_per_tree_would_weigh_nothing():
    # With two rows every path is one edge long, which is also the usual length.
    assert tree_weights([[1.0, 1.0, 1.0]], (), 2, 0.5).tolist() == [0, 0, 0]
    with pytest.raises(InvalidInput, match=">= 3"):
        ReFeat(max_samples=2).fit(np.eye(4))


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.integers(3, 9), st.sampled_from(["log2", None]))
def test_equals_walking_down_every_tree(seed, psi, depth):
    random = np.random.default_rng(seed)
    rows = random.integers(0, 4, (12, 3)).astype(
        float
    )  # with repeated rows, so leaves hold several
    model = ReFeat(6, psi, max_depth=depth, random_state=seed).fit(rows)
    limit = int(np.ceil(np.log2(psi))) if depth == "log2" else psi
    grower = ExtraForest(6, max_samples=psi, max_depth=limit, random_state=seed)
    grown = grower.grow(rows, out_of_bag=True)
    new = random.integers(0, 4, (1, 3)).astype(float)

    def lengths(row):
        return [
            reference.path_length(grown.forest, t, row, rows[grown.in_bag[:, t] > 0])
            for t in range(6)
        ]

    known = [lengths(row) for row in rows]
    expected = reference.refeat(known, [lengths(new[0]), known[1]], [known[2], known[3]], psi, 0.25)
    assert_allclose(model.relevance(new, [1], [2, 3], 0.25), expected, atol=1e-9)
    scores, found = model.search(0, 20, like=1)
    assert sorted(found) == [*range(2, 12)]
    assert scores.tolist() == sorted(scores, reverse=True)


def test_feedback_and_scale_matter():
    random = np.random.default_rng(0)
    rows = random.normal(size=(200, 4))
    model = ReFeat(300, random_state=0).fit(rows)
    plain = model.search(0, 20)[1]
    assert plain.tolist() != model.search(0, 20, like=[150, 151])[1].tolist()
    assert plain.tolist() != model.search(0, 20, unlike=plain[:2])[1].tolist()
    curved = ReFeat(300, random_state=0).fit(np.exp(3 * rows))
    assert plain.tolist() != curved.search(0, 20)[1].tolist()


def test_threads_and_saving_change_nothing(tmp_path):
    rows = np.random.default_rng(0).random((5000, 3))
    one, two = (ReFeat(40, random_state=1, n_jobs=jobs).fit(rows) for jobs in (1, 2))
    expected = one.relevance(7, [8], [9])
    assert two.relevance(7, [8], [9]).tolist() == expected.tolist()
    one.save(tmp_path / "model")
    again = la.load(tmp_path / "model")
    assert again.relevance(7, [8], [9]).tolist() == expected.tolist()
    assert again.relevance(rows[7:8], [8], [9]).tolist() == expected.tolist()
    assert (
        again.relevance({"x0": rows[7, 0], "x1": rows[7, 1], "x2": rows[7, 2]}, [8], [9])[0]
        == expected[0]
    )


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda m: m.search(99), "99"),
        (lambda m: m.search(0, like=[0, 20]), "20"),
        (lambda m: m.search(0, 0), "k=0.: needs an integer >= 1"),
        (lambda m: m.search(0, gamma=-1), "gamma"),
        (lambda m: m.relevance([[np.nan, 1.0]]), "NaN"),
    ],
)
def test_bad_questions_are_named(ask, message):
    model = ReFeat(5, random_state=0).fit(np.random.default_rng(0).random((20, 2)))
    with pytest.raises(InvalidInput, match=message):
        ask(model)


def test_bad_data_is_named():
    with pytest.raises(TooFewRows, match="n_samples=2"):
        ReFeat().fit([[0.0], [1.0]])
    with pytest.raises(TooLarge, match="fewer trees"), la.config(memory_limit=1000):
        ReFeat(100).fit(np.zeros((50, 1)))


def test_kinds_say_which_columns_are_numbers():
    rows = {"a": np.arange(12.0), "b": np.tile([0.0, 1.0, 5.0], 4)}
    aside = ReFeat(20, 4, kinds={"b": "aside"}, random_state=0).fit(rows)
    alone = ReFeat(20, 4, random_state=0).fit({"a": rows["a"]})
    assert aside.n_features_in_ == 1
    assert np.array_equal(aside.relevance(3), alone.relevance(3))


@pytest.mark.parametrize("many", range(1, 10))
def test_several_weights_of_the_trees_answer_as_each_alone(many):
    rng = np.random.default_rng(many)
    model = ReFeat(50, random_state=0).fit(rng.normal(size=(40, 3)))
    weights = rng.normal(size=(many, 50))
    leaf = model.forest_.nodes.leaf_offsets[:-1] + model.leaves_
    expected = (model.lengths_[leaf] @ weights.T).T / 50
    found = model.relevance_by(weights)
    assert_allclose(found, expected, atol=1e-12)
    assert found.tolist() == [model.relevance_by(one[None])[0].tolist() for one in weights]
