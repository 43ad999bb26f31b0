"""The page in a real browser: finding rows, reasons, weights, filters, marks."""

import csv
import io
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st


def shown_title(visit):
    return visit.page.locator("#query .title").inner_text()


def test_opens_on_a_well_filled_row_with_neighbors(visit):
    visit.open()
    info = visit.site.call("GET", "/api/collections/films")
    answer = visit.site.search("films", query={"id": info["start"]}, k=20)
    assert visit.ids() == [hit["id"] for hit in answer["hits"]]
    assert shown_title(visit) == answer["query"]["label"]
    assert visit.page.title().startswith(answer["query"]["label"])
    assert visit.texts(".hit .score b")[0] == f"{answer['hits'][0]['similarity']:.3f}"
    assert len(visit.texts(".cell")) == sum(column["compared"] for column in info["columns"])


def calls_of(visit):
    """Return how it was opened; nothing that comes with the opening may be asked for again."""
    calls = [url.removeprefix(visit.site.address) for url in visit.asked if "/api/" in url]
    assert not [
        path for path in calls if path.endswith(("/search", "/collections", "/films", "/pets"))
    ]
    return [path for path in calls if "opening" in path]


def test_the_first_list_comes_with_one_call(visit):
    visit.open("#/films?view=graph")
    assert calls_of(visit) == ["/api/opening?answered=true&collection=films"]
    first = visit.ids()
    visit.page.goto("about:blank")
    visit.open("#/pets?view=graph")
    visit.until("document.querySelectorAll('.hit').length === 20")
    assert calls_of(visit)[1:] == ["/api/opening?answered=true&collection=pets"]
    visit.page.goto(f"{visit.site.address}/#/films?k=30")
    visit.until("document.querySelectorAll('.hit').length === 30")
    assert "k=30" in visit.page.url  # a link to another table keeps what it says
    visit.page.reload()
    visit.until("document.querySelectorAll('.hit').length === 30")
    assert visit.ids()[:20] == first  # another question is asked as always


def test_typing_finds_a_row_and_back_goes_back(visit):
    visit.open()
    first = visit.ids()
    visit.page.keyboard.press("/")
    visit.page.keyboard.type("star wars")
    first_of = "document.querySelector('#suggestions [role=option] span')?.innerText"
    visit.until(f"{first_of} === 'Star Wars'")  # suggestions for 'star' may come before
    visit.page.keyboard.press("ArrowDown")
    visit.page.keyboard.press("ArrowUp")
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_selector("#query .title >> text=Star Wars")
    visit.ready()
    assert "Star Wars: Episode V - The Empire Strikes Back" in " ".join(visit.texts(".hit h3"))
    visit.page.go_back()
    visit.until("document.querySelector('#query .title').innerText !== 'Star Wars'")
    visit.ready()
    assert visit.ids() == first


def test_a_row_can_be_described(visit):
    visit.open()
    visit.page.fill("#search", "year: 1990, genres: comedy")
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_selector("h2 >> text=Like this new row")
    visit.ready()
    record = {"year": 1990, "genres": ["comedy"]}
    found = visit.site.search("films", query={"record": record}, k=20)["hits"]
    assert visit.ids() == [hit["id"] for hit in found]


def test_enter_waits_for_the_list_that_is_to_come(visit):
    held = []
    visit.page.route("**/suggest.js", lambda route: held.append(route))
    visit.open()
    visit.page.fill("#search", "year: 1990, genres: comedy")
    visit.page.keyboard.press("Enter")
    while not held:
        visit.page.wait_for_timeout(50)
    assert visit.page.locator("h2 >> text=Like this new row").count() == 0
    held[0].continue_()
    visit.page.wait_for_selector("h2 >> text=Like this new row")
    visit.until("document.activeElement.id !== 'search'")  # letters are acts again


def test_nothing_found_is_said(visit):
    visit.open()
    visit.page.fill("#search", "zzzzzzqq")
    visit.page.wait_for_selector("text=No row has this in its names or texts")


def test_reasons_add_up_to_the_score_and_show_both_cells(visit):
    visit.open()
    card = visit.page.locator(".hit").first
    hit = visit.site.search("films", query={"id": start(visit)}, k=1, explain="all")["hits"][0]
    parts = card.locator(".stack .plus").evaluate_all(
        "parts => parts.map(part => Number(part.style.getPropertyValue('--v')))"
    )
    assert sum(parts) == pytest.approx(100 * hit["similarity"], abs=0.5)
    shown = card.locator(".reasons.for .reason").all_inner_texts()
    for reason, text in zip(hit["reasons"]["for"][:3], shown, strict=True):
        curve = isinstance(reason["query"], list) and reason["kind"] == "histogram"
        assert text == reason["text"] or (curve and text.strip() in reason["text"])
    card.locator("button.title").click()
    card.locator(".detail").wait_for()
    rows = card.locator(".detail tbody tr")
    assert rows.count() == len(hit["columns"])
    year = next(part for part in hit["columns"] if part["column"] == "year")
    cells = rows.filter(has=visit.page.get_by_role("rowheader", name="year", exact=True))
    values = cells.locator("td").all_inner_texts()[:2]
    assert values == [str(year["query"]), str(year["found"])]
    assert cells.locator("circle").count() == 2  # on the range of the column


def start(visit):
    return visit.site.call("GET", "/api/collections/films")["start"]


def test_a_slider_ranks_again_and_is_in_the_link(visit):
    visit.open()
    before = visit.ids()
    visit.page.get_by_label("weight of genres").fill("4")
    visit.page.get_by_label("weight of votes").fill("0")
    visit.page.wait_for_selector(".pill >> text=weights: genres ×4, votes ×0")
    visit.ready()
    asked = {"query": {"id": start(visit)}, "k": 20, "weights": {"genres": 4, "votes": 0}}
    expected = [hit["id"] for hit in visit.site.search("films", **asked)["hits"]]
    assert visit.ids() == expected != before
    assert "genres" in visit.page.evaluate("location.hash")
    visit.button("Undo").click()
    visit.ready()
    assert visit.ids() == before
    assert visit.page.get_by_label("weight of genres").input_value() == "1"


def test_a_filter_holds_and_an_empty_answer_names_the_way_out(visit):
    visit.open()
    before = visit.ids()
    visit.page.get_by_label("filter by year", exact=True).click()
    visit.ready()
    visit.page.get_by_label("year at least").fill("1960")
    visit.page.keyboard.press("Tab")
    visit.page.get_by_label("year at most").fill("1969")
    visit.page.keyboard.press("Tab")
    asked = {"query": {"id": start(visit)}, "k": 20, "filter": {"year": {">=": 1960, "<=": 1969}}}
    answer = visit.site.search("films", **asked)
    # Two limits are two searches: the number of rows tells which one is shown.
    visit.page.wait_for_selector(f".matched >> text={answer['matched']:,} of ")
    visit.ready()
    assert visit.ids() == [hit["id"] for hit in answer["hits"]] != before
    visit.page.get_by_label("year at least").fill("1969.5")
    visit.page.keyboard.press("Tab")
    visit.page.wait_for_selector("text=No row matches this filter.")
    visit.button("Drop “year").click()
    visit.ready()
    assert visit.ids() == before


def test_what_is_being_typed_stays_when_an_answer_arrives(visit):
    visit.open()
    visit.page.get_by_label("filter by year", exact=True).click()
    visit.ready()
    held = []
    visit.page.route("**/search", lambda route: held.append(route))
    visit.page.get_by_label("year at most").fill("2010")
    visit.page.keyboard.press("Tab")
    typed = visit.page.get_by_label("year at least")
    typed.fill("1950")  # and not yet done: the answer to the first limit arrives
    visit.page.wait_for_selector(".hits[aria-busy=true]")
    while not held:
        visit.page.wait_for_timeout(20)
    for route in held:
        route.continue_()
    visit.page.unroute("**/search")
    visit.ready()
    assert typed.input_value() == "1950"
    visit.page.keyboard.press("Tab")
    asked = {"query": {"id": start(visit)}, "k": 20, "filter": {"year": {">=": 1950, "<=": 2010}}}
    answer = visit.site.search("films", **asked)
    visit.page.wait_for_selector(f".matched >> text={answer['matched']:,} of ")
    visit.ready()
    assert visit.ids() == [hit["id"] for hit in answer["hits"]]


def test_marks_change_the_ranking_and_undo_restores_it(visit):
    visit.open()
    before = visit.ids()
    visit.page.locator(".hit").nth(1).locator(".like").click()
    visit.page.locator(".hit").nth(2).locator(".unlike").click()
    assert visit.ids() == before  # nothing moves under the pointer
    visit.button("Rank again").click()
    visit.ready()
    asked = {"query": {"id": start(visit)}, "k": 20, "like": [before[1]], "unlike": [before[2]]}
    expected = [hit["id"] for hit in visit.site.search("films", **asked)["hits"]]
    assert visit.ids() == expected
    visit.page.wait_for_selector(".rank small")
    for id, moved in zip(expected, visit.texts(".rank small"), strict=True):
        places = before.index(id) - expected.index(id) if id in before else None
        signs = {True: f"▲ {places}", False: f"▼ {-(places or 0)}"}
        assert moved == ("new" if places is None else "–" if places == 0 else signs[places > 0])
    assert "new" in visit.texts(".rank small")
    visit.button("Undo").click()
    visit.ready()
    assert visit.ids() == before


def test_every_state_is_a_link(visit):
    visit.open()
    visit.page.locator(".hit").nth(1).locator(".like").click()
    visit.button("Rank again").click()
    visit.ready()
    visit.page.get_by_label("weight of year").fill("2.5")
    visit.ready()
    visit.page.locator(".hit button.title").nth(2).click()
    visit.page.locator(".hit").nth(4).locator(".unlike").click()
    visit.page.get_by_role("tab", name="graph").click()
    visit.page.wait_for_selector(".node")
    visit.page.wait_for_selector(".rank small")

    def look():
        names = (".hit h3", ".rank small", ".pill", ".hit.open h3", ".hit.unliked h3", ".weight")
        return [visit.texts(name) for name in names] + [visit.texts("[aria-selected=true]")]

    before, address = look(), visit.page.url
    visit.page.reload()
    visit.ready()
    visit.page.wait_for_selector(".rank small")
    assert look() == before
    assert visit.page.url == address


def test_more_and_export(visit):
    visit.open()
    visit.button("20 more").click()
    visit.until("document.querySelectorAll('.hit').length === 40")
    with visit.page.expect_download() as waiting:
        visit.button("Export CSV").click()
    text = waiting.value.path().read_text(encoding="utf-8")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [int(row["id"]) for row in rows] == visit.ids()
    assert rows[0]["rank"] == "1"
    assert rows[0]["title"] in visit.texts(".hit h3")[0]
    with visit.page.expect_download() as waiting:
        visit.button("Export JSON").click()
    answer = json.loads(waiting.value.path().read_text(encoding="utf-8"))
    assert [hit["id"] for hit in answer["hits"]] == visit.ids()


def test_an_export_holds_no_formula(visit):
    visit.open()
    records = [{"a": cell, "b": -5} for cell in ("=1+1", "+1", "-x", "@x", "\tx", "x=1")]
    records.append({"a": ["=1", "b"], "b": 0.5})
    load = "records => import('/web/export.js').then(made => made.toCsv(records))"
    text = visit.page.evaluate(load, records)
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [row["a"] for row in rows] == ["'=1+1", "'+1", "'-x", "'@x", "'\tx", "x=1", "'=1|b"]
    assert {row["b"] for row in rows} == {"-5", "0.5"}


CELLS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**53), 2**53),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=6),
)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.fixed_dictionaries({"a": CELLS, "b": CELLS}), min_size=1, max_size=6))
def test_cells_of_an_export_are_those_of_the_answer(visit, records):
    if visit.page.url == "about:blank":
        visit.open()
    load = "records => import('/web/export.js').then(made => made.toCsv(records))"
    text = visit.page.evaluate(load, records)
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert len(rows) == len(records)
    for record, row in zip(records, rows, strict=True):
        for name, cell in record.items():
            if isinstance(cell, bool) or cell is None:
                assert row[name] == ("" if cell is None else str(cell).lower())
            elif isinstance(cell, str):
                guarded = cell[:1] in set("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")
                assert row[name] == ("'" if cell and guarded else "") + cell
            else:
                assert float(row[name]) == cell


def test_a_row_becomes_a_form(visit):
    visit.open()
    visit.button("Edit as a new row").click()
    form = visit.page.get_by_role("form", name="a new row")
    form.get_by_label("year", exact=True).fill("1950")
    form.get_by_label("budget", exact=True).fill("")
    form.get_by_role("button", name="Drama").click()
    form.get_by_role("button", name="Find rows like it").click()
    visit.page.wait_for_selector("h2 >> text=Like this new row")
    visit.ready()
    link = visit.page.evaluate("decodeURIComponent(location.hash)")
    record = json.loads(dict(p.split("=", 1) for p in link.split("?", 1)[1].split("&"))["query"])
    record = record["record"]
    assert record["year"] == 1950
    assert "budget" not in record
    answer = visit.site.search("films", query={"record": record}, k=20)
    assert visit.ids() == [hit["id"] for hit in answer["hits"]]


def test_keyboard_alone_is_enough(visit):
    visit.open()
    press = visit.page.keyboard.press
    before = visit.ids()
    press("j")
    press("j")
    press("k")
    press("j")
    assert visit.page.locator(".hit.at").get_attribute("data-id") == str(before[1])
    press("Enter")
    visit.page.wait_for_selector(".hit.open .detail")
    press("u")
    assert visit.page.locator(".hit.liked").get_attribute("data-id") == str(before[1])
    press("u")
    assert visit.page.locator(".hit.liked").count() == 0
    press("d")
    press("r")
    visit.ready()
    assert before[1] not in visit.ids()
    press("z")
    visit.ready()
    assert visit.ids() == before
    press("?")
    visit.page.wait_for_selector("dialog[open]")
    press("Escape")
    visit.page.wait_for_selector("dialog", state="detached")
    press("j")
    title = visit.page.locator(".hit.at h3").inner_text()
    press("m")
    visit.ready()
    assert shown_title(visit) in title
    press("/")
    assert visit.page.evaluate("document.activeElement.id") == "search"
    press("Escape")
    assert visit.page.evaluate("document.activeElement.id") != "search"
