"""The page in a real browser: map, graph, hubs, the hub switch, sets."""

import json
import re


def start(visit):
    return visit.site.call("GET", "/api/collections/films")["start"]


def canvas_box(visit):
    visit.page.wait_for_selector(".plane[data-painter]")
    return visit.page.locator(".plane").bounding_box()


def draw_around(visit, box, share=0.8):
    """Draw a rough circle on the map."""
    mouse, corners = visit.page.mouse, ((1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (1, -1))
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    width, height = share * box["width"] / 2, share * box["height"] / 2
    mouse.move(x + width, y - height)
    mouse.down()
    for dx, dy in corners:
        mouse.move(x + dx * width, y + dy * height, steps=3)
    mouse.up()


def test_map_lasso_gives_a_set_with_its_profile(visit):
    visit.site.wait_for("/api/collections/films/map")
    visit.open()
    box = canvas_box(visit)
    rows = visit.site.call("GET", "/api/collections/films")["rows"]
    assert visit.page.locator(".plane").get_attribute("data-rows") == str(rows)
    visit.button("Draw around rows").click()
    draw_around(visit, box, 0.5)
    visit.page.wait_for_selector(".differs li")
    sentence = visit.page.locator(".sentence").inner_text()
    size = int(sentence.split()[0].replace(",", ""))
    assert 0 < size < rows
    link = visit.page.evaluate("decodeURIComponent(location.hash)")
    assert "poly" in link
    before = visit.texts(".differs li")
    visit.page.reload()
    visit.page.wait_for_selector(".differs li")
    assert visit.page.locator(".sentence").inner_text() == sentence
    assert visit.texts(".differs li") == before
    with visit.page.expect_download() as waiting:
        visit.page.locator("#view").get_by_role("button", name="Export JSON").click()
    saved = json.loads(waiting.value.path().read_text(encoding="utf-8"))
    assert len(saved["ids"]) == size
    profile = visit.site.call("POST", "/api/collections/films/profile", {"ids": saved["ids"]})
    assert [one["column"] for one in profile["differs"]] == [text.split("\n")[0] for text in before]


def test_map_colors_filter_and_a_click_searches(visit):
    visit.site.wait_for("/api/collections/films/map")
    visit.open()
    box = canvas_box(visit)
    visit.page.get_by_label("color by").select_option("year")
    visit.page.wait_for_selector(".legend.numbers")
    visit.page.get_by_label("color by").select_option("mpaa")
    visit.page.wait_for_selector("ul.legend li")
    visit.page.locator("ul.legend button").first.click()
    visit.page.wait_for_selector("ul.legend button[aria-pressed=true]")
    assert '"filter":{"mpaa":{"in":["' in visit.page.evaluate("decodeURIComponent(location.hash)")
    alpha = "i => document.querySelector('.plane')._props.data.rgba[4 * i + 3]"
    dim = "(one, i) => i % 4 === 3 && one < 40"
    visit.until(f"document.querySelector('.plane')._props.data.rgba.some({dim})")
    films = visit.site.call("GET", "/api/collections/films/rows?limit=1000")["rows"]
    level = visit.page.locator("ul.legend [aria-pressed=true]").inner_text().split()[0]
    for row in films[:200]:
        assert (visit.page.evaluate(alpha, row["id"]) < 40) == (row["row"]["mpaa"] != level)
    visit.page.locator("ul.legend button").first.click()
    visit.page.wait_for_selector("ul.legend button[aria-pressed=true]", state="detached")
    assert "filter" not in visit.page.url
    # The label of the query is drawn beside it; look for a row that can be clicked.
    title = visit.page.locator("#query .title").inner_text()
    for k in range(400):
        x = box["x"] + box["width"] * (0.2 + 0.6 * ((k * 0.618) % 1))
        y = box["y"] + box["height"] * (0.2 + 0.6 * ((k * 0.381) % 1))
        visit.page.mouse.click(x, y)
        if visit.page.locator("#query .title").inner_text() != title:
            break
    visit.ready()
    assert visit.page.locator("#query .title").inner_text() != title
    visit.button("Zoom in").click()
    visit.button("All rows").click()
    table = visit.page.locator(".twin")
    table.locator("summary").click()
    assert table.locator("tbody tr").count() > 0


def test_a_part_of_a_histogram_is_a_filter(visit):
    visit.site.wait_for("/api/collections/films/map")
    visit.open("#/films?color=year")
    legend = visit.page.locator(".legend.numbers .histogram")
    legend.wait_for()
    box = legend.bounding_box()
    x, y = box["x"], box["y"] + box["height"] / 2
    visit.page.mouse.move(x + 0.5 * box["width"], y)
    visit.page.mouse.down()
    visit.page.mouse.move(x + 0.75 * box["width"], y, steps=3)
    visit.page.mouse.up()
    visit.page.wait_for_selector(".rounds >> text=only year")
    (column,) = [
        one
        for one in visit.site.call("GET", "/api/collections/films")["columns"]
        if one["name"] == "year"
    ]
    low, high = column["summary"]["min"], column["summary"]["max"]
    link = visit.page.evaluate("decodeURIComponent(location.hash)")
    kept = json.loads(re.search(r'"filter":(\{.+?\}\})', link).group(1))["year"]
    assert abs(kept[">="] - (low + 0.5 * (high - low))) <= 2
    assert abs(kept["<="] - (low + 0.75 * (high - low))) <= 2
    visit.ready()
    years = visit.site.search("films", query={"id": start(visit)}, k=20, filter={"year": kept})
    assert visit.ids() == [hit["id"] for hit in years["hits"]]
    visit.button("All", exact=True).click()
    visit.page.wait_for_selector(".rounds >> text=only year", state="detached")


def test_regions_of_the_map_are_named_and_rows_have_a_card(visit):
    visit.site.wait_for("/api/collections/films/map")
    visit.open()
    box = canvas_box(visit)
    visit.until("JSON.parse(document.querySelector('.plane').dataset.names || '[]').length >= 6")
    names = json.loads(visit.page.locator(".plane").get_attribute("data-names"))
    assert len(set(names)) == len(names) <= 12
    for k in range(400):
        x = box["x"] + box["width"] * (0.2 + 0.6 * ((k * 0.618) % 1))
        y = box["y"] + box["height"] * (0.2 + 0.6 * ((k * 0.381) % 1))
        visit.page.mouse.move(x, y)
        if visit.page.evaluate("document.querySelector('.plane')._props.data.hover >= 0"):
            break
    visit.page.wait_for_selector(".card")
    hover = "(({map, hover}) => map.ids[hover])(document.querySelector('.plane')._props.data)"
    row = visit.site.call("GET", f"/api/collections/films/rows/{visit.page.evaluate(hover)}")
    assert visit.page.locator(".card b").inner_text() == row["label"]
    assert visit.texts(".card dt") == ["year", "length", "budget", "rating", "votes"]
    assert visit.texts(".card dd")[0] == str(int(row["row"]["year"]))
    visit.page.mouse.move(5, 5)
    visit.page.wait_for_selector(".card", state="detached")


def test_three_measures_side_by_side_and_one_tried_in_the_link_alone(visit):
    path = "/api/collections/pets"
    rows = visit.site.call("GET", path)["rows"]
    visit.open("#/pets?view=graph")
    before = visit.ids()
    visit.page.get_by_label("measure", exact=True).select_option("+side")
    visit.page.wait_for_selector(".lists section:nth-of-type(3) li")
    visit.page.wait_for_selector(".sentence >> text=The lists")
    query = {"id": visit.site.call("GET", path)["start"]}
    listed = visit.site.call("GET", f"{path}/measures")["measures"]
    others = [one for one in listed if one["words"] and one["name"] != "auto"][:2]
    wanted = [visit.site.search("pets", query=query, k=10, explain=0)["hits"]]
    for one in others:
        body = {"query": query, "k": 10, "explain": 0, "measure": one["name"]}
        wanted.append(visit.site.search("pets", **body)["hits"])
    for i, hits in enumerate(wanted):
        shown = visit.texts(f".lists section:nth-of-type({i + 1}) li .link")
        assert shown == [hit["label"].strip() for hit in hits]
    ids = [{hit["id"] for hit in hits} for hits in wanted]
    together = len(ids[0] & ids[1] & ids[2])
    assert f"{together} of {min(10, rows - 1)} rows are in all of them" in visit.page.inner_text(
        ".sentence"
    )
    assert visit.page.locator(".lists li.all").count() == 3 * together
    assert visit.page.locator(".lists .lines").count() == 2
    address = visit.page.url
    visit.page.goto("about:blank")
    visit.page.goto(address)
    visit.page.wait_for_selector(".lists section:nth-of-type(3) li")
    visit.page.locator(".lists section").nth(1).get_by_role("button", name="Use this one").click()
    visit.page.wait_for_selector(".banner >> text=In this link")
    visit.ready()
    tried = visit.site.search("pets", query=query, k=20, measure=others[0]["name"])["hits"]
    assert visit.ids() == [hit["id"] for hit in tried]
    assert f"measure={others[0]['name']}" in visit.page.url
    assert visit.site.call("GET", path)["measure"]["asked"] == "auto"  # of all others
    visit.button("Make this the default").click()
    with visit.page.expect_request(lambda one: one.url.endswith("/measure")) as sent:
        visit.page.get_by_role("dialog").get_by_role("button", name="Fit").click()
    assert sent.value.post_data_json == {"measure": others[0]["name"]}
    visit.page.wait_for_selector(".banner >> text=In this link", state="detached")
    visit.until("!location.hash.includes('measure=')")
    assert visit.site.call("GET", path)["measure"]["asked"] == others[0]["name"]
    job = visit.site.call("POST", f"{path}/measure", {"measure": "auto"})["job"]
    while visit.site.call("GET", f"/api/jobs/{job['id']}")["state"] != "done":
        visit.page.wait_for_timeout(50)
    assert [hit["id"] for hit in visit.site.search("pets", query=query, k=20)["hits"]] == before


def test_map_without_webgl(visit):
    visit.site.wait_for("/api/collections/films/map")
    visit.page.add_init_script("""
        const real = HTMLCanvasElement.prototype.getContext;
        HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
          return kind === "webgl2" ? null : real.call(this, kind, ...rest);
        };
    """)
    visit.open()
    canvas_box(visit)
    assert visit.page.locator(".plane").get_attribute("data-painter") == "2d"
    visit.page.wait_for_selector("ul.legend")
    ink = """() => {
      const canvas = document.querySelector(".plane canvas");
      const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
      return data.filter((value, i) => i % 4 === 3 && value > 0).length;
    }"""
    visit.until(f"({ink})() > 500")


def graph_of(visit, id):
    path = f"/api/collections/films/graph?id={id}&depth=1&k=5&space=plain"
    graph = visit.site.call("GET", path)
    return {node["id"]: node["label"] for node in graph["nodes"]}


def test_graph_grows_where_it_is_clicked(visit):
    visit.open("#/films?view=graph")
    first = graph_of(visit, start(visit))
    count = "n => document.querySelectorAll('.node').length === n"
    visit.until(count, arg=len(first))
    others = [id for id in first if id != start(visit)]
    more = {id: graph_of(visit, id) for id in others}
    id = max(others, key=lambda id: len(more[id].keys() - first.keys()))
    after = len(first | more[id])
    assert after > len(first)
    name = re.compile(rf"^{re.escape(first[id])}(, an? (hub|orphan))*$")
    node = visit.page.locator("#panel").get_by_role("button", name=name).locator("visible=true")
    node.first.click()
    visit.until(count, arg=after)
    assert first[id] in visit.page.locator(".node.grown:not(.center)").get_attribute("aria-label")
    visit.page.locator(".node.grown:not(.center)").focus()
    visit.page.keyboard.press("Enter")
    visit.until(count, arg=len(first))
    node.first.focus()
    visit.page.keyboard.press("m")
    visit.page.wait_for_selector("#query .title >> text=" + json.dumps(first[id]))
    visit.ready()


def test_hub_switch_shows_what_came_in_and_what_left(visit):
    visit.site.wait_for("/api/collections/spots/hubs")
    visit.open("#/spots")
    plain = visit.ids()[:10]
    visit.button("reduced", exact=True).click()
    visit.page.wait_for_selector(".compare")
    visit.ready()
    repaired = visit.ids()[:10]
    first = visit.site.call("GET", "/api/collections/spots")["start"]
    answer = visit.site.search("spots", query={"id": first}, k=20, space="repaired")
    assert repaired == [hit["id"] for hit in answer["hits"]][:10]
    came, left = set(repaired) - set(plain), set(plain) - set(repaired)
    assert visit.page.locator(".compare .came").count() == len(came)
    assert visit.page.locator(".compare .left").count() == len(left)
    words = f"{len(came)} row" if came else "changed no row"
    assert words in visit.page.locator(".compare summary").inner_text()
    assert visit.page.get_by_label("weight of x1", exact=True).is_disabled()
    visit.page.reload()
    visit.page.wait_for_selector(".compare li")
    visit.ready()
    assert visit.ids()[:10] == repaired
    # A link into the reduced space has the way back, whatever is known about hubs.
    visit.button("plain", exact=True).click()
    visit.until("() => document.querySelectorAll('.compare').length === 0")
    visit.ready()
    assert visit.ids()[:10] == plain


def test_the_switch_is_offered_where_the_reduction_helps(visit):
    visit.site.wait_for("/api/collections/films/hubs")
    visit.open("#/films?view=hubs")
    sentence = visit.page.wait_for_selector(".panel .sentence").inner_text()
    assert sentence.startswith("No hub problem here: the largest hub is in ")
    assert visit.button("reduced", exact=True).count() == 0
    assert visit.button("Reduce hubness").count() == 0
    assert visit.page.locator(".beforeafter figure").count() == 1
    visit.site.wait_for("/api/collections/spots/hubs")
    visit.open("#/spots?view=hubs")
    visit.page.wait_for_selector(".beforeafter figure + figure")
    sentence = visit.page.locator(".panel .sentence").inner_text()
    assert sentence.startswith("Hubs are a problem, and the reduction helps: ")
    assert visit.texts(".beforeafter figcaption") == ["plain", "reduced"]
    assert visit.button("reduced", exact=True).count() == 1
    visit.page.set_viewport_size({"width": 360, "height": 780})
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= 360


def test_hubs_and_rows_that_no_search_shows(visit):
    visit.site.wait_for("/api/collections/films/hubs")
    visit.open("#/films?view=hubs")
    visit.page.wait_for_selector(".tops li")
    hubs = visit.site.call("GET", "/api/collections/films/hubs")
    assert visit.page.locator(".panel .sentence").inner_text() == hubs["sentence"]
    assert visit.page.locator(".beforeafter .histogram").count() == 1
    assert visit.page.locator(".tops li").count() == len(hubs["plain"]["top"])
    assert visit.page.locator(".orphans li").count() == len(hubs["plain"]["orphans"])
    visit.button("who shows it").first.click()
    visit.page.wait_for_selector(".shownby li")
    top = hubs["plain"]["top"][0]
    shown = visit.site.call("GET", f"/api/collections/films/hubs/{top['id']}?limit=20")["shown_by"]
    assert visit.page.locator(".shownby li").count() == len(shown)
    said = visit.page.locator(".drawn")
    assert said.inner_text().startswith(hubs["plain"]["drawn"])
    near = visit.ids()
    said.locator("input").check()
    visit.page.wait_for_selector(".chips >> text=drawn from twice as many")
    visit.ready()
    assert "wide=true" in visit.page.url
    start = visit.site.call("GET", "/api/collections/films")["start"]
    drawn = visit.site.search("films", query={"id": start}, k=20, among=40)["hits"]
    assert visit.ids() == [hit["id"] for hit in drawn] != near
    visit.button("drawn from twice as many: show the nearest again").click()
    visit.ready()
    assert visit.ids() == near
    assert "wide" not in visit.page.url
    orphan = visit.page.locator(".orphans button").first
    name = orphan.inner_text()
    orphan.click()
    visit.ready()
    assert visit.page.locator("#query .title").inner_text() == name


def test_the_hits_are_a_set_too(visit):
    visit.open()
    visit.button("What do they share?").click()
    visit.page.wait_for_selector(".differs li")
    assert visit.page.locator(".sentence").inner_text().startswith("20 rows chosen")
    visit.button("Choose others").click()
    visit.page.wait_for_selector("text=Draw around rows on the map")


def test_size_by_hubs(visit):
    visit.site.wait_for("/api/collections/films/map")
    visit.site.wait_for("/api/collections/films/hubs")
    visit.open()
    canvas_box(visit)
    sizes = "[...document.querySelector('.plane')._props.data.sizes]"
    assert len(set(visit.page.evaluate(sizes))) == 1
    box = visit.page.get_by_label("Size by hubs")
    box.check()
    visit.until(f"new Set({sizes}).size > 3")
    found, hubs = visit.page.evaluate(sizes), visit.site.call("GET", "/api/collections/films/hubs")
    top, orphan = hubs["plain"]["top"][0]["id"], hubs["plain"]["orphans"][0]["id"]
    assert found[top] == max(found) > found[orphan] == min(found)
    visit.page.reload()
    visit.until(f"document.querySelector('.plane')?._props.data && new Set({sizes}).size > 3")
    assert box.is_checked()


def test_work_that_takes_long_can_be_ended(visit):
    """A job of another client comes first: the page shows its own job, and cancels it."""
    rows = [{"x": i, "kind": "ab"[i % 2]} for i in range(40)]
    visit.site.call("POST", "/api/collections", {"name": "queue", "rows": rows})
    path = "/api/collections/queue/measure"
    long = {"measure": "forest-proximity:n_estimators=20000"}  # ended below, long before it is done
    other = visit.site.call("POST", path, long)["job"]["id"]
    try:
        visit.open("#/queue?view=clusters")
        cancel = visit.page.locator("#panel").get_by_role("button", name="Cancel")
        with visit.page.expect_request(lambda request: request.method == "DELETE") as sent:
            cancel.click()
        ended = sent.value.url.removeprefix(visit.site.address)
        visit.page.wait_for_selector("#panel .problem >> text=cancelled")
        assert visit.site.call("GET", ended)["state"] == "cancelled"
    finally:
        visit.site.call("DELETE", f"/api/jobs/{other}")
    visit.page.locator("#panel").get_by_role("button", name="Try again").click()
    visit.page.wait_for_selector(".clusters li")
    visit.site.call("DELETE", "/api/collections/queue")
