"""Column weights at question time: the answer of an index that was fitted with them."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lookalike as la
from lookalike.errors import InvalidInput, LookalikeWarning, WrongType
from lookalike.hubness import NICDM, MutualProximity
from lookalike.index import FeedbackSession
from lookalike.measures import Combined, Gower, Ranked, StochasticForest, Vector
from lookalike.testing import tables

MIXED = ("number", "category", "order", "flag", "text", "set", "series", "vector")
ROWS = {
    "title": ["one", "two", "three", "four", "five"],
    "budget": [1.0, 2.0, None, 4.0, 9.0],
    "genre": ["war", "love", "war", "love", None],
}
KINDS = {"title": "aside"}
weight = st.sampled_from([0, 0.1, 0.5, 1, 3, 7.25, np.float64(2.5)])


@pytest.fixture
def index():
    return la.Index(Gower()).fit(la.read_table(ROWS, kinds=KINDS))


def quiet(function, *args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LookalikeWarning)  # of drift, which is tested elsewhere
        return function(*args, **options)


def numbers(hits):
    return [(hit.id, hit.score, hit.distance, hit.similarity) for hit in hits]


def assert_same_reasons(one, other):
    assert one.plus == other.plus
    assert one.minus == other.minus
    assert sum(one.plus.values()) == pytest.approx(one.similarity)
    assert sum(one.plus.values()) + sum(one.minus.values()) == pytest.approx(1)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_the_answer_is_that_of_an_index_fitted_with_the_weights(data):
    whole = data.draw(tables(kinds=MIXED, min_rows=4, max_rows=14))
    cut = data.draw(st.integers(2, len(whole)))
    names = list(whole.names)
    fitted = {name: data.draw(weight) for name in names}
    asked = data.draw(st.dictionaries(st.sampled_from(names), weight))
    columns = data.draw(st.none() | st.lists(st.sampled_from(names), min_size=1, unique=True))
    if columns is not None:
        asked = {name: value for name, value in asked.items() if name in columns}
    product = {
        name: fitted[name] * asked.get(name, 1) * (columns is None or name in columns)
        for name in names
    }
    missing = data.draw(st.sampled_from(["ignore", "midpoint"]))
    if not any(fitted.values()):
        return
    index = la.Index(Gower(weights=fitted, missing=missing)).fit(whole[:cut])
    if not any(product.values()):
        with pytest.raises(InvalidInput, match="a weight above 0"):
            index.search(0, weights=asked, columns=columns)
        return
    again = la.Index(Gower(weights=product, missing=missing)).fit(whole[:cut])
    for one in (index, again):
        quiet(one.add, whole[cut:]) if cut < len(whole) else None
        one.delete(1)
    options = {"k": data.draw(st.integers(1, 5))}
    rest = [id for id in index.ids if id]
    options["like"] = data.draw(st.lists(st.sampled_from(rest), unique=True, max_size=2))
    free = [id for id in rest if id not in options["like"]]
    if free:
        options["unlike"] = data.draw(st.lists(st.sampled_from(free), unique=True, max_size=1))
        options["filter"] = data.draw(st.none() | st.just(free))
    for query in (0, [0, index.ids[-1]], whole[:1]):
        if isinstance(query, list) and set(query) & set(options.get("unlike", ())):
            continue
        ours = index.search(query, weights=asked, columns=columns, **options)
        theirs = again.search(query, **options)
        if not isinstance(query, list):
            ours, theirs = [ours], [theirs]
        for mine, other in zip(ours, theirs, strict=True):
            assert numbers(mine) == numbers(other)
            for hit, their_hit in zip(mine, other, strict=True):
                if hit.distance is not None:
                    assert_same_reasons(hit.explanation, their_hit.explanation)
    reasons = index.explain(0, index.ids[-1], weights=asked, columns=columns)
    theirs = again.explain(0, index.ids[-1])
    assert reasons.plus == theirs.plus
    assert reasons.minus == theirs.minus


def test_weights_change_the_answer_and_the_next_question_is_free_of_them(index):
    record = {"budget": 4.0, "genre": "war"}
    before = numbers(index.search(record))
    assert index.search(record, k=1, weights={"genre": 5})[0].row["genre"] == "war"
    assert index.search(record, k=1, columns="budget").ids == [3]
    assert index.search(record, k=1, weights={"genre": 0}).ids == [3]
    assert numbers(index.search(record)) == before
    assert index.measure_.weights_ == {"budget": 1.0, "genre": 1.0}


def test_a_column_without_weight_gives_no_reason(index):
    reasons = index.search(0, k=1, weights={"budget": 0})[0].explanation
    assert reasons.plus["budget"] == reasons.minus["budget"] == 0
    assert reasons.plus["genre"] == 1


def test_the_reweighted_measure_is_a_measure(index):
    measure = index.measure_.reweighted({"genre": 3})
    assert measure.rows_ is index.measure_.rows_
    table = la.read_table(ROWS, kinds=KINDS)
    again = Gower(weights={"genre": 3}).fit(table)
    assert measure.get_params() == again.get_params() | {"weights": {"budget": 1.0, "genre": 3.0}}
    np.testing.assert_array_equal(measure.distance(table[:2]), again.distance(table[:2]))


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"weights": {"genre": -1}}, r"weights=...\): needs weights of at least 0, found -1"),
        ({"weights": {"genre": float("nan")}}, "needs weights of at least 0, found nan"),
        ({"weights": {"genre": float("inf")}}, "needs weights of at least 0, found inf"),
        ({"weights": {"genre": "much"}}, "needs weights of at least 0, found 'much'"),
        ({"weights": {"genres": 2}}, "Did you mean 'genre'"),
        ({"weights": {"title": 2}}, "found 'title', which is set aside"),
        ({"weights": {"genre": 0, "budget": 0}}, "a weight above 0, found none"),
        ({"weights": {"budget": 2}, "columns": ["genre"]}, "which is not compared"),
        ({"columns": ["genres"]}, "Did you mean 'genre'"),
        ({"columns": []}, "needs at least one column, found none"),
    ],
)
def test_wrong_weights_are_refused_with_the_reason(index, options, complaint):
    with pytest.raises(InvalidInput, match=complaint) as caught:
        index.search(0, **options)
    assert str(caught.value).startswith("Index.search")
    with pytest.raises(InvalidInput, match=complaint):
        index.explain(0, 1, **options)


@pytest.mark.parametrize("options", [{"weights": [1, 2]}, {"columns": 3}])
def test_weights_of_a_wrong_type(index, options):
    with pytest.raises(WrongType, match=r"Index\.search"):
        index.search(0, **options)


X = np.random.default_rng(0).normal(size=(12, 3))


@pytest.mark.parametrize(
    ("measure", "reason"),
    [
        (Vector(), "Vector, which has no column weights"),
        (Ranked(), "Ranked, which has no column weights"),
        (StochasticForest(20, 2, random_state=0), "which has no column weights"),
        (MutualProximity(Gower()), "statistics hold for the fitted weights only"),
        (NICDM(Gower(), n_neighbors=2), r"Weigh the columns of the inner measure"),
        (Combined([(1, MutualProximity(Gower()))]), "whose part MutualProximity does not"),
        (Combined([(1, Gower())], "zscore"), "means and deviations hold for"),
        (Combined([(1, Gower()), (1, Vector())], "similarity"), "whose part Vector does not"),
    ],
)
def test_other_measures_say_why_not(measure, reason):
    index = la.Index(measure).fit(X)
    assert not index.measure_.traits.weighs_columns
    with pytest.raises(InvalidInput, match=f"needs a measure that weighs columns.*{reason}"):
        index.search(0, weights={"x0": 2})
    index.search(0, k=1)


def test_a_combination_of_similarities_weighs_the_columns_of_its_parts():
    names = ["a", "b", "c"]
    table = la.read_table({name: X[:, j] for j, name in enumerate(names)})

    def combined(weights, shares):
        parts = [(shares[0], Gower(weights=weights[0]), ["a", "b"])]
        return Combined([*parts, (shares[1], Gower(weights=weights[1]), ["b", "c"])], "similarity")

    index = la.Index(combined([{"a": 2}, None], (0.3, 0.5))).fit(table)
    asked = {"a": 3, "b": 0.5}
    again = la.Index(combined([{"a": 6, "b": 0.5}, {"b": 0.5}], (0.3, 0.5))).fit(table)
    ours, theirs = index.search(4, weights=asked), again.search(4)
    assert numbers(ours) == numbers(theirs)
    assert_same_reasons(ours[0].explanation, theirs[0].explanation)
    assert numbers(ours) != numbers(index.search(4))
    # A part that sees no weight is left out, as one of weight 0 is.
    again = la.Index(combined([{"a": 2}, None], (0.3, 0))).fit(table)
    assert numbers(index.search(4, weights={"b": 0, "c": 0})) == numbers(
        again.search(4, weights={"b": 0})
    )
    with pytest.raises(InvalidInput, match="a weight above 0 in some part"):
        again.search(4, weights={"a": 0, "b": 0})  # the other part has no share
    with pytest.raises(InvalidInput, match="at least one column with a weight above 0"):
        index.search(4, weights=dict.fromkeys(names, 0))


def test_a_session_keeps_its_weights(index):
    session = FeedbackSession(index, 0, k=2, weights={"genre": 4})
    assert numbers(session.hits) == numbers(index.search(0, 2, weights={"genre": 4}))
    session.like(3)
    assert numbers(session.hits) == numbers(index.search(0, 2, like=3, weights={"genre": 4}))
    only = FeedbackSession(index, 0, k=2, columns="budget")
    assert numbers(only.hits) == numbers(index.search(0, 2, columns=["budget"]))
