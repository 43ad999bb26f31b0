"""The page in a real browser: a link to share, paper, and names that are longer than any box."""

import re

import pytest

LONG = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft" * 3


def test_share_copies_the_link(visit):
    visit.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    visit.open("#/pets?view=graph")
    visit.page.get_by_label("weight of weight").fill("3")
    visit.ready()
    visit.button("Share", exact=True).click()
    visit.page.wait_for_selector(".banner >> text=The link is copied")
    copied = visit.page.evaluate("navigator.clipboard.readText()")
    assert copied == visit.page.url
    assert "weights" in copied
    before = visit.ids()
    visit.page.goto("about:blank")
    visit.page.goto(copied)
    visit.ready()
    assert visit.ids() == before
    assert visit.page.get_by_label("weight of weight").input_value() == "3"


def test_share_shows_the_link_where_there_is_no_clipboard(visit):
    visit.page.add_init_script("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    visit.open("#/pets")
    visit.button("Share", exact=True).click()
    field = visit.page.get_by_role("dialog").get_by_label("link")
    assert field.input_value() == visit.page.url
    visit.page.keyboard.press("Escape")
    visit.page.wait_for_selector("dialog", state="detached")


def test_paper_has_the_list_and_nothing_to_press(visit):
    visit.page.emulate_media(media="print", color_scheme="dark")
    visit.page.set_viewport_size({"width": 720, "height": 1000})  # a page of A4
    visit.open("#/films?view=graph")
    visit.until("[...document.styleSheets].some(sheet => sheet.href?.endsWith('later.css'))")
    for name in (".acts", ".weight", ".searchbox", ".tools", ".tabs"):
        assert not visit.page.locator(name).first.is_visible(), name
    assert visit.page.locator(".hit .reason").first.is_visible()
    assert visit.page.locator("#query .title").is_visible()
    color = "getComputedStyle(document.body).backgroundColor"
    assert visit.page.evaluate(color) == "rgb(255, 255, 255)"
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= 720
    pages = len(re.findall(rb"/Type\s*/Page\b", visit.page.pdf(format="A4")))
    assert 2 <= pages <= 8  # all twenty, not the part of them that fits a screen


@pytest.fixture(scope="module")
def long_names(site):
    rows = [
        {"name": f"{LONG} {i}", f"{LONG} weight": 2.5 * i, f"kind of {LONG}": f"{LONG}{i % 3}"}
        for i in range(12)
    ]
    site.call("POST", "/api/collections", {"name": "long", "title": LONG[:150], "rows": rows})
    yield "long"
    site.call("DELETE", "/api/collections/long")


# Boxes that stand side by side and must not lie on each other.
OVERLAPS = """() => {
  const found = [];
  for (const card of document.querySelectorAll(".hit, .cell")) {
    const boxes = [...card.children].filter((el) => el.checkVisibility())
      .map((el) => [el.className, el.getBoundingClientRect()]);
    boxes.forEach(([a, one], i) => boxes.slice(i + 1).forEach(([b, other]) => {
      const wide = Math.min(one.right, other.right) - Math.max(one.left, other.left);
      const tall = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
      if (wide > 1 && tall > 1) found.push(`${a} on ${b}`);
    }));
  }
  return found;
}"""


@pytest.mark.parametrize("width", [1400, 900, 360])
def test_long_names_stay_in_their_boxes(visit, long_names, width):
    visit.page.set_viewport_size({"width": width, "height": 900})
    visit.open(f"#/{long_names}")
    visit.page.locator("button.title").first.click()
    visit.page.wait_for_selector(".detail tbody tr")
    wide = """() => [document.documentElement, ...document.querySelectorAll("section")]
      .filter((el) => el.scrollWidth > el.clientWidth + 1).map((el) => el.id || el.tagName)"""
    if width < 760:  # a phone shows one part at a time
        assert visit.page.evaluate(wide) == []
        visit.button("Map", exact=True).click()
    for view in ("graph", "clusters"):
        visit.page.get_by_role("tab", name=view).click()
        visit.page.wait_for_selector({"graph": ".node", "clusters": ".clusters li"}[view])
        assert visit.page.evaluate(wide) == [], view
    assert visit.page.evaluate(OVERLAPS) == []
