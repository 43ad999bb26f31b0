"""The page as one file: opened from the disk, asked, and compared with the library."""

import re

import numpy as np
import pytest

pytest.importorskip("fastapi", reason="the service is not installed")

import lookalike as la
from lookalike.errors import InvalidInput
from lookalike.exploring.offline import one_script
from lookalike.service.site import WEB

WAIT = 120_000  # milliseconds: guards against hanging, judges no speed


def pets(n=60):
    rng = np.random.default_rng(3)
    animals = ["cat", "dog", "wolf", None]
    return {
        "name": [f"<b>pet</b> {i}" for i in range(n)],
        "weight": [None if i % 11 == 0 else round(float(rng.lognormal(2, 1)), 1) for i in range(n)],
        "animal": [animals[i % 4] for i in range(n)],
        "size": [("small", "medium", "large")[int(i)] for i in rng.integers(0, 3, n)],
        "tags": [set(rng.choice(["tame", "wild", "old"], rng.integers(0, 3))) for _ in range(n)],
        "born": [f"20{int(y):02d}-03-01" for y in rng.integers(0, 24, n)],
        "constructor": [bool(v) for v in rng.random(n) < 0.5],  # every object of the page has one
    }


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("offline") / "pets.html"
    explorer = la.explore(pets(), title="pets")
    explorer.to_html(path)
    explorer.close()
    return path


@pytest.fixture
def opened(browser, file):
    """The file in a browser that reaches nothing else."""
    page = browser.new_page(viewport={"width": 1400, "height": 900}, offline=True)
    page.set_default_timeout(WAIT)
    wrong, asked = [], []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda m: wrong.append(m.text) if m.type == "error" else None)
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri())
    page.wait_for_selector("li.hit .stack")
    yield page
    page.close()
    assert wrong == []
    others = [url for url in asked if not url.startswith(("file:", "data:", "blob:"))]
    assert others == []


def search(page, **body):
    question = ["POST", "/api/collections/pets/search", {"k": 20, **body}]
    return page.evaluate("([m, p, b]) => lookalike.call(m, p, b)", question)


@pytest.fixture(scope="module")
def index():
    return la.Index().fit(la.read_table(pets()))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"weights": {"weight": 4.0, "animal": 0.0, "tags": 0.5}},
        {"filter": {"animal": {"in": ["cat", "dog"]}, "weight": {">=": 2, "<=": 30}}},
        {"filter": {"tags": {"contains": "wild"}, "animal": {"!=": None}}},
        {"filter": {"born": {">=": "2010-01-01"}, "size": {">=": "medium"}}},
        {"like": [7, 21], "unlike": [4]},
    ],
    ids=lambda options: "-".join(options) or "plain",
)
def test_hits_are_those_of_the_library(opened, index, options):
    for row in (0, 11, 34):
        found = search(opened, query={"id": row}, **options)
        hits = index.search(row, k=20, **options)
        assert [hit["id"] for hit in found["hits"]] == hits.ids
        for one, hit in zip(found["hits"], hits, strict=True):
            assert one["similarity"] == pytest.approx(hit.similarity, abs=1e-12)
            assert one["score"] == pytest.approx(hit.score, abs=1e-12)
            assert (one["compared"], one["compared_of"]) == (hit.compared, hit.compared_of)


def test_reasons_add_up_and_are_those_of_the_library(opened, index):
    for row in (5, 22):
        found = search(opened, query={"id": row})["hits"]
        for one, hit in zip(found, index.search(row, k=20), strict=True):
            why = hit.explanation
            for part in one["columns"]:
                assert part["plus"] == pytest.approx(why.plus[part["column"]], abs=1e-12)
                assert part["minus"] == pytest.approx(why.minus[part["column"]], abs=1e-12)
            sides = why.reasons(len(one["columns"]))
            for side, expected in zip(("for", "against"), sides, strict=True):
                names = [reason["column"] for reason in one["reasons"][side]]
                assert names == [name for name, _ in expected], (row, hit.id, side)


def test_a_slider_changes_the_list(opened, index):
    first = opened.locator("li.hit").evaluate_all("all => all.map((one) => one.dataset.id)")
    start = la_start(opened)
    assert first == [str(id) for id in index.search(start, k=20).ids]
    opened.fill("input[aria-label='weight of weight']", "4")
    expected = [str(id) for id in index.search(start, k=20, weights={"weight": 4}).ids]
    opened.wait_for_function(
        "e => String([...document.querySelectorAll('li.hit')].map((o) => o.dataset.id)) === e",
        arg=",".join(expected),
    )
    assert expected != first
    opened.click("li.hit button.title >> nth=0")
    opened.wait_for_selector(".detail table")


def la_start(page):
    return page.evaluate("lookalike.call('GET', '/api/collections/pets').then((x) => x.start)")


def test_a_column_called_as_what_every_object_has(opened):
    assert "native code" not in opened.inner_text("#query")
    cell = opened.locator("#query .cell", has_text="constructor")
    assert cell.get_by_role("slider").input_value() == "1"


def test_a_row_is_found_by_its_name(opened):
    opened.fill("#search", "pet</b> 42")
    opened.click("#suggestions li >> nth=0")
    opened.wait_for_function("document.querySelector('#query .title').textContent.includes('42')")
    assert "id" in opened.url
    assert opened.url.startswith("file:")


def test_views_need_no_server(opened):
    opened.wait_for_selector(".plane[data-rows='60']")
    for tab, what in (("graph", "svg"), ("hubs", "p"), ("clusters", "li, table, h3")):
        opened.click(f"#tab-{tab}")
        opened.wait_for_selector(f"#panel :is({what})")
    assert opened.locator(".problem").count() == 0
    assert not opened.locator("#tab-set").is_visible()


def test_what_needs_a_server_says_so(opened):
    ask = "lookalike.call('DELETE', '/api/collections/pets/rows/1').catch((e) => e.problem)"
    assert "needs a server" in opened.evaluate(ask)["title"]
    ask = "lookalike.call('POST', '/api/collections/pets/search', {query: {record: {}}})"
    assert "needs a server" in opened.evaluate(f"{ask}.catch((e) => e.problem)")["title"]


def test_only_its_own_script_may_run_and_no_cell_is_markup(file):
    page = file.read_text("utf-8")
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', page)[1]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert "<b>pet" not in page
    assert page.count("<script") == 2


def test_other_measures_are_refused(tmp_path):
    table = {"a": [1.0, 2.0, 3.0, 5.0], "b": [2.0, 1.0, 0.0, 1.0]}
    explorer = la.explore(table, measure="vector:metric=euclidean")
    try:
        with pytest.raises(InvalidInput, match="measure='gower'"):
            explorer.to_html(tmp_path / "page.html")
    finally:
        explorer.close()


def test_one_script_has_every_module_once_each_behind_its_imports():
    files = {
        "draw/dom.js": 'export const h = (tag) => `<${tag}>`;\nexport const once = ["dom"];\n',
        "views/map.js": 'import { h, once } from "../draw/dom.js";\n'
        'export default function map() {\n  once.push("map");\n  return h("map");\n}\n',
        "views/later.js": 'const PARTS = { map: () => import("./map.js") };\n'
        "export const later = (name) => PARTS[name]().then((found) => found.default());\n",
        "main.js": 'import { once } from "./draw/dom.js";\n'
        'import { later } from "./views/later.js";\n'
        'later("map").then((text) => console.log(text, String(once)));\n',
        "unused.js": "export const never = 1;\n",
    }
    script = one_script(files)
    assert not re.search(r"^\s*(import|export)\b", script, re.M)
    assert "import(" not in script
    assert "never" not in script
    order = re.findall(r"^const (\$\w+) =", script, re.M)
    assert order.index("$draw_dom") < order.index("$views_map")
    assert order[-1] == "$main"
    assert len(order) == 4


def test_the_whole_page_is_one_script():
    texts = {p.relative_to(WEB).as_posix(): p.read_text("utf-8") for p in WEB.rglob("*.js")}
    script = one_script(texts)
    assert not re.search(r"^(import|export)\b", script, re.M)
    assert script.count("const $views_map = ") == 1
