"""A real server and a real browser for the tests of the page."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("fastapi", reason="the service is not installed")

NOISE = "GPU stall due to ReadPixels"  # of the software renderer, not of the page
WAIT = 180_000  # milliseconds: guards against hanging, judges no speed


def film_rows(n):
    """Return the best known films and some others, as records."""
    from lookalike._runtime.text import plain
    from lookalike.datasets import load_films

    films = load_films()
    votes = np.asarray(films["votes"].values, dtype=float)
    some = np.random.default_rng(0).choice(len(votes), n // 2, replace=False)
    chosen = np.unique(np.concatenate([np.argsort(-votes, kind="stable")[: n // 2], some]))
    table = films[chosen]
    titles = table.aside[0].values
    records = (table.record(i) for i in range(len(chosen)))
    return [
        {"title": str(title), **{k: plain(v) for k, v in record.items() if k != "title"}}
        for title, record in zip(titles, records, strict=True)
    ]


def small_rows():
    """Return a table of three columns, one of them full of markup."""
    rng = np.random.default_rng(1)
    animals = ["cat", "dog", "wolf"]
    return [
        {
            "name": f"<img src=x onerror=alert({i})> & 'pet' {i}",
            "weight": round(float(rng.uniform(2, 60)), 1),
            "animal": animals[i % 3],
        }
        for i in range(24)
    ]


def wide_rows():
    """Return a table of forty columns of several kinds, with gaps."""
    rng = np.random.default_rng(2)
    rows = []
    for i in range(80):
        row = {"part": f"part number {i:03d}"}
        for j in range(20):
            value = round(float(rng.normal(10 * j, 3)), 2)
            row[f"a rather long measurement {j}"] = None if rng.random() < 0.1 else value
        for j in range(12):
            row[f"class_{j}"] = str(rng.choice(["alpha", "beta", "gamma"]))
        for j in range(7):
            row[f"flag_{j}"] = bool(rng.random() < 0.5)
        rows.append(row)
    return rows


def hub_rows():
    """Return a table of twenty numbers with one row in the middle: a hub, which can be reduced."""
    values = np.random.default_rng(0).normal(size=(120, 20))
    values[0] *= 0.05
    return [
        {"name": f"spot {i}", **{f"x{j}": value for j, value in enumerate(row)}}
        for i, row in enumerate(values.round(3).tolist())
    ]


class Site:
    """The address of a server, and calls to it."""

    def __init__(self, address):
        self.address = address

    def call(self, method, path, body=None):
        request = urllib.request.Request(
            f"{self.address}{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=500) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def search(self, collection, **body):
        return self.call("POST", f"/api/collections/{collection}/search", body)

    def wait_for(self, path):
        """Ask until the work behind a view is done, so that no test waits for it."""
        for _ in range(1200):
            with urllib.request.urlopen(f"{self.address}{path}", timeout=120) as answer:
                if answer.status == 200:
                    return
            time.sleep(0.1)
        raise AssertionError(f"{path} is not ready")


@pytest.fixture(scope="session")
def site(browser, tmp_path_factory):  # not used where there is no browser
    folder = tmp_path_factory.mktemp("page")
    code = "from lookalike.cli import main; main()"
    store = str(folder / "store.sqlite")
    command = [sys.executable, "-c", code, "serve", "--store", store, "--port", "0"]
    with (folder / "log").open("w") as log:
        server = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
    while not (found := re.search(r"http://[\w.:]+", (folder / "log").read_text())):
        assert server.poll() is None, (folder / "log").read_text()
        time.sleep(0.1)
    site = Site(found.group())
    tables = {"films": film_rows(1200), "pets": small_rows(), "parts": wide_rows()}
    tables["spots"] = hub_rows()
    for name, rows in tables.items():
        made = site.call("POST", "/api/collections", {"name": name, "rows": rows})
        site.search(name, query={"id": made["start"]}, k=20, explain="all")  # the first compiles
    yield site
    server.terminate()
    server.wait(300)


class Visit:
    """A page of the browser; it must end without errors and requests to other hosts."""

    def __init__(self, page, site):
        self.page, self.site = page, site
        self.said, self.asked = [], []
        self.expected = []  # parts of messages that a test provokes
        page.on("console", lambda message: self.said.append(message.text))
        page.on("pageerror", lambda error: self.said.append(f"error: {error}"))
        page.on("request", lambda request: self.asked.append(request.url))
        page.set_default_timeout(WAIT)

    def open(self, link=""):
        self.page.goto(f"{self.site.address}/{link}")
        self.ready()
        return self

    def ready(self):
        """Wait until the list on the screen answers the question on the screen."""
        self.page.wait_for_selector(".hits[aria-busy=false] .hit")

    def until(self, expression, arg=None):
        """Wait until an expression holds (Playwright's own way is stopped by the policy)."""
        for _ in range(WAIT // 50):
            if self.page.evaluate(expression, arg):
                return
            self.page.wait_for_timeout(50)
        raise AssertionError(f"never came true: {expression}")

    def ids(self):
        cards = self.page.locator(".hit")
        return cards.evaluate_all("cards => cards.map(card => JSON.parse(card.dataset.id))")

    def texts(self, selector):
        return [text.strip() for text in self.page.locator(selector).all_inner_texts()]

    def button(self, name, **options):
        return self.page.get_by_role("button", name=name, **options)

    def check(self):
        said = [text for text in self.said if NOISE not in text]
        said = [text for text in said if not any(part in text for part in self.expected)]
        assert said == []
        inside = (self.site.address, "data:", "blob:")
        assert [url for url in self.asked if not url.startswith(inside)] == []


@pytest.fixture
def visit(browser, site):
    options = {"viewport": {"width": 1400, "height": 1000}, "reduced_motion": "reduce"}
    context = browser.new_context(**options)
    visit = Visit(context.new_page(), site)
    yield visit
    visit.check()
    context.close()


@pytest.fixture(scope="session")
def axe(request):
    """The text of axe-core, from the npm registry into pytest's cache."""
    npm = shutil.which("npm")
    folder = Path(request.config.cache.mkdir("axe"))
    script = folder / "node_modules" / "axe-core" / "axe.min.js"
    if not script.exists():
        if npm is None:
            pytest.skip("axe-core comes from npm, which is not installed")
        command = [npm, "install", "--silent", "--prefix", str(folder), "axe-core@4"]
        try:
            done = subprocess.run(command, capture_output=True, timeout=120, check=False)
        except subprocess.TimeoutExpired:
            pytest.skip("the npm registry does not answer")
        if done.returncode or not script.exists():
            pytest.skip("axe-core could not be had from the npm registry")
    return script.read_text(encoding="utf-8")
