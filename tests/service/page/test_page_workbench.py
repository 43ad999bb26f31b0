"""The page in a real browser: a table is brought, corrected, changed, grouped; density, phone."""

import csv
import io
import json

import pytest

ROWS = [
    {
        "name": f"thing {i:02d}",
        "year": "unknown?" if i in (3, 7) else str(1990 + i % 20),
        "weight": round(3 + 1.7 * (i % 9) + (40 if i % 2 else 0), 1),
        "color": ["red", "blue", "green"][i % 3] if i % 10 else "",
        "size_of_the_box": ["S", "M", "L"][i % 2],
    }
    for i in range(40)
]

DROP = """([selector, name, text]) => {
  const data = new DataTransfer();
  data.items.add(new File([text], name, {type: "text/csv"}));
  const zone = document.querySelector(selector);
  for (const kind of ["dragover", "drop"]) {
    zone.dispatchEvent(new DragEvent(kind, {dataTransfer: data, bubbles: true, cancelable: true}));
  }
}"""


def as_csv(rows):
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


@pytest.fixture
def bring(visit):
    """Drop the table on the page; the collections made are deleted afterwards."""
    before = {one["name"] for one in visit.site.call("GET", "/api/collections")["collections"]}

    def drop(name="my things.csv", text=None):
        visit.page.goto(f"{visit.site.address}/#/pets?sheet=new")
        visit.page.wait_for_selector(".drop")
        text = as_csv(ROWS) if text is None else text
        visit.page.evaluate(DROP, [".drop", name, text])

    yield drop
    for one in visit.site.call("GET", "/api/collections")["collections"]:
        if one["name"] not in before:
            visit.site.call("DELETE", f"/api/collections/{one['name']}")


def kind_of(visit, column):
    return visit.page.get_by_label(f"what {column} is", exact=True)


def test_a_file_is_dropped_corrected_and_compared(visit, bring):
    visit.expected = ["422"]
    bring()
    visit.page.wait_for_selector("table.columns")
    assert "#/my-things?sheet=columns" in visit.page.url
    assert "my things.csv · 40 rows · 5 columns" in visit.page.locator(".sheet").inner_text()
    assert kind_of(visit, "weight").input_value() == "number"
    assert kind_of(visit, "year").input_value() != "number"
    kind_of(visit, "year").select_option("number")
    line = visit.page.locator("tr", has=visit.page.get_by_role("rowheader", name="year"))
    line.get_by_text("2 cells cannot be read and will be missing: unknown?").wait_for()
    assert "5.0 %" in line.inner_text()
    assert line.locator(".histogram rect").count() > 10  # what it would be
    kind_of(visit, "color").select_option("number")  # which cannot be
    refused = visit.page.locator("tr", has=visit.page.get_by_role("rowheader", name="color"))
    refused.get_by_text("Not possible: needs numbers").wait_for()
    assert kind_of(visit, "color").input_value() == "category"
    visit.page.get_by_label("compare size_of_the_box").uncheck()
    with visit.page.expect_request(lambda one: one.url.endswith("/measure")) as sent:
        visit.button("Compare rows").click()
    assert sent.value.post_data_json == {
        "measure": "auto",
        "kinds": {"year": "number", "size_of_the_box": "aside"},
        "missing": ["unknown?"],
    }
    visit.ready()
    columns = visit.site.call("GET", "/api/collections/my-things")["columns"]
    compared = {column["name"]: column["kind"] for column in columns if column["compared"]}
    assert compared == {"year": "number", "weight": "number", "color": "category"}
    visit.page.go_back()
    visit.page.wait_for_selector("table.columns")  # the sheet stays
    visit.page.get_by_label("color names rows").check()
    visit.button("Compare rows").click()
    visit.ready()
    assert visit.site.call("GET", "/api/collections/my-things")["label_column"] == "color"


def test_the_sheet_by_keyboard_and_from_the_menu(visit):
    visit.open("#/pets")
    visit.page.get_by_label("table", exact=True).select_option("+columns")
    visit.page.wait_for_selector("table.columns")
    box = visit.page.get_by_label("compare animal")
    box.focus()
    visit.page.keyboard.press("Space")
    assert not box.is_checked()
    visit.page.keyboard.press("z")  # no act of the list behind it
    visit.button("Cancel").click()
    visit.ready()
    assert {c["name"] for c in visit.site.call("GET", "/api/collections/pets")["columns"]
            if c["compared"]} == {"weight", "animal"}  # fmt: skip


def test_two_files_of_one_name_and_one_that_cannot_be_read(visit, bring):
    visit.expected = ["422"]
    for name in ("my-things", "my-things-2"):
        bring()
        visit.page.wait_for_selector("table.columns")
        assert f"#/{name}?" in visit.page.url
    bring("broken.parquet", "no parquet")
    visit.page.wait_for_selector(".drop .problem >> text=broken.parquet could not be read")
    assert visit.page.get_by_label("choose a file").is_enabled()


def test_an_example_is_one_press_away(visit, bring):
    visit.page.goto(f"{visit.site.address}/#/pets?sheet=new")
    visit.button("Open penguins").click()
    visit.page.wait_for_selector("table.columns")
    visit.button("Compare rows").click()
    visit.ready()
    assert "#/penguins" in visit.page.url
    assert visit.page.get_by_role("heading", level=1).inner_text() == "lookalike"


def changed(visit):
    return visit.page.locator("footer .changed").inner_text()


def test_rows_are_changed_and_every_change_is_undone(visit, bring):
    bring()
    visit.page.wait_for_selector("table.columns")
    visit.button("Compare rows").click()
    visit.ready()
    visit.site.wait_for("/api/collections/my-things/map")
    visit.page.wait_for_selector(".legend")
    at = "/api/collections/my-things"
    first = visit.ids()[0]
    before = visit.site.call("GET", f"{at}/rows/{first}")["row"]
    visit.page.locator(".hit button.title").first.click()
    visit.page.locator(".detail").get_by_role("button", name="Edit").click()
    form = visit.page.get_by_role("form", name=f"edit #{first}")
    form.get_by_label("weight", exact=True).fill("1000")
    form.get_by_text(f"was {before['weight']:g}").wait_for()
    form.get_by_label("name", exact=True).fill("a heavy one")
    form.get_by_role("button", name="Save changes").click()
    visit.page.wait_for_selector("footer .changed >> text=Changed")
    visit.ready()
    row = visit.site.call("GET", f"{at}/rows/{first}")["row"]
    assert row == before | {"name": "a heavy one", "weight": 1000.0}
    visit.page.wait_for_selector("footer >> text=1 row newer than the map")
    visit.button("Bring up to date").click()
    visit.page.wait_for_selector("footer >> text=newer than", state="detached")

    visit.page.locator(".hit button.title").nth(1).click()
    second = visit.ids()[1]
    visit.page.locator(".detail").get_by_role("button", name="Delete").click()
    visit.page.wait_for_selector("footer .changed >> text=Deleted")
    assert f"#{second}" in changed(visit)
    visit.until(
        f"![...document.querySelectorAll('.hit')].some(one => one.dataset.id === '{second}')"
    )
    visit.page.keyboard.press("z")
    visit.page.wait_for_selector("footer .changed >> text=Changed")
    visit.ready()
    assert second in visit.ids()  # under the id that it had
    visit.button("Undo this change").click()
    visit.page.wait_for_selector("footer .changed", state="detached")
    assert visit.site.call("GET", f"{at}/rows/{first}")["row"] == before

    visit.button("Edit as a new row").click()
    form = visit.page.get_by_role("form", name="a new row")
    form.get_by_label("name", exact=True).fill("mine")
    form.get_by_role("button", name="Save as new row").click()
    visit.page.wait_for_selector("#query .title >> text=mine")
    assert visit.site.call("GET", at)["rows"] == 41
    visit.button("Undo this change").click()
    visit.page.wait_for_selector("footer .changed", state="detached")
    assert visit.site.call("GET", at)["rows"] == 40
    visit.ready()


def test_groups_are_chosen_filter_the_list_and_are_exported(visit):
    visit.site.wait_for("/api/collections/films/clusters?n=4")
    visit.open("#/films?view=clusters&groups=4")
    visit.page.wait_for_selector(".clusters li")
    found = visit.site.call("GET", "/api/collections/films/clusters?n=4&labels=true")
    assert visit.page.locator(".clusters li").count() == 4
    sizes = [int(text.replace(",", "")) for text in visit.texts(".clusters .occurs")]
    assert sizes == [one["size"] for one in found["clusters"]]
    assert all(one["borderline"] for one in found["clusters"])
    visit.button("Filter the list").nth(2).click()
    visit.page.wait_for_selector(".chips >> text=in group 3")
    ids = [id for id, label in zip(found["ids"], found["labels"], strict=True) if label == 2]
    visit.page.wait_for_selector(f"h2 >> text=Most alike of {len(ids):,}")
    visit.ready()
    assert set(visit.ids()) <= set(ids)
    address = visit.page.url
    shown = visit.ids()
    with visit.page.expect_download() as waiting:
        visit.button("Export labels").click()
    text = waiting.value.path().read_text(encoding="utf-8")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [int(row["cluster"]) for row in rows] == found["labels"]
    visit.page.goto("about:blank")
    visit.page.goto(address)  # what a colleague is sent
    visit.page.wait_for_selector(".chips >> text=in group 3")
    visit.ready()
    assert visit.ids() == shown
    visit.button("look at all rows again").click()
    visit.page.wait_for_selector(".chips", state="detached")
    visit.button("Use as set").first.click()
    visit.page.wait_for_selector("text=What sets them apart")
    visit.button("Filter the list").click()
    visit.page.wait_for_selector(f"h2 >> text=Most alike of {sizes[0]:,}")


def test_marks_are_pinned_and_taken_back_one_at_a_time(visit):
    visit.open("#/films?view=graph")
    before = visit.ids()
    names = visit.texts(".hit .title")
    visit.page.locator(".hit").nth(1).locator(".like").click()
    visit.page.locator(".hit").nth(2).locator(".unlike").click()
    visit.button("Rank again").click()
    visit.ready()
    chips = visit.texts(".chips .chip")
    assert all(name.startswith(chip) for name, chip in zip(names[1:3], chips, strict=True))
    start = visit.site.call("GET", "/api/collections/films")["start"]
    asked = {"query": {"id": start}, "k": 20, "like": [before[1]], "unlike": [before[2]]}
    hits = visit.site.search("films", **asked)["hits"]
    assert visit.texts(".hit .score b") == [f"{hit['score']:.3f}" for hit in hits]
    assert visit.texts(".ranked small")[0] == f"alike {hits[0]['similarity']:.3f}"
    assert "by your marks" in visit.page.locator(".rank [title]").first.get_attribute("title")
    visit.page.locator(".chips .down").click()
    visit.ready()
    asked = {"query": {"id": start}, "k": 20, "like": [before[1]]}
    assert visit.ids() == [hit["id"] for hit in visit.site.search("films", **asked)["hits"]]


def test_an_unknown_column_is_left_out_and_said(visit):
    visit.open("#/films?view=graph")
    visit.page.fill("#search", "year: 1990, colour: red")
    option = visit.page.locator("#suggestions [role=option]").first
    option.get_by_text("left out, no such column: colour").wait_for()
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_selector("h2 >> text=Like this new row")
    assert json.dumps({"record": {"year": 1990}}, separators=(",", ":")) in visit.page.evaluate(
        "decodeURIComponent(location.hash)"
    )


def test_rows_with_missing_cells_say_so_and_have_their_id(visit):
    rows = visit.site.call("GET", "/api/collections/films/rows?limit=200")["rows"]
    query = {"id": next(row["id"] for row in rows if row["row"]["budget"] is None)}
    visit.open(f"#/films?view=graph&query={json.dumps(query)}")
    hits = visit.site.search("films", query=query, k=20)["hits"]
    some = [hit for hit in hits if hit["compared"] < hit["compared_of"]]
    said = [f"compared in {hit['compared']} of {hit['compared_of']}" for hit in some]
    assert visit.texts(".hit .compared") == said
    assert said
    for text, hit in zip(visit.texts(".hit .title small"), hits, strict=True):
        assert text == f"{hit['row']['year']} · #{hit['id']}"


SEEN = """() => [...document.querySelectorAll(".hit")].filter((one) => {
  const { top, bottom } = one.getBoundingClientRect();
  const end = document.querySelector("footer").getBoundingClientRect().top;
  return top >= 0 && bottom <= (end || innerHeight);
}).length"""


# Reasons that are cut off at their end, though others could have made room for them.
CUT = """() => [...document.querySelectorAll(".hit .for .reason:not(:first-of-type)")]
  .filter((one) => {
    const [inner, outer] = [one, one.parentElement].map((el) => el.getBoundingClientRect());
    return inner.top < outer.bottom && inner.right > outer.right + 1;
  }).map((one) => one.innerText)"""
FIRST = """() => [...document.querySelectorAll(".hit .for .reason:nth-child(2)")]
  .map((one) => one.clientWidth / one.scrollWidth)"""


def test_a_laptop_shows_at_least_five_hits(visit):
    visit.page.set_viewport_size({"width": 1280, "height": 720})
    visit.open("#/films?view=graph")
    assert visit.page.evaluate(SEEN) >= 7
    assert visit.page.evaluate(CUT) == []
    whole = visit.page.evaluate(FIRST)
    assert len(whole) >= 20
    assert sum(share >= 1 for share in whole) / len(whole) > 0.75
    visit.button("Roomy").click()
    assert visit.page.evaluate(SEEN) >= 4
    visit.page.reload()
    visit.ready()
    assert visit.page.evaluate("document.documentElement.dataset.density") == "roomy"


TARGETS = """() => [...document.querySelectorAll("#results button, #tabs button")]
  .filter((one) => one.checkVisibility() && !one.matches(".title"))
  .map((one) => [one.getAttribute("aria-label") || one.innerText, one.getBoundingClientRect()])
  .filter(([, box]) => box.width < 44 || box.height < 44).map(([name]) => name)"""


def test_reasons_of_many_columns_are_seen_in_their_bar(visit):
    """Forty columns have a pixel each: lines between them would leave nothing of the bar."""
    rows = [{f"x{j}": (i * (j + 3)) % 11 + j / 10 for j in range(40)} for i in range(12)]
    visit.site.call("POST", "/api/collections", {"name": "wide", "rows": rows})
    try:
        visit.open("#/wide")
        seen = visit.page.evaluate(
            "[...document.querySelectorAll('.stack i')].map(i => i.clientWidth)"
        )
        assert len(seen) > 40 * 3
        assert min(seen) >= 1
    finally:
        visit.site.call("DELETE", "/api/collections/wide")


@pytest.mark.parametrize("table", ["films", "pets"])
def test_a_phone_shows_hits_first_and_has_room_for_fingers(visit, table):
    visit.page.set_viewport_size({"width": 390, "height": 844})
    visit.open(f"#/{table}")
    box = visit.page.locator(".hit").first.bounding_box()
    assert box["y"] + box["height"] < 844 / 2
    assert visit.page.locator(".brand").is_visible()
    assert visit.page.evaluate(TARGETS) == []
    visit.page.locator(".folded").click()
    visit.page.get_by_label("filter by weight" if table == "pets" else "filter by year").wait_for()
    assert not visit.page.locator(".hit").first.is_visible()
    visit.button("Results", exact=True).click()
    assert visit.page.locator(".hit").first.is_visible()
