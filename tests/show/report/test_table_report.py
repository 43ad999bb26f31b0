"""The report: every part is there, says what the library says, and reads well without eyes."""

import re
from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np
import pytest

import lookalike as la
from lookalike._runtime.text import short
from lookalike.datasets import load_penguins
from lookalike.errors import InvalidInput
from lookalike.measures import Gower, Vector
from lookalike.show.html.markup import escape
from lookalike.show.report.study import RowWriter, Study
from lookalike.show.report.table_report import (
    N_BARS,
    PARTS,
    TableReport,
    _compared,
    _lead,
    _strip,
    clusters_part,
    columns_part,
    map_part,
    measure_part,
    missing_part,
    rows_part,
    shape_of,
    summary_part,
)

VOID = ("meta", "br")


class Page(HTMLParser):
    """Wants every tag closed; keeps headings, pictures without a name, and addresses."""

    def __init__(self, text):
        super().__init__()
        self.open, self.headings, self.nameless, self.links, self.tables = [], [], [], [], []
        self.seen, self.captions = [], 0
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.seen.append(tag)
        if tag not in VOID:
            self.open.append(tag)
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag == "svg" and not found.get("aria-label") and found.get("aria-hidden") != "true":
            self.nameless.append(attributes)
        if "href" in found or "src" in found:
            self.links.append(found.get("href") or found.get("src"))

    def handle_startendtag(self, tag, attributes):
        self.seen.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def penguins():
    measure = Gower(scale="rank")
    return la.report(load_penguins(), "species", measure=measure, sample=120, title="Penguins")


@pytest.fixture(scope="module")
def text(penguins):
    return penguins.to_html()


def test_every_part_is_made(penguins, text):
    assert list(penguins.parts) == [part.name for part in PARTS]
    assert "This part failed" not in text
    for part in PARTS:
        body = penguins.parts[part.name]
        assert "<pre><code>" in body  # the lines of Python that make it
        assert f'id="{part.name}"' in body
        assert f'href="#{part.name}"' in text


def test_the_page_is_small_and_needs_nothing_else(text):
    page = Page(text)
    assert all(link.startswith("#") for link in page.links)
    assert "script" not in page.seen
    assert "http" not in text
    assert len(text) < 200_000


def test_it_can_be_read_without_seeing_it(text):
    page = Page(text)
    assert page.nameless == []  # every drawing says what it shows
    assert page.headings[0] == 1
    assert page.headings.count(1) == 1
    assert all(b - a <= 1 for a, b in zip(page.headings, page.headings[1:], strict=False))
    assert '<html lang="en">' in text
    assert page.seen.count("table") == text.count("<caption>")
    assert text.count("<th ") == text.count('<th scope="col"')


def test_what_it_says_is_what_the_library_says(penguins):
    at = np.sort(np.random.default_rng(0).choice(344, 120, replace=False))
    rows = load_penguins().drop("species")[at]
    fitted = Gower(scale="rank").fit(rows)
    occurrence = la.hubness.k_occurrence(fitted, 5)
    assert (
        f"No hub problem here: the largest hub is in {occurrence.max()} lists, "
        in penguins.parts["hubs"]
    )
    assert "after" not in penguins.parts["hubs"]  # no reduction is offered
    assert "trustworthiness 0.9" in penguins.parts["map"]
    assert "120 of them, drawn at random" in penguins.lead
    assert "11 of 344" in penguins.parts["missing"] or "333 of 344" in penguins.parts["missing"]
    for name in ("Adelie", "Gentoo", "Chinstrap"):
        assert f">{name}</text>" in penguins.parts["map"]
    assert "same " in penguins.parts["neighbors"]  # reasons as phrases


def lines_of(penguins):
    """The programs on the page, in order."""
    found = re.findall(r"<pre><code>(.*?)</code></pre>", penguins.html_body(), re.S)
    return [re.sub("&#x27;", "'", code).replace("&quot;", '"') for code in found]


def test_the_lines_of_python_run(penguins, capsys):
    names = {"data": load_penguins()}
    for code in lines_of(penguins):
        if "la.compare" not in code:  # minutes; its own tests call it
            exec(code, names)
    assert names["places"].shape == (344, 2)
    assert len(names["odd"].scores) == 344
    assert "cluster 0" in capsys.readouterr().out


def test_a_table_too_small_says_so():
    found = la.report({"a": [1.0, 2.0], "b": ["x", None]})
    assert "at least 3 rows" in found.parts["map"]
    assert "number" in found.parts["columns"]
    assert found.title == "Table"
    Page(found.to_html())


def test_markup_in_names_and_cells_stays_text():
    bad = "<script>alert(1)</script>"
    table = {bad: np.arange(12.0), "x": ["a", bad] * 6}
    text = la.report(table, "x", measure=Gower(), title=bad).to_html()
    assert "<script" not in text
    Page(text)


def test_the_same_table_gives_the_same_page():
    rng = np.random.default_rng(0)
    table = {"a": rng.random(30), "b": rng.random(30)}
    one, two = (la.report(table, measure=Vector()).parts for _ in range(2))
    for name in one:
        if name != "measures":  # which has times
            assert one[name] == two[name]


def test_wrong_options():
    with pytest.raises(InvalidInput, match=r"report\(sample=2\)"):
        la.report({"a": [1.0, 2.0]}, sample=2)
    with pytest.raises(InvalidInput, match="a column of the table"):
        la.report({"a": [1.0, 2.0]}, "b")


def long_texts():
    """Twelve texts that differ, of three sorts, each with a word that all of them have."""
    sorts = ("the cat sat on a mat ", "the dog ran after a ball ", "the night was dark ")
    return [f"{sort * 12} {i}{i}{i}" for i in range(4) for sort in sorts]


def test_a_report_about_long_texts_says_how_they_are_compared(monkeypatch):
    monkeypatch.setattr("lookalike.show.report.table_report.PARTS", PARTS[:6])
    found = la.report({"size": np.arange(12.0), "said": long_texts()})
    assert "compared by their words" in found.parts["columns"]
    assert "<h3>Like row " in found.parts["neighbors"]  # a long text is not a name


def test_as_text_it_lists_its_parts():
    made = TableReport("Pets", {part.name: "<p></p>" for part in PARTS})
    lines = made.text().splitlines()
    assert lines == ["Pets: a page of 10 parts", *(f"  {part.heading}" for part in PARTS)]
    assert made.cells()["part"] == list(made.parts)
    assert made.cells()["heading"] == [part.heading for part in PARTS]
    assert made.to_dict() == {"title": "Pets", "lead": "", "parts": made.parts}


def test_the_line_of_python_scores_classes_only():
    def compared(y, target):
        study = Study(la.read_table({"a": [1.0, 2.5]}), target, "b", "auto", 5, 2000, 0)
        return _compared(study, y)

    assert compared(None, None) == "table"
    assert compared("b", np.array(["x", "y"])) == "table, y='b'"
    assert compared(["x", "y"], np.array(["x", "y"])) == "table, y=labels"
    # Numbers are no classes.
    assert compared("b", np.array([1.25, 2.75])) == "rows"


def test_the_lead_counts_rows_and_columns_and_names_the_target():
    def lead(columns, target, sample=2000):
        return _lead(Study(la.read_table(columns), target, "b", "auto", 5, sample, 3))

    one, two = {"a": [1.0, 2.5, 4.0]}, {"a": [1.0, 2.5, 4.0], "c": ["x", "y", "x"]}
    assert lead(one, None) == "<p>3 rows, 1 compared column.</p>"
    named = "<p>3 rows, 2 compared columns. b is the target, and is not compared.</p>"
    assert lead(two, np.array(["x", "y", "x"])) == named
    some = lead(two, None, sample=2)
    assert some.startswith("<p>3 rows, 2 compared columns. Columns and missing values are those")
    assert some.endswith("computed on 2 of them, drawn at random (seed 3).</p>")


def study(columns):
    return Study(la.read_table(columns), None, "label", "auto", 5, 2000, 0)


def written_rows(columns):
    return study(columns).writer


def test_missing_cells_are_not_listed_as_values():
    many, few = frozenset(range(21)), frozenset("x")
    written = written_rows({"a": [1.0, 2.5, 4.0], "b": [None, many, few]})
    assert [written.words(row) for row in (0, 1)] == ["a 1.0", "a 2.5"]
    assert "b x" in written.words(2)
    words = written_rows({"a": [1.0, 2.5, 4.0], "b": ["x", "y", "x"]})
    assert words.numbers == [False, True]  # the label comes first


def test_a_map_of_clusters_says_what_makes_them():
    rng = np.random.default_rng(0)
    size = np.repeat([0.0, 9.0], 15) + rng.random(30)
    found = la.report({"size": size, "sort": ["a"] * 15 + ["b"] * 15}, measure=Gower())
    assert re.search(r"cluster 0 \(15\): (size|sort) ", found.parts["map"])


def test_missing_values_are_shown_where_they_are():
    none = "<p>No value of a compared column is missing.</p>"
    assert missing_part(study({"a": [1.0, 2.5], "b": ["x", "y"]})) == none
    half = [None] * 30 + [float(i) + 0.5 for i in range(30)]
    few = [None, *(float(i) + 0.25 for i in range(59))]
    also = [None if cell is None else (cell * 7) % 10 for cell in half]
    text = missing_part(study({"few": few, "half": half, "also": also, "full": list(range(60))}))
    assert "<p>30 of 60 rows are complete. Each strip is a column from its first row" in text
    # The column with the most missing values comes first; one part of the strip for each row.
    assert re.findall("<td>(half|also|few|full)</td>", text) == ["half", "also", "few"]
    assert text.count(' y="1.0" ') == 15 + 15 + 1
    assert 'aria-label="missing values of half: from 0% to 100%"' in text
    assert "more columns" not in text


def test_words_about_columns_are_left_aligned_and_numbers_are_not():
    text = columns_part(study({"a": [1.0, None]}))
    heads = re.findall('<th scope="col" role="columnheader"( class="text")?>([^<]+)', text)
    assert [name for mark, name in heads if mark] == ["kind", "shape", "values", "why this kind"]
    assert [name for mark, name in heads if not mark] == ["column", "missing"]


def test_only_so_many_columns_are_listed():
    some = {f"c{i}": [None, 1.5, 2.5] for i in range(61)}
    text = columns_part(study(some))
    assert "<p>1 more columns are not listed.</p>" in text
    assert text.count("<tr") == 2 + 60
    assert "<summary>45 more columns</summary>" in text
    assert "<details" not in columns_part(study({f"c{i}": [None, 1.5] for i in range(15)}))
    assert "37 more columns have missing values." in missing_part(study(some))
    assert "not listed" not in columns_part(study({n: c for n, c in some.items() if n != "c60"}))


def test_five_sentences_say_what_the_parts_found():
    rng = np.random.default_rng(0)
    n = 60
    cells = {
        "x": rng.normal(size=n) + 9 * (np.arange(n) % 2),
        "c": np.array(["u", "v"])[np.arange(n) % 2],
    }
    cells["gap"] = [None if i < 15 else float(i) for i in range(n)]
    made = study(cells)
    sentences = re.findall("<li>(.*?)</li>", summary_part(made))
    assert len(sentences) == 5
    assert sentences[0] == "60 rows are compared in 3 columns; gap is missing most, 25%."
    assert type(made.measure).__name__ in sentences[1]
    assert f"{len(made.profile)} clusters" in sentences[2]
    assert sentences[3] == escape(made.hubs.sentences[0])
    assert sentences[4].endswith(f" {made.at[made.outliers[0][0]]}.")
    full = study({"x": cells["x"], "c": cells["c"]})
    assert "no compared cell is missing" in summary_part(full)


def test_shapes_are_counts_of_values():
    table = la.read_table({"x": [0.0, 0.1, 0.9, 1.0, 1.0, None], "c": [*"aabbb", None]})
    bars = [shape_of(column).count("<rect") for column in table]
    assert bars == [N_BARS, 2]
    assert shape_of(la.read_table({"s": [{"a"}, {"b"}]})["s"]) == ""


def test_parts_are_named_after_their_functions():
    names = "summary map columns missing measure neighbors hubs clusters measures rows"
    assert [part.name for part in PARTS] == names.split()


def test_names_and_cells_are_cut_where_they_end_a_line():
    name = "n" * 40
    for extra, shown in (("", name), ("n", short(name + "n", 40))):
        found = study({name + extra: [1.0, None, 3.5], "b": ["x", "y", "x"]})
        for text in (columns_part(found), missing_part(found)):
            assert f">{shown}</" in text
    long = [f"{i} " + "w" * 45 for i in range(3)]
    assert short(long[0], 40) in written_rows({"text": long, "x": [1.0, 2.5, 4.0]}).cells(0)
    wide = written_rows({"m" * 41: [1.0, 2.5, 4.0], "b": ["x", "y", "x"]})
    assert short("m" * 41, 40) in wide.heads


def test_few_cells_of_a_row_are_shown():
    columns = {f"c{i}": [1.5 * i, 2.0, 4.25] for i in range(8)}
    writer = written_rows(columns)
    assert writer.heads == [f"c{i}" for i in range(6)]
    assert writer.numbers == [True] * 6
    assert len(writer.cells(0)) == 6
    assert writer.words(0).count(", ") == 3
    aside = written_rows({"name": ["a b", "c d", "e f"], "x": [None, 2.5, 4.0]})
    assert aside.cells(0) == ["a b", short(None, 40)]


def test_a_strip_has_a_part_for_each_stretch_of_rows():
    missing = np.zeros(120, bool)
    missing[[0, 1, 2, 119]] = True
    strip = _strip(SimpleNamespace(name="x", missing=missing))
    heights = [float(height) for height in re.findall(r'height="([\d.]+)" fill', strip)]
    assert len(heights) == 30
    assert heights[0] > heights[29] > heights[1]
    assert heights[1:29] == [heights[1]] * 28
    assert "missing values of x: from 0% to 75%" in strip


class Profile(list):
    """Clusters as a profile has them."""

    notes = ("by hand", "again")

    @property
    def clusters(self):
        return self


def clustered(share):
    one = SimpleNamespace(
        cluster=3, rows=1_200, share=0.25, majority="b", majority_share=share,
        columns=["x is high"], typical=(1, 0),
    )  # fmt: skip
    clusters = Profile([one])
    rows = la.read_table({"name": ["Ada B", "Bob C", "Cy D"], "x": [1.0, 2.5, 4.0]})
    at = np.array([5, 6, 7])
    return SimpleNamespace(profile=clusters, rows=rows, at=at, writer=RowWriter(rows, at))


def test_clusters_are_listed_with_their_class_where_there_are_any():
    text = clusters_part(clustered(0.5))
    for part in ("cluster 3", "1,200 (25%)", "b (50%)", "x is high", "Bob C", "1 clusters"):
        assert part in text
    assert text.count("<th ") == 5
    assert "<p>Clustering: by hand; again.</p>" in text
    plain = clusters_part(clustered(None))
    assert plain.count("<th ") == 4
    assert "mostly" not in plain
    heads = re.findall('<th scope="col" role="columnheader"( class="text")?>([^<]*)', text)
    assert [bool(mark) for mark, _ in heads] == [False, False, True, True, True]


def test_prototypes_and_outliers_are_rows_of_the_table():
    found = clustered(None)
    found.prototypes, found.outliers = [(0, 1_500)], [(2, 9.96)]
    text = rows_part(found)
    first, second = text.split("<caption>Outliers: rows unlike the others (10 bits: one row")
    assert re.findall("<t[dh][^>]*>([^<]*)</t[dh]>", first.split("<tbody>")[1])[:4] == [
        "5", "1,500", "Ada B", "1.0",
    ]  # fmt: skip
    assert "10.0" in second
    assert "Cy D" in second
    assert text.count('class="text"') >= 2


def test_a_measure_is_named_with_its_reason():
    index = SimpleNamespace(reason_="given")
    shown = SimpleNamespace(index=index, measure=Gower(scale="rank"))
    assert measure_part(shown) == (
        f"<p>Rows are compared by <code>{escape(repr(shown.measure))}</code>.</p>"
        "<p>Why: the measure was given.</p>"
    )
    index.reason_ = "it fits"
    assert measure_part(shown).endswith("<p>Why: it fits</p>")


def test_a_map_is_judged_where_there_are_enough_rows(monkeypatch):
    asked = []

    def judged(measure, places, k, sample):
        asked.append((k, sample))
        return 0.5

    for name in ("trustworthiness", "continuity"):
        monkeypatch.setattr(f"lookalike.show.report.table_report.{name}", judged)
    for n in (21, 22):
        groups = SimpleNamespace(names=["a", "b"], title="group", codes=np.arange(n) % 2, notes=[])
        places = np.random.default_rng(0).random((n, 2))
        shown = SimpleNamespace(groups=groups, rows=range(n), places=places, measure=None)
        text = map_part(shown)
        assert "Colored by group." in text
        assert f"map of {n} rows in 2 groups by group" in text
        assert ("Of 10 neighbors: trustworthiness 0.500" in text) is (n == 22)
    assert asked == [(10, 1000)] * 2
