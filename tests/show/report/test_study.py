"""Groups that the map of a report is colored by."""

import numpy as np

import lookalike as la
from lookalike.hubness.mutual_proximity import default_reducer
from lookalike.show.report.study import Study, group_rows

VOID = ("meta", "br")


def test_groups():
    few = group_rows(np.array(["b", "a", "b"]), "kind")
    assert (few.names, few.codes.tolist()) == (("b", "a"), [0, 1, 0])
    many = group_rows(np.array([f"c{i}" for i in range(20)] + ["c0"] * 5), "kind")
    assert many.names[0] == "c0"
    assert many.names[-1] == "11 others"
    assert (many.codes == 9).sum() == 11
    sets = np.empty(3, dtype=object)
    sets[:] = [frozenset({"x", "y"}), frozenset({"x"}), frozenset()]
    assert group_rows(sets, "tags").names == ("x", "none")
    numbers = group_rows(np.linspace(0, 1, 50), "price")
    assert len(numbers.names) == 5
    assert np.bincount(numbers.codes).tolist() == [10] * 5
    clusters = group_rows(np.array([1, 0, -1, 0]), "cluster")
    assert clusters.names == ("cluster 0", "cluster 1", "none")


def study(rows, measure="auto"):
    return Study(la.read_table(rows), None, "label", measure, 5, 2000, 0)


def test_hubs_are_shown_after_a_reduction_where_it_helps():
    line = study({"x": np.arange(40.0)}).hubs
    assert line.columns == ["value"]
    assert line.verdict.startswith("No hub problem here: ")
    rows = np.random.default_rng(0).normal(size=(100, 30))
    crowded = study(rows)
    assert crowded.hubs.columns == ["before", "after"]
    reduced = la.hubness_report(default_reducer(crowded.measure.frozen(), 100).fit(crowded.rows))
    assert crowded.hubs.statistics == reduced.statistics
    assert crowded.hubs.table is crowded.rows
    # A measure that is reduced already is not reduced again.
    given = study(rows, la.hubness.NICDM(la.measures.Vector()))
    assert given.hubs.title.startswith("NICDM of Vector")
