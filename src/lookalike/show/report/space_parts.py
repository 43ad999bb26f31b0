"""The parts of a report about who is near whom: measure, neighbors, hubs, map."""

from __future__ import annotations

import numpy as np

from lookalike._runtime.text import percent
from lookalike.evaluate import continuity, trustworthiness
from lookalike.hubness.report import histogram, hub_maps
from lookalike.index.hits import Hits
from lookalike.show.html.markup import Html, escape, paragraphs, table
from lookalike.show.html.scatter import scatter
from lookalike.show.report.rows import RowWriter
from lookalike.show.report.study import Study

FIGURES = (
    "skewness largest hubs orphans reachability symmetric_share accuracy bad intrinsic_dimension"
).split()
JUDGED = 10  # neighbors by which a map is judged
TOP = 5  # hubs that are listed


def measure_part(study: Study) -> str:
    """Return how rows are compared, and why so."""
    said = "the measure was given." if study.index.reason_ == "given" else study.index.reason_
    name = escape(repr(study.measure))
    return Html(f"<p>Rows are compared by <code>{name}</code>.</p>") + paragraphs([f"Why: {said}"])


def neighbors_part(study: Study) -> str:
    """Return typical rows with the rows most like them, each with its reasons."""
    writer = RowWriter(study.rows)
    parts = []
    for row, hits in study.examples:
        assert isinstance(hits, Hits)
        record = study.rows.record(row)
        name = writer.name(record, int(study.at[row]))
        points = []
        for hit in hits:
            alike = "nothing to compare" if hit.similarity is None else percent(hit.similarity)
            told = writer.name(hit.row, int(study.at[int(hit.id)]))
            points.append(
                f"<li><b>{escape(told)}</b> <span>({escape(alike)} alike)</span>: "
                f"{escape(writer.words(hit.row))}<br><span class='quiet'>{escape(hit.because())}"
                "</span></li>"
            )
        parts.append(
            f"<h3>Like {escape(name)}</h3><p class='quiet'>{escape(writer.words(record))}</p>"
            f"<ol>{''.join(points)}</ol>"
        )
    return "".join(parts)


def hubs_part(study: Study) -> str:
    """Return how often rows are neighbors, before and after a repair, and where the hubs are."""
    found = study.hubs
    kept = [[words, *texts] for name, words, texts in found.rows() if name in FIGURES]
    writer = RowWriter(study.rows)
    lines = []
    for hub in found.top(TOP):
        row = int(hub["row"])
        record = study.rows.record(row)
        counts = [f"{hub[column]:g}" for column in found.columns]
        lines.append([writer.name(record, int(study.at[row])), *counts, writer.words(record)])
    heads = ["row", *(f"lists {column}" for column in found.columns), ""]
    return "".join(
        [
            paragraphs([found.verdict] if found.verdict else []),
            table(kept, ["", *found.columns], "Hubness before and after the repair"),
            histogram(found),
            Html("<h3>Where the hubs are</h3>"),
            hub_maps(found, np.arange(len(study.rows)), study.places),
            table(lines, heads, "Rows in the most lists", text=(len(heads) - 1,)),
            paragraphs(f"Note: {note}" for note in found.notes),
        ]
    )


def map_part(study: Study) -> str:
    """Return the map, colored by the target or by clusters, and how far it can be relied on."""
    groups = study.groups
    n = len(study.rows)
    label = f"map of {n:,} rows in {len(groups.names)} groups by {groups.title}"
    caption = f"Colored by {groups.title}."
    drawing = scatter(study.places, groups.codes, groups.names, label, caption, groups.notes)
    words = ["Rows side by side on the map are neighbors; how far groups lie apart says little."]
    if n > 2 * JUDGED + 1:
        trust = trustworthiness(study.measure, study.places, JUDGED, sample=1000)
        kept = continuity(study.measure, study.places, JUDGED, sample=1000)
        words.append(
            f"Of {JUDGED} neighbors: trustworthiness {trust:.3f} (1: the map shows no false ones), "
            f"continuity {kept:.3f} (1: it tears none apart)."
        )
    return drawing + paragraphs(words)
