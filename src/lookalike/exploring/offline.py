"""The explorer page as one file: rows can be searched, weighed and explained without a server.

The file holds the page's own scripts, with the calls to the server answered from the data in it.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import posixpath
import re
from collections.abc import Mapping, Sequence
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

import numpy as np

from lookalike._runtime.text import plain
from lookalike.errors import InvalidInput, Param, Phrase
from lookalike.exploring.payload import Arrays, write_baseline, write_columns
from lookalike.measures.mixed.gower import Gower
from lookalike.service import analysis, answers
from lookalike.service.cells import to_json
from lookalike.service.collection import View
from lookalike.service.site import FIRST, IMPORT, WEB, lean, resolve
from lookalike.table import Column

OWN = Path(__file__).parent / "web"
GAMMA = 0.5  # of the page's searches with marks
N_NEIGHBORS = 10  # of the lists that hubs are counted in, as on the page
# What the page loads: in the file it is inside.
LINKED = re.compile(r' *<(?:script\b[^>]*src="[^"]*"[^>]*></script|link rel="stylesheet"[^>]*)>\n')
EXPORT = re.compile(r"^export (default )?(?=(?:async function|function|const|class) (\w+))", re.M)
DYNAMIC = re.compile(r'(=>|await) import\("(\.[^"\n]+)"\)')  # not the types in comments
# Hidden: what changes rows, and what only a server computes.
STYLE = """
#header :is(select.table option[value^="+"], select.table hr, select.measure, [aria-label="hubs"]),
#query > p.row, #tab-set, .detail > p.row, .drawn label { display: none; }
"""


def offline_page(name: str, view: View, k: int = N_NEIGHBORS) -> str:
    """Return the page of a collection as HTML that needs no other file.

    Parameters
    ----------
    name : str
    view : View
    k : int
        Length of the lists that hubs are counted in.
    """
    measure = view.index.measure_
    if not isinstance(measure, Gower):
        hint = Phrase("Use ", Param("measure", "gower"), ", or explore it with a server")
        found = type(measure).__name__
        raise InvalidInput(Param("measure"), "Gower, which compares column by column", found, hint)
    files = {p.relative_to(WEB).as_posix(): p.read_text("utf-8") for p in WEB.rglob("*.js")}
    # With our answers in place of those of the server.
    script = one_script(files | {p.name: p.read_text("utf-8") for p in OWN.glob("*.js")})
    page = (WEB / "index.html").read_text("utf-8")
    sheets = [*re.findall(r'href="/web/([^"]+)"', page), "style/later.css"]
    style = "".join((WEB / name).read_text("utf-8") for name in sheets) + STYLE
    page = LINKED.sub("", page)
    # Cells are untrusted: only our script runs, and nothing can be sent or loaded.
    policy = f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; "
    policy += "img-src data:; base-uri 'none'; form-action 'none'"
    head = f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
    # Without the time in its head, the same rows make the same file.
    data = base64.b64encode(gzip.compress(_data(name, view, measure, k), 9, mtime=0)).decode()
    body = f'<script type="application/octet-stream" id="data">{data}</script>\n'
    body += f'<script type="module">{script}</script>\n'
    page = page.replace("<html", '<html data-offline=""', 1)
    page = page.replace("<title>", f"{head}    <title>", 1)
    page = page.replace("</head>", f"<style>{style}</style>\n</head>", 1)
    return page.replace("</body>", f"{body}</body>", 1)


def _hash(text: str) -> str:
    """Return a text as its policy names it: the browser runs no other script."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def one_script(files: Mapping[str, str]) -> str:
    r"""Return all modules as one script, also those that are imported dynamically.

    Each becomes a constant: what a function with its body returns, so that names of different
    modules never meet.

    Examples
    --------
    >>> files = {
    ...     "a.js": "export default function a() {}\n",
    ...     "main.js": 'const later = () => import("./a.js");\nlater();\n',
    ... }
    >>> print(one_script(files))
    const $a = (() => {
    function a() {}
    return { default: a };
    })();
    const $main = (() => {
    const later = () => Promise.resolve($a);
    later();
    return {  };
    })();
    <BLANKLINE>
    """
    names = [FIRST]
    imports = {}
    for name in names:  # which grows meanwhile
        imports[name] = [resolve(name, path) for _, path in IMPORT.findall(files[name])]
        brought = [resolve(name, path) for _, path in DYNAMIC.findall(files[name])]
        names += dict.fromkeys(n for n in imports[name] + brought if n not in names)
    # The entry runs last: whatever it calls is there by then.
    order = TopologicalSorter({name: imports[name] for name in names[1:]}).static_order()
    return lean("".join(_closed(name, files[name]) for name in [*order, FIRST]))


def _closed(name: str, text: str) -> str:
    """Return a module as a constant."""

    def of(path: str) -> str:
        return "$" + re.sub(r"\W", "_", resolve(name, path).removesuffix(".js"))

    def taken(match: re.Match[str]) -> str:
        return f"const {{ {match[1].replace(' as ', ': ')} }} = {of(match[2])};"

    names = [f"default: {found}" if default else found for default, found in EXPORT.findall(text)]
    body = EXPORT.sub("", IMPORT.sub(taken, text))
    body = DYNAMIC.sub(lambda match: f"{match[1]} Promise.resolve({of(match[2])})", body)
    own = of(posixpath.basename(name))
    return f"const {own} = (() => {{\n{body}return {{ {', '.join(names)} }};\n}})();\n"


def _data(name: str, view: View, measure: Gower, k: int) -> bytes:
    """Return one line of JSON, then the arrays that it names."""
    arrays, table = Arrays(), view.table
    shown = [column for column in table.every if column.name != view.hidden]
    levels = {c.name: list(map(plain, c.kind.levels)) for c in shown if c.kind.name == "order"}
    spaces = {"plain": True, "repaired": "none", "reduction_helps": False}
    ids = table[view.settings.names].values.tolist()
    cells = {c.name: [plain(c.cell(row)) for row in range(len(ids))] for c in shown}
    records = (dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True))
    head = {
        "info": answers.describe(name, view) | {"spaces": spaces, "jobs": []},
        "texts": [c.name for c in shown if c.kind.name in ("text", "category", "object")],
        "orders": levels,
        "weights": dict(measure.weights_),
        "midpoint": measure.missing == "midpoint",
        "sqrt": measure.conversion == "sqrt",
        "exact": measure.traits.exact_self,
        "gamma": GAMMA,
        "columns": write_columns(measure, table.drop([view.settings.names]), arrays),
        "baseline": write_baseline(measure, arrays),
        "rows": len(ids),
        "ids": ids,
        "labels": [view.label(id, record) for id, record in zip(ids, records, strict=True)],
        "cells": cells,
        **_views(view, shown, arrays, k),
    }
    return to_json(head) + b"\n" + arrays.to_bytes()


def _views(view: View, shown: Sequence[Column], arrays: Arrays, k: int) -> dict[str, Any]:
    """Return map, colors, clusters and hubs; tables of one or two rows have no groups."""
    drawn = analysis.make_map(view)
    places = arrays.add(np.asarray(drawn.arrays["places"]).T, "f4")
    colors = {column.name: drawn.colors(column.name) for column in shown}
    views: dict[str, Any] = {"colors": colors, "clusters": None, "hubs": None}
    views["map"] = drawn.drawn() | {"places": places, "newer": 0}
    if len(view.table) > 2:
        clusters = analysis.find_clusters(view)
        colors["cluster"] = drawn.by_cluster(clusters)
        views["clusters"] = clusters.document | clusters.of_rows()
        views["hubs"] = analysis.find_hubs(view, None, k).document | {"newer": 0}
    return views
