"""Unusual rows and cells, against plain counting."""

import numpy as np
import pytest

from lookalike.errors import InvalidInput, TooFewRows
from lookalike.measures import Gower, Vector
from lookalike.prediction import RandomSimilarityIsolationForest, find_outliers
from lookalike.prediction.outliers import tail_shares
from lookalike.table import read_table

TABLE = {
    "x": [1.0, 2.0, 2.0, 3.0, 50.0, None],
    "c": ["a", "a", "b", "b", "b", "z"],
    "s": [["p"], ["p", "q"], ["p"], ["r", "p"], [], None],
    "o": ["low", "mid", "mid", "high", "mid", "mid"],
}
KINDS = {"o": ["low", "mid", "high"], "s": "set", "c": "category"}


def reference(values, kind):
    """The share of rows at least as unusual, by counting."""
    known = [v for v in values if v is not None]
    seen = {item: sum(item in v for v in known) for v in known if kind == "set" for item in v}

    def rarity(v):
        if kind == "set":
            return min((seen[item] for item in v), default=len(known))
        return known.count(v)

    shares = []
    for v in values:
        if v is None:
            shares.append(values.count(None) / len(values))
        elif kind in ("number", "order"):
            tail = min(sum(w <= v for w in known), sum(w >= v for w in known))
            shares.append(min(1.0, 2 * tail / len(known)))
        else:
            shares.append(sum(rarity(w) <= rarity(v) for w in known) / len(known))
    return shares


def test_shares_are_those_of_counting():
    table = read_table(TABLE, kinds=KINDS)
    for name, values in TABLE.items():
        column = table[name]
        plain = [KINDS["o"].index(v) for v in values] if name == "o" else values
        assert tail_shares(column).tolist() == pytest.approx(reference(plain, column.kind.name))


def test_scores_are_those_of_the_models():
    rows = np.random.default_rng(0).normal(size=(40, 3))
    rows[7] += 9
    found = find_outliers(rows, "neighbors", measure=Vector(), n_neighbors=4)
    far, _ = Vector().fit(rows).kneighbors(n_neighbors=4)
    assert found.scores.tolist() == far.mean(axis=1).tolist()
    forest = RandomSimilarityIsolationForest(random_state=3).fit(rows)
    isolated = find_outliers(rows, random_state=3)
    assert isolated.scores.tolist() == (-forest.score_samples(rows)).tolist()
    assert found.order[0] == isolated.order[0] == 7
    assert "higher than in all other rows" in found.because(7)
    assert (
        find_outliers(rows, "neighbors").scores.tolist()
        == find_outliers(rows, "neighbors", measure=Gower()).scores.tolist()
    )


def test_a_combination_is_called_one():
    rows = {"a": ["x"] * 30 + ["y"] * 30 + ["x"], "b": ["x"] * 30 + ["y"] * 30 + ["y"]}
    found = find_outliers(rows, random_state=0)
    assert found.reasons(60) == []
    assert "combination" in found.because(60)
    assert "combination" in str(found)


def test_forms():
    found = find_outliers(TABLE, kinds=KINDS, random_state=0)
    assert len(found.records(2)) == 2
    frame = found.to_frame("pandas")
    assert list(frame.columns)[:3] == ["id", "score", "reasons"]
    assert list(frame.columns)[3:] == list(found.table.record(0))
    assert frame["id"].tolist() == found.order.tolist()


def test_wrong_questions():
    with pytest.raises(InvalidInput, match="isolation"):
        find_outliers(TABLE, "magic")
    with pytest.raises(InvalidInput, match="an integer >= 1"):
        find_outliers(TABLE, "neighbors", n_neighbors=0)
    with pytest.raises(TooFewRows):
        find_outliers({"a": [1.0]}, "neighbors")


def test_in_a_few_rows_the_only_highest_value_is_unusual():
    found = find_outliers({"x": [1.0, 2, 3, 2, 1, 99, 2, 1, 2, 3, 1, 2]}, random_state=0)
    assert found.order[0] == 5
    assert found.because(5) == "x 99, higher than in all other rows"
    assert found.because(2) == "x is usual"  # nothing to be combined with
