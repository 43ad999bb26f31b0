"""The hubness report: statistics, text, frame, page, plots."""

import json
import re
import sys
from html.parser import HTMLParser

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import lookalike as la
from lookalike.errors import InvalidInput, MissingExtra
from lookalike.evaluate import (
    goodman_kruskal,
    intrinsic_dimension,
    loo_accuracy,
    loo_predict,
    mcnemar,
    retrieval_accuracy,
)
from lookalike.hubness import (
    NICDM,
    MutualProximity,
    SharedNeighbors,
    badness,
    gini,
    hubs_and_orphans,
    k_occurrence,
    reachability,
    skewness,
    symmetric_share,
)
from lookalike.measures import Vector

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 30))
Y = np.where(X[:, :4].sum(axis=1) > 0, "<warm>", "cold")


@pytest.fixture(scope="module")
def report():
    return la.hubness_report(MutualProximity(Vector()).fit(X), Y)


def test_statistics_are_those_of_the_functions(report):
    after = MutualProximity(Vector()).fit(X)
    before = after.measure_
    groups = hubs_and_orphans(before)
    for name, space in (("before", before), ("after", after)):
        found = report.statistics[name]
        counts = k_occurrence(space)
        assert_array_equal(report.occurrences[name], counts)
        expected = {
            "skewness": skewness(counts),
            "largest": counts.max(),
            "hubs": len(hubs_and_orphans(space).hubs),
            "orphans": (counts == 0).sum(),
            "reachability": reachability(space),
            "gini": gini(counts),
            "symmetric_share": symmetric_share(space),
            "symmetric_share_wide": symmetric_share(space, 12),
            "accuracy_1": loo_accuracy(space, Y, 1),
            "accuracy": loo_accuracy(space, Y, 5),
            "goodman_kruskal": goodman_kruskal(space, Y),
            "bad": 100 * badness(space, Y).sum() / 600,
            "intrinsic_dimension": intrinsic_dimension(space),
            "mean_hubs": groups.mean_occurrence(counts)["hubs"],
            "bad_orphans": groups.badness(badness(space, Y), counts)["orphans"],
        }
        for statistic, value in expected.items():
            if value is None:
                assert found[statistic] is None
            else:
                assert_allclose(found[statistic], value, err_msg=statistic)
    right = [loo_predict(space, Y) == Y for space in (before, after)]
    assert report.test == mcnemar(*right)


def test_the_reduction_is_seen(report):
    before, after = report.statistics["before"], report.statistics["after"]
    assert before["skewness"] > 1.5
    assert after["skewness"] < 0.6
    assert after["orphans"] < before["orphans"]
    assert before["bad_orphans"] is None


def test_printed(report):
    text = str(report)
    assert "MutualProximity of Vector, 120 rows, lists of 5" in text
    assert re.search(r"hubness: skewness of the k-occurrence +\d\.\d\d +-?\d\.\d\d", text)
    assert re.search(r"the same of the original orphans +– ", text)
    assert "McNemar p =" in text
    assert len({len(line) for line in text.splitlines()[2:-1]}) == 1  # columns are aligned


def test_frames(report):
    frame = report.to_frame()
    assert frame.columns.tolist() == ["statistic", "meaning", "before", "after"]
    row = frame[frame["statistic"] == "skewness"]
    assert_allclose(row["after"], report.statistics["after"]["skewness"])
    assert report.to_frame("polars").shape == frame.shape


def test_plain_values(report):
    found = json.loads(json.dumps(report.to_dict()))
    assert found["statistics"]["before"] == report.statistics["before"]
    assert found["test"]["pvalue"] == report.test.pvalue
    top = found["top"][0]
    assert top["before"] == report.occurrences["before"].max()
    assert top["id"] == report.occurrences["before"].argmax()


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.seen, self.links = [], [], []

    def handle_starttag(self, tag, attributes):
        self.seen.append(tag)
        self.links += [value for name, value in attributes if name in ("src", "href")]
        if tag not in ("meta",):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.seen.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_needs_nothing_else(report, tmp_path):
    text = report.to_html(tmp_path / "hubs.html")
    assert (tmp_path / "hubs.html").read_text(encoding="utf-8") == text
    tags = Tags()
    tags.feed(text)
    assert tags.open == []
    assert tags.links == []
    assert "script" not in tags.seen
    assert text.count('role="img"') == 3  # the histogram, and a map before and after
    assert text.count("<path") >= 2  # a map before and after, a few paths for all points
    assert "<table>" in report._repr_html_()


def test_large_maps_are_sampled(monkeypatch, report):
    import lookalike.hubness.report as page

    monkeypatch.setattr(page, "MAX_MAPPED_ROWS", 50)
    at, places = page.hub_map(report)
    assert 40 <= len(at) <= 50
    assert report.occurrences["before"].argmax() in at
    assert places.shape == (len(at), 2)


def test_maps_of_points_in_the_plane_are_those_points():
    from lookalike.hubness.report import hub_map

    flat = RNG.random((40, 2))
    at, places = hub_map(la.hubness_report(Vector().fit(flat)))
    assert_array_equal(at, np.arange(40))
    assert_allclose(Vector().fit(places).distance(), Vector().fit(flat).distance(), atol=1e-9)


def test_pictures(report, tmp_path):
    figure = report.plot()
    figure.savefig(tmp_path / "hubs.svg")
    assert len(figure.axes) >= 3
    assert "lists of 5" in figure.axes[0].get_xlabel()


def test_pictures_need_matplotlib(report, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtra, match=r"lookalike\[report\]"):
        report.plot()


def test_spaces_without_a_reducer():
    d = Vector().fit(X).distance()
    for space in (Vector().fit(X), d):
        report = la.hubness_report(space, k=4)
        assert report.columns == ["value"]
        assert report.test is None
        assert "accuracy" not in report.statistics["value"]
        assert_allclose(report.statistics["value"]["skewness"], skewness(k_occurrence(d, 4)))


def test_graphs_say_what_they_cannot():
    report = la.hubness_report(Vector().fit(X).neighbors(k=6), Y)
    assert "goodman_kruskal" not in report.statistics["value"]
    assert report.statistics["value"]["intrinsic_dimension"] is None
    assert any("needs all distances" in note for note in report.notes)
    assert any("no intrinsic dimension" in note for note in report.notes)
    assert "svg" in report.to_html()


def test_sets_of_labels():
    genres = [{"a"}, {"a", "b"}, {"b"}] * 40
    space = NICDM(Vector()).fit(X)
    report = la.hubness_report(space, genres)
    assert report.statistics["after"]["retrieval"] == retrieval_accuracy(space, genres)
    assert "accuracy" not in report.statistics["after"]


def test_ties_are_noted():
    space = SharedNeighbors(Vector(), 3).fit(X)
    report = la.hubness_report(space)
    assert any("after reduction are tied" in note for note in report.notes)
    shared = la.hubness_report(space, ties="expected")
    assert not any("tied" in note for note in shared.notes)
    assert shared.statistics["after"]["skewness"] != report.statistics["after"]["skewness"]
    assert_allclose(shared.occurrences["after"], k_occurrence(space, ties="expected"))


def test_large_spaces_leave_out_what_takes_long(monkeypatch):
    import lookalike.hubness.report as module

    monkeypatch.setattr(module, "MAX_ROWS_FOR_WIDE_LISTS", 50)
    monkeypatch.setattr(module, "MAX_ROWS_FOR_ALL_PAIRS", 119)
    report = la.hubness_report(NICDM(Vector()).fit(X), Y)
    assert "goodman_kruskal" not in report.statistics["after"]
    assert report.statistics["before"]["intrinsic_dimension"] is None
    assert report.statistics["after"]["intrinsic_dimension"] is None
    assert len(report.notes) == 3
    monkeypatch.setattr(module, "MAX_ROWS_FOR_ALL_PAIRS", 120)
    report = la.hubness_report(NICDM(Vector()).fit(X), Y)
    assert report.statistics["before"]["intrinsic_dimension"] > 5
    assert len(report.notes) == 1


def test_bad_input():
    with pytest.raises(InvalidInput, match="each of the 120 rows"):
        la.hubness_report(Vector().fit(X), Y[:5])
    with pytest.raises(InvalidInput, match="Use k=119"):
        la.hubness_report(Vector().fit(X), k=120)
    with pytest.raises(TypeError, match="fitted measure"):
        la.hubness_report("rows.csv")
