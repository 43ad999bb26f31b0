"""Groups that the map of a report is colored by."""

import numpy as np
import pytest

import lookalike as la
from lookalike.errors import TooFewRows
from lookalike.hubness.mutual_proximity import default_reducer
from lookalike.measures import Gower, StochasticForest
from lookalike.show.html.markup import COLORS
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


def test_a_sample_is_drawn_only_of_more_rows():
    table = la.read_table({"x": np.arange(10.0) ** 2, "c": list("ab" * 5)})
    classes = np.array(list("ab" * 5))
    for sample in (10, 9):
        one = Study(table, classes, "c", "auto", 50, sample, 3)
        assert (len(one.rows), one.k) == (sample, sample - 1)
        drawn = np.sort(np.random.default_rng(3).choice(10, 9, replace=False))
        assert one.at.tolist() == (drawn.tolist() if sample == 9 else list(range(10)))
        assert one.classes.tolist() == classes[one.at].tolist()
        assert one.groups.title == "c"
    assert Study(table[:1], None, "c", "auto", 5, 9, 0).k == 1
    assert Study(table, None, "c", "auto", 5, 99, 0).classes is None
    assert Study(table, np.linspace(0, 1, 10), "c", "auto", 5, 99, 0).classes is None
    sets = np.empty(10, dtype=object)
    sets[:] = [frozenset("a")] * 10
    assert Study(table, sets, "c", "auto", 5, 99, 0).classes is None
    with pytest.raises(TooFewRows, match="report: needs at least 3 rows, found n_samples=2"):
        Study(table[:2], None, "c", "auto", 5, 99, 0).index  # noqa: B018
    assert len(Study(table[:3], None, "c", "auto", 5, 99, 0).index) == 3


def test_groups_by_size_and_by_color():
    ten = group_rows(np.array([f"c{i}" for i in range(len(COLORS))]), "kind")
    assert len(ten.names) == len(COLORS)
    assert not ten.names[-1].endswith("others")
    more = group_rows(np.array([f"c{i}" for i in range(len(COLORS) + 1)]), "kind")
    assert len(more.names) == len(COLORS)
    assert more.names[-1] == "2 others"
    tied = group_rows(np.array([1.5] * 30 + [2.25] * 20 + [3.125] * 3), "price")
    assert np.unique(tied.codes).tolist() == list(range(len(tied.names)))


@pytest.mark.parametrize("measure", ["auto", Gower(), StochasticForest(20, random_state=3)])
def test_clusters_are_those_of_the_verb(measure):
    penguins = la.datasets.load_penguins()
    if isinstance(measure, StochasticForest):
        penguins = penguins.drop(["species", "island", "sex"])
    found = Study(penguins, None, "label", measure, 5, 200, 0)
    same = la.cluster(found.index)
    assert found.clustering.labels_.tolist() == same.labels
    assert len(found.profile) == len(same.profile) > 1
    assert [one.rows for one in found.profile.clusters] == [c.rows for c in same.profile.clusters]
    if measure == "auto":
        assert la.cluster(found.rows).labels == same.labels
