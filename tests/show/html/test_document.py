"""Parts of a page, the page around them, and pictures."""

import sys
from html.parser import HTMLParser

import pytest

from lookalike.errors import MissingExtra, UnwritableFile
from lookalike.show.html.document import HtmlReport, page
from lookalike.show.html.drawings import new_figure
from lookalike.show.html.markup import Html, bullets, escape, paragraphs, share_bar, svg, table


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


def test_text_is_escaped_once():
    assert escape("<b> & 'x'") == "&lt;b&gt; &amp; &#x27;x&#x27;"
    assert escape(Html("<b>bold</b>")) == "<b>bold</b>"


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


def test_tables():
    text = table([["a", share_bar(0.5)], ["b", "2"]], ["name", "share"], "All", first=True)
    checked = Checked(text)
    assert [tag for tag in checked.tags if tag in ("caption", "tr", "th", "td")] == [
        "caption", "tr", "th", "th", "tr", "td", "td", "tr", "td", "td",
    ]  # fmt: skip
    assert text.count('class="first"') == 1
    assert text.index('class="first"') < text.index("<td>a")
    assert isinstance(text, Html)
    assert "caption" not in table([["a"]])
    assert "th" not in Checked(table([["a"]])).tags


def test_lists():
    assert paragraphs(["a", "b"]) == "<p>a</p><p>b</p>"
    assert bullets(["a", "b"]) == "<ul><li>a</li><li>b</li></ul>"
    assert bullets([]) == paragraphs([]) == ""


@pytest.mark.parametrize(("share", "width"), [(0.5, 45.0), (-1.0, 0.0), (2.0, 90.0)])
def test_bars_stay_within_their_frame(share, width):
    checked = Checked(share_bar(share))
    assert [float(value) for name, value in checked.attributes if name == "width"] == [
        90,
        90,
        width,
    ]
    assert ("aria-label", f"{share:.3f}") in checked.attributes


def test_drawings_shrink_with_the_page():
    assert 'viewBox="0 0 800 225"' in svg(800, 225, "a drawing", ["<g></g>"])
    assert "viewBox" not in svg(90, 10, "a bar", [], view=False)


class Report(HtmlReport):
    def html_title(self):
        return "Rows & columns"

    def html_body(self):
        return "<p>body</p>"


def test_a_report_is_a_page_and_a_fragment(tmp_path):
    text = Report().to_html(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == text == Report().to_html()
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
    with pytest.raises(MissingExtra, match=r"thing: needs matplotlib.*lookalike\[report\]"):
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
    assert Drawn().to_html(path) == path.read_text(encoding="utf-8")
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_a_path_that_cannot_be_written_is_refused_before_drawing(tmp_path):
    report = Drawn()
    for path in (tmp_path, tmp_path / "nowhere" / "page.html"):
        with pytest.raises(UnwritableFile):
            report.to_html(path)
    assert report.times == 0


def test_text_holds_no_control_characters():
    assert escape("a\x1b[31m\x9bb\u202e\nc\x00") == "a [31m b  c "
