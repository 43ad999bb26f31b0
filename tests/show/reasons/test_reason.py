"""A phrase for every kind: what is the same, close, different, missing; as JSON and HTML."""

import datetime as dt
import json

import numpy as np
import pytest

import lookalike as la
from lookalike._runtime.text import plain
from lookalike.show.reasons import Reason, make_reason, sentence, style_of
from lookalike.show.reasons.reason import PHRASES
from lookalike.table import KINDS, Kind, Reading
from lookalike.table.model.table import Column, Graph


def column(name, kind, values, **more):
    return Column(name, Kind(kind, **more), np.asarray(values))


NUMBERS = column("length", "number", [90.0, 121.0, 95.0, 110.0, 5220.0])
VOTES = column("votes", "number", np.linspace(0, 150_000, 1001).round())
YEARS = column("year", "number", [1977.0, 1980.0, 2004.0])
PRICES = column(
    "price", "number", [2.5, 12345.25], reading=Reading("number", currency="$", thousands=",")
)
WEIGHTS = column("weight", "number", [2.5, 3.0], reading=Reading("number", unit="kg"))
GRADES = column("grades", "number", [1.5, 2.0])
LOADS = column("loads", "number", [2.0, 3.0], reading=Reading("number", unit="kg"))
COMMA = column(
    "preis", "number", [2.5, 12345.0], reading=Reading("number", decimal=",", currency="EUR")
)
SHARES = column("share", "number", [2.0, 30.0], reading=Reading("number", unit="%"))
NOISE = column("x", "number", [0.1 + 0.2, 1 / 3])
DATES = column("out", "number", [0.0, 86400.0], source="datetime", role="date")
MINUTES = column("at", "number", [0.0, 90000.0], source="datetime")
MONTHS = column(
    "paid", "number", [0.0], source="datetime", reading=Reading("date", form="year-month")
)
HOURS = column("hour", "number", [0.0, 23.0], role="cycle:24")
WINDS = column("wind_dir", "number", [0.5, 350.0], role="cycle:360")
STARTS = column("start", "number", [600.0, 85800.0], source="duration", role="cycle:86400")
CLOCK = column("sold", "number", [32460.0, 61200.0], source="duration", role="time")
SPANS = column("wait", "number", [60.0, 4000.0], source="duration")
WEEK = column("day", "order", [0], levels=("Mon", "Fri", "Sun"), role="cycle")
SIZES = column("size", "order", [0, 1, 2, 3], levels=("S", "M", "L", "XL"))
MPAA = column("mpaa", "category", [0, 1], levels=("PG", "PG-13"))
SMOKER = column("smoker", "flag", [0, 1], levels=("no", "yes"))
ANSWER = column("paid", "flag", [0, 1], levels=("no", "yes"), role="answer")
LESION = column("lesion", "flag", [0, 1], levels=("absent", "present"))
GENRES = column("genres", "set", [frozenset(), None])
TITLE = column("title", "text", ["a", None])
PATH = column("path", "sequence", [None])
CURVE = column("curve", "series", [None])
BINS = column("bins", "histogram", [[1.0, 0.0]], width=2)
OTHER = column("thing", "object", [None])
DAY = dt.datetime(1977, 5, 25)


def phrase(column, query, found, side, bits=None, closeness=0.5):
    return make_reason(
        column.name,
        style_of(column),
        query,
        found,
        0.1,
        speaks_for=side == "for",
        bits=bits,
        closeness=closeness,
    ).text


@pytest.mark.parametrize(
    ("column", "query", "found", "side", "bits", "expected"),
    [
        (NUMBERS, 121.0, 121.0, "for", 3.0, "same length: 121"),
        (NUMBERS, 121.0, 119.0, "for", 3.0, "length about 120 in both"),
        (NUMBERS, 121.0, 140.0, "for", 6.0, "length very close: 121 and 140"),
        (NUMBERS, 121.0, 140.0, "for", 3.0, "length close: 121 and 140"),
        (NUMBERS, 121.0, 140.0, "for", 1.0, "length similar: 121 and 140"),
        (NUMBERS, 121.0, 119.0, "for", 1.0, "length similar: 121 and 119"),  # half of all pairs
        (NUMBERS, 17.0, 74.0, "for", 1.0, "length nearer than most: 17 and 74"),
        (NUMBERS, 121.0, 300.0, "against", 5.0, "length 121 against 300 (much higher)"),
        (NUMBERS, 121.0, 90.0, "against", 1.0, "length 121 against 90 (lower)"),
        (NUMBERS, 121.0, 119.0, "against", 0.1, "length 121 against 119 (a little lower)"),
        (VOTES, 134_640.0, 58_870.0, "against", 2.0, "134,640 votes against 58,870 (lower)"),
        (VOTES, 100_100.0, 99_900.0, "for", 7.0, "both about 100,000 votes"),
        (VOTES, 136_000.0, 149_500.0, "for", 9.0, "votes high in both: 136,000 and 149,500"),
        (VOTES, 5.0, 14_000.0, "for", 9.0, "votes low in both: 5 and 14,000"),
        (VOTES, 5.0, 900.0, "for", 9.0, "votes very close: 5 and 900"),
        (VOTES, 970.0, 970.0, "for", 9.0, "both 970 votes"),
        (VOTES, 1.0, 1.0, "for", 9.0, "same votes: 1"),
        # A plural with decimals, a unit or a currency is no number of things.
        (GRADES, 1.5, 1.5, "for", 3.0, "same grades: 1.5"),
        (LOADS, 2.0, 2.0, "for", 3.0, "same loads: 2 kg"),
        (YEARS, 1977.0, 1980.0, "for", 3.0, "year close: 1977 and 1980"),
        (YEARS, 1977.0, 1999.0, "against", 2.0, "year 1977 against 1999 (later)"),
        (PRICES, 2.5, 12345.25, "against", 2.0, "price $2.50 against $12,345.25 (higher)"),
        (WEIGHTS, 2.5, 3.0, "against", 2.0, "weight 2.5 against 3.0 kg (higher)"),
        (COMMA, 2.5, 12345.0, "against", 2.0, "preis 2,5 EUR against 12.345,0 EUR (higher)"),
        (SHARES, 2.0, 30.0, "against", 2.0, "share 2% against 30% (higher)"),
        (NOISE, 0.1 + 0.2, 1 / 3, "against", 2.0, "x 0.3 against 0.3333 (higher)"),
        (DATES, DAY, dt.datetime(1983, 5, 25), "against", 2.0,
         "out 1977-05-25 against 1983-05-25 (later)"),
        (DATES, DAY, DAY, "for", 2.0, "same out: 1977-05-25"),
        (MINUTES, DAY, dt.datetime(1977, 5, 25, 20, 15), "for", 2.0,
         "at close: 1977-05-25 00:00 and 1977-05-25 20:15"),
        (MONTHS, DAY, dt.datetime(1977, 3, 1), "against", 2.0,
         "paid 1977-05 against 1977-03 (earlier)"),
        (SPANS, dt.timedelta(minutes=1), dt.timedelta(hours=1, seconds=5), "against", 2.0,
         "wait 0:01:00 against 1:00:05 (longer)"),
        (CLOCK, dt.timedelta(hours=9, minutes=1), dt.timedelta(hours=17), "against", 2.0,
         "sold 9:01:00 against 17:00:00 (later)"),
        (HOURS, 23.0, 1.0, "for", 2.0, "hour 2 apart: 23 and 1"),
        (HOURS, 1.0, 11.0, "against", 2.0, "hour 10 apart: 11, not 1"),
        (HOURS, 25.0, -3.0, "against", 2.0, "hour 4 apart: -3, not 25"),
        (HOURS, 23.0, 23.0, "for", 2.0, "same hour: 23"),
        (WINDS, 350.0, 10.5, "for", 2.0, "wind_dir 20.5 apart: 350.0 and 10.5"),
        (STARTS, dt.timedelta(hours=23, minutes=50), dt.timedelta(minutes=10), "for", 2.0,
         "start 0:20:00 apart: 23:50:00 and 0:10:00"),
        (WEEK, "Mon", "Sun", "for", 2.0, "day close: Mon and Sun"),
        (WEEK, "Mon", "Fri", "against", 2.0, "day Fri, not Mon"),
        (SIZES, "M", "M", "for", 2.0, "same size: M"),
        (SIZES, "M", "L", "for", 2.0, "size one level apart: M and L"),
        (SIZES, "S", "XL", "against", 2.0, "size three levels higher: XL, not S"),
        (MPAA, "PG", "PG", "for", 2.0, "same mpaa: PG"),
        (MPAA, "PG", "PG-13", "against", 2.0, "mpaa PG-13, not PG"),
        (MPAA, "PG", "PG-13", "for", 2.0, "mpaa close: PG and PG-13"),
        (SMOKER, "yes", "yes", "for", 2.0, "smoker in both"),
        (SMOKER, "no", "no", "for", 2.0, "smoker in neither"),
        (SMOKER, "no", "yes", "against", 2.0, "smoker only here"),
        (SMOKER, "yes", "no", "against", 2.0, "smoker only in the query"),
        (ANSWER, "no", "no", "for", 2.0, "same paid: no"),
        (LESION, "absent", "present", "against", 2.0, "lesion present, not absent"),
        (GENRES, frozenset({"War"}), frozenset({"War"}), "for", 2.0, "same genres: War"),
        (GENRES, frozenset(), frozenset(), "for", 2.0, "genres empty in both"),
        (GENRES, frozenset({"Action", "War"}), frozenset({"Action", "Romance"}), "for", 2.0,
         "genres: both Action (only here Romance, only in the query War)"),
        (GENRES, frozenset({"War"}), frozenset({"Romance"}), "against", 2.0,
         "genres: Romance, not War"),
        (GENRES, frozenset("abcdef"), frozenset("abcdefg"), "for", 2.0,
         "genres: both a, b, c, d and 2 more (only here g)"),
        (GENRES, frozenset("abcd"), frozenset("abcde"), "for", 2.0,
         "genres: both a, b, c, d (only here e)"),
        (GENRES, frozenset({"War"}), frozenset(), "against", 2.0, "genres: none, not War"),
        (TITLE, "Star Wars", "Star Wars: Episode V", "for", 2.0, "title shares “Star Wars”"),
        (TITLE, "The colour", "The color", "for", 2.0, "title shares “The”"),
        (TITLE, "colour", "color", "for", 2.0, "title spelled alike: “colour” and “color”"),
        (TITLE, "Star Wars", "Alien", "against", 2.0, "title “Alien”, not “Star Wars”"),
        (PATH, ("a", "b", "c"), ("x", "a", "b", "y"), "for", 2.0,
         "path: both a → b (2 of 3 and 4 items)"),
        (PATH, ("a", "b"), ("a", "b"), "for", 2.0, "same path: a → b"),
        (PATH, ("a", "b"), (), "against", 2.0, "path: (empty), not a → b"),
        (PATH, tuple("abcdefgh"), ("x",), "against", 2.0,
         "path: x, not a → b → c → d → e → …"),
        (CURVE, np.arange(4.0), np.arange(4.0), "for", 2.0, "same curve: ▁▃▆█"),
        (CURVE, np.arange(4.0), np.arange(4.0)[::-1], "against", 2.0, "curve ▁▃▆█ against █▆▃▁"),
        (BINS, [1.0, 0.0], [0.75, 0.25], "for", 6.0,
         "bins very similar: (1, 0) and (0.75, 0.25)"),
        (OTHER, {"a": 1}, {"a": 1}, "for", 2.0, 'same thing: {"a": 1}'),
        (OTHER, 1, 2, "against", 2.0, "thing 1 against 2"),
        (NUMBERS, 121.0, None, "against", None, "length missing here"),
        (NUMBERS, None, 121.0, "against", None, "length missing in the query"),
        (MPAA, None, None, "for", None, "mpaa missing in both"),
    ],
)  # fmt: skip
def test_phrase(column, query, found, side, bits, expected):
    assert phrase(column, query, found, side, bits) == expected


def test_how_close_follows_from_the_share_where_bits_are_not_known():
    texts = [phrase(NUMBERS, 121.0, 140.0, "for", None, near) for near in (0.5, 0.92, 0.99)]
    assert [text.split(":")[0] for text in texts] == [
        "length similar",
        "length close",
        "length very close",
    ]
    assert phrase(NUMBERS, 121.0, 140.0, "against", None, 0.1).endswith("(much higher)")


def test_long_texts_are_not_quoted():
    one = " ".join(f"alpha{i}" for i in range(20))
    assert phrase(TITLE, one, one.replace("alpha", "beta"), "against") == "title shares no word"
    mixed = one.replace("alpha1 ", "beta ")
    assert phrase(TITLE, one, mixed, "against") == "title differs: only 19 of 20 words shared"
    assert phrase(TITLE, one, mixed, "for").endswith("and 15 more words")


def test_a_graph_says_how_large_it_is():
    one = Graph({1: "C", 2: "O"}, frozenset({(1, 2)}))
    two = Graph({1: "C"}, frozenset())
    graphs = Column("molecule", Kind("graph"), np.array([None]))
    assert phrase(graphs, one, one, "for") == "same molecule: 2 nodes with 1 edges"
    assert "against 1 nodes" in phrase(graphs, one, two, "against")


def test_control_characters_are_not_obeyed():
    for cell in ("x\x1b[31m", frozenset({"x\x1b[31m"})):
        kind = TITLE if isinstance(cell, str) else GENRES
        assert "\x1b" not in phrase(kind, cell, cell, "for")


def test_hits_speak():
    table = {"size": [1.0, 2.5, 2.0, 9.0], "color": ["red", "blue", "red", "blue"]}
    hit = la.Index().fit(table).search(0, k=1)[0]
    (first, *_), _ = hit.reasons()
    assert list(first) == ["column", "kind", "share", "query", "found", "text"]
    assert first["kind"] == "category"
    assert "same color: red" in hit.because()
    assert hit.because() in str(hit)


def test_without_cells_a_reason_still_names_its_column():
    assert make_reason("a\nb", None, None, None, 0.1, speaks_for=True).text == "a b alike"
    assert make_reason("size", None, None, None, 0.1, speaks_for=False).text == "size differs"


def test_every_kind_has_a_phrase():
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
    one, two = (Reason(n, None, None, None, 0.1) for n in ("this", "that"))
    assert sentence([one], [two]) == "this alike; but that alike"
    assert sentence([one, two], []) == "this alike; that alike"
    assert sentence([], [two]) == "that alike"
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
    missing = Reason("c", style_of(CURVE), None, four, 0.1)
    assert missing.to_html() == "c missing in the query"
    assert missing.speaks_for is True
