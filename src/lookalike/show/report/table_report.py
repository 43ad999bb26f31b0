"""The report: all sections on one page, each with the Python code that makes it."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from typing import Any

from lookalike.errors import LookalikeError, LookalikeWarning
from lookalike.measures.contract.base import Measure
from lookalike.saving.fields import Integer
from lookalike.show import layout
from lookalike.show.html.markup import Html, code, escape, folded, paragraphs, section
from lookalike.show.report.parts import PARTS, ReportPart
from lookalike.show.report.study import Study
from lookalike.show.result import Console, Result, Spell
from lookalike.table import Table
from lookalike.table.model.targets import split_target

TOP = ("summary", "map")  # what a reader sees before the table of contents
FILE_SUFFIXES = (".csv", ".tsv", ".jsonl", ".json", ".parquet", ".arrow", ".feather", ".gz")


@dataclass(frozen=True, eq=False)
class TableReport(Result):
    """Everything about a table on one page; made by ``la.report``.

    It shows itself in a notebook; ``to_html`` writes it into a file that needs no other.

    Parameters
    ----------
    title : str
    parts : mapping of the name of a part to its HTML
    lead : str
        The content above the parts, as HTML.
    """

    title: str
    parts: dict[str, str]
    lead: str = ""

    def html_title(self) -> str:
        """Return the heading of the page."""
        return self.title

    def html_body(self) -> str:
        """Return the content of the page, as HTML."""
        links = (f'<a href="#{part.name}">{escape(part.heading)}</a>' for part in PARTS)
        items = "".join(f"<li>{link}</li>" for link in links)
        nav = f'<nav aria-label="Parts of this report"><ul>{items}</ul></nav>'
        top = "".join(self.parts[name] for name in TOP if name in self.parts)
        rest = "".join(part for name, part in self.parts.items() if name not in TOP)
        return self.lead + top + nav + rest

    def cells(self) -> dict[str, list[Any]]:
        """Return one row per part: its name, heading and HTML."""
        return {
            "part": list(self.parts),
            "heading": [part.heading for part in PARTS],
            "html": [str(part) for part in self.parts.values()],
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the title and the parts, as HTML."""
        return {"title": self.title, "lead": str(self.lead), "parts": dict(self.parts)}

    def render(self, console: Console, spell: Spell = str) -> None:
        """Print the headings; the sections are HTML only."""
        layout.headline(console, f"{self.title}: a page of {len(self.parts)} parts")
        for part in PARTS:
            layout.say(console, part.heading, "", indent=2)


def make_report(
    table: Table, y: Any, *, measure: Measure | str, k: int, sample: int, title: str, seed: int
) -> TableReport:
    """Analyze a table, and report on one HTML page.

    Five sentences and a map come first; then columns with their kinds, missing values, the measure
    and why, neighbors with reasons, hubs before and after reduction, clusters and what sets them
    apart, measures compared, prototypes and outliers; each part with its Python code, folded, or
    the reason why it failed.

    Parameters
    ----------
    table : Table
    y : array of n, or the name of a column, or None
        The map is colored by it; measures, clusters and hubs are scored against classes.
    measure : Measure or "auto"
    k : int
        Length of the lists of neighbors.
    sample : int
        With more rows, everything but the columns and their missing values is computed on so many
        of them, drawn at random; measures are compared on 600 rows of these.
    title : str
    seed : int
        Of the sample, and of everything random.
    """
    Integer(1).check("report", "k", k, "Raise it")
    Integer(10).check("report", "sample", sample, "Raise it")
    label = y if isinstance(y, str) else "label"
    rows, target = split_target(table, y, "report")
    study = Study(rows, target, label, measure, k, sample, seed)
    words = {
        "{k}": str(k),
        "{rows}": "rows" if isinstance(y, str) else "table",
        "{compared}": _compared(study, y),
        "{measure}": "" if isinstance(measure, str) else repr(measure),
    }
    # A table that was read from a file is called after it.
    is_file = os.path.splitext(title)[1].lower() in FILE_SUFFIXES
    read = "\n".join(["import lookalike as la", *_imports(measure)])
    read += f"\ntable = la.read_table({repr(title) if is_file else 'data'})"
    read += f"\nrows = table.drop({y!r})" if isinstance(y, str) else ""
    parts = {part.name: _write(part, study, words) for part in PARTS}
    return TableReport(title, parts, _lead(study) + folded("Python", code(read), "python"))


def _imports(measure: Any) -> list[str]:
    """Return the imports of a measure and of the measures inside it."""
    lines = []
    # A hubness reducer holds another measure, whose class is in the code as well.
    while isinstance(measure, Measure):
        home = ".".join(type(measure).__module__.split(".")[:2])
        lines.append(f"from {home} import {type(measure).__name__}")
        measure = getattr(measure, "measure", None)
    return lines


def _compared(study: Study, y: Any) -> str:
    """Return what measures are compared on, in a line of Python; only classes are scored."""
    if study.classes is None:
        return "rows" if isinstance(y, str) else "table"
    return f"table, y={y!r}" if isinstance(y, str) else "table, y=labels"


def _lead(study: Study) -> Html:
    n, some = len(study.table), len(study.rows)
    columns = len(study.table.columns)
    text = f"{n:,} rows, {columns:,} compared column{'s' if columns != 1 else ''}."
    if some < n:
        text += " Columns and missing values are those of all rows; everything else was computed on"
        text += f" {some:,} of them, drawn at random (seed {study.seed})."
    if study.target is not None:
        text += f" {study.label} is the target, and is not compared."
    return paragraphs([text])


def _write(part: ReportPart, study: Study, words: dict[str, str]) -> str:
    """Return one part as HTML, or the reason why it failed."""
    with warnings.catch_warnings(record=True) as caught:
        # Warnings of scikit-learn and numpy are not for readers of the page; our own become notes.
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", LookalikeWarning)
        try:
            body = part.make(study)
        except LookalikeError as error:
            body = paragraphs([f"This part failed: {error}"])
    notes = dict.fromkeys(f"Note: {one.message}" for one in caught)
    lines = part.lines
    # Replaced by hand, not by str.format: the code itself has braces.
    for mark, word in words.items():
        lines = lines.replace(mark, word)
    python = folded("Python", code(lines), "python")
    return section(part.heading, body + paragraphs(notes) + python, part.name)
