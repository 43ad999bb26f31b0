"""The whole story of one visitor, with the keyboard alone, and rows that may be the same."""

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
        "size": ["S", "M", "L"][i % 2],
    }
    for i in range(60)
]
NAMES = ("Blue Door", "Old Mill", "Red Barn", "Golden Lamb", "Silver Fox", "Green Dragon")

AUDIT = """() => axe.run(document, {resultTypes: ["violations"]}).then(result =>
  result.violations.map(one => `${one.id}: ${one.nodes[0].html}`))"""


def as_csv(rows):
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def shops():
    """Return places, the first twenty of them typed again with slips of the pen."""
    rows = [
        {
            "name": f"{NAMES[i % 6]} {['Inn', 'Cafe', 'Hall', 'House'][i % 4]} {i // 6}",
            "street": f"{3 * i} Dock Street",
            "city": ["Hull", "York", "Leeds"][i % 3],
            "year": 1950 + i,
        }
        for i in range(60)
    ]
    again = [dict(row) for row in rows[:20]]
    for i, row in enumerate(again):
        row["name"] = row["name"].replace("o", "0", 1) if i % 2 else row["name"].lower()
        row["street"] = row["street"].replace("Street", "St") if i % 3 == 0 else row["street"]
        row["year"] = None if i % 4 == 0 else row["year"]
    return rows + again


class Keys:
    """A visitor without a mouse: only what the tab key reaches can be pressed."""

    def __init__(self, visit):
        self.visit, self.page = visit, visit.page

    def at(self, locator):
        locator.focus()
        assert locator.evaluate("one => one === document.activeElement && one.tabIndex >= 0")
        return self

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)
        return self

    def button(self, name, inside=None):
        found = (inside or self.page).get_by_role("button", name=name).first
        return self.at(found).press("Enter")

    def choose(self, locator, text):
        self.at(locator)
        self.page.keyboard.type(text)
        assert locator.input_value() == text


def test_a_whole_visit_with_the_keyboard_alone(visit, axe, browser):
    keys, page, path = Keys(visit), visit.page, "/api/collections/story"
    visit.expected = ["422"]  # what a column would be as a kind that it is not
    found = {}

    def audit(name):
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            found[f"{name}, {scheme}"] = page.evaluate(AUDIT)

    page.goto(f"{visit.site.address}/#/?sheet=new")
    page.evaluate(axe)
    file = {"name": "story.csv", "mimeType": "text/csv", "buffer": as_csv(ROWS).encode()}
    chooser = page.get_by_label("choose a file")
    keys.at(chooser)
    chooser.set_input_files(file)  # the window of the system is not part of the page
    page.wait_for_selector("table.columns")
    try:
        keys.choose(page.get_by_label("what year is"), "number")
        page.get_by_text("2 cells cannot be read and will be missing: unknown?").wait_for()
        audit("columns")
        keys.button("Compare rows")
        visit.ready()
        kinds = {one["name"]: one["kind"] for one in visit.site.call("GET", path)["columns"]}
        assert kinds["year"] == "number"

        keys.press("/")
        page.keyboard.type("thing 17")
        page.wait_for_selector("#suggestions >> text=thing 17")
        keys.press("Enter")
        page.wait_for_selector("#query .title >> text=thing 17")
        visit.ready()
        keys.at(page.get_by_label("weight of color", exact=True)).press("ArrowRight", "ArrowRight")
        page.wait_for_selector(".rounds >> text=color ×2")
        visit.ready()
        keys.at(page.locator(".hit button.title").first).press("j", "u", "r")
        page.wait_for_selector(".chips .up")
        visit.ready()

        keys.at(page.get_by_role("tab", name="map")).press(*["ArrowRight"] * 3)
        page.wait_for_selector(".clusters li")
        audit("clusters")
        keys.button("Filter the list", page.locator(".clusters"))
        page.wait_for_selector(".chips >> text=in group 1")
        visit.ready()
        keys.button("look at all rows again")
        page.wait_for_selector(".chips >> text=in group 1", state="detached")
        keys.button("filter by size")
        page.wait_for_selector(".rounds >> text=only size")
        visit.ready()
        rows = visit.site.call("GET", f"{path}/rows?limit=100")["rows"]
        size = {row["id"]: row["row"]["size"] for row in rows}
        assert {size[id] for id in visit.ids()} == {size[17]}

        first, second = visit.ids()[:2]
        keys.at(page.locator(".hit button.title").first).press("Enter")
        page.wait_for_selector(".hit.open .detail")
        audit("list")
        keys.button("Edit", page.locator(".detail"))
        opened = page.locator("form.form")
        keys.at(opened.get_by_label("weight", exact=True)).press("Control+a")
        page.keyboard.type("777")
        keys.button("Save changes")
        page.wait_for_selector("footer .changed >> text=Changed")
        changed = json.loads(page.locator(".hit.open").get_attribute("data-id"))
        assert changed in (first, second)
        assert visit.site.call("GET", f"{path}/rows/{changed}")["row"]["weight"] == 777
        visit.ready()
        gone = next(id for id in visit.ids() if id != changed)
        title = page.locator(f'.hit[data-id="{gone}"] button.title')
        keys.at(title).press("Enter")
        page.wait_for_selector(f'.hit[data-id="{gone}"] .detail')
        keys.button("Delete", page.locator(".detail"))
        page.wait_for_selector("footer .changed >> text=Deleted")
        visit.ready()
        assert gone not in visit.ids()
        keys.press("z")
        page.wait_for_selector("footer .changed >> text=Changed")
        visit.ready()
        assert gone in visit.ids()
        keys.press("z")
        page.wait_for_selector("footer .changed", state="detached")
        assert visit.site.call("GET", f"{path}/rows/{changed}")["row"] == ROWS_READ[changed]
        visit.ready()

        keys.button("Share")
        page.wait_for_selector('.banner:has-text("The link is copied"), dialog')
        keys.press("Escape")
        other = browser.new_context().new_page()
        other.goto(page.url)  # a colleague
        other.wait_for_selector(".hits[aria-busy=false] .hit")
        cards = "cards => cards.map(card => JSON.parse(card.dataset.id))"
        assert other.locator(".hit").evaluate_all(cards) == visit.ids()
        other.context.close()
        with page.expect_download() as waiting:
            keys.button("Export CSV", page.locator("#results"))
        text = waiting.value.path().read_text(encoding="utf-8")
        saved = list(csv.DictReader(io.StringIO(text, newline="")))
        assert [int(row["id"]) for row in saved] == visit.ids()
        assert {name: list_ for name, list_ in found.items() if list_} == {}
    finally:
        visit.site.call("DELETE", path)


ROWS_READ = [
    row
    | {"year": None if row["year"] == "unknown?" else float(row["year"])}
    | {"color": row["color"] or None}
    for row in ROWS
]


@pytest.fixture
def places(visit):
    visit.site.call("POST", "/api/collections", {"name": "places", "rows": shops()})
    yield "/api/collections/places/ask/dedupe"
    visit.site.call("DELETE", "/api/collections/places")


def test_doubles_are_reviewed_by_keys_and_learned_from(visit, places, axe):
    page, keys = visit.page, Keys(visit)
    before = visit.site.call("POST", places, {"n": 50})
    visit.open("#/places?view=graph")
    page.get_by_label("table", exact=True).select_option("+review")
    page.wait_for_selector(".doubles table")
    pairs = [one["pair"] for one in before["review"]]
    assert len(pairs) > 3

    def shown():
        heads = visit.texts(".doubles thead th")[:2]
        return [int(head.removeprefix("#")) for head in heads]

    assert shown() == pairs[0]
    assert page.evaluate("document.querySelector('.doubles progress').position") == 0  # not unknown
    one = before["review"][0]
    differ = {name for name in one["left"] if one["left"][name] != one["right"][name]}
    missing = {name for name in differ if None in (one["left"][name], one["right"][name])}
    assert set(visit.texts(".doubles .differ th")) == differ - missing
    expected = f"About {100 * before['expected']['precision']:.0f} % of them are right"
    assert expected in page.locator(".threshold").inner_text()
    page.evaluate(axe)
    assert page.evaluate(AUDIT) == []
    keys.press("y", "n", "s")
    page.wait_for_selector(f".doubles >> text=3 of {len(pairs)} pairs decided")
    assert shown() == pairs[3]
    keys.press("z")
    page.wait_for_selector(f".doubles >> text=2 of {len(pairs)} pairs decided")
    assert shown() == pairs[2]
    with page.expect_download() as waiting:
        keys.button("Download the answers")
    text = waiting.value.path().read_text(encoding="utf-8")
    wanted = [[*map(str, pairs[0]), "yes"], [*map(str, pairs[1]), "no"]]
    assert list(csv.reader(io.StringIO(text, newline=""))) == [["left", "right", "same"], *wanted]
    with page.expect_request(lambda sent: sent.url.endswith("/ask/dedupe")) as sent:
        keys.button("Learn from 2 answers")
    told = [{"pair": pairs[0], "same": True}, {"pair": pairs[1], "same": False}]
    assert sent.value.post_data_json == {"n": 50, "decisions": told}
    page.wait_for_selector("text=Learn from 0 answers")
    after = visit.site.call("POST", places, {"n": 50, "decisions": told})
    rest = [one["pair"] for one in after["review"] if one["pair"] not in pairs[:2]]
    page.wait_for_selector(".doubles table")
    assert shown() == rest[0]
    with page.expect_request(lambda sent: sent.url.endswith("/ask/dedupe")) as sent:
        keys.at(page.locator(".threshold input")).press("Home", "Tab")
    assert sent.value.post_data_json["threshold"] == 0
    page.wait_for_selector(".threshold >> text=0 %:")
    address = page.url
    page.goto("about:blank")
    page.goto(address)  # the answers are in the link
    page.wait_for_selector(".doubles table")
    assert "1 the same, 1 not" in page.locator(".doubles").inner_text()


def test_a_table_without_doubles_says_so(visit):
    visit.page.goto(f"{visit.site.address}/#/pets?sheet=review")
    visit.page.wait_for_selector(".doubles h2 >> text=No pair is doubtful")
    said = visit.page.locator(".threshold").inner_text()
    assert said.endswith("no two rows are the same record.")
    assert visit.page.locator(".doubles progress").count() == 0
