"""Reasons: without cells, as JSON and HTML, as a sentence."""

import json

import numpy as np

from lookalike._runtime.text import plain
from lookalike.show.reasons import Reason, make_reason, sentence, style_of
from lookalike.table import KINDS
from show.reasons.test_cells import BINS, CURVE, TITLE


def test_without_cells_a_reason_still_names_its_column():
    assert make_reason("a\nb", None, None, None, 0.1, speaks_for=True).text == "a b alike"
    assert make_reason("size", None, None, None, 0.1, speaks_for=False).text == "size differs"


def test_every_kind_has_a_phrase():
    from lookalike.show.reasons.reason import PHRASES

    assert set(PHRASES) == set(KINDS)


def test_a_reason_as_json_and_as_html():
    cell = np.array([1.0, 5.0, 2.0, 8.0, 3.0])
    drawn = make_reason("<b>", style_of(CURVE), cell, cell + 1, 0.2, speaks_for=True)
    assert drawn.to_html().count("<svg") == 2
    assert "<b>" not in drawn.to_html()
    bins = make_reason("bins", style_of(BINS), cell, cell[::-1], 0.2, speaks_for=False)
    assert bins.to_html().count("<rect") == 10
    assert "against" in bins.to_html()
    written = make_reason("title", style_of(TITLE), "<i>", "<u>", 0.2, speaks_for=False)
    assert written.to_html() == "title “&lt;u&gt;”, not “&lt;i&gt;”"
    assert list(written.to_dict()) == ["column", "kind", "share", "query", "found", "text"]
    json.dumps(plain(drawn.to_dict()))


def test_a_sentence_says_what_speaks_against_last():
    one, two = (Reason(n, "", 0.1, None, None, n) for n in ("this", "that"))
    assert sentence([one], [two]) == "this; but that"
    assert sentence([one, two], []) == "this; that"
    assert sentence([], [two]) == "that"
    assert sentence([], []) == ""


def test_a_missing_cell_is_named_by_its_side():
    style = style_of(TITLE)

    def text(query, found):
        made = make_reason("title", style, query, found, 0.25, speaks_for=False)
        assert (made.kind, made.share, made.speaks_for) == ("text", 0.25, False)
        return made.text

    assert text(None, None) == "title missing in both"
    assert text(None, "x") == "title missing in the query"
    assert text("x", None) == "title missing here"
    four, three = np.arange(4.0), np.arange(3.0)
    for query, found, drawings in ((four, four, 2), (four, three, 0), (three, four, 0)):
        drawn = make_reason("c", style_of(CURVE), query, found, 0.2, speaks_for=True)
        assert drawn.to_html().count("<svg") == drawings
    assert Reason("c", "series", 0.1, None, four, "text").to_html() == "text"
    assert Reason("c", "", 0.1, None, None, "text").speaks_for is True
