"""The files of the page as a browser gets them: small, kept for ever, never stale."""

import gzip
import json
import re
import shutil
import urllib.request

import pytest
from starlette.exceptions import HTTPException
from starlette.requests import Request

from lookalike.service.api.collections import at_hand
from lookalike.service.cells import to_json
from lookalike.service.fitting import CollectionSettings
from lookalike.service.limits import RequestLimits
from lookalike.service.safety import AccessPolicy
from lookalike.service.service import Service
from lookalike.service.site import WEB, Site
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
    assert site.part(request(), names[0]).body == (WEB / "start.js").read_bytes()
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
    assert gzip.decompress(small.body) == (WEB / "start.js").read_bytes()
    assert len(small.body) < 0.6 * (WEB / "start.js").stat().st_size
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
    (folder / "main.js").write_text("// another\n", encoding="utf-8")
    assert site.page(request()).headers["etag"] != page.headers["etag"]
    assert site.version != before
    assert site.part(request(), f"{site.version}/main.js").body == b"// another\n"


def data_of(page):
    found = re.search(r'<script type="application/json" id="opening">(.*?)</script>', page)
    return None if found is None else json.loads(found[1])


def test_what_it_opens_on_comes_with_the_page(pets):
    with urllib.request.urlopen(f"{pets.address}/", timeout=60) as answer:
        before = answer.read().decode()
    pets.opening()  # now it is at hand
    with urllib.request.urlopen(f"{pets.address}/", timeout=60) as answer:
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
        with urllib.request.urlopen(server.address + path, timeout=60) as answer:
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
