"""``lookalike explore``: the explorer page of a table, for a look or as one file."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from lookalike.cli import output as out
from lookalike.cli.options import option
from lookalike.cli.reading import FileSource
from lookalike.errors import InvalidInput
from lookalike.verbs.annotations import MeasureLike, Weights

EXAMPLES = ("lookalike explore films.csv", "lookalike explore films.csv -o films.html")


def explore(
    source: FileSource,
    measure: MeasureLike = None,
    weights: Weights = None,
    title: Annotated[
        str | None, option("--title", "TEXT", "The name of the table on the page.")
    ] = None,
    rows: Annotated[
        int, option("--rows", "N", "Rows of a larger table that a file gets, at random.", min=10)
    ] = 5_000,
    output: Annotated[
        str | None, option("--output -o", "NAME.html", "Write one file instead of opening it.")
    ] = None,
) -> None:
    """Open the explorer page of a table, or write it to one file that needs no server.

    The page works on a copy, which is deleted at the end; to keep changes, use serve.
    """
    if output is not None and not output.lower().endswith((".html", ".htm")):
        raise InvalidInput("--output", "NAME.html", repr(output), "Use a name that ends with .html")
    from lookalike.exploring import explore as open_page

    with out.compile_note():
        page = open_page(source, measure=measure, weights=weights, title=title)
    try:
        if output is not None:
            page.to_html(output, rows)
            out.note(f"wrote {output}")
            return
        out.note(f"serving {page.url} (stop it with Ctrl-C)")
        typer.launch(page.url)
        while True:
            time.sleep(3600)
    finally:
        page.close()
