"""The sections of a report: columns, missing values, neighbors, map, hubs, clusters."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from lookalike._runtime.text import percent, short
from lookalike.evaluate import continuity, trustworthiness
from lookalike.hubness.report import histogram, hub_maps
from lookalike.index.hits import Hits
from lookalike.leaderboard.comparing import compare
from lookalike.show.html.drawings import scatter, spark_svg
from lookalike.show.html.markup import Html, bullets, escape, folded, paragraphs, table
from lookalike.show.report.study import Study
from lookalike.table import Column

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
