"""The study of the default comparison: its candidates are the library's own, its scores exact."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score
from sklearn.neighbors import KNeighborsClassifier

from lookalike.hubness import MutualProximity
from lookalike.measures import Gower, Precomputed
from lookalike.table import read_table
from studies import defaults

MIXED = {
    "size": [1.0, 2.0, None, 4.0, 9.0, 3.0, 7.0, 5.0, 8.0, 6.0, 11.0, 10.0],
    "color": ["red", "blue", "red", None, "blue", "red", "red", "blue", None, "red", "blue", "red"],
    "tall": [True, False, True, True, None, False, True, False, False, True, True, False],
    "tags": [
        {"a"},
        {"a", "b"},
        set(),
        None,
        {"b"},
        {"c"},
        {"a"},
        {"b"},
        {"c"},
        {"a"},
        {"b"},
        {"a"},
    ],
}


@pytest.mark.parametrize("scale", defaults.SCALES)
@pytest.mark.parametrize("missing", ["ignore", "midpoint"])
def test_candidates_are_gower_with_and_without_the_hidden_column(scale, missing):
    table = read_table(MIXED)
    pairs = defaults.Pairs(table, scale)
    names = Gower(scale=scale).fit(table).plan_.names
    spaces = list(pairs.distances(missing, np.arange(len(names))))
    off_diagonal = ~np.eye(len(table), dtype=bool)
    for hidden, distances in zip([None, *names], spaces, strict=True):
        rest = table if hidden is None else table.drop(hidden)
        measure = Gower(scale=scale, missing=missing, undefined=0.0).fit(rest)
        np.testing.assert_allclose(
            distances[off_diagonal], measure.distance()[off_diagonal], atol=1e-11
        )


def test_missing_cells_count_as_the_candidate_says():
    table = read_table({"x": [0.0, 1.0, None], "y": [0.0, 1.0, 0.0]}, kinds={"x": "number"})
    pairs = defaults.Pairs(table, "range")
    expected = {"ignore": 0.0, "midpoint": 0.25, "pessimistic": 0.5, "baseline": 0.25}
    for missing, distance in expected.items():
        whole = next(pairs.distances(missing, np.array([], dtype=int)))
        # Rows 0 and 2 agree in y; x is missing in row 2. Cells of x, self pairs included, differ
        # by 1/2 in the mean, which is the baseline.
        assert whole[0, 2] == pytest.approx(distance), missing


def test_mutual_proximity_is_that_of_the_library_when_all_rows_are_sampled(monkeypatch):
    rng = np.random.default_rng(0)
    points = rng.normal(size=(25, 3))
    distances = np.linalg.norm(points[:, None] - points, axis=2)
    own = MutualProximity(Precomputed(), model="gauss_independent").fit(distances).distance()
    np.fill_diagonal(distances, np.inf)
    monkeypatch.setattr(defaults, "SAMPLED_ROWS", 25)
    reduced = defaults.reduce(distances, "mutual proximity")
    order = np.argsort(reduced, axis=1)[:, :10]
    np.fill_diagonal(own, np.inf)
    assert (np.argsort(own, axis=1)[:, :10] == order).mean() > 0.95


def test_accuracy_is_that_of_ten_neighbors():
    rng = np.random.default_rng(1)
    x, labels = rng.normal(size=(80, 2)), rng.integers(0, 2, 80)
    x[:, 0] += 3 * labels
    distances = np.linalg.norm(x[:, None] - x, axis=2)
    np.fill_diagonal(distances, np.inf)
    votes = []
    for row in range(80):
        others = np.delete(np.arange(80), row)
        model = KNeighborsClassifier(10).fit(x[others], labels[others])
        votes.append(model.predict(x[[row]])[0])
    ours = defaults.accuracy(defaults.nearest(distances), labels)
    assert abs(ours - accuracy_score(labels, votes)) < 0.05  # ties of votes are broken otherwise


def test_agreement_is_zero_for_random_lists_and_one_for_equal_cells():
    rng = np.random.default_rng(2)
    cells = rng.integers(0, 2, 400).astype(float)
    differences = np.abs(cells[:, None] - cells)
    random = np.array([rng.choice(np.delete(np.arange(400), i), 10) for i in range(400)])
    assert abs(defaults.agreement(differences, random)) < 0.05
    same = np.array([np.flatnonzero(np.delete(cells, i) == cells[i])[:10] for i in range(400)])
    same += same >= np.arange(400)[:, None]
    assert defaults.agreement(differences, same) == 1.0
    differences[:, :200] = np.nan  # a missing hidden cell counts as a random pair
    assert defaults.agreement(differences, same) < 1.0


def test_halves_are_fixed_by_the_name_of_a_table():
    table = read_table(MIXED)
    halves = [defaults.Task(name, table).confirms for name in ("wine", "films", "a", "b", "c", "d")]
    assert halves == [
        defaults.Task(n, table).confirms for n in ("wine", "films", "a", "b", "c", "d")
    ]
    assert {True, False} == set(halves)
