"""The reference pages that the documentation builds from the code hold all of it."""

import re

from docs._generate import PAGES, cli_page, format_page, measure_table, requests_page, write_pages
from lookalike.cli.app import VERBS
from lookalike.measures import MEASURES
from lookalike.saving.encode import SAVEABLE
from lookalike.saving.fields import fields_of
from lookalike.saving.load import import_packages


def ours(classes):
    import_packages()
    return {n: cls for n, cls in classes.items() if cls.__module__.startswith("lookalike.")}


def test_the_format_of_every_class_is_described_field_by_field():
    parts = re.split(r"^## (\w+)$", format_page(), flags=re.MULTILINE)
    tables = dict(zip(parts[1::2], parts[2::2], strict=True))
    assert set(tables) == set(ours(SAVEABLE))
    for name, cls in ours(SAVEABLE).items():
        shown = re.findall(r"^\| `(\w+)(?: \(parameter\))?` \| .+ \|$", tables[name], re.MULTILINE)
        assert sorted(shown) == sorted(fields_of(cls)), name


def test_the_help_of_every_verb_is_shown():
    page = cli_page()
    for verb in VERBS:
        text = page.split(f"## `lookalike {verb}`")[1].split("```")[1]
        assert f"Usage: lookalike {verb}" in text, verb
        assert "--help" in text, verb


def test_every_request_is_shown_with_its_parameters():
    page = requests_page()
    from lookalike.service.server import ROUTERS

    for router in ROUTERS:
        for route in router.routes:
            path = re.sub(r":\w+}", "}", route.path).replace("/api/", "/api/v1/")
            for method in route.methods:
                assert f"| `{method} {path}` | " in page
    line = next(line for line in page.splitlines() if "/graph` | " in line)
    purpose = "Return the neighbors of a row, their neighbors, and so on."
    request = "`GET /api/v1/collections/{c}/graph`"
    assert line == f"| {request} | `id` `depth` `k` `space` | {purpose} |"
    assert "/ask/inspect` | `filter` | Show what each column of a table holds" in page
    assert "sessions/{s}/marks` | `like` `unlike` | Mark rows as liked or not" in page


def test_every_measure_is_in_the_table():
    shown = re.findall(r"^\| \[`(\w+)`\]", measure_table(), re.MULTILINE)
    assert shown == sorted(ours(MEASURES))


def test_pages_are_written_once(tmp_path):
    write_pages(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == set(PAGES)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    write_pages(tmp_path)
    assert before == {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
