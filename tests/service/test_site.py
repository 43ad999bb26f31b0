"""The files of the page as a browser gets them: small, kept for ever, never stale."""

import gzip
import re
import shutil
import urllib.request
from graphlib import TopologicalSorter

import pytest
from starlette.exceptions import HTTPException
from starlette.requests import Request

from lookalike.service.site import IMPORT, WEB, Site, first_modules, lean, resolve
from service.running import running


def request(**headers):
    pairs = [(name.replace("_", "-").encode(), text.encode()) for name, text in headers.items()]
    return Request({"type": "http", "headers": pairs})


def test_parts_lie_below_a_version_and_stay_for_ever():
    site = Site()
    page = site.page(request())
    assert page.headers["cache-control"] == "no-cache"
    names = re.findall(r'"/web/([^"]+)"', page.body.decode())
    assert {f"{site.version}/{name}" for name in ("start.js", "style/tokens.css", "main.js")} < set(
        names
    )
    for name in names:
        part = site.part(request(), name)
        assert "immutable" in part.headers["cache-control"]
        path = name.removeprefix(f"{site.version}/")
        text = (WEB / path).read_text(encoding="utf-8")
        assert part.body.decode() == (lean(text) if path.endswith(".js") else text)


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
    site = Site(folder)
    assert site.page(request()).headers["etag"] != page.headers["etag"]
    assert site.version != before
    assert site.part(request(), f"{site.version}/main.js").body == b"another();\n"


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


def test_the_first_modules_are_those_that_are_imported():
    files = {
        "draw/dom.js": "export const h = 1;\n",
        "views/map.js": 'import { h } from "../draw/dom.js";\n',
        "views/late.js": "export default 3;\n",
        "main.js": 'import { map } from "./views/map.js";\n'
        'const late = () => import("./views/late.js");\n',
    }
    assert first_modules(files) == ["views/map.js", "draw/dom.js"]


def test_modules_keep_to_the_form_that_is_read():
    """Named imports on one line, exported functions, constants and classes, no cycles."""
    texts = {p.relative_to(WEB).as_posix(): p.read_text("utf-8") for p in WEB.rglob("*.js")}
    form = r"export (async function|function|const|class) \w|export default function \w"
    for name, text in texts.items():
        for line in re.findall(r"^(?:import|export)\b.*$", text, re.M):
            assert IMPORT.fullmatch(line) or re.match(form, line), (name, line)
    imports = {
        name: [resolve(name, path) for _, path in IMPORT.findall(text)]
        for name, text in texts.items()
    }
    assert list(TopologicalSorter(imports).static_order())  # an error where there is a cycle
    assert set().union(*imports.values()) <= texts.keys()
