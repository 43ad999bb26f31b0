"""The files of the page as a browser gets them: small, kept for ever, never stale."""

import gzip
import json
import re
import shutil
import subprocess
import urllib.request

import pytest
from starlette.exceptions import HTTPException
from starlette.requests import Request

from lookalike.errors import InvalidInput
from lookalike.service.api.collections import at_hand
from lookalike.service.cells import to_json
from lookalike.service.fitting import CollectionSettings
from lookalike.service.limits import RequestLimits
from lookalike.service.safety import AccessPolicy
from lookalike.service.service import Service
from lookalike.service.site import WEB, Site, bundle, lean, one_script
from service.running import running


def request(**headers):
    pairs = [(name.replace("_", "-").encode(), text.encode()) for name, text in headers.items()]
    return Request({"type": "http", "headers": pairs})


def test_parts_lie_below_a_version_and_stay_for_ever():
    site = Site()
    page = site.page(request())
    assert page.headers["cache-control"] == "no-cache"
    names = re.findall(r'"/web/([^"]+)"', page.body.decode())
    assert names == [f"{site.version}/{name}" for name in ("start.js", "main.css", "main.js")]
    for name in names:
        part = site.part(request(), name)
        assert "immutable" in part.headers["cache-control"]
    text = (WEB / "start.js").read_text(encoding="utf-8")
    assert site.part(request(), names[0]).body == lean(text).encode()
    sheets = re.findall(r'"/web/(style/[^"]+)"', (WEB / "index.html").read_text("utf-8"))
    assert site.part(request(), names[1]).body == b"".join(
        (WEB / name).read_bytes() for name in sheets
    )


def test_another_version_is_not_kept():
    site = Site()
    for path in ("main.js", "0123456789abcdef/main.js"):
        assert site.part(request(), path).headers["cache-control"] == "no-cache"


def test_compressed_for_those_who_take_it():
    site = Site()
    small = site.part(request(accept_encoding="br, gzip"), "start.js")
    assert small.headers["content-encoding"] == "gzip"
    assert small.headers["vary"] == "Accept-Encoding"
    plain = lean((WEB / "start.js").read_text(encoding="utf-8")).encode()
    assert gzip.decompress(small.body) == plain
    assert len(small.body) < 0.6 * len(plain)
    assert "content-encoding" not in site.part(request(), "start.js").headers


def test_what_a_browser_has_is_not_sent_again():
    site = Site()
    tag = site.page(request()).headers["etag"]
    again = site.page(request(if_none_match=tag))
    assert (again.status_code, again.body) == (304, b"")
    assert site.page(request(if_none_match='"another"')).status_code == 200


@pytest.mark.parametrize("path", ["", "..", "../app.py", "types.d.ts", "style", "main.js/", "\0"])
def test_nothing_else_can_be_had(path):
    with pytest.raises(HTTPException) as error:
        Site().part(request(), path)
    assert error.value.status_code == 404


def test_a_file_that_is_changed_changes_the_version(tmp_path):
    folder = shutil.copytree(WEB, tmp_path / "web")
    site = Site(folder)
    before, page = site.version, site.page(request())
    (folder / "main.js").write_text("another();\n", encoding="utf-8")
    assert site.page(request()).headers["etag"] != page.headers["etag"]
    assert site.version != before
    assert site.part(request(), f"{site.version}/main.js").body == b"another();\n"


def data_of(page):
    found = re.search(r'<script type="application/json" id="opening">(.*?)</script>', page)
    return None if found is None else json.loads(found[1])


def test_what_it_opens_on_comes_with_the_page(pets):
    with urllib.request.urlopen(f"{pets.address}/", timeout=300) as answer:
        before = answer.read().decode()
    pets.opening()  # now it is at hand
    with urllib.request.urlopen(f"{pets.address}/", timeout=300) as answer:
        assert answer.headers["Cache-Control"] == "no-store"
        page = answer.read().decode()
    assert "data-opening" not in before
    assert '<html data-opening="pets"' in page
    assert data_of(page) == pets.opening()


def test_cells_cannot_leave_the_data():
    data = to_json({"cell": "</script><script>alert(1)</script><!-- &"})
    page = Site().page(request(), ("pets", data)).body.decode()
    assert page.count("<script") == 3  # two that have a source, and the data
    assert "alert(1)<" not in page
    assert data_of(page) == json.loads(data)


def test_who_needs_a_token_gets_the_page_alone(tmp_path):
    access = AccessPolicy(tokens=True)
    service = Service(tmp_path / "store.sqlite", access=access)
    rows = [{"weight": weight, "animal": "cat"} for weight in (1, 2, 3)]
    service.catalog.create("pets", rows, CollectionSettings("pets"), RequestLimits())
    service.warm("pets")
    assert at_hand(service) is None
    service.access = AccessPolicy()
    name, data = at_hand(service)
    assert (name, json.loads(data)["collection"]["rows"]) == ("pets", 3)
    service.store.close()


def test_the_policy_comes_with_every_part(server):
    for path in ("/", "/web/main.js", f"/web/{Site().version}/main.js"):
        with urllib.request.urlopen(server.address + path, timeout=300) as answer:
            assert "script-src 'self'" in answer.headers["Content-Security-Policy"]
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
            assert ("immutable" in answer.headers["Cache-Control"]) == (len(path) > 20)


def test_the_opening_is_three_answers_in_one(server):
    found = server.opening()
    assert found["collections"] == server.collections()
    assert found["collection"] == server.describe("pets")
    asked = server.search("pets", found["collection"]["start"], 20, explain="all")
    for answer in (asked, found["answer"]):
        del answer["took_ms"]
    assert found["answer"] == asked
    assert server.opening("nothing") == {**found, "collection": None, "answer": None}


def test_the_opening_follows_the_rows(pets):
    before = pets.opening("pets")
    pets.add("pets", [before["answer"]["query"]["row"]])
    after = pets.opening("pets")
    assert after["collection"]["rows"] == before["collection"]["rows"] + 1
    assert after["answer"]["matched"] == before["answer"]["matched"] + 1
    asked = pets.search("pets", after["collection"]["start"], 20)["hits"]
    assert [hit["id"] for hit in after["answer"]["hits"]] == [hit["id"] for hit in asked]


def test_an_empty_store_opens_too(tmp_path):
    with running(tmp_path / "empty.sqlite") as (_, client):
        assert client.opening() == {"collections": [], "collection": None, "answer": None}


FILES = {
    "main.js": """import { say, twice as double } from "./words.js";
import { count } from "./draw/count.js";
const KEPT = 3;
const seen = [say(KEPT), double(4), count()];
const later = () => import("./views/late.js");
later().then((late) => console.log(JSON.stringify([...seen, late.default(), late.where])));
""",
    "words.js": """import { count } from "./draw/count.js";
const KEPT = "words";
export const twice = (x) => 2 * x;
export function say(n) {
  return `${KEPT} ${n} ${count()}`;
}
""",
    "draw/count.js": """let n = 0;
export function count() {
  n += 1;
  return n;
}
""",
    "views/late.js": """import { count } from "../draw/count.js";
import { tool } from "../draw/tool.js";
const address = new URL("../style/x.css", import.meta.url);
export const where = address.pathname.split("/").slice(-2).join("/");
export default function late() {
  return [count(), tool()];
}
""",
    "draw/tool.js": """import { count } from "./count.js";
export class Tool {}
export const tool = () => [count(), new Tool().constructor.name];
""",
}


def run(files, folder):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (folder / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    command = [shutil.which("node"), str(folder / "main.js")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert not done.stderr
    return json.loads(done.stdout)


@pytest.mark.skipif(shutil.which("node") is None, reason="no Node.js on this machine")
def test_they_do_what_they_did(tmp_path):
    """Shared state is shared still: a module that comes later counts on."""
    sent = bundle(FILES)
    assert set(sent) == {"main.js", "views/late.js"}
    plain = run(FILES, tmp_path / "plain")
    assert plain == ["words 3 1", 8, 2, [3, [4, "Tool"]], "style/x.css"]
    assert run({**FILES, **sent}, tmp_path / "sent") == plain
    alone = dict(sent)  # nothing of what is in a bundle is asked for again
    assert run(alone, tmp_path / "alone") == plain


@pytest.mark.parametrize(
    "text",
    [
        'import * as all from "./words.js";',
        'import "./words.js";',
        'import words from "./words.js";',
        'import { say } from "./nowhere.js";',
        'import { say } from "elsewhere";',
        'export * from "./words.js";',
        "export { say };",
        "export let n = 0;",
        "export var n = 0;",
    ],
)
def test_other_forms_are_refused(text):
    with pytest.raises(InvalidInput, match=r"main\.js"):
        bundle({**FILES, "main.js": f"{text}\n"})


def test_cycles_are_refused():
    files = {
        **FILES,
        "draw/count.js": 'import { say } from "../words.js";\nexport const count = say;\n',
    }
    with pytest.raises(InvalidInput, match=r"draw/count\.js -> words\.js -> draw/count\.js"):
        bundle({**files, "main.js": 'import { count } from "./draw/count.js";\n'})


def test_the_page_is_bundled_whole():
    texts = {p.relative_to(WEB).as_posix(): p.read_text("utf-8") for p in WEB.rglob("*.js")}
    sent = bundle(texts)
    for name, text in sent.items():
        for path in re.findall(r' from "([^"]+)"', re.sub(r"/\*.*?\*/", "", text, flags=re.S)):
            base = (WEB / name).parent / path
            assert base.resolve().relative_to(WEB).as_posix() in sent, (name, path)
    exported = set(re.findall(r"^export const (\$\w+)", sent["main.js"], re.M))
    for name, text in sent.items():
        for names in re.findall(r"^import \{ ([^}]+) \} from", text, re.M):
            assert set(names.split(", ")) <= exported, name


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
