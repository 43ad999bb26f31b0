"""The page in a notebook: its handle, its server, and a real JupyterLab."""

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from importlib.util import find_spec
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the service is not installed")
pytest.importorskip("pandas")

import pandas as pd

import lookalike as la
from lookalike.service import Client
from table.test_as_written import FRAMES

WAIT = 180_000  # milliseconds: guards against hanging, judges no speed


@pytest.fixture
def cats():
    frame = pd.DataFrame(
        {
            "name": [f"cat {i}" for i in range(12)],
            "weight": [3.0 + i / 4 for i in range(12)],
            "color": ["black", "white", "red"] * 4,
        },
        index=[f"c{i}" for i in range(12)],
    )
    explorer = la.explore(frame, title="cats")
    yield explorer
    explorer.close()


def ask(address, path, token=None, body=None):
    """Return the status and the headers of an answer."""
    headers = {"Content-Type": "application/json"}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(address + path, data, headers)
    try:
        with urllib.request.urlopen(request) as response:
            return response.status, response.headers
    except urllib.error.HTTPError as error:
        return error.code, error.headers


def test_nothing_is_chosen_at_first(cats):
    assert cats.selection.empty
    assert cats.marks.empty
    assert cats.filter.empty
    assert cats.weights.to_dict("list") == {"column": ["weight", "color"], "weight": [1.0, 1.0]}


def test_what_the_page_reports_is_read_as_frames(cats):
    address, _, token = cats.url.partition("/#/cats?token=")
    body = {
        "query": {"id": 3},
        "weights": {"weight": 2.5},
        "filter": {"color": {"in": ["black", "red"]}, "weight": {">=": 3, "<=": 4}},
        "marks": {"like": [1], "unlike": [5, 999]},
        "selection": [2, 4, 999],
    }
    assert ask(address, "/api/notebook", token, body)[0] == 204
    assert cats.weights["weight"].tolist() == [2.5, 1.0]
    assert cats.filter.values.tolist() == [
        ["color", "in", ["black", "red"]], ["weight", ">=", 3], ["weight", "<=", 4],
    ]  # fmt: skip
    assert cats.marks["mark"].to_dict() == {"c1": "like", "c5": "unlike"}
    assert cats.selection["weight"].to_dict() == {"c2": 3.5, "c4": 4.0}


def test_only_the_page_with_the_token_is_answered(cats):
    address, _, token = cats.url.partition("/#/cats?token=")
    assert address.startswith("http://127.0.0.1:")
    for path, body in (("/api/collections", None), ("/api/notebook", {"weights": {}})):
        assert ask(address, path, None, body)[0] == 401
        assert ask(address, path, "la_00000000_wrong", body)[0] == 401
    assert ask(address, "/api/collections", token)[0] == 200
    assert ask(address, "/api/notebook", token, {"unknown": 1})[0] == 422
    # A notebook may frame the page, whose token no other page has.
    headers = ask(address, "/")[1]
    assert "frame-ancestors *" in headers["Content-Security-Policy"]
    assert "X-Frame-Options" not in headers


def test_the_server_and_its_copy_end_with_the_handle(cats):
    address = cats.url.partition("/#/")[0]
    folder = cats._service.store.database.path.parent
    assert folder.exists()
    cats.close()
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(address + "/healthz")
    assert not folder.exists()


def test_a_card_stays_where_the_page_cannot_be_reached(cats, browser):
    html, tried = cats._repr_html_(), []
    page = browser.new_page()
    page.set_default_timeout(WAIT)
    # As of a notebook on another machine: nothing answers at the address of the kernel.
    page.route("**/healthz", lambda route: (tried.append(route.request.url), route.abort()))
    with page.expect_event("requestfailed"):
        page.set_content(html)
    assert len(tried) == 1
    assert page.get_by_text("Open the page").is_visible()
    assert page.locator("table td").filter(has_text="cat 1").count()
    assert page.locator("iframe").count() == 0
    # Where it answers the page takes the place of the card.
    page.unroute("**/healthz")
    page.set_content(html)
    page.wait_for_selector("iframe[title='lookalike']")
    assert not page.get_by_text("Open the page").is_visible()
    page.close()
    assert repr(cats) == "Explorer('cats', 12 rows)"


def test_an_index_is_explored_by_its_own_measure():
    index = la.Index(measure="gower:scale=range").fit({"a": [1.0, 2.0, 9.0], "b": ["x", "y", "x"]})
    explorer = la.explore(index)
    try:
        assert explorer._view.index.measure_.scale == "range"
    finally:
        explorer.close()


@pytest.mark.parametrize("form", ["dict", *FRAMES])
def test_the_page_has_the_cells_of_any_frame(form):
    words = [" a", "A", "a", "b c", "=1", "Ünï", "x\ny", "'", None]
    data = {"c": words, "at": [float(i) for i in range(9)], "on": [True, None, False] * 3}
    explorer = la.explore(data if form == "dict" else FRAMES[form](data))
    try:
        address = explorer.url.partition("/#/")[0]
        name, token = explorer.url.partition("/#/")[2].split("?token=")
        with Client(address, token) as client:
            rows = [row["row"] for row in client.rows(name)]
            hits = client.search(name, 0, k=8)["hits"]
        assert {column: [row[column] for row in rows] for column in data} == data
        assert all(hit["row"] == rows[hit["id"]] for hit in hits)
    finally:
        explorer.close()


def test_classes_are_shown_and_some_columns_compared():
    table = {"a": [1.0, 2.0, 9.0], "b": ["x", "y", "x"], "c": [3.0, 1.0, 2.0]}
    index = la.Index(id_column="id").fit(table | {"id": ["p", "q", "r"]})
    explorer = la.explore(index, label="b", columns=["a", "b"])
    try:
        assert explorer.weights["column"].tolist() == ["a"]
        assert explorer._view.index.ids == ["p", "q", "r"]
        assert {"b", "c"} <= {column.name for column in explorer._view.table.aside}
    finally:
        explorer.close()


NOTEBOOK = """
import lookalike as la, pandas as pd
frame = pd.DataFrame({"name": [f"cat {i}" for i in range(30)]})
frame = frame.assign(weight=range(30), color=["black", "white", "red"] * 10)
page = la.explore(frame, title="cats")
page
"""


def cell(source):
    return {"cell_type": "code", "metadata": {}, "outputs": [], "source": source, "id": "a" * 8,
            "execution_count": None}  # fmt: skip


@contextlib.contextmanager
def jupyterlab(folder):
    """Run JupyterLab on a free port; gives its address."""
    with socket.socket() as trial:
        trial.bind(("127.0.0.1", 0))
        port = trial.getsockname()[1]
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}"]
    command += ["--ServerApp.token=", "--ServerApp.password=", f"--ServerApp.root_dir={folder}"]
    command += ["--expose-app-in-browser"]
    places = {"JUPYTER_CONFIG_DIR": str(folder / "config"), "IPYTHONDIR": str(folder / "ipython")}
    log = (folder / "log").open("w")
    process = subprocess.Popen(command, env=os.environ | places, stdout=log, stderr=log)
    address = f"http://localhost:{port}"
    try:
        while True:
            assert process.poll() is None, (folder / "log").read_text()
            with contextlib.suppress(urllib.error.URLError, ConnectionError):
                urllib.request.urlopen(f"{address}/api")
                break
            time.sleep(0.2)
        yield address
    finally:
        process.terminate()
        process.wait()
        log.close()


@pytest.mark.skipif(not find_spec("jupyterlab"), reason="needs jupyterlab: pip install jupyterlab")
def test_in_jupyterlab_the_page_is_shown_and_read(browser, tmp_path):
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    cells = [cell(NOTEBOOK.strip()), cell("print(page.weights.weight.tolist(), len(page.marks))")]
    notebook = {"cells": cells, "nbformat": 4, "nbformat_minor": 5}
    notebook["metadata"] = {"kernelspec": kernel}
    (tmp_path / "cats.ipynb").write_text(json.dumps(notebook))
    with jupyterlab(tmp_path) as address:
        page = browser.new_page(viewport={"width": 1500, "height": 1000})
        page.set_default_timeout(WAIT)
        page.goto(f"{address}/lab/tree/cats.ipynb")
        page.wait_for_selector(".jp-Notebook .jp-CodeCell")
        page.get_by_text("| Idle").wait_for()  # the kernel has started
        page.locator(".jp-CodeCell >> nth=0").click()
        page.keyboard.press("Shift+Enter")
        frame = page.frame_locator(".jp-OutputArea iframe[title='lookalike']")
        frame.locator("li.hit .stack").first.wait_for()
        frame.locator("input[aria-label='weight of weight']").fill("3")
        frame.locator("li.hit button.like").first.click()
        frame.locator("li.hit.liked").first.wait_for()
        out = page.locator(".jp-CodeCell >> nth=1").locator(".jp-OutputArea-output")
        for _ in range(100):  # what is chosen is sent in the background
            page.locator(".jp-CodeCell >> nth=1").locator(".cm-content").click()
            page.keyboard.press("Control+Enter")
            with contextlib.suppress(Exception):
                out.filter(has_text="[3.0, 1.0] 1").wait_for(timeout=2000)
                break
        assert "[3.0, 1.0] 1" in out.inner_text()
        page.close()


HOW_TO = Path(__file__).parents[2] / "docs" / "how-to"


def test_the_first_lines_of_the_page_show_a_table_under_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"penguin {i},{i}\n" for i in range(5))
    Path("penguins.csv").write_text(f"name,weight\n{rows}")
    block = (HOW_TO / "explore-in-a-notebook.md").read_text("utf-8").split("```")[1]
    *lines, last = block.removeprefix("python\n").strip().splitlines()
    names = {}
    exec("\n".join(lines), names)
    explorer = eval(last, names)
    try:
        assert explorer.title == "penguins.csv"
        assert "/#/penguins?token=" in explorer.url
    finally:
        explorer.close()
