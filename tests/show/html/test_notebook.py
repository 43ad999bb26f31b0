"""What notebooks show: one look, nothing that runs, every cell escaped."""

import numpy as np
import pytest

import lookalike as la
from lookalike.clustering import SimilarityClustering, profile_clusters
from lookalike.measures import Gower
from lookalike.show.html.document import fragment, sides
from lookalike.show.html.drawings import spark_svg
from lookalike.show.html.markup import table
from show.html.test_document import Checked

EVIL = "<script>alert(1)</script>"
ROWS = {
    "size": [1.0, 2.5, 2.0, 9.0, 8.5, 8.0],
    f"color{EVIL}": [EVIL, "blue", EVIL, "blue", "blue", EVIL],
    "curve": [np.arange(5.0) + i for i in range(6)],
}


@pytest.fixture(scope="module")
def index():
    return la.Index(Gower()).fit(ROWS)


@pytest.fixture(scope="module")
def forms(index):
    table = index.table
    hits = index.search(0, k=3)
    return {
        "table": table._repr_html_(),
        "hits": hits._repr_html_(),
        "explanation": hits[0].explanation._repr_html_(),
        "index": index._repr_html_(),
        "report": la.hubness_report(index.measure_, k=2)._repr_html_(),
        "profile": profile_clusters(
            SimilarityClustering(n_clusters=2).fit(table), table
        )._repr_html_(),
        "board": la.leaderboard.compare(
            table.select(["size"]), ["gower", "vector"], k=2
        )._repr_html_(),
    }


NAMES = ["table", "hits", "explanation", "index", "report", "profile", "board"]


@pytest.mark.parametrize("name", NAMES)
def test_forms_are_whole_and_harmless(forms, name):
    page = Checked(forms[name])
    assert forms[name].startswith('<div class="lookalike"><style>')
    assert "script" not in page.tags
    assert not any(key.startswith("on") for key, _ in page.attributes)


def test_a_table_shows_names_kinds_and_first_rows(forms):
    words = Checked(forms["table"]).words
    assert "Table: 6 rows, 3 columns" in words
    assert {"size", "number", "category", "vector", "8.5"} <= set(words)
    assert "… 1 more rows" in words


def test_a_wide_table_says_what_is_not_shown():
    wide = la.read_table({f"c{i}": [1.0, 2.0] for i in range(20)})
    assert "… 8 more columns" in Checked(wide._repr_html_()).words


def test_hits_show_the_query_first_and_reasons_below_each_row(index, forms):
    hit = index.search(0, k=3)[0]
    words = Checked(forms["hits"]).words
    assert words.index("query") < words.index(f"{hit.similarity:.3f}")
    (first, *_), _ = hit.phrases()
    assert first.to_html() in forms["hits"]
    assert forms["hits"].count('class="below"') == 3
    assert index.search(0, k=1, filter=[])._repr_html_().count("no rows found") == 1


def test_an_index_tells_what_it_holds(index, forms):
    words = Checked(forms["index"]).words
    assert {"rows", "6", "measure", "Gower", "why", "given"} <= set(words)
    assert "0, 1, 2, …" in words
    assert "lookalike" not in la.Index()._repr_html_()[:40]  # not fitted


def test_an_explanation_is_sorted_by_what_columns_say(index):
    explanation = index.explain(0, 3)
    lines = str(explanation).splitlines()[1:]
    assert [line.split()[0][:4] for line in lines] == [str(n)[:4] for n in explanation.strongest]
    weight = {
        n: explanation.plus.get(n, 0) + explanation.minus.get(n, 0) for n in explanation.strongest
    }
    says = [weight[n] * max(explanation.surprisal[n]) for n in explanation.strongest]
    assert says == sorted(says, reverse=True)
    assert "1.0 | 9.0" in str(explanation)


def test_parts():
    page = table([["1", "x"]], ["a", "<b>"], "<c>", text=[1], below=["more"])
    assert '<th scope="col">a</th><th scope="col" class="text">&lt;b&gt;</th>' in page
    assert "<caption>&lt;c&gt;</caption>" in page
    assert '<td class="text" colspan="1">more</td>' in page
    assert sides([], []) == ""
    assert sides(["<a>"], ["b"]).count("<div>") == 2
    assert "&lt;a&gt;" in sides(["<a>"], [])
    assert fragment("<p>x</p>").endswith("<p>x</p></div>")


@pytest.mark.parametrize(
    "values", [[1.0], [0.0, 0.0], list(range(1000)), [float("nan"), 1.0, -2.0]]
)
@pytest.mark.parametrize("bars", [True, False])
def test_small_drawings_stay_inside_their_frame(values, bars):
    page = Checked(spark_svg(values, "<label>", bars=bars))
    assert page.tags[0] == "svg"
    numbers = dict(page.attributes)
    assert numbers["aria-label"] == "<label>"
    assert "nan" not in spark_svg(values, "x", bars=bars)
