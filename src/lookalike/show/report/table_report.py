"""The report: its sections on one page, each with the Python code that makes it."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from lookalike._runtime.text import percent, short
from lookalike.errors import LookalikeError, LookalikeWarning
from lookalike.evaluate import continuity, trustworthiness
from lookalike.hubness.report import histogram, hub_maps
from lookalike.index.hits import Hits
from lookalike.leaderboard.comparing import compare
from lookalike.measures.contract.base import Measure
from lookalike.saving.fields import Integer
from lookalike.show import layout
from lookalike.show.html import markup
from lookalike.show.html.drawings import scatter, spark_svg
from lookalike.show.html.markup import Html, bullets, escape, folded, paragraphs, table
from lookalike.show.report.study import Study
from lookalike.show.result import Console, Result, Spell
from lookalike.table import Column, Table
from lookalike.table.model.targets import split_target

MAX_COLUMNS = 60  # that are listed
OPEN_COLUMNS = 15  # of them before the rest is folded
MAX_INCOMPLETE_COLUMNS = 24  # whose missing values are drawn
N_STRIPES = 30  # parts of a table, from its first row to its last, whose missing values are counted


def summary_part(study: Study) -> str:
    """Return the table in five sentences: its size, comparison, clusters, hubs, odd rows."""
    rows, profile, writer = study.table, study.profile, study.writer
    gaps = sorted(rows, key=lambda column: -float(column.missing.mean()))[:1]
    most = f"; {short(gaps[0].name, 40)} is missing most, {percent(float(gaps[0].missing.mean()))}"
    missing = most if gaps and gaps[0].missing.any() else "; no compared cell is missing"
    largest = max(profile.clusters, key=lambda cluster: cluster.rows)
    apart = f", set apart by {largest.columns[0]}" if largest.columns else ""
    (odd, _), name = study.outliers[0], type(study.measure).__name__
    return bullets(
        [
            f"{len(rows):,} rows are compared in {len(rows.columns):,} columns{missing}.",
            f"They are compared by {name}: {study.index.reason_.removeprefix(f'{name}: ')}.",
            f"They form {len(profile)} clusters; the largest has {percent(largest.share)}{apart}.",
            study.hubs.sentences[0],
            f"The row least like the others is {writer.name(odd)}.",
        ]
    )


N_BARS = 16  # of the small picture of a column


def shape_of(column: Column) -> Html | str:
    """Return how often which values occur, as a small picture; empty for cells of other kinds."""
    known = column.values[~column.missing]
    if not len(known) or column.kind.name not in ("number", "category", "order", "flag"):
        return ""
    if column.kind.name == "number":
        values = known.astype(np.float64)
        counts = np.histogram(values[np.isfinite(values)], N_BARS)[0]
    else:
        counts = np.unique(known, return_counts=True)[1]
        counts = counts if column.kind.name == "order" else np.sort(counts)[::-1]
    return spark_svg(counts[:N_BARS].tolist(), f"values of {short(column.name, 40)}", bars=True)


def columns_part(study: Study) -> str:
    """Return what each column holds, and why it was read so."""
    summary = study.table.summary()
    lines = []
    for name, kind, missing, values, reason in summary.grid():
        shape = shape_of(study.table[name]) if name in study.table else ""
        lines.append([short(name, 40), kind, missing, shape, short(values, 60), short(reason, 120)])
    more = len(lines) - MAX_COLUMNS
    heads = ["column", "kind", "missing", "shape", "values", "why this kind"]
    compared = [c for c in summary if c.column != study.label or study.target is None]
    doubts = [f"{c.column}: {text}" for c in compared for text in c.warnings][:MAX_COLUMNS]
    text, again = (1, 3, 4, 5), f"{summary.title}, continued"
    out: str = table(lines[:OPEN_COLUMNS], heads, summary.title, text=text, stack=True)
    if rest := lines[OPEN_COLUMNS:MAX_COLUMNS]:
        more_columns = table(rest, heads, again, text=text, stack=True)
        out += folded(f"{len(rest)} more columns", more_columns)
    if more > 0:
        out += paragraphs([f"{more:,} more columns are not listed."])
    if doubts:
        out += "<h3>Check before rows are compared</h3>" + bullets(doubts)
    return out


def missing_part(study: Study) -> str:
    """Return where values are missing, from the first row of the table to the last."""
    incomplete = [column for column in study.table if column.missing.any()]
    if not incomplete:
        return paragraphs(["No value of a compared column is missing."])
    incomplete.sort(key=lambda column: -float(column.missing.mean()))
    shown, more = incomplete[:MAX_INCOMPLETE_COLUMNS], len(incomplete) - MAX_INCOMPLETE_COLUMNS
    # The share tells how many are missing, the strip where: at the start, at the end, everywhere.
    lines = [[short(c.name, 40), percent(float(c.missing.mean())), _strip(c)] for c in shown]
    complete = int(np.all([~column.missing for column in study.table], axis=0).sum())
    text = f"{complete:,} of {len(study.table):,} rows are complete. Each strip is a column from "
    text += "its first row to its last: the higher, the more values are missing."
    heads = ["column", "missing", "where"]
    out = paragraphs([text]) + table(lines, heads, "Columns with missing values", text=(2,))
    return out + paragraphs([f"{more:,} more columns have missing values."] * (more > 0))


def _strip(column: Column) -> Html:
    ends = np.linspace(0, len(column.missing), N_STRIPES + 1).round().astype(np.int64)
    parts = np.split(column.missing, ends[1:-1])
    shares = [float(part.mean()) if len(part) else 0.0 for part in parts]
    least, most = percent(min(shares)), percent(max(shares))
    label = f"missing values of {short(column.name, 40)}: from {least} to {most}"
    return spark_svg(shares, label, bars=True)


def clusters_part(study: Study) -> str:
    """Return what sets each cluster apart."""
    profile = study.profile
    writer = study.writer
    # A column of classes only where the profile was scored against some.
    with_classes = any(cluster.majority_share is not None for cluster in profile.clusters)
    lines: list[list[str]] = []
    for cluster in profile.clusters:
        size = f"{cluster.rows:,} ({percent(cluster.share)})"
        most = f"{short(cluster.majority)} ({percent(cluster.majority_share or 0.0)})"
        columns = Html(bullets(map(str, cluster.columns)))
        typical = writer.name(cluster.typical[0])
        lines.append([f"cluster {cluster.cluster}", size, *[most] * with_classes, columns, typical])
    heads = ["", "rows", *["mostly"] * with_classes, "what sets it apart", "typical row"]
    text, caption = tuple(range(2, len(heads))), f"{len(profile)} clusters"
    notes = f"Clustering: {'; '.join(profile.notes)}."
    return table(lines, heads, caption, text=text, stack=True) + paragraphs([notes])


MAX_COMPARED_ROWS = 600  # rows that measures are compared on
MAX_COMPARE_SECONDS = 30.0  # after which no further measure is tried


def measures_part(study: Study) -> str:
    """Return the leaderboard of measures."""
    board = compare(
        study.rows,
        None,
        study.classes,
        study.k,
        sample=min(MAX_COMPARED_ROWS, len(study.rows)),
        max_seconds=MAX_COMPARE_SECONDS,
        random_state=study.seed,
    )
    return table(board.rows(), board.heads(), board.title, first=True) + paragraphs(board.remarks())


def rows_part(study: Study) -> str:
    """Return prototypes and outliers."""
    writer = study.writer
    prototypes = [(row, f"{rows:,}") for row, rows in study.prototypes]
    outliers = [(row, f"{score:.1f}") for row, score in study.outliers]
    text = tuple(i for i, number in enumerate(writer.numbers, 2) if not number)
    out = ""
    for caption, head, rows in (
        ("Prototypes: rows that represent the others", "rows represented", prototypes),
        ("Outliers: rows unlike the others (10 bits: one row in 1,000)", "bits", outliers),
    ):
        lines = [[f"{int(study.at[row]):,}", value, *writer.cells(row)] for row, value in rows]
        out += table(lines, ["row", head, *writer.heads], caption, text=text)
    return out


HUBNESS_STATISTICS = (
    "skewness largest hubs orphans reachability symmetric_share accuracy bad intrinsic_dimension"
).split()
N_MAP_NEIGHBORS = 10  # by which trustworthiness and continuity of a map are computed
N_HUBS = 5  # that are listed
N_EXAMPLES = 3  # rows whose neighbors are shown


def measure_part(study: Study) -> str:
    """Return how rows are compared, and why."""
    reason = study.index.reason_
    reason = "the measure was given." if reason == "given" else reason
    name = escape(repr(study.measure))
    return f"<p>Rows are compared by <code>{name}</code>.</p>" + paragraphs([f"Why: {reason}"])


def neighbors_part(study: Study) -> str:
    """Return typical rows with their nearest neighbors, each with its reasons."""
    writer = study.writer
    parts = []
    for row, _ in study.prototypes[:N_EXAMPLES]:
        name, cells = writer.name(row), writer.words(row)
        items, hits = "", study.index.search(row, k=study.k)
        assert isinstance(hits, Hits)
        for hit in hits:
            near = hit.similarity
            alike = "nothing to compare" if near is None else f"{percent(near)} alike"
            neighbor, text = writer.name(int(hit.id)), writer.words(int(hit.id))
            items += f"<li><b>{escape(neighbor)}</b> <span>({escape(alike)})</span>: "
            items += f"{escape(text)}<br><span class='quiet'>{escape(hit.because())}</span></li>"
        parts.append(f"<h3>Like {escape(name)}</h3><p class='quiet'>{escape(cells)}</p>")
        parts.append(f"<ol>{items}</ol>")
    return "".join(parts)


def hubs_part(study: Study) -> str:
    """Return hubness, before and after a reduction where it helps, and where the hubs are."""
    report = study.hubs
    shown = [[label, *texts] for name, label, texts in report.rows() if name in HUBNESS_STATISTICS]
    writer = study.writer
    lines = []
    for hub in report.top(N_HUBS):
        row = int(hub["row"])
        counts = [f"{hub[column]:g}" for column in report.columns]
        lines.append([writer.name(row), *counts, writer.words(row)])
    heads = ["row", *(f"lists {column}" for column in report.columns), ""]
    caption = "Hubness" if len(report.columns) == 1 else "Hubness before and after reduction"
    maps = hub_maps(report, np.arange(len(study.rows)), study.places)
    return (
        paragraphs(report.sentences)
        + table(shown, ["", *report.columns], caption)
        + f"{histogram(report)}<h3>Where the hubs are</h3>{maps}"
        + table(lines, heads, "Rows in the most lists", text=(len(heads) - 1,))
        + paragraphs(f"Note: {note}" for note in report.notes)
    )


def map_part(study: Study) -> str:
    """Return the map, colored by the target or by clusters, and how far it can be relied on."""
    groups, n, k = study.groups, len(study.rows), N_MAP_NEIGHBORS
    label = f"map of {n:,} rows in {len(groups.names)} groups by {groups.title}"
    caption = f"Colored by {groups.title}."
    drawing = scatter(study.places, groups.codes, groups.names, label, caption, groups.notes)
    texts = ["Rows close together on the map are neighbors; distances between groups mean little."]
    if n > 2 * k + 1:  # the formulas of both need so many rows
        trust = trustworthiness(study.measure, study.places, k, sample=1000)
        continuous = continuity(study.measure, study.places, k, sample=1000)
        texts.append(
            f"Of {k} neighbors: trustworthiness {trust:.3f} (1: the map shows no false ones), "
            f"continuity {continuous:.3f} (1: it separates none)."
        )
    return drawing + paragraphs(texts)


class ReportPart(NamedTuple):
    """One section of the report: the function that makes it, heading, and Python code.

    Its name, which links refer to, is that of the function.
    """

    make: Callable[[Study], str]
    heading: str
    lines: str

    @property
    def name(self) -> str:
        """The anchor of the section."""
        return self.make.__name__.removesuffix("_part")


FIT = "index = la.Index({measure}).fit({rows})\n"
MISSING = "{one.column: one.missing_share for one in table.summary()}"
MAP = FIT + "from lookalike.represent import layout\nplaces = layout(index.measure_)"
HUBS = "print(la.hubness_report(index.measure_, k={k}))"
CLUSTERS = FIT + "print(la.cluster(index))"
ROWS = (
    "typical = la.represent.select_prototypes(index.measure_.frozen(), {rows}, n=5)\n"
    "odd = la.outliers({rows})"
)
PARTS = (
    ReportPart(summary_part, "In five sentences", "print(la.inspect({rows}))"),
    ReportPart(map_part, "Map", MAP),
    ReportPart(columns_part, "Columns", "print(table.summary())"),
    ReportPart(missing_part, "Missing values", MISSING),
    ReportPart(measure_part, "How rows are compared", FIT + "print(index.measure_, index.reason_)"),
    ReportPart(neighbors_part, "Nearest neighbors", FIT + "print(index.search(0, k={k}))"),
    ReportPart(hubs_part, "Hubs: rows that are neighbors of many others", HUBS),
    ReportPart(clusters_part, "Clusters", CLUSTERS),
    ReportPart(measures_part, "Measures compared", "print(la.compare({compared}, k={k}))"),
    ReportPart(rows_part, "Prototypes and outliers", ROWS),
)


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
    return TableReport(title, parts, _lead(study) + folded("Python", markup.code(read), "python"))


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
    python = folded("Python", markup.code(lines), "python")
    return markup.section(part.heading, body + paragraphs(notes) + python, part.name)
