"""Escaping, tables, lists and bars."""

import pytest

from lookalike.show.html.markup import Html, bullets, escape, paragraphs, share_bar, svg, table
from show.html.test_document import Checked


def test_text_is_escaped_once():
    assert escape("<b> & 'x'") == "&lt;b&gt; &amp; &#x27;x&#x27;"
    assert escape(Html("<b>bold</b>")) == "<b>bold</b>"


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


def test_text_holds_no_control_characters():
    assert escape("a\x1b[31m\x9bb\u202e\nc\x00") == "a [31m b  c "
