"""The hubness report: statistics, text, frame, page, plots."""

import io
import json
import re
import sys
from html.parser import HTMLParser

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from rich.console import Console

import lookalike as la
import lookalike.hubness.report as hubness_report_module
from lookalike.errors import InvalidInput, MissingExtra, MissingFile, WrongType
from lookalike.evaluate import (
    distance_contrast,
    goodman_kruskal,
    intrinsic_dimension,
    loo_accuracy,
    loo_predict,
    mcnemar,
    retrieval_accuracy,
)
from lookalike.evaluate.agreement import McNemar
from lookalike.hubness import (
    NICDM,
    MutualProximity,
    SharedNeighbors,
    antihub_scores,
    badness,
    gini,
    hubs_and_orphans,
    k_occurrence,
    reachability,
    skewness,
    symmetric_share,
)
from lookalike.hubness.mutual_proximity import default_reducer
from lookalike.hubness.report import (
    HubnessReport,
    HubVerdict,
    count_hubs,
    histogram,
    hub_map,
    hub_maps,
    try_reduction,
)
from lookalike.measures import Gower, Precomputed, Vector, choose_measure

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
            **distance_contrast(space)._asdict(),
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


def test_outliers_are_rows_that_few_lists_reach(report):
    scores = antihub_scores(Vector().fit(X))
    found = report.outliers(4)
    assert [line["row"] for line in found] == np.argsort(-scores, kind="stable")[:4].tolist()
    assert [line["score"] for line in found] == np.sort(scores)[::-1][:4].tolist()
    assert [line["id"] for line in report.to_dict()["outliers"][:4]] == [
        line["row"] for line in found
    ]
    assert "rows that the fewest lists reach" in report.html_body()


def test_the_reduction_is_seen(report):
    before, after = report.statistics["before"], report.statistics["after"]
    assert before["skewness"] > 1.5
    assert after["skewness"] < 0.6
    assert after["orphans"] < before["orphans"]
    assert before["bad_orphans"] is None


def test_printed(report):
    text = str(report)
    assert text == report.text()
    assert text.startswith("MutualProximity of Vector, 120 rows, lists of 5\n")
    assert re.search(r"hubness: skewness of the k-occurrence +\d\.\d\d +-?\d\.\d\d", text)
    assert re.search(r"the same of the original orphans +– ", text)
    assert "McNemar p =" in " ".join(text.split())


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
    text = report.to_html()
    assert report.to_html(tmp_path / "hubs.html") is None
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
        la.hubness_report(3)
    with pytest.raises(MissingFile, match=r"rows\.csv"):
        la.hubness_report("rows.csv")
    with pytest.raises(WrongType, match=r"hubness_report: has no parameter 'n'. Did you mean k=3"):
        la.hubness_report(X, n=3)


PETS = {
    "weight": [4.0, 30.0, 5.0, 28.0, None, 26.0, 4.5, 31.0],
    "animal": ["cat", "dog", "cat", "dog", "cat", "dog", "cat", "dog"],
}


def test_a_table_is_compared_by_the_default_measure(tmp_path):
    import pandas as pd

    frame = pd.DataFrame(PETS)
    frame.to_csv(tmp_path / "pets.csv", index=False)
    records = frame.astype(object).where(frame.notna(), None).to_dict("records")
    fitted = choose_measure(PETS)[0].fit(PETS)
    expected = la.hubness_report(fitted, k=3)
    given = [PETS, frame, la.read_table(PETS), records, tmp_path / "pets.csv"]
    for table in [*given, str(tmp_path / "pets.csv")]:
        found = la.hubness_report(table, k=3)
        assert_array_equal(found.occurrences["value"], expected.occurrences["value"])
        assert "1 missing cell" in found.reason
        assert len(found.table) == 8
    assert expected.reason is None


def test_a_column_of_the_table_is_the_label_by_either_name():
    by_y = la.hubness_report(PETS, "animal", 3)
    assert by_y.table.names == ("weight",)
    assert by_y.statistics["value"]["accuracy"] == 1.0
    assert la.hubness_report(PETS, label="animal", k=3).statistics == by_y.statistics


def test_a_square_frame_of_numbers_is_a_matrix_of_distances():
    import pandas as pd

    distances = Vector().fit(X[:6]).distance()
    square = pd.DataFrame(distances)
    assert la.hubness_report(square, k=2).title == "Precomputed, 6 rows"
    square[5] = list("abcdef")
    assert la.hubness_report(square, k=2).title == "Gower, 6 rows"
    words = pd.DataFrame({"a": ["x", "y", "x"], "b": ["u", "u", "v"], "c": [1, 2, 3]})
    assert la.hubness_report(words, k=1).title == "Gower, 3 rows"


# -- reports made by hand --------------------------------------------------------------------------


def made(counts, *statistics, k=5, **more):
    """Return a report of one space, or of two, with the same occurrences."""
    names = ["value"] if len(statistics) == 1 else ["before", "after"]
    keys = ("skewness", "largest", "orphans", "reachability")
    values = {n: dict(zip(keys, s, strict=True)) for n, s in zip(names, statistics, strict=True)}
    counted = {name: np.array(counts) for name in names}
    return HubnessReport("Vector, 4 rows", k, 5.0, values, counted, **more)


def test_the_verdict_is_that_of_the_statistics_and_of_the_test():
    few = made([1], (1.0, 12.0, 0.0, 1.0))
    assert (
        few.verdict
        == "No hub problem here: the largest hub is in 12 lists, skewness 1.00, rows in no list 0."
    )
    test = McNemar(0.5, 0.04, 3, 9)
    lower = made([1], (2.0, 30.0, 9.0, 0.5), (1.5, 20.0, 3.0, 0.9), test=test)
    assert lower.verdict == (
        "Hubs are a problem, and the reduction helps: "
        "the largest hub is in 30 -> 20 lists, skewness 2.00 -> 1.50, rows in no "
        "list 9 -> 3. Votes that are right only after reduction: 9, only before: 3 (McNemar p = "
        "0.04, significant)."
    )
    assert lower.to_dict()["hub_problem"]
    assert lower.to_dict()["reduction_helps"]
    same = made([1], (2.0, 30.0, 9.0, 0.5), (2.0, 20.0, 3.0, 0.9), test=McNemar(0.5, 0.05, 3, 9))
    assert same.verdict.startswith("Hubs are a problem that the reduction does not solve: the ")
    assert same.verdict.endswith("(McNemar p = 0.05, not significant).")
    assert not same.to_dict()["reduction_helps"]


def test_the_reduction_is_tried_where_hubs_are_a_problem(monkeypatch):
    from lookalike.hubness import report as module

    report = la.hubness_report(Vector().fit(X))
    reduced = la.hubness_report(default_reducer(Vector(), len(X)).fit(X))
    before, after = (f"{reduced.statistics[name]['largest']:.0f}" for name in ("before", "after"))
    assert f"the reduction helps: the largest hub is in {before} -> {after} lists" in report.verdict
    assert report.verdict.endswith("(mutual proximity).")
    assert report.judged is report.judged  # tried once
    # Not tried without need.
    monkeypatch.setattr(module, "try_reduction", None)
    even = la.hubness_report(Vector().fit(np.arange(30.0)[:, None]))
    assert even.verdict.startswith("No hub problem here: ")
    assert la.hubness_report(Vector().fit(X), k=5).columns == ["value"]


def test_hubs_with_missing_cells_are_noted():
    """Above a quarter more of the hubs than of all rows, and at least half of them; or twice."""

    def note_of(missing, wide=1, **more):
        cells = {f"c{j}": [None if j < m else 1.0 for m in missing] for j in range(wide)}
        table = la.read_table(cells, kinds=dict.fromkeys(cells, "number"))
        counts = range(len(missing), 0, -1)  # the first ten rows are the hubs
        return made(list(counts), (0.2, 3.0, 0.0, 1.0), table=table, **more).missing_cells

    cure = ": compare with measure='auto', which counts a missing cell as half alike."
    assert note_of([1] * 5 + [0] * 15) is None  # 5 of 10 hubs, 5 of 20 rows: a quarter more
    hubs = "Among the 10 rows in the most lists are rows with many missing cells"
    text = f"{hubs} (60% have one, 30% of all rows do){cure}"
    assert note_of([1] * 6 + [0] * 14) == text
    assert note_of([1] * 4 + [0] * 36) is None  # not half of the hubs
    assert note_of([1] * 5 + [0] * 35).startswith(f"{hubs} (50% have one")
    plain, midpoint = Gower().fit(X[:4]), Gower(missing="midpoint").fit(X[:4])
    fitted = note_of([1] * 6 + [0] * 14, space=plain)
    assert fitted == text.replace("'auto'", "'gower:missing=midpoint'")
    assert note_of([1] * 6 + [0] * 14, space=NICDM(plain, 2).fit(X[:4])) == fitted
    assert note_of([1] * 6 + [0] * 14, space=midpoint) is None
    few, many = [1] * 10 + [1] * 10, [2] * 10 + [1] * 20
    assert note_of(few, wide=2) is None
    assert note_of(many, wide=2) is None  # 2 where 1.33 is the mean
    text = f"{hubs} (3.0 each, where 1.5 is the mean){cure}"
    assert note_of([3] * 10 + [1] * 30, wide=3) == text
    assert made([1], (0.2, 3.0, 0.0, 1.0)).missing_cells is None


def test_printed_on_a_console_with_ids_and_rows():
    rows = {"a": [1.0, None, 3.0, 4.0, 5.0, 6.0], "b": ["x", "y", "z", None, "v", "w"]}
    table = la.read_table(rows, kinds={"b": "category"})
    notes, ids = ["one note"], list("pqrstu")
    known = {"table": table, "ids": ids, "notes": notes, "reason": "why so", "name": "pets"}
    report = made([3, 1, 2, 2, 4, 0], (0.2, 3.0, 0.0, 1.0), k=2, **known)
    console = Console(file=io.StringIO(), width=100, color_system=None)
    report.render(console)
    lines = [line.strip() for line in console.file.getvalue().splitlines() if line.strip()]
    assert lines[:2] == ["pets: Vector, 4 rows, lists of 2", "why so"]
    assert lines[2] == report.verdict
    assert lines[5:9] == [
        "hubness: skewness of the k-occurrence    0.20",
        "lists that the largest hub is in            3",
        "orphans: rows in no list                    0",
        "rows in at least one list              100.0%",
    ]
    assert lines[9] == "Rows in the most lists"
    assert lines[10].split() == ["row", "lists", "missing"]
    assert lines[12:] == [
        "t      4        0  b v, a 5",
        "p      3        0  b x, a 1",
        "r      2        0  b z, a 3",
        "s      2        1  a 4",
        "q      1        1  b y",
        "one note",
    ]
    assert str(made([1], (0.2, 3.0, 0.0, 1.0))).startswith("Vector, 4 rows, lists of 5\n")
    assert report.top(2) == [{"row": 4, "value": 4}, {"row": 0, "value": 3}]
    plain = report.to_dict()
    assert plain["top"][0] == {"id": "t", "value": 4}
    assert (plain["reason"], plain["notes"], plain["test"]) == ("why so", notes, None)
    assert plain["missing_cells"] is None
    assert "reason" not in made([1], (0.2, 3.0, 0.0, 1.0)).to_dict()
    test = McNemar(0.5, 0.04, 3, 9)
    assert made([1], (1.0, 1.0, 0.0, 1.0), test=test).to_dict()["test"] == {
        "statistic": 0.5, "pvalue": 0.04, "only_before": 3, "only_after": 9,
    }  # fmt: skip


def test_bars_of_the_histogram_are_roots_of_counts():
    drawn = histogram(made([0, 0, 0, 3, 41], (1.0, 1.0, 1.0, 1.0)))
    bars = re.findall(
        r'<rect x="(.*?)" y="(.*?)" width="20.2" height="(.*?)" .*?<title>(.*?)<', drawn
    )
    assert bars == [
        ("10.0", "10.0", "170.0", "value: 3 rows in 0 to 1 lists"),
        ("31.9", "81.9", "98.1", "value: 1 rows in 2 to 3 lists"),
        ("448.1", "81.9", "98.1", "value: 1 rows in 40 to 41 lists"),
    ]
    ticks = re.findall(r'<text x="(\d+)" y="198" text-anchor="(\w+)".*?>(\d+)<', drawn)
    assert ticks == [
        ("21", "middle", "0"), ("87", "middle", "6"), ("152", "middle", "12"),
        ("218", "middle", "18"), ("284", "middle", "24"), ("350", "middle", "30"),
        ("415", "middle", "36"),
    ]  # fmt: skip
    assert 'class="key"' not in drawn
    few = histogram(made([0, 1, 1, 2], (1.0,) * 4, (1.0,) * 4))
    assert "before: 2 rows in 1 to 1 lists" in few
    assert re.findall(r'text-anchor="(\w+)"', few) == ["middle", "middle", "middle"]
    assert 'class="key"' in few


def test_maps_mark_hubs_and_orphans():
    """A hub is in more than ``factor * k`` lists: 11 of more than 10, and not 10."""
    at, xy = np.array([0, 1, 3]), np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]])
    one = hub_maps(made([11, 0, 1, 10], (1.0,) * 4, k=2), at, xy)
    assert re.findall('<circle cx="8.0" cy="472.0" r="(.*?)".*?<title>(.*?)<', one) == [
        ("6.3", "row 0: 11 lists")
    ]
    assert "<figcaption>1 hub, 1 rows in no list</figcaption>" in one
    assert re.findall('stroke-width="(.*?)" stroke-linecap', one) == ["7", "7.5"]
    both = hub_maps(made([11, 12, 1, 10], (1.0,) * 4, (1.0,) * 4, k=2), at, xy)
    assert "<figcaption>Before: 2 hubs, 0 rows in no list</figcaption>" in both
    assert both.index("row 0: 11") < both.index("row 1: 12")  # the larger hub on top
    assert hub_map(made([1, 1], (1.0,) * 4)) is None
    assert hub_map(made([1, 1], (1.0,) * 4, space=Vector().fit([[0.0], [1.0]]))) is None
    three = Vector().fit([[0.0], [1.0], [3.0]])
    assert hub_map(made([1] * 3, (1.0,) * 4, space=three))[1].shape == (3, 2)


# -- the verdict -----------------------------------------------------------------------------------


ALL_ROWS = np.random.default_rng(0).normal(size=(150, 30))


def of(skew, largest, orphans=0.0):
    return {"skewness": skew, "largest": largest, "orphans": orphans}


@pytest.mark.parametrize(
    ("before", "after", "helps"),
    [
        (of(2.0, 100.0), of(1.5, 99.0), True),
        (of(2.0, 100.0), of(1.51, 99.0), False),  # less than a quarter of the skewness
        (of(2.0, 100.0), of(1.0, 100.0), False),  # the largest hub is as large as before
        (of(2.0, 36.0), of(1.0, 71.0), False),
        (of(2.0, 100.0), of(-0.5, 10.0), True),
    ],
)
def test_the_reduction_helps_if_hubs_get_clearly_smaller(before, after, helps):
    found = HubVerdict(before, before, after)
    assert found.problem
    assert found.reduction_helps is helps
    words = "and the reduction helps: " if helps else "that the reduction does not solve: "
    assert words in str(found)


def test_words_of_the_three_cases():
    assert str(HubVerdict(of(1.0, 1234.0, 16.0))) == (
        "No hub problem here: the largest hub is in 1,234 lists, skewness 1.00, rows in no list 16."
    )
    many = of(5.2, 1108.0, 2090.0)
    assert str(HubVerdict(many, many, of(0.9, 31.0, 5.0), "mutual proximity")) == (
        "Hubs are a problem, and the reduction helps: "
        "the largest hub is in 1,108 -> 31 lists, skewness 5.20 -> 0.90, rows in "
        "no list 2,090 -> 5 (mutual proximity)."
    )
    some = of(1.01, 36.0, 3.0)
    assert str(HubVerdict(some, some, of(1.08, 71.0, 2.0))) == (
        "Hubs are a problem that the reduction does not solve: "
        "the largest hub is in 36 -> 71 lists, skewness 1.01 -> 1.08, "
        "rows in no list 3 -> 2."
    )
    assert str(HubVerdict(some)) == (
        "Hubs are a problem: "
        "the largest hub is in 36 lists, skewness 1.01, rows in no list 3; "
        "the reduction cannot be tried "
        "without distances."
    )


def test_without_a_problem_nothing_is_offered():
    """However well a reduction would do: films whose largest hub went from 36 to 71 had none."""
    fine = of(1.0, 36.0)
    found = HubVerdict(fine, fine, of(0.1, 10.0))
    assert not found.problem
    assert not found.reduction_helps
    assert not HubVerdict(of(None, 36.0)).problem  # all rows in equally many lists
    assert not HubVerdict(of(3.0, 36.0), of(3.0, 36.0)).reduction_helps
    assert not HubVerdict(of(3.0, 36.0), after=of(0.1, 3.0)).reduction_helps


def test_tried_on_the_same_rows():
    space = Vector().fit(ALL_ROWS)
    before, after, how = try_reduction(space, 5)
    reduced = MutualProximity(Vector(), model="gauss_independent").fit(ALL_ROWS)
    for found, one in ((before, space), (after, reduced)):
        counts = k_occurrence(one, 5)
        assert found["largest"] == counts.max()
        assert found["orphans"] == (counts == 0).sum()
        assert found["skewness"] == pytest.approx(skewness(counts))
    assert how == "mutual proximity"
    assert after["skewness"] < before["skewness"]


def test_of_many_rows_a_sample_is_tried(monkeypatch):
    space = Vector().fit(ALL_ROWS)
    monkeypatch.setattr(hubness_report_module, "MAX_TRIED_ROWS", 150)
    assert try_reduction(space, 5)[2] == "mutual proximity"
    monkeypatch.setattr(hubness_report_module, "MAX_TRIED_ROWS", 149)
    before, after, how = try_reduction(space, 5)
    assert how == "mutual proximity, tried on a sample of 149 rows"
    chosen = np.sort(np.random.default_rng(0).choice(150, 149, replace=False))
    counts = k_occurrence(Vector().fit(ALL_ROWS[chosen]), 5)
    assert before == count_hubs(counts)
    assert after["largest"] < before["largest"]
    # Lists of a sample may have to be shorter.
    monkeypatch.setattr(hubness_report_module, "MAX_TRIED_ROWS", 4)
    assert try_reduction(space, 5)[0]["largest"] == 3.0


def test_pairs_with_nothing_to_compare_are_the_farthest():
    """Every other row of one column, the rest of the other: half of all pairs are undefined."""
    n = 40
    values = np.random.default_rng(0).random(n)
    even = np.arange(n) % 2 == 0
    rows = {"a": np.where(even, values, np.nan), "b": np.where(even, np.nan, values)}
    before, after, _ = try_reduction(Gower().fit(rows), 3)
    halves = [np.bincount(_nearest(values[half], 3), minlength=n // 2) for half in (even, ~even)]
    assert before["largest"] == max(half.max() for half in halves)
    assert after["largest"] >= 3


def _nearest(values, k):
    far = np.abs(values[:, None] - values)
    np.fill_diagonal(far, np.inf)
    return np.argsort(far, axis=1, kind="stable")[:, :k].ravel()


def test_spaces_of_other_kinds():
    space = Vector().fit(ALL_ROWS)
    assert try_reduction(space.neighbors(k=10), 5) is None
    distances = np.linalg.norm(ALL_ROWS[:, None] - ALL_ROWS, axis=2)
    known = try_reduction(Precomputed().fit(distances), 5)
    assert known[0] == try_reduction(space, 5)[0]
    # Not symmetric: the distance back may be another.
    distances[np.triu_indices(150, 1)] *= 2
    one_way = try_reduction(Precomputed(symmetric=False).fit(distances), 5)
    assert one_way[0]["largest"] != known[0]["largest"]


def test_counts():
    assert count_hubs(np.array([0, 0, 4, 0])) == {
        "skewness": pytest.approx(2 / np.sqrt(3)), "largest": 4.0, "orphans": 3.0,
    }  # fmt: skip
