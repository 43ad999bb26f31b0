"""Unusual rows and cells, against plain counting."""

from dataclasses import replace

import numpy as np
import pytest

import lookalike as la
from lookalike.errors import InvalidInput, TooFewRows
from lookalike.measures import Gower, Vector
from lookalike.prediction import RandomSimilarityIsolationForest, find_outliers
from lookalike.prediction import outliers as module
from lookalike.prediction.outliers import by_deviation, deviations, surprisal, tail_shares
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
    isolated = find_outliers(rows, "isolation", random_state=3)
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
    assert len(replace(found, n=2).to_dict()["outliers"]) == 2
    frame = found.to_frame("pandas")
    assert list(frame.columns)[:3] == ["id", "score", "reasons"]
    assert list(frame.columns)[3:] == list(found.table.record(0))
    assert frame["id"].tolist() == found.order.tolist()


def test_wrong_questions():
    with pytest.raises(InvalidInput, match="combined.*isolation.*neighbors"):
        find_outliers(TABLE, "magic")
    with pytest.raises(InvalidInput, match="find_outliers.*an integer >= 1"):
        find_outliers(TABLE, "neighbors", n_neighbors=0)
    with pytest.raises(TooFewRows):
        find_outliers({"a": [1.0]}, "neighbors")
    with pytest.raises(InvalidInput, match="needs rows"):
        find_outliers({"a": []})
    with pytest.raises(InvalidInput, match="needs rows"):
        find_outliers(la.read_table(TABLE)[[]])


def test_in_a_few_rows_the_only_highest_value_is_unusual():
    found = find_outliers({"x": [1.0, 2, 3, 2, 1, 99, 2, 1, 2, 3, 1, 2]}, random_state=0)
    assert found.order[0] == 5
    assert found.because(5) == "x 99, higher than in all other rows"
    assert found.because(2) == "x is usual"  # nothing to be combined with


# -- combined --------------------------------------------------------------------------------------


def slow_deviation(values):
    """Deviations from the median in inter-quartile ranges, on the scale of asinh; None: missing."""
    known = [v for v in values if v is not None]
    width = np.percentile(known, 75) - np.percentile(known, 25)
    return [None if v is None else np.arcsinh((v - np.median(known)) / width) for v in values]


def slow_bits(distance, n, sizes, sample=None):
    """The higher surprisal of the mean distances to the nearest rows, by counting."""
    bits = []
    for size in sizes:
        far = []
        for i in range(n):
            others = sorted(
                distance(i, j) for j in (range(n) if sample is None else sample) if j != i
            )
            far.append(round(float(np.mean(others[:size])), 12))
        bits.append([-np.log2(sum(other >= own for other in far) / n) for own in far])
    return np.max(bits, axis=0)


def mixed_rows(n=130):
    rng = np.random.default_rng(0)
    table = {
        "x": [*rng.normal(size=n - 1), 1e6],
        "y": [None if i % 9 == 4 else float(v) for i, v in enumerate(rng.exponential(size=n))],
        "c": rng.choice(["a", "b", "c"], n).tolist(),
        "f": rng.choice([True, False], n).tolist(),
    }
    deviation = {name: slow_deviation(table[name]) for name in "xy"}

    def distance(i, j):
        total = abs(deviation["x"][i] - deviation["x"][j])
        one, other = deviation["y"][i], deviation["y"][j]
        # A missing number counts as the median, and half different from a known one.
        total += abs((one or 0.0) - (other or 0.0)) + 0.5 * ((one is None) != (other is None))
        return total + sum(table[name][i] != table[name][j] for name in "cf")

    return table, distance


def test_combined_is_the_rarer_of_two_neighborhoods():
    table, distance = mixed_rows()
    found = find_outliers(table, kinds={"f": "flag"})
    assert found.method == "combined"
    np.testing.assert_allclose(found.scores, slow_bits(distance, 130, (10, 100)), atol=1e-9)
    assert found.order[0] == 129
    assert found.scores[129] == pytest.approx(np.log2(130))


def test_a_large_table_is_compared_with_a_sample(monkeypatch):
    table, distance = mixed_rows()
    monkeypatch.setattr(module, "MAX_COMPARED_ROWS", 50)
    monkeypatch.setattr(module, "BLOCK_ROWS", 40)  # several blocks, the last one shorter
    found = find_outliers(table, kinds={"f": "flag"}, random_state=5)
    sample = np.random.default_rng(5).choice(130, 50, replace=False)
    np.testing.assert_allclose(found.scores, slow_bits(distance, 130, (10, 49), sample), atol=1e-9)
    again = find_outliers(table, kinds={"f": "flag"}, random_state=5)
    assert again.scores.tolist() == found.scores.tolist()
    monkeypatch.setattr(module, "MAX_COMPARED_ROWS", 130)  # all rows: nothing is drawn
    whole = find_outliers(table, kinds={"f": "flag"}, random_state=5)
    np.testing.assert_allclose(whole.scores, slow_bits(distance, 130, (10, 100)), atol=1e-9)


def test_data_errors_and_extremes_come_first():
    rng = np.random.default_rng(1)
    size = rng.normal(10.0, 1.0, 600)
    table = {"length": size, "width": size / 2 + rng.normal(0.0, 0.05, 600)}
    table["shape"] = np.where(size > 10, "large", "small")
    table["length"][7] = 0.0  # an impossible cell
    table["length"][8] *= 100  # a wrong unit
    table["shape"][9] = "small" if table["shape"][9] == "large" else "large"  # another's category
    table["length"][9] = 11.9 if table["shape"][9] == "small" else 8.1
    table["width"][9] = table["length"][9] / 2
    assert set(find_outliers(table).order[:2].tolist()) == {7, 8}
    assert 9 in find_outliers(table).order[:10]


def test_surprisal_is_the_share_of_rows_at_least_as_high():
    assert surprisal(np.array([3.0, 1.0, 3.0, 0.0])).tolist() == [1.0, np.log2(4 / 3), 1.0, 0.0]


def test_deviations_are_in_inter_quartile_ranges():
    values = np.array([0.0, 1.0, 2.0, 3.0, 4.0, np.nan])
    expected = np.arcsinh([-1.0, -0.5, 0.0, 0.5, 1.0, np.nan])
    np.testing.assert_allclose(deviations(values), expected)
    np.testing.assert_allclose(deviations(values * -7e300 + 3), -expected)
    # Most cells are equal: the range of all but a twentieth at each end, else the full range.
    some = np.array([0.0] * 80 + [4.0] * 20)
    assert deviations(some)[[0, -1]].tolist() == pytest.approx([0.0, np.arcsinh(1.0)])
    one = np.array([0.0] * 99 + [4.0])
    assert deviations(one)[[0, -1]].tolist() == pytest.approx([0.0, np.arcsinh(1.0)])
    few = np.array([0.0] * 80 + [4.0] * 18 + [40.0] * 2)
    assert deviations(few)[-1] == pytest.approx(np.arcsinh(10.0))
    assert deviations(np.full(5, 3.0)).tolist() == [0.0] * 5
    assert deviations(np.array([1e308, -1e308, 0.0])).tolist() == pytest.approx(
        np.arcsinh([1.0, -1.0, 0.0]).tolist()
    )


def test_an_infinite_number_is_the_farthest():
    rows = [float(i % 5) for i in range(40)] + [1e9, float("inf")]
    assert find_outliers({"x": rows, "y": [1.0, 2.0] * 21}).order[:2].tolist() == [41, 40]
    assert deviations(np.array([np.inf, -np.inf, np.nan]))[:2].tolist() == [1.0, -1.0]


@pytest.mark.parametrize(
    "table",
    [
        {"x": [1.0], "c": ["a"]},
        {"x": [1.0] * 12, "c": ["a"] * 12},
        {"x": [None] * 12, "c": [None] * 12},
        {"x": [1.0, 1.0], "c": ["a", "a"]},
    ],
    ids=["one row", "constant", "all missing", "two alike"],
)
def test_rows_that_are_all_alike_are_all_usual(table):
    found = find_outliers(table, kinds={"x": "number", "c": "category"})
    assert found.scores.tolist() == [0.0] * len(table["x"])
    assert found.scores.min() >= 0.0
    assert found.to_dict()["outliers"][0]["score"] == 0.0


def test_rows_with_nothing_to_compare_are_half_alike():
    sets = [[]] * 30 + [["p"]] * 9
    found = find_outliers({"s": sets}, kinds={"s": "set"})
    assert np.isfinite(found.scores).all()


def test_a_column_may_be_called_like_that_of_missing_cells():
    x = [None, *map(float, range(20))]
    table = {"x": x, "x missing": [5.0] * 20 + [9.0], "x missing ": [1.0, 2.0, 3.0] * 7}
    assert len(find_outliers(table).scores) == 21


def test_scores_are_shown_in_bits():
    table = {"x": [float(i % 7) for i in range(63)] + [90.0]}
    assert "row 63 (6.0 bits): " in str(find_outliers(table))
    assert " bits" not in str(find_outliers(table, "isolation", random_state=0))


def test_deviations_of_hours_and_degrees_are_plain_numbers():
    draw = np.random.default_rng(0)
    cells = {"hour": draw.integers(0, 24, 60), "lat": draw.uniform(-9, 9, 60)}
    table = read_table({**cells, "lon": draw.uniform(0, 9, 60)})
    assert table["hour"].kind.period == 24
    assert table.joined
    plan = by_deviation(table).plan_
    assert plan.names == ("hour", "lat", "lon")
    assert {type(distance).__name__ for distance in plan.distances.values()} == {"Absolute"}
