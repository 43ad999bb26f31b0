"""Outliers, prototypes and missing cells by proximity, against slow references."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import RandomForestClassifier

import lookalike as la
from lookalike.errors import InvalidInput
from lookalike.measures import ForestProximity, Gower, Vector
from lookalike.prediction import class_prototypes, impute_by_proximity, proximity_outliers

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(50, 3))
CLASSES = np.digitize(ROWS[:, 0], [-0.4, 0.6])


def slow_outliers(s, classes):
    """Breiman's definition, row by row, from the matrix of proximities."""
    n, out = len(s), np.empty(len(s))
    for i in range(n):
        out[i] = n / sum(s[i, j] ** 2 for j in range(n) if classes[j] == classes[i])
    scaled = out.copy()
    for label in set(classes):
        members = [i for i in range(n) if classes[i] == label]
        middle = np.median(out[members])
        spread = np.median([abs(out[i] - middle) for i in members])
        for i in members:
            scaled[i] = (out[i] - middle) / (spread or 1.0)
    return scaled


@pytest.mark.parametrize("method", ["shi", "zhu2", "ratio"])
def test_outliers_are_those_of_the_definition(method):
    forest = RandomForestClassifier(30, max_leaf_nodes=8, random_state=0).fit(ROWS, CLASSES)
    measure = ForestProximity(method, model=forest).fit(ROWS)
    s = measure.similarity()
    assert_allclose(proximity_outliers(measure, CLASSES), slow_outliers(s, CLASSES), atol=1e-9)
    nothing = np.zeros(50)
    assert_allclose(proximity_outliers(measure), slow_outliers(s, nothing), atol=1e-9)


def test_outliers_by_hand():
    """Three rows on a line: the one apart from the others has the largest score."""
    measure = Vector().fit([[0.0], [1.0], [9.0]])
    s = measure.similarity()
    raw = 3 / (s**2).sum(axis=1)
    middle = np.median(raw)
    assert_allclose(
        proximity_outliers(measure), (raw - middle) / np.median(np.abs(raw - middle)), atol=1e-12
    )
    assert proximity_outliers(measure).argmax() == 2


def test_short_lists_are_enough_where_few_rows_are_alike():
    forest = RandomForestClassifier(30, random_state=0).fit(ROWS, np.arange(50) % 2)
    measure = ForestProximity("shi", model=forest).fit(ROWS)
    most = int((measure.similarity() > 0).sum(axis=1).max()) - 1
    assert most < 49
    assert_allclose(proximity_outliers(measure, n_neighbors=most), proximity_outliers(measure))


def slow_prototypes(near, values, classes, label, n_prototypes):
    free, found = set(range(len(near))), []
    for _ in range(n_prototypes):
        best, members = None, []
        for row in range(len(near)):
            if row not in free or classes[row] != label:
                continue
            own = [j for j in (row, *near[row]) if classes[j] == label and j in free]
            if len(own) > len(members):
                best, members = row, own
        if best is None:
            break
        free -= set(members)
        found.append((best, members, np.quantile(values[members], [0.25, 0.5, 0.75], axis=0)))
    return found


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 1000), k=st.integers(1, 12), wanted=st.integers(1, 3))
def test_prototypes_are_those_of_the_definition(seed, k, wanted):
    rng = np.random.default_rng(seed)
    rows, classes = rng.normal(size=(25, 2)), rng.integers(0, 3, 25)
    measure = Vector().fit(rows)
    near = measure.neighbors(None, k).indices
    found = class_prototypes(measure, rows, classes, n_neighbors=k, n_prototypes=wanted)
    expected = [
        (label, one)
        for label in np.unique(classes)
        for one in slow_prototypes(near, rows, classes, label, wanted)
    ]
    assert len(found) == len(expected)
    for mine, (label, (row, members, quartiles)) in zip(found, expected, strict=True):
        assert (mine.label, mine.row, mine.members.tolist()) == (label, row, members)
        for values, side in zip(quartiles, (mine.low, mine.center, mine.high), strict=True):
            assert_allclose(list(side.values()), values)


def test_prototypes_of_levels_and_missing_cells():
    table = la.read_table(
        {"size": [1.0, 2.0, None, 9.0], "color": ["red", "red", None, "blue"], "on": [1, 0, 0, 1]},
        kinds={"on": "flag", "color": "category"},
    )
    measure = Gower().fit(table)
    (one,) = class_prototypes(measure, table, ["a"] * 4, n_neighbors=3)
    assert one.center["color"] == one.low["color"] == "red"
    assert (one.low["size"], one.center["size"], one.high["size"]) == (1.5, 2.0, 5.5)
    assert one.share == 1.0
    with pytest.raises(InvalidInput, match="the 4 rows of the measure"):
        class_prototypes(measure, table[:3], ["a"] * 4, n_neighbors=3)


def slow_fill(values, lost, s, coded):
    out = values.copy()
    for i in np.flatnonzero(lost):
        known = [j for j in range(len(values)) if j != i and not lost[j] and s[i, j] > 0]
        if not known:
            continue
        weights = np.array([s[i, j] for j in known])
        if coded:
            sums = [sum(s[i, j] for j in known if values[j] == v) for v in range(values.max() + 1)]
            out[i] = int(np.argmax(sums))
        else:
            out[i] = (weights * values[known]).sum() / weights.sum()
    return out


@pytest.mark.parametrize("seed", range(4))
def test_cells_are_filled_as_defined(seed):
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=30)
    words = np.where(numbers + rng.normal(size=30) > 0, "up", "down").astype(object)
    numbers[rng.random(30) < 0.2] = np.nan
    words[rng.random(30) < 0.2] = None
    table = la.read_table({"x": numbers, "w": words.tolist(), "y": rng.normal(size=30)})
    measure = ForestProximity("shi", n_estimators=20, random_state=seed)
    filled = impute_by_proximity(table, measure, max_iter=1)
    codes = table["w"].values
    rough = {
        "x": np.where(np.isnan(numbers), np.nanmedian(numbers), numbers),
        "y": table["y"].values,
    }
    mode = np.bincount(codes[codes >= 0]).argmax()
    rough["w"] = np.where(codes < 0, mode, codes)
    first = la.read_table(
        {"x": rough["x"], "w": [table["w"].kind.levels[c] for c in rough["w"]], "y": rough["y"]}
    )
    s = measure.fit(first).similarity()
    assert_allclose(filled["x"].values, slow_fill(rough["x"], np.isnan(numbers), s, False))
    assert_array_equal(filled["w"].values, slow_fill(rough["w"], codes < 0, s, True))
    assert_array_equal(filled["y"].values, table["y"].values)
    again = impute_by_proximity(table, measure, max_iter=4)
    assert not any(column.missing.any() for column in again)


def test_other_kinds_and_empty_columns_stay():
    rows = {"tags": [{"a"}, {"b"}, None], "x": [1.0, None, 3.0], "y": [1.0, 2.0, 3.0]}
    filled = impute_by_proximity(rows, Gower())
    assert filled["tags"].cell(2) is None
    assert 1.0 <= filled["x"].cell(1) <= 3.0
    whole = la.read_table({"x": [1.0, 2.0]})
    assert impute_by_proximity(whole)["x"].values.tolist() == [1.0, 2.0]
