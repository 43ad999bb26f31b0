"""The report: every part is there, says what the library says, and reads well without eyes."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest

import lookalike as la
from lookalike.datasets import load_penguins
from lookalike.errors import InvalidInput
from lookalike.measures import Gower, Vector
from lookalike.show.report.study import Study
from lookalike.show.report.table_report import PARTS, TableReport, _compared, _lead

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
