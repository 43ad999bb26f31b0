"""How large the page is, and how long people wait for it: the films in a real browser.

    python -m benchmarks.page                    # starts a server with all films
    python -m benchmarks.page --address http://127.0.0.1:8571 --table films
    python -m benchmarks.page --against http://127.0.0.1:8572    # another version, taking turns

Printed beside its budget: bytes of the first view and of everything, from opening the page to the
first results on a warm server (a browser that was there before, and one that never was), from
moving a slider to the new list, and frames per second while 100,000 points are dragged (in
software, unless the machine has a graphics card). A machine that others use makes waiting times
longer; two versions that take turns have the same luck.
"""

import argparse
import contextlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import sync_playwright
from rich.console import Console
from rich.table import Table

import lookalike
from lookalike.service.site import lean

WEB = Path(lookalike.__file__).parent / "service" / "web"
LATER = WEB / "views" / "later.js"  # views whose code comes when they are looked at
OPENINGS = 15
SCREEN = {"viewport": {"width": 1400, "height": 1000}}
MOVES = 12

# Notes the moment at which the first hit has been drawn: the page writes it within a frame, and a
# message is read after the frame.
FIRST = """
const { port1, port2 } = new MessageChannel();
port1.onmessage = () => { window.firstHit ??= performance.now(); };
new MutationObserver(() => {
  if (!window.firstHit && document.querySelector(".hit")) port2.postMessage(0);
}).observe(document, { childList: true, subtree: true });
"""

# Moves a slider as a hand does, and waits until the list is no longer the old one.
MOVE = """([name, value]) => new Promise((done) => {
  const slider = document.querySelector(`input[aria-label="weight of ${name}"]`);
  const began = performance.now();
  slider.value = value;
  slider.dispatchEvent(new Event("input", { bubbles: true }));
  const look = () => {
    const ready = document.querySelector(".hits")?.getAttribute("aria-busy") === "false";
    if (ready) done(performance.now() - began);
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})"""

PAN = """async (n) => {
  const { createPlane } = await import("/web/draw/plane.js");
  const host = document.createElement("div");
  host.className = "plane";
  for (const _ of [0, 1]) host.append(document.createElement("canvas"));
  document.body.append(host);
  host.style.setProperty("width", "600px");
  const x = Float32Array.from({ length: n }, (_, i) => Math.cos(i) * (i % 997));
  const y = Float32Array.from({ length: n }, (_, i) => Math.sin(i * 1.7) * (i % 991));
  const ids = Array.from({ length: n }, (_, i) => i);
  const rgba = new Uint8Array(4 * n).fill(180);
  const sizes = new Float32Array(n).fill(2.6);
  const nothing = () => {};
  const plane = createPlane(host);
  const base = { map: { ids, x, y }, rgba, sizes, query: 0, hits: [1, 2, 3], hover: -1, label: "",
    hoverLabel: "", poly: null, tool: "pan", onPick: nothing, onPoint: nothing, onChoose: nothing };
  plane.show(base);
  const canvas = host.querySelectorAll("canvas")[1];
  const box = canvas.getBoundingClientRect();
  const send = (type, i) => {
    const clientX = box.left + 300 + 80 * Math.sin(i / 9);
    const clientY = box.top + 200 + 60 * Math.cos(i / 7);
    canvas.dispatchEvent(new PointerEvent(type, { pointerId: 1, bubbles: true, clientX, clientY }));
  };
  canvas.setPointerCapture = nothing; // no finger is down
  send("pointerdown", 0);
  const frame = () => new Promise(requestAnimationFrame);
  for (let i = 0; i < 5; i += 1) { send("pointermove", i); await frame(); }
  const began = performance.now();
  let frames = 0;
  const gl = host.querySelector("canvas").getContext("webgl2");
  while (performance.now() - began < 2000) {
    send("pointermove", frames + 5);
    await frame();
    gl?.finish(); // count frames that were drawn, not frames that were ordered
    frames += 1;
  }
  return { painter: host.dataset.painter, rate: frames / ((performance.now() - began) / 1000) };
}"""


def sizes():
    """Return the bytes that the first view loads, and those of all views, as they are sent."""
    names = re.findall(r'"/web/([^"]+)"', (WEB / "index.html").read_text(encoding="utf-8"))
    todo, seen = [WEB / "index.html", WEB / "views" / "map.js", *(WEB / n for n in names)], set()
    while todo:
        path = todo.pop().resolve()
        if path not in seen:
            seen.add(path)
            text = path.read_text(encoding="utf-8")
            found = re.findall(r'^import .*?from "(.+?)"', text, re.M)
            todo += [path.parent / name for name in found]
    everything = [path for path in WEB.rglob("*") if path.suffix in (".js", ".css", ".html")]
    return [sum(map(_sent, paths)) for paths in (seen, everything)]


def _sent(path):
    text = path.read_text(encoding="utf-8")
    return len((lean(text) if path.suffix == ".js" else text).encode())


@contextlib.contextmanager
def films_served():
    """Start a server with all films; yield its address."""
    from lookalike.service.limits import RequestLimits
    from lookalike.service.server import serve_films
    from lookalike.service.service import Catalog
    from lookalike.service.store.store import Store

    with tempfile.TemporaryDirectory() as folder:
        address = str(Path(folder) / "store.sqlite")
        store = Store(address)
        serve_films(Catalog(store), RequestLimits())
        store.close()
        with serving(address) as found:
            yield found


@contextlib.contextmanager
def serving(store):
    """Start a server of a store; yield its address."""
    log = Path(store).with_suffix(".log")
    code = "from lookalike.cli import main; main()"
    command = [sys.executable, "-c", code, "serve", "--store", store, "--port", "0"]
    with log.open("w") as out:
        server = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
    try:
        while not (found := re.search(r"http://[\w.:]+", log.read_text())):
            if server.poll() is not None:
                raise SystemExit(log.read_text())
            time.sleep(0.1)
        yield found.group()
    finally:
        server.terminate()
        server.wait(30)


def find_chromium():
    """Return the path of the browser."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        raise SystemExit(
            "benchmarks.page: needs chromium, found none. Debian: apt install chromium"
        )
    return chromium


def opening(context, address, table):
    """Open the page; return it, and the milliseconds until the first hits were drawn."""
    page = context.new_page()
    page.set_default_timeout(300_000)
    page.add_init_script(FIRST)
    page.goto(f"{address}/#/{table}?view=graph")
    page.wait_for_selector(".hits[aria-busy=false] .hit")
    page.wait_for_timeout(100)
    return page, page.evaluate("window.firstHit")


def openings(browser, addresses, table):
    """Open the pages in turn, by browsers that know them and by others; return all times."""
    known = {address: browser.new_context(**SCREEN) for address in addresses}
    times = {(address, kind): [] for address in addresses for kind in ("new", "known")}
    for turn in range(OPENINGS + 1):
        for address in addresses if turn % 2 else addresses[::-1]:
            for kind in ("new", "known"):
                context = browser.new_context(**SCREEN) if kind == "new" else known[address]
                page, took = opening(context, address, table)
                if turn or kind == "new":  # the first of a browser that shall know it is no measure
                    times[address, kind].append(took)
                page.close()
                if kind == "new":
                    context.close()
    return times


def measure(addresses, table):
    """Return the times in milliseconds, and what was seen of the map."""
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        times = openings(browser, addresses, table)
        page, _ = opening(browser.new_context(**SCREEN), addresses[0], table)
        names = page.locator(".weight input").evaluate_all(
            "all => all.map(one => one.getAttribute('aria-label').slice('weight of '.length))"
        )
        moves = []
        for i in range(MOVES):
            value = ("3", "0.5", "2", "4")[(i // len(names)) % 4]
            moves.append(page.evaluate(MOVE, [names[i % len(names)], value]))
            page.wait_for_timeout(150)
        pan = page.evaluate(PAN, 100_000)
        browser.close()
    return {
        "first": times[addresses[0], "new"][0],
        "opened": {key: statistics.median(some[1:]) for key, some in times.items()},
        "move": statistics.median(moves[1:]),
        **pan,
    }


def waits(opened, addresses):
    """Return the rows about opening the page, the other version in the place of a budget."""
    rows = []
    for kind, words in (("known", "in a browser that knows it"), ("new", "in a new browser")):
        took = opened[addresses[0], kind]
        rows.append((f"opening to first results, {words}", "300 ms", f"{took:.0f} ms", took < 300))
        for other in addresses[1:]:
            theirs = opened[other, kind]
            rows.append((f"  {other}", "", f"{theirs:.0f} ms ({took / theirs:.2f}x)", None))
    return rows


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.page", description=__doc__)
    parser.add_argument("--address", help="a server that is running already")
    parser.add_argument("--against", help="another server, whose page is opened interleaved")
    parser.add_argument("--table", default="films")
    options = parser.parse_args()
    first, everything = sizes()
    with contextlib.ExitStack() as stack:
        address = options.address or stack.enter_context(films_served())
        addresses = [one.rstrip("/") for one in (address, options.against) if one]
        found = measure(addresses, options.table)
    grid = Table("what", "budget", "measured", "", title="The explorer page")
    rate = 20 if found["painter"] == "2d" or found["rate"] < 55 else 60
    rows = [
        ("first view, uncompressed", "150 kB", f"{first / 1000:.1f} kB", first < 150_000),
        ("all views", "220 kB", f"{everything / 1000:.1f} kB", everything < 220_000),
        *waits(found["opened"], addresses),
        ("opening, the very first time", "", f"{found['first']:.0f} ms", None),
        ("slider to new list", "150 ms", f"{found['move']:.0f} ms", found["move"] < 150),
        (
            f"dragging 100,000 points ({found['painter']})",
            f"{rate} frames/s",
            f"{found['rate']:.0f} frames/s",
            found["rate"] >= rate,
        ),
    ]
    for what, budget, value, good in rows:
        grid.add_row(what, budget, value, "" if good is None else "met" if good else "missed")
    Console().print(grid)


if __name__ == "__main__":
    main()
