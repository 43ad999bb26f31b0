"""The files of the page: small, without scripts from elsewhere, without inline code."""

import gzip
import re
from pathlib import Path

import lookalike
from lookalike.service.site import Site, lean

WEB = Path(lookalike.__file__).parent / "service" / "web"
BUDGET = 150_000  # bytes that the first view may load
MARGIN = 8_000  # of them that stay free for what is to come
WHOLE = 220_000  # bytes of all views together


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


def sent(paths):
    """Return how many bytes the browser loads of some files: scripts without their comments."""
    texts = {path: path.read_text(encoding="utf-8") for path in paths}
    lines = (lean(text) if path.suffix == ".js" else text for path, text in texts.items())
    return sum(len(text.encode()) for text in lines)


def test_the_page_stays_small():
    first = [WEB / "index.html", *loaded([WEB / "views" / "map.js"])]
    assert sent(first) < BUDGET - MARGIN
    assert sent(files(".js", ".css", ".html")) < WHOLE


def test_a_script_without_comments_is_the_same_script():
    text = (
        "// no\nconst a = `\n  b\n`; // no\n  /** no\n   * no\n   */\n  const c = '/** yes */';\n"
    )
    text += "/** yes */ (c).d();\n/** no */\n/** @type {any} */ (c).e('; // yes'); // it's\n"
    whole = "const a = `\nb\n`;\nconst c = '/** yes */';\n/** yes */ (c).d();\n"
    whole += "(c).e('; // yes'); // it's\n"
    assert lean(text) == whole


def brought_later():
    """Return what is loaded when it is first needed: modules by import(), and a style."""
    found = {WEB / "style" / "later.css"}
    for path in files(".js"):
        names = re.findall(r'(?:=>|await) import\("(\..+?)"\)', path.read_text(encoding="utf-8"))
        found |= {path.parent / name for name in names}
    return sorted(found)


def test_every_module_is_reached_or_brought_later():
    later = brought_later()
    assert len(later) == 17
    assert {path.resolve() for path in files(".js", ".css")} == loaded(later)


def test_the_page_names_all_that_the_first_list_needs():
    """Otherwise the browser would find modules sequentially, a round trip for each."""
    page = gzip.decompress(Site()._parts["index.html"].small).decode()
    names = re.findall(r'"/web/[0-9a-f]{16}/([^"]+)"', page)
    assert {(WEB / name).resolve() for name in names} == loaded([])
    assert len(names) == len(set(names))


def test_the_first_question_waits_for_no_module():
    text = (WEB / "start.js").read_text(encoding="utf-8")
    assert not re.search(r"^import ", text, re.M)
    token = re.search(r'TOKEN = ("[^"]+")', text).group(1)
    assert token in (WEB / "api.js").read_text(encoding="utf-8")


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
        assert text.startswith("// @ts-check\n"), path
