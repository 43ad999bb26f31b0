"""Hits and an index as HTML: what is shown, how much of it, and that nothing is markup."""

import re

import lookalike as la
from lookalike.index.hits_html import MAX_COLUMNS, MAX_HITS, hits_html, index_html

PETS = {
    "name": ["Minka", "Rex", "<b>"],
    "weight": [4.0, 30.5, None],
    "animal": ["cat", "dog", "cat"],
}


def heads(html):
    return [
        re.sub("<.*?>", "", head) for head in re.findall(r"<th.*?</th>", html.split("<tbody")[0])
    ]


def test_the_query_and_every_hit_with_its_reasons():
    hits = la.Index("gower").fit(PETS).search(0, k=2)
    html = hits_html(hits)
    assert heads(html) == ["id", "similarity", "compared", "name", "weight", "animal"]
    assert html.index("query") < html.index("Minka") < html.index("Rex")
    assert "&lt;b&gt;" in html
    assert "<b>" not in html
    assert f"{hits[0].similarity:.3f}" in html
    assert hits[0].phrases()[0][0].to_html() in html
    assert hits_html(hits[:0]) == "<p>no rows found</p>"


def test_scores_are_shown_where_they_are_not_distances():
    index = la.Index("gower").fit(PETS)
    html = hits_html(index.search(0, like=[0], unlike=[1], k=1))
    assert heads(html)[:3] == ["id", "score", "similarity"]


def test_many_rows_and_columns_are_counted_not_shown():
    rows = {f"c{j}": [float(i + j) for i in range(MAX_HITS + 6)] for j in range(MAX_COLUMNS + 2)}
    index = la.Index("gower").fit(rows)
    html = hits_html(index.search(0, k=MAX_HITS + 3))
    assert len(heads(html)) == 2 + MAX_COLUMNS
    assert "3 more rows" in html
    assert "more rows" not in hits_html(index.search(0, k=MAX_HITS))


def test_an_id_column_is_not_shown_twice():
    index = la.Index("gower", id_column="name").fit(PETS)
    html = hits_html(index.search("Minka", k=2))
    assert heads(html) == ["id", "similarity", "compared", "weight", "animal"]
    assert "Rex" in html


def test_an_index_in_a_few_lines():
    index = la.Index("gower").fit({f"c{j}": [1.0, 2.0, 3.0, 4.0] for j in range(14)})
    html = index_html("pets", index.state_)
    assert "c0 (number)" in html
    assert "c11 (number) and 2 more" in html
    assert "c12" not in html
    assert "0, 1, 2, …" in html
    assert "Gower" in html
    few = index_html("pets", la.Index("gower").fit({"c": [1.0, 2.0, 3.0]}).state_)
    assert "0, 1, 2" in few
    assert "…" not in few
    assert "more" not in few
