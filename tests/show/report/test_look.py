"""Pages in a real browser: nothing scrolls sideways, words can be read, none covers another."""

import numpy as np
import pytest

import lookalike as la
from lookalike.datasets import load_penguins
from lookalike.hubness import MutualProximity
from lookalike.measures import Gower

SCREENS = [(360, "light"), (360, "dark"), (768, "light"), (1280, "light"), (1280, "dark")]
SMALLEST = 12  # pixels of words on a drawing

# What a person would see: the contrast of each piece of text with the ground below it (WCAG 2),
# words on drawings that cover each other or are too small, pictures without words.
LOOK = """smallest => {
  const rgb = text => text.match(/[\\d.]+/g).map(Number);
  const light = color => {
    const [r, g, b] = color.slice(0, 3).map(v => v / 255)
      .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = node => {
    for (let at = node; at; at = at.parentElement) {
      const color = rgb(getComputedStyle(at).backgroundColor);
      if (color.length === 3 || color[3] > 0) return color;
    }
    return [255, 255, 255];
  };
  const pale = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || node.closest('title,style')) continue;
    const style = getComputedStyle(node);
    if (style.display === 'none') continue;
    const ink = rgb(node.closest('svg') && style.fill !== 'none' ? style.fill : style.color);
    const [a, b] = [light(ink), light(ground(node))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) pale.push(walker.currentNode.textContent.slice(0, 40));
  }
  const words = [...document.querySelectorAll('svg text')].filter(e => e.getClientRects().length);
  const size = e => e.ownerSVGElement.getScreenCTM().a * parseFloat(getComputedStyle(e).fontSize);
  const over = [];
  words.forEach((one, i) => words.slice(0, i).forEach(two => {
    if (one.ownerSVGElement !== two.ownerSVGElement) return;
    const [a, b] = [one.getBoundingClientRect(), two.getBoundingClientRect()];
    const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const up = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (across > 1 && up > 2) over.push(one.textContent + ' / ' + two.textContent);
  }));
  return {
    wide: document.scrollingElement.scrollWidth > innerWidth,
    pale, over,
    tiny: words.filter(e => size(e) < smallest).map(e => e.textContent),
    cut: words.filter(e => {
      const [a, b] = [e.getBoundingClientRect(), e.ownerSVGElement.getBoundingClientRect()];
      return a.left < b.left - 1 || a.right > b.right + 1;
    }).map(e => e.textContent),
    nameless: document.querySelectorAll(
      'img:not([alt]),svg:not([aria-label]):not([aria-hidden])').length,
  };
}"""


def wide_table():
    """Many columns, names with quotes, markup and emoji, gaps, and twelve groups on the map."""
    rng = np.random.default_rng(0)
    groups = np.arange(96) % 12
    table = {f'measurement "{j}" <b> 🦎': rng.normal(size=96) + 3 * groups for j in range(30)}
    table["gappy"] = [None if i % 3 else float(i) for i in range(96)]
    table["sort"] = [f"a rather long name of group {g}" for g in groups]
    return table


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    measure = Gower(scale="rank")
    penguins = load_penguins()
    rows = penguins.drop("species")
    hubs = la.hubness_report(MutualProximity(measure).fit(rows), penguins["species"].values, 5)
    made = {
        "report": la.report(penguins, "species", measure=measure, sample=100),
        "clusters": la.report(rows, measure=measure, sample=100),
        "wide": la.report(wide_table(), "sort", measure=measure),
        "hubness": hubs,
        "compare": la.compare(rows, [measure, Gower()], penguins["species"].values, sample=100),
    }
    for name, page in made.items():
        page.to_html(folder / f"{name}.html")
    return folder


NAMES = ["report", "clusters", "wide", "hubness", "compare"]


@pytest.mark.parametrize("name", NAMES)
def test_a_page_can_be_read_on_every_screen(browser, pages, name):
    screen = browser.new_page()
    screen.goto((pages / f"{name}.html").as_uri())
    for width, scheme in SCREENS:
        screen.set_viewport_size({"width": width, "height": 800})
        screen.emulate_media(color_scheme=scheme)
        found = screen.evaluate(LOOK, SMALLEST)
        assert not any(found.values()), (width, scheme, found)
    screen.close()


def test_the_look_finds_what_is_wrong(browser, tmp_path):
    """Each complaint of ``LOOK`` can be had: it is not silent by itself."""
    path = tmp_path / "bad.html"
    path.write_text(
        "<style>p{color:#aaa;width:2000px}</style><p>pale</p><img src='x'>"
        "<svg width='50' height='30' aria-label='a'><text y='20' font-size='8'>one word</text>"
        "<text y='20' font-size='20'>another word</text></svg>"
    )
    screen = browser.new_page(viewport={"width": 360, "height": 800})
    screen.goto(path.as_uri())
    found = screen.evaluate(LOOK, SMALLEST)
    screen.close()
    assert all(found.values()), found


def test_paper_is_white_for_those_who_read_in_the_dark(browser, pages):
    screen = browser.new_page(viewport={"width": 700, "height": 800}, color_scheme="dark")
    screen.goto((pages / "report.html").as_uri())
    screen.emulate_media(media="print", color_scheme="dark")
    found = screen.evaluate(LOOK, SMALLEST)
    ground = screen.evaluate("getComputedStyle(document.body).backgroundColor")
    wide = screen.evaluate(
        "[...document.querySelectorAll('table')].filter(e => e.scrollWidth > innerWidth).length"
    )
    screen.close()
    assert ground == "rgb(255, 255, 255)"
    assert found["pale"] == []
    assert wide == 0  # paper does not scroll
