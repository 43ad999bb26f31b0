"""Groups that the map of a report is colored by."""

import numpy as np

from lookalike.show.report.study import group_rows

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
