"""The files of the page: small, without scripts from elsewhere, without inline code."""

import re
from pathlib import Path

import lookalike

WEB = Path(lookalike.__file__).parent / "service" / "web"
BUDGET = 150_000  # bytes that the first view loads


def files(*endings):
    return [path for path in sorted(WEB.rglob("*")) if path.suffix in endings]


def loaded(more):
    """Return what the browser loads: imports, followed from the page and from some modules."""
    names = re.findall(r'"/web/([^"]+)"', (WEB / "index.html").read_text(encoding="utf-8"))
    todo, seen = [*(WEB / name for name in names), *more], set()
    while todo:
        path = todo.pop().resolve()
        if path in seen:
            continue
        seen.add(path)
        text = path.read_text(encoding="utf-8")
        todo += [path.parent / name for name in re.findall(r'^import .*?from "(.+?)"', text, re.M)]
    return seen


def test_the_page_stays_small():
    first = [WEB / "index.html", *loaded([WEB / "views" / "map.js"])]
    assert sum(path.stat().st_size for path in first) < BUDGET


def test_every_module_is_reached_or_brought_later():
    text = (WEB / "views" / "later.js").read_text(encoding="utf-8")
    later = [WEB / "views" / name for name in re.findall(r'import\("\./(.+?)"\)', text)]
    assert len(later) == 7
    assert {path.resolve() for path in files(".js", ".css")} == loaded(later)


def test_nothing_is_inline_and_nothing_comes_from_elsewhere():
    page = (WEB / "index.html").read_text(encoding="utf-8")
    assert not re.search(r"<script(?![^>]*\bsrc=)", page)
    assert not re.search(r"\sstyle=|\son\w+=|<style", page)
    for path in files(".js", ".css", ".html"):
        text = path.read_text(encoding="utf-8")
        addresses = set(re.findall(r"https?://[^\s\"')]+", text))
        assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/2000/svg'"}, path
        assert "@import" not in text


def test_text_is_never_read_as_markup():
    for path in files(".js"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", text)


def test_modules_are_checked_and_small():
    for path in files(".js"):
        text = path.read_text(encoding="utf-8")
        assert text.count("\n") <= 400, path
        assert path.name == "theme.js" or text.startswith("// @ts-check\n"), path
