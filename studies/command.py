"""``python -m studies``: reproduce published tables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from lookalike.cli import output as out
from lookalike.errors import InvalidInput, UnwritableFile
from lookalike.verbs.annotations import Spelling

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
    name: Annotated[str | None, Spelling(metavar="NAME", argument=True)] = None,
    part: Annotated[list[str] | None, Spelling(metavar="PART", repeat=True)] = None,
    quick: bool = False,
    full: bool = False,
    effort: Annotated[list[str] | None, Spelling(metavar="PART=EFFORT", repeat=True)] = None,
    data: Annotated[str | None, Spelling(metavar="FOLDER")] = None,
    download: bool = False,
    write: Annotated[str | None, Spelling(metavar="FOLDER")] = None,
    fresh: bool = False,
) -> None:
    """Reproduce the tables of a paper and compare each value with the printed one.

    "all" runs every paper but the board. An interrupted run is resumed: results are cached below
    XDG_CACHE_HOME, or ~/.cache. Data sets come from the named folder, from packages (extra
    "studies") and, with --download, from public archives; a set that none has is named with its
    reason, and everything else runs.

    Parameters
    ----------
    name : str, optional
        A paper; without it they are listed.
    part : list of str, optional
        One part of it.
    quick : bool
        Fewer repetitions: minutes.
    full : bool
        The published number of repetitions: hours.
    effort : list of str, optional
        Another effort for one part: quick, default or full.
    data : str, optional
        Where data sets are looked for first; LOOKALIKE_DATA unless given.
    download : bool
        Fetch sets that no package has from public archives.
    write : str, optional
        Also write a page with plots, NAME.md.
    fresh : bool
        Ignore the results of earlier runs.
    """
    from studies import PAPERS, find_paper, run_paper
    from studies.data import data_folder, download_sets
    from studies.work import cache_folder
    from studies.write import write_page

    console = out.make_console()
    if name is None:
        list_papers(console)
        return
    common = common_effort(quick, full)
    efforts = read_efforts(effort or [])
    # The board is no paper, and takes as long as all of them together: it is asked for by name.
    every = [each for each in PAPERS if each != "board"]
    asked = [find_paper(each) for each in (every if name == "all" else [name])]
    folder, keep = data_folder(data), cache_folder()
    if write is not None:
        check_folder(Path(write), asked)
    if download:
        for set_name, reason in download_sets(folder):
            out.note(f"{set_name}: {reason or 'downloaded'}")
    if fresh:
        forget(keep, asked)
    for paper in asked:
        with out.compile_note():
            parts = [
                show_part(console, paper, one)
                for one in run_paper(paper, folder, common, keep, part, efforts)
            ]
        for reading in paper.readings:
            text = f"ambiguous, {reading.where}: {reading.left_open}. Here: {reading.used}"
            out.say(console, text, "")
        if write is not None:
            out.note(f"written: {write_page(paper, parts, write)}")


def forget(keep: Path, papers: list[Paper]) -> None:
    """Delete the cached results of papers."""
    for paper in papers:
        for old in keep.glob(f"{paper.name}-*.jsonl"):
            old.unlink()


def list_papers(console: Console) -> None:
    """Print the names and titles of all papers."""
    from studies import PAPERS, find_paper

    for name in PAPERS:
        out.say(console, f"{name:<12}{find_paper(name).title}", "")


def common_effort(quick: bool, full: bool) -> str:
    """Return the effort of all parts; raise if both flags are given."""
    if quick and full:
        hint = "Choose one of them"
        problem = "--quick and --full exclude each other"
        raise InvalidInput("studies", "one of the two", "both", hint, problem=problem)
    return "quick" if quick else "full" if full else "default"


def show_part(console: Console, paper: Paper, one: FinishedPart) -> FinishedPart:
    """Print a finished part immediately, since the next one may take an hour."""
    show(console, f"{paper.name}, {one.part.title}", one.result, one.missing)
    out.note(f"{paper.name} {one.part.name}, {one.effort}: {one.seconds:.0f} s")
    return one


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
    # Measured without the width of the terminal, else the table is always as wide as that.
    unbounded = console.options.update(max_width=100_000)
    if console.measure(table, options=unbounded).maximum <= console.width:
        console.print(table)
        return
    # A table of ten columns squeezed into 80 characters breaks its words and numbers.
    out.say(console, sheet.title, "italic")
    for name, *cells in rows:
        cells_shown = [
            f"{key} {cell}" for key, cell in zip(columns[1:], cells, strict=True) if cell
        ]
        out.say(console, f"{name}: " + "; ".join(cells_shown), "", indent=2)


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
    """Print the sheets and the findings of a part, and the unavailable data sets."""
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
        out.say(console, f"{mark}: {finding.says} ({finding.values}).{cause}", "")
