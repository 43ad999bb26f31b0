"""``python -m studies``: the published tables beside our numbers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lookalike.cli import output as out
from lookalike.cli.output import compile_note
from lookalike.errors import InvalidInput, UnwritableFile

if TYPE_CHECKING:
    from rich.console import Console

    from studies import Paper, Result, Sheet
    from studies.paper import FinishedPart

EXAMPLES = (
    "python -m studies",
    "python -m studies hubs --quick",
    "python -m studies order --download",
    "python -m studies forests --part table2 --write pages",
    "python -m studies gower --quick --effort prototypes=default",
)


def papers(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME", help="A paper; without it they are listed.", show_default=False
        ),
    ] = None,
    part: Annotated[
        list[str] | None,
        typer.Option(
            "--part", metavar="PART", help="One part of it; may be repeated.", show_default=False
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer repetitions: minutes.")] = False,
    full: Annotated[
        bool, typer.Option("--full", help="The published number of repetitions: hours.")
    ] = False,
    effort: Annotated[
        list[str] | None,
        typer.Option(
            "--effort",
            metavar="PART=EFFORT",
            help="Another effort for one part: quick, default or full; may be repeated.",
            show_default=False,
        ),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(
            "--data",
            metavar="FOLDER",
            help="Where data sets are looked for first; LOOKALIKE_DATA unless given.",
            show_default=False,
        ),
    ] = None,
    download: Annotated[
        bool,
        typer.Option("--download", help="Fetch sets that no package has from public archives."),
    ] = False,
    write: Annotated[
        str | None,
        typer.Option(
            "--write",
            metavar="FOLDER",
            help="Also write a page with plots, NAME.md.",
            show_default=False,
        ),
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Forget the figures that earlier runs have kept.")
    ] = False,
) -> None:
    """Re-run the tables of a paper and show each figure beside the printed one.

    "all" runs every paper. A run that was stopped goes on where it was: figures are kept below
    XDG_CACHE_HOME, or ~/.cache. Data sets come from the named folder, from packages (extra
    "studies") and, with --download, from public archives; a set that none has is named with its
    reason, and everything else runs.
    """
    from studies import PAPERS, find_paper, run_paper
    from studies.data import data_folder, download_sets
    from studies.work import keeping_folder
    from studies.write import write_page

    console = out.make_console()
    if name is None:
        for each in PAPERS:
            paper = find_paper(each)
            out.say(console, f"{each:<12}{paper.title}", "")
        return
    if quick and full:
        do = "Choose one of them"
        raise InvalidInput(
            "studies", "one of the two", "both", do, problem="--quick and --full exclude each other"
        )
    common = "quick" if quick else "full" if full else "default"
    efforts = read_efforts(effort or [])
    asked = [find_paper(each) for each in (PAPERS if name == "all" else [name])]
    folder, keep = data_folder(data), keeping_folder()
    if write is not None:
        check_folder(Path(write), asked)
    for set_name, reason in download_sets(folder) if download else ():
        out.note(f"{set_name}: {reason or 'downloaded'}")
    for paper in asked:
        if fresh:
            for old in keep.glob(f"{paper.name}-*.jsonl"):
                old.unlink()
        done: list[FinishedPart] = []
        with compile_note():
            for one in run_paper(paper, folder, common, keep, part, efforts):
                done.append(one)
                show(console, f"{paper.name}, {one.part.title}", one.result, one.missing)
                out.note(f"{paper.name} {one.part.name}, {one.effort}: {one.seconds:.0f} s")
        for reading in paper.readings:
            text = f"left open, {reading.where}: {reading.left_open}. Here: {reading.used}"
            out.say(console, text, "")
        if write is not None:
            out.note(f"written: {write_page(paper, done, write)}")


def show_sheet(console: Console, sheet: Sheet) -> None:
    """Print a sheet: as a table where the terminal is wide enough, otherwise row by row."""
    from rich.table import Table

    columns = sheet.columns()
    rows = [
        ["" if row.get(column) is None else str(row[column]) for column in columns]
        for row in sheet.rows
    ]
    table = Table(title=sheet.title, title_justify="left")
    for column in columns:
        table.add_column(column)
    for cells in rows:
        table.add_row(*cells)
    unbounded = console.options.update(max_width=100_000)
    if console.measure(table, options=unbounded).maximum <= console.width:
        console.print(table)
        return
    # A table of ten columns squeezed into 80 characters cuts its words and figures in pieces.
    out.say(console, sheet.title, "italic")
    for name, *cells in rows:
        told = [f"{key} {cell}" for key, cell in zip(columns[1:], cells, strict=True) if cell]
        out.say(console, f"{name}: " + "; ".join(told), "", indent=2)


def check_folder(folder: Path, papers: list[Paper]) -> None:
    """Make the folder of the pages; say before an hour of work if they cannot be written."""
    from lookalike._runtime.files import check_writable

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        why = f"the file {str(folder)!r}" if folder.is_file() else f"{error.strerror}: {folder}"
        do = "Name a folder; it is made if it is not there"
        raise UnwritableFile("--write", "a folder", why, do) from error
    for paper in papers:
        check_writable(folder / f"{paper.name}.md")


def read_efforts(given: list[str]) -> dict[str, str]:
    """Read "part=effort" pairs."""
    from studies.work import EFFORTS

    found = {}
    for pair in given:
        part, _, effort = pair.partition("=")
        if not part or effort not in EFFORTS:
            do = f"Write a part, =, and one of {', '.join(EFFORTS)}"
            raise InvalidInput("--effort", "PART=EFFORT", repr(pair), do)
        found[part] = effort
    return found


def show(
    console: Console, title: str, result: Result, missing: Mapping[str, str] | None = None
) -> None:
    """Print the sheets and the findings of a part, and which sets could not be had."""
    out.say(console, title, "bold")
    for name, reason in (missing or {}).items():
        out.say(console, f"not here: {name} ({reason})", "")
    for sheet in result.sheets:
        show_sheet(console, sheet)
        if sheet.about:
            out.say(console, sheet.about, "")
        for cause, places in sheet.explained().items():
            out.say(console, f"! {'; '.join(places)}: {cause}", "")
    for finding in result.findings:
        mark = "holds" if finding.holds else "does not hold"
        cause = "" if finding.holds or not finding.cause else f" {finding.cause}"
        out.say(console, f"{mark}: {finding.says} ({finding.figures}).{cause}", "")
