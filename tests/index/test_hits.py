"""Hits: explanations on demand, notes, and the forms of a result."""

import io
import re

import pytest
from rich.console import Console

import lookalike as la
from lookalike.index.hits import MAX_HTML_COLUMNS, MAX_HTML_HITS, PairExplanation, SearchInfo
from lookalike.show.result import Result

PETS = {"weight": [4.0, 30.0, 5.0, 28.0], "animal": ["cat", "dog", "cat", "wolf"]}


@pytest.fixture
def hits():
    return la.Index("gower").fit(PETS).search(0, k=3)


def shown(hits, width=100, **info):
    console = Console(file=io.StringIO(), width=width, color_system=None)
    hits.with_info(SearchInfo(**info)).render(console)
    return console.file.getvalue()


def test_the_first_explanation_is_made_alone_then_all(hits, monkeypatch):
    measure = hits[0]._why.func.__self__.measure
    calls, explain = [], measure.explain_many
    monkeypatch.setattr(
        measure, "explain_many", lambda a, b: calls.append(len(b)) or explain(a, b), raising=False
    )
    first = hits[1].explanation
    assert calls == [1]
    others = [hits[i].explanation for i in (0, 2)]
    assert calls == [1, 3]
    assert hits[1].explanation is first
    alone = la.Index("gower").fit(PETS).search(0, k=3)
    assert [e.plus for e in others] == [alone[i].explanation.plus for i in (0, 2)]
    assert first.cells["animal"] == ("cat", hits[1].row["animal"])


def test_a_slice_is_hits_and_keeps_the_query(hits):
    part = hits[:2]
    assert part.ids == hits.ids[:2]
    assert part.query == hits.query == {"weight": 4.0, "animal": "cat"}
    assert hits[-1].id == hits.ids[-1]
    assert repr(part) == f"Hits(ids={part.ids!r})"


def test_tied_rows_are_noted():
    index = la.Index("gower").fit({"x": [0.0, 1.0, 1.0, 1.0, 9.0]})
    assert index.search(0, k=2).note.startswith("both rows are equally near")
    assert index.search(0, k=3).note.startswith("all 3 rows are equally near")
    assert index.search(0, k=4).note is None
    assert index.search(0, k=1).note is None


def test_few_compared_columns_are_noted():
    rows = {c: [1.0, 2.0, None] for c in "abcd"} | {"e": [1.0, 2.0, 3.0]}
    hits = la.Index("gower").fit(rows).search(0, k=2)
    assert hits.note == "1 of 2 rows can be compared in few columns, one in 1 of 5"


def test_columns_of_ours_and_of_the_table(hits):
    cells = la.Index("gower").fit({"score": [1.0, 2.0]}).search(0).cells()
    assert list(cells) == [
        "id",
        "score",
        "distance",
        "similarity",
        "compared",
        "compared_of",
        "table.score",
    ]
    why = hits.with_info(SearchInfo(why=True))
    assert list(why.cells())[6:8] == ["for", "against"]
    assert len(why.cells()["for"]) == 3
    none = la.Index("gower").fit(PETS).search(0, filter={"weight": (">", 99)})
    assert none.with_info(SearchInfo(why=True)).cells()["for"] == []
    assert str(none).startswith("no row meets the filter")


def test_plain_values(hits):
    found = hits.with_info(SearchInfo(id=0, measure="Gower", why=True)).to_dict()
    assert found["query"] == {"id": 0, "label": "cat", "row": {"weight": 4.0, "animal": "cat"}}
    ours = ["id", "score", "distance", "similarity", "compared", "compared_of", "label"]
    assert list(found["hits"][0]) == [*ours, "row", "reasons"]
    assert list(found["hits"][0]["reasons"]) == ["for", "against"]
    assert "reasons" not in hits.to_dict()["hits"][0]


def test_text_of_a_search(hits):
    text = shown(hits, name="pets", id=0, k=5, by="Gower", reason="given")
    assert text.startswith("pets: the 3 rows most like row 0 (cat), by Gower")
    assert "given" in text
    assert "only 3 rows can be found; 5 were asked for" in text
    assert "only" not in shown(hits, k=3)
    assert "the row most like the record" in shown(hits[:1])
    none = hits[:0]
    assert "there is no other row to find" in shown(none)
    assert "no row meets the filter" in shown(none, filtered=True)


def test_columns_that_do_not_fit_are_named():
    rows = {f"column{i}": [f"a long text of some words {i}", "another"] for i in range(12)}
    hits = la.Index("gower").fit(rows).search(0)
    text = shown(hits, width=80)
    assert "column6 and 5 more (csv" in text
    assert all(len(line) <= 80 for line in text.splitlines())
    wide = shown(hits, width=400, why=True)
    assert "why: + for, - against" in wide
    assert "why: + for" not in shown(hits, width=159, why=True)


def test_the_head_is_the_best_hits(hits):
    assert hits.head(1).ids == hits.ids[:1]
    many = la.Index().fit({"size": [float(i) for i in range(9)]}).search(0, 8)
    assert len(many.head()) == 5
    assert many.head(2).to_pandas().equals(many.to_frame("pandas")[:2])


def test_the_name_of_the_query_is_cut_so_that_the_heading_fits():
    name = "TheVeryLongAndWindingTitleOfAFilmThatNobodyHasSeen"
    films = {"title": [name, "Another", "Third"], "year": [1990.0, 1991.0, 1993.0]}
    hits = la.search(films, 0, k=2)
    # 46 characters are not the name; it has 12 to 40, the last one an ellipsis.
    for width, characters in ((200, 40), (86, 40), (85, 39), (70, 24), (58, 12), (50, 12)):
        console = Console(file=io.StringIO(), width=width, color_system=None)
        hits.render(console)
        head = f"table: the 2 rows most like row 0 ({name[: characters - 1]}…), by Gower"
        assert " ".join(console.file.getvalue().split()).startswith(head)
        one_line = console.file.getvalue().splitlines()[0] == head
        assert one_line is (width >= 58)


MISSING_PETS = {
    "name": ["Minka", "Rex", "<b>"],
    "weight": [4.0, 30.5, None],
    "animal": ["cat", "dog", "cat"],
}


def heads(html):
    return [
        re.sub("<.*?>", "", head) for head in re.findall(r"<th.*?</th>", html.split("<tbody")[0])
    ]


def test_the_query_and_every_hit_with_its_reasons():
    hits = la.Index("gower").fit(MISSING_PETS).search(0, k=2)
    html = hits.html_body()
    assert heads(html) == ["id", "similarity", "compared", "name", "weight", "animal"]
    assert html.index("query") < html.index("Minka") < html.index("Rex")
    assert "&lt;b&gt;" in html
    assert "<b>" not in html
    assert f"{hits[0].similarity:.3f}" in html
    assert hits[0].phrases()[0][0].to_html() in html
    assert hits[:0].html_body() == "<p>no rows found</p>"


def test_scores_are_shown_where_they_are_not_distances():
    index = la.Index("gower").fit(MISSING_PETS)
    html = index.search(0, like=[0], unlike=[1], k=1).html_body()
    assert heads(html)[:3] == ["id", "score", "similarity"]


def test_many_rows_and_columns_are_counted_not_shown():
    rows = {
        f"c{j}": [float(i + j) for i in range(MAX_HTML_HITS + 6)]
        for j in range(MAX_HTML_COLUMNS + 2)
    }
    index = la.Index("gower").fit(rows)
    html = index.search(0, k=MAX_HTML_HITS + 3).html_body()
    assert len(heads(html)) == 2 + MAX_HTML_COLUMNS
    assert "3 more rows" in html
    assert "more rows" not in index.search(0, k=MAX_HTML_HITS).html_body()


def test_an_id_column_is_not_shown_twice():
    index = la.Index("gower", id_column="name").fit(MISSING_PETS)
    html = index.search("Minka", k=2).html_body()
    assert heads(html) == ["id", "similarity", "compared", "weight", "animal"]
    assert "Rex" in html


NAMED_PETS = "name,weight,animal\nTom,4,cat\nRex,30,dog\nKit,5,cat\nWolf,28,wolf\nAnn,7,cat\n"


@pytest.fixture
def pets(tmp_path):
    path = tmp_path / "pets.csv"
    path.write_text(NAMED_PETS)
    return path


def test_every_form_has_the_same_values(pets):
    found = la.explain(pets, 0, 2)
    assert isinstance(found, PairExplanation)
    assert issubclass(PairExplanation, Result)
    frame = found.to_frame()
    columns = found.to_dict()["columns"]
    assert frame["column"].tolist() == [column["column"] for column in columns]
    assert frame["for"].tolist() == [column["for"] for column in columns]
    text = found.text(300)
    assert text.startswith(f"{pets}: why 0 and 2 are alike, by Gower\n")
    assert all(str(column["column"]) in text for column in columns)
    assert "<table" in found.to_html()
    assert max(map(len, found.text(40).splitlines()[1:])) <= 40


def test_records_are_not_written_out_in_the_heading(pets):
    text = la.explain(pets, {"weight": 5.0}, 1).text(300)
    assert "why a record and 1 are alike" in text
