"""``lookalike explore``, and ``report --explore``: the explorer page opened, or as one file."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import typer

from lookalike.cli import output as out
from lookalike.cli.reading import FileSource
from lookalike.errors import InvalidInput
from lookalike.verbs.annotations import Columns, Label, MeasureLike, Weights
from lookalike.verbs.report import Title

EXAMPLES = ("lookalike explore films.csv", "lookalike explore films.csv --weight year=3")


def explore(
    source: FileSource,
    label: Label = None,
    measure: MeasureLike = None,
    weights: Weights = None,
    columns: Columns = None,
    title: Title = None,
) -> None:
    """Open the explorer page of a table, on a copy that is deleted at the end.

    To keep changes, use serve; to write one file that needs no server, report --explore.

    Parameters
    ----------
    label : name of a column, optional
        A column of known classes: not compared, but shown.
    columns : names, optional
        Compare by these columns only; the others are still shown.
    title : str, optional
        The name of the table on the page.
    """
    from lookalike.exploring import explore as open_page

    asked = {"label": label, "measure": measure, "weights": weights, "columns": columns}
    with out.compile_note():
        page = open_page(source, title=title, **asked)
    try:
        out.note(f"serving {page.url} (stop it with Ctrl-C)")
        typer.launch(page.url)
        while True:
            time.sleep(3600)
    finally:
        page.close()


def write_explorer(source: FileSource, form: str | Path, **given: Any) -> None:
    """Write the explorer page to one file.

    Parameters
    ----------
    source : FileSource
    form : form of the answer, or path of the page
    **given : the parameters of the verb ``report``
    """
    if not isinstance(form, Path) or form.suffix == ".parquet":
        hint = "Use a name that ends with .html"
        raise InvalidInput("--output", "NAME.html", repr(str(form)), hint)
    from lookalike.exploring import explore as open_page

    of_file = {name: given.pop(name) for name in ("filter", "k", "seed")}
    most = given.pop("sample")
    page = open_page(source, **given)
    try:
        page.to_html(form, **of_file, **({} if most is None else {"rows": most}))
    finally:
        page.close()
    out.note_file(form)
