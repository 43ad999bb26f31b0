"""Similarity forests: printed values, the sets, the package's cut, tests and generator."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from studies import Work
from studies.diagram import rank_methods
from studies.similarity import sequences
from studies.similarity.areas import areas_of_distances, areas_of_numbers, halves
from studies.similarity.compare import mark_methods
from studies.similarity.package import PackageForest
from studies.similarity.published import METHODS, SCALAR, SEQUENCES
from studies.similarity.sets import (
    DRINKS,
    load_liver,
    load_ovarian,
    load_scalar,
    load_sensitivity,
    one_hot,
)


def test_the_printed_table_holds_its_own_findings():
    gaps = {name: one.areas[1] - one.areas[0] for name, one in SCALAR.items()}
    assert sum(abs(gap) <= 0.0201 for gap in gaps.values()) == 9
    assert min(gaps, key=gaps.get) == "german"
    for one in [*SCALAR.values(), *SEQUENCES.values()]:
        best = max(one.areas)
        assert all(
            area == best for area, mark in zip(one.areas, one.marks, strict=True) if mark == "*"
        )


def test_ranks_of_the_specification():
    scores = {
        "a": [0.92, 0.99, 0.80, 0.73],
        "b": [0.91, 0.99, 0.79, 0.69],
        "c": [0.92, 0.995, 0.78, 0.72],
    }
    found = rank_methods(scores)
    assert (found.ranks["a"], found.ranks["b"], found.ranks["c"]) == (1.5, 2.625, 1.875)
    assert found.difference == pytest.approx(1.657247, abs=5e-7)


def test_marks_follow_the_test_that_fits():
    rng = np.random.default_rng(0)
    good, bad = rng.normal(0.9, 0.01, 20), rng.normal(0.8, 0.01, 20)
    assert mark_methods({"a": good, "b": bad, "c": bad + 0.001}) == (
        {"a": "*", "b": "", "c": ""},
        "Tukey",
    )
    assert mark_methods({"a": good, "b": good + 1e-4, "c": bad})[0] == {"a": "o", "b": "o", "c": ""}
    skewed = 0.9 - rng.exponential(0.05, 20)
    marks, test = mark_methods({"a": skewed, "b": skewed - 0.1, "c": skewed - 0.2})
    assert (marks, test) == ({"a": "*", "b": "o", "c": ""}, "Nemenyi")


def test_halves_keep_the_shares_of_the_classes():
    y = np.repeat([0, 1], [30, 10])
    for known, held in halves(y, 0):
        assert sorted([*known, *held]) == list(range(40))
        assert y[held].sum() == 5


def moons(n=80, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    x = rng.normal(size=(n, 2)) + 1.5 * y[:, None]
    return x, y


def test_the_package_forest_without_its_fault_is_ours():
    x, y = moons()
    square = ((x[:, None] - x) ** 2).sum(axis=2)
    ours, right, faulty = [], [], []
    for repetition in range(2):
        ours += areas_of_numbers(x, y, "SF", repetition)
        for known, held in halves(y, repetition):
            inner, outer = square[np.ix_(known, known)], square[np.ix_(held, known)]
            for again, areas in ((0, right), (1, faulty)):
                forest = PackageForest(0, 100, again).fit(inner, y[known])
                areas.append(roc_auc_score(y[held], forest.score(outer)))
    assert np.mean(right) == pytest.approx(np.mean(ours), abs=0.03)
    assert faulty != right
    # A cut that is right in every node gives pure leaves; a row fitted is then known by heart.
    forest = PackageForest(0, 40, 0).fit(square, y)
    assert ((forest.score(square) > 0.5) == y).all()


def test_areas_are_those_of_two_halves():
    x, y = moons()
    for method in METHODS:
        areas = areas_of_numbers(x, y, method, 0, n_trees=20)
        assert len(areas) == 2
        assert min(areas) > 0.7
        shuffled = areas_of_numbers(
            x, np.random.default_rng(0).permutation(y), method, 0, n_trees=20
        )
        assert max(shuffled) < 0.75
    distances = np.abs(x[:, None, 0] - x[:, 0])
    assert min(areas_of_distances(distances, y, "RSF", 0)) > 0.65


def test_items_anywhere_are_one_hot():
    cells = [(frozenset({1, 2}), frozenset({2})), (frozenset({0}),)]
    assert one_hot(cells).tolist() == [[0, 1, 1], [1, 0, 0]]


def test_scalar_sets_have_the_printed_columns(data_folder):
    for name, printed in SCALAR.items():
        x, y = load_scalar(data_folder, name)
        assert len(y) == printed.rows
        assert x.shape[1] == (58 if name == "sonar" else printed.columns)
        assert np.abs(x).max() <= 1 + 1e-12 or name == "svmguide3"
        assert set(y) == {0, 1}
    x, y = load_liver(data_folder, 5.0, keep_all=True)
    assert (x.shape[1], y.sum()) == (5, 45)


@pytest.mark.parametrize(
    ("label", "cells"),
    [  # lines of the collection's file on both sides of the cut, with three and with four drinks
        (0, [0.047619, -0.321739, -0.311828, -0.0384615, -0.848485]),
        (0, [0.142857, -0.513043, -0.72043, -0.538462, -0.777778]),
        (1, [0.047619, -0.304348, -0.741935, -0.153846, -0.949495]),
        (1, [0.142857, 0.0608696, -0.827957, -0.307692, -0.919192]),
    ],
)
def test_liver_is_labelled_as_in_the_collection(data_folder, label, cells):
    x, y = load_liver(data_folder, DRINKS, keep_all=True)
    (at,) = np.flatnonzero(np.abs(x - cells).max(axis=1) < 1e-5)
    assert y[at] == label


def test_mixed_and_sensitivity_sets(data_folder):
    table, totals, y = load_ovarian(data_folder)
    assert totals.shape == (125, 56)
    assert y.sum() == 6
    kinds = [table[name].kind.name for name in table.names]
    assert kinds.count("histogram") == 6
    for name, columns in (("waveform", 21), ("twonorm", 20), ("ringnorm", 20), ("segment", 19)):
        x, y = load_sensitivity(data_folder, name, 90)
        assert x.shape == (90, columns)
        assert 20 < y.sum() < 70


def test_the_published_parts_fit_the_settings(data_folder):
    rows = {row["set"]: row for row in sequences.statistics(Work(data_folder, "quick"))[0].rows}

    def near(row, column, expected):
        estimate, error = (float(word) for word in rows[row][column].split(" ±"))
        return abs(estimate - expected) < 3 * error

    assert near("items, class 0", "item", 260)
    assert near("items, class 1", "item", 240)
    assert near("lengths, class 0", "length", 24)
    assert near("lengths, class 1", "length", 16)
    assert near("order, class 0", "rise", 0.0)
    assert near("order, class 1", "rise", 0.1)
    assert not near("order, class 1", "rise", 0.4)  # the default of the generator here


@pytest.mark.long
def test_orders_of_the_generated_sets(data_folder, monkeypatch):
    """One draw is enough for what carries the paper: three findings of the quick run."""
    monkeypatch.setattr(
        sequences,
        "READINGS",
        {key: sequences.READINGS[key] for key in list(sequences.READINGS)[:2]},
    )
    work = Work(data_folder, "quick")
    monkeypatch.setattr(work, "times", lambda quick, default, full: 1)
    result = sequences.run(work)
    headlines = [one for one in result.findings if one.headline]
    assert len(headlines) == 3
    assert all(one.holds for one in headlines), headlines
    assert len(result.sheets[0].rows) == 4
