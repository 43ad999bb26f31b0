"""The page in a real browser: errors, stale answers, other tables, narrow screens, audit."""

import json

import pytest


def test_the_servers_words_are_shown_and_the_question_is_kept(visit):
    visit.expected = ["404"]
    visit.page.goto(f"{visit.site.address}/#/films?query=" + json.dumps({"id": 123456789}))
    visit.page.wait_for_selector("#results .problem")
    path = "/api/collections/films/search"
    visit.page.wait_for_selector("#results .problem >> text=123456789")
    assert "123456789" in visit.page.url
    assert path  # the same question is sent again
    with visit.page.expect_request(lambda request: request.url.endswith(path)):
        visit.button("Try again").click()
    visit.button("Go to the first row").click()
    visit.ready()


def test_an_unknown_table_offers_the_others(visit):
    visit.expected = ["404"]
    visit.page.goto(f"{visit.site.address}/#/nowhere")
    visit.page.wait_for_selector("#results .problem")
    visit.page.locator("#results").get_by_role("button", name="films").click()
    visit.ready()
    assert visit.page.evaluate("location.hash").startswith("#/films")


def test_a_server_that_is_gone_and_comes_back(visit):
    visit.expected = ["ERR_FAILED"]
    visit.open()
    before = visit.ids()
    visit.page.route("**/search", lambda route: route.abort())
    visit.page.get_by_label("weight of year").fill("3")
    visit.page.wait_for_selector("text=The server does not answer")
    visit.page.unroute("**/search")
    visit.button("Try again").first.click()
    visit.ready()
    assert visit.ids() != before
    assert visit.page.get_by_label("weight of year").input_value() == "3"


def test_a_token_is_asked_for_and_kept(visit):
    visit.expected = ["401"]
    problem = {"title": "A token is needed", "status": 401, "hint": "Pass a token"}

    def guard(route):
        if route.request.headers.get("authorization") == "Bearer secret":
            route.continue_()
        else:
            body = json.dumps(problem)
            route.fulfill(status=401, content_type="application/problem+json", body=body)

    visit.page.route("**/api/**", guard)
    visit.page.goto(f"{visit.site.address}/")
    visit.page.get_by_label("token").fill("secret")
    visit.button("Use this token").click()
    visit.ready()
    visit.page.reload()
    visit.ready()


def test_a_link_that_cannot_be_read_says_so(visit):
    visit.open('#/films?weights=nonsense&view=moon&steps=[{"marks":3}]&k=20')
    notice = visit.page.locator(".banner").inner_text()
    assert all(part in notice for part in ("weights", "view", "steps"))


def test_rows_that_were_added_make_the_list_stale(visit):
    visit.open("#/pets")
    before = visit.ids()
    query = visit.site.call("GET", "/api/collections/pets")["start"]
    row = visit.site.call("GET", f"/api/collections/pets/rows/{query}")["row"]
    rows = [{**row, "name": "a copy"}]
    ids = visit.site.call("POST", "/api/collections/pets/rows", {"rows": rows})["ids"]
    visit.page.evaluate("window.dispatchEvent(new Event('focus'))")
    visit.page.wait_for_selector(".banner >> text=Rows were changed")
    assert visit.ids() == before
    visit.button("Refresh").click()
    visit.page.wait_for_selector(".hit >> text=a copy")
    visit.page.wait_for_selector(".banner", state="detached")
    visit.site.call("DELETE", f"/api/collections/pets/rows/{ids[0]}")


def test_bones_stand_where_the_list_will_be(visit):
    held = []
    visit.page.route("**/api/opening*", lambda route: held.append(route))
    visit.page.goto(f"{visit.site.address}/#/pets")
    visit.page.wait_for_selector("#results .bone")
    assert visit.page.locator(".hit").count() == 0
    while not held:
        visit.page.wait_for_timeout(50)
    held[0].continue_()
    visit.ready()
    assert visit.page.locator("#results .bone").count() == 0


def test_a_measure_that_is_out_of_date_is_fitted_again(visit):
    def drifted(route):
        found = route.fetch().json()
        reasons = ["weight: much larger than before"]
        found["collection"]["drift"] = {"refit": True, "reasons": reasons}
        route.fulfill(json=found)

    visit.page.route("**/api/opening*", drifted)
    visit.open("#/pets")
    banner = visit.page.locator(".banner")
    assert "much larger than before" in banner.inner_text()
    banner.get_by_role("button", name="Refit").click()
    path = "/api/collections/pets/measure"
    with visit.page.expect_request(lambda request: request.url.endswith(path)) as sent:
        visit.page.get_by_role("dialog").get_by_role("button", name="Fit", exact=True).click()
    assert sent.value.post_data_json == {"measure": "auto"}  # what it was asked to be
    visit.page.wait_for_selector(".banner", state="detached")
    visit.ready()


def test_a_table_of_three_columns_full_of_markup(visit):
    visit.open("#/pets")
    assert "<img src=x onerror=alert(" in visit.page.locator("#query .title").inner_text()
    assert visit.page.locator("img").count() == 0
    visit.page.locator("button.title").first.click()
    visit.page.get_by_role("tab", name="graph").click()
    visit.page.wait_for_selector(".node")
    assert visit.page.locator("img").count() == 0


def test_a_table_of_forty_columns(visit):
    visit.open("#/parts")
    columns = visit.site.call("GET", "/api/collections/parts")["columns"]
    compared = [column for column in columns if column["compared"]]
    assert len(compared) >= 38
    assert visit.page.locator(".cell").count() == len(compared)
    visit.page.get_by_label("find a column").fill("class_1")
    assert visit.page.locator(".cell").count() == 3
    visit.page.get_by_label("weight of class_11").fill("4")
    visit.ready()
    visit.page.locator("button.title").first.click()
    visit.page.wait_for_selector(".detail tbody tr")
    assert visit.page.locator(".detail tbody tr").count() >= len(compared)
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= 1400


def test_light_and_dark(visit):
    visit.open("#/pets")
    color = "getComputedStyle(document.body).backgroundColor"
    light = visit.page.evaluate(color)
    visit.button("Light or dark").click()
    dark = visit.page.evaluate(color)
    assert dark != light
    visit.page.reload()
    visit.ready()
    assert visit.page.evaluate(color) == dark


@pytest.mark.parametrize("table", ["films", "pets", "parts"])
def test_360_pixels_are_enough(visit, table):
    visit.page.set_viewport_size({"width": 360, "height": 780})
    visit.open(f"#/{table}")
    visit.page.locator("button.title").first.click()
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= 360
    visit.button("Query", exact=True).click()
    assert visit.page.locator("#query").is_visible()
    assert not visit.page.locator("#results").is_visible()  # one part at a time
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= 360
    visit.button("Map", exact=True).click()
    for view in ("map", "graph", "hubs", "clusters", "set"):
        visit.page.get_by_role("tab", name=view).click()
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= 360, view
    smallest = """() => Math.min(...[...document.querySelectorAll("body *")]
      .filter(el => el.innerText?.trim() && el.checkVisibility())
      .map(el => parseFloat(getComputedStyle(el).fontSize)))"""
    assert visit.page.evaluate(smallest) >= 13


BOXES = """() => [...document.querySelectorAll("header :is(button, select, input)")]
  .filter(one => one.offsetParent)
  .map(one => one.getBoundingClientRect())
  .map(box => [Math.round(box.top / 20), box.width, box.height, box.left, box.right])"""


def test_a_phone_has_two_rows_of_things_to_press(visit):
    visit.page.set_viewport_size({"width": 360, "height": 780})
    visit.site.wait_for("/api/collections/spots/hubs")
    visit.open("#/spots?view=graph")
    boxes = visit.page.evaluate(BOXES)
    assert len(boxes) == 8  # table, search, measure, two spaces, theme, keys, share
    assert len({row for row, *_ in boxes}) == 2
    assert all(width >= 40 and height >= 40 for _, width, height, *_ in boxes)
    assert all(left >= 0 and right <= 360 for *_, left, right in boxes)
    assert visit.button("Share", exact=True).inner_text().strip() == "Share"  # heard, not seen
    visit.page.locator("#search").fill("spot")
    visit.page.wait_for_selector("#suggestions [role=option]")
    wide = visit.page.locator("#suggestions").bounding_box()
    assert wide["width"] > 300
    assert wide["x"] + wide["width"] <= 360


AUDIT = """() => axe.run(document, {resultTypes: ["violations"]}).then(result =>
  result.violations
    .map(one => `${one.id}: ${one.nodes.slice(0, 3).map(node => node.html).join(" | ")}`))"""

TARGETS = """() => [...document.querySelectorAll("button, select, summary, label, input")]
  .filter((one) => one.checkVisibility() && !one.closest("label, .file") || one.matches("label"))
  .map((one) => [one.getAttribute("aria-label") || one.innerText || one.id, one])
  .filter(([, one]) => one.checkVisibility() && one.getBoundingClientRect().height < 43.9)
  .map(([name]) => name)"""


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.long)])
def test_an_audit_finds_nothing_and_fingers_have_room(visit, axe, scheme):
    visit.site.wait_for("/api/collections/films/map")
    visit.site.wait_for("/api/collections/films/hubs")
    visit.page.emulate_media(color_scheme=scheme)
    visit.open("#/films?wide=true")  # with a chip above the list
    visit.page.evaluate(axe)
    found = {}
    visit.page.locator("button.title").first.click()
    visit.page.get_by_label("filter by year", exact=True).click()
    visit.ready()
    for view, ready in READY.items():
        visit.page.get_by_role("tab", name=view).click()
        visit.page.wait_for_selector(ready)
        found[view] = visit.page.evaluate(AUDIT)
    visit.button("Edit as a new row").click()
    visit.page.set_viewport_size({"width": 360, "height": 780})

    def on_a_phone(name):
        found[f"phone {name}"] = visit.page.evaluate(AUDIT) + visit.page.evaluate(TARGETS)

    for tab in ("Query", "Results", "Map"):
        visit.button(tab, exact=True).click()
        on_a_phone(tab)
    for view, ready in READY.items():
        visit.page.get_by_role("tab", name=view).click()
        visit.page.wait_for_selector(ready)
        on_a_phone(view)
    for sheet, ready in (
        ("columns", "table.columns"),
        ("new", ".drop"),
        ("measures", ".lists li"),
        ("review", ".threshold"),
    ):
        visit.page.goto(f"{visit.site.address}/#/films?sheet={sheet}")
        visit.page.wait_for_selector(ready)
        on_a_phone(sheet)
    assert {name: list_ for name, list_ in found.items() if list_} == {}


READY = {
    "map": ".legend",
    "graph": ".node",
    "hubs": ".tops li",
    "clusters": ".clusters li",
    "set": "#panel .empty",
}
