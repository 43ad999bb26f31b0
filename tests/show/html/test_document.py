"""Parts of a page, the page around them, and pictures."""

import sys
from html.parser import HTMLParser

import pytest

from lookalike.errors import MissingExtra, UnwritableFile
from lookalike.show.html.document import HtmlReport, page
from lookalike.show.html.drawings import new_figure
from lookalike.show.html.markup import bullets, paragraphs, svg, table


class Checked(HTMLParser):
    """A parser that wants every tag closed, and keeps tags and text."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.words, self.attributes = [], [], [], []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


@pytest.mark.parametrize(
    "make",
    [
        lambda word: table([[word]]),
        lambda word: table([["1"]], [word]),
        lambda word: table([["1"]], caption=word),
        lambda word: paragraphs([word]),
        lambda word: bullets([word]),
        lambda word: page(word, ""),
        lambda word: svg(1, 2, word, []),
    ],
)
def test_nothing_given_as_text_becomes_a_tag(make):
    checked = Checked(make('<script src="x">&'))
    assert "script" not in checked.tags
    shown = [*checked.words, *(value for _, value in checked.attributes)]
    assert '<script src="x">&' in shown


class Report(HtmlReport):
    def html_title(self):
        return "Rows & columns"

    def html_body(self):
        return "<p>body</p>"


def test_a_report_is_a_page_and_a_fragment(tmp_path):
    text = Report().to_html()
    assert Report().to_html(tmp_path / "page.html") is None  # a notebook would print it
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == text
    checked = Checked(text)
    assert checked.words.count("Rows & columns") == 2  # title and heading
    assert Report()._repr_html_().endswith("</style><p>body</p></div>")
    assert "<p>body</p>" in text


def test_pages_follow_the_reader_and_need_nothing_else():
    text = page("A", "")
    assert "prefers-color-scheme:dark" in text
    assert "color-scheme:light dark" in text
    for word in ("http", "<script", "@import", "url("):
        assert word not in text


def test_figures_need_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtra, match=r"thing: .*matplotlib.*lookalike\[report\]"):
        new_figure("thing", 1, 1)


class Drawn(HtmlReport):
    """A report that counts how often it was drawn, and may fail."""

    def __init__(self, body="<p>new</p>"):
        self.body, self.times = body, 0

    def html_title(self):
        return "report"

    def html_body(self):
        self.times += 1
        if self.body is None:
            raise KeyboardInterrupt
        return self.body


def test_a_page_replaces_a_file_whole_or_not_at_all(tmp_path):
    path = tmp_path / "page.html"
    path.write_text("old")
    path.chmod(0o640)
    with pytest.raises(KeyboardInterrupt):
        Drawn(None).to_html(path)
    assert path.read_text() == "old"
    Drawn().to_html(path)
    assert Drawn().to_html() == path.read_text(encoding="utf-8")
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_a_path_that_cannot_be_written_is_refused_before_drawing(tmp_path):
    report = Drawn()
    for path in (tmp_path, tmp_path / "nowhere" / "page.html"):
        with pytest.raises(UnwritableFile):
            report.to_html(path)
    assert report.times == 0
