"""A paper as a page of the documentation: Markdown and plots."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Sequence
from pathlib import Path

from lookalike._runtime.files import replacing, write_text
from lookalike.show.html.drawings import new_figure
from studies.paper import FinishedPart, Paper, Reading
from studies.result import Finding, Plot, Sheet
from studies.work import EFFORTS

COUNTS = {
    "quick": "fewer repetitions than published",
    "default": "as many repetitions as about an hour on two cores allows",
    "full": "the published number of repetitions",
}
FLAGS = {"quick": " --quick", "default": "", "full": " --full"}
MARKS = (
    "Each value is ours, followed in parentheses by the printed value and the difference. "
    "† a setting was chosen on this score; ! the difference is beyond its tolerance, "
    "and its cause is given below the table."
)


def write_page(paper: Paper, done: Sequence[FinishedPart], folder: str | os.PathLike[str]) -> Path:
    """Write a page about a paper, and its plots beside it; return where the page is."""
    home = Path(folder)
    home.mkdir(parents=True, exist_ok=True)
    for one in done:
        for plot in one.result.plots:
            _draw(plot, home / f"{paper.name}-{plot.name}.png")
    page = home / f"{paper.name}.md"
    write_text(page, as_markdown(paper, done))
    return page


def as_markdown(paper: Paper, done: Sequence[FinishedPart]) -> str:
    """Return the page about a paper; where its parts differ in effort, each says its own."""
    alike = len({one.effort for one in done}) < 2
    lines = [f"# {paper.title}", "", paper.citation, "", paper.about, ""]
    lines += [f"{_made_by(paper, done)} {MARKS}", ""]
    findings = [finding for one in done for finding in one.result.findings]
    if findings:
        lines += ["## Findings", "", *_findings(findings), ""]
    if paper.summary:
        lines += [paper.summary.strip(), ""]
    if paper.readings:
        lines += ["## Ambiguities in the paper", "", *_readings(paper.readings), ""]
    for one in done:
        lines += [f"## {one.part.title}", ""]
        if not alike:
            lines += [f"*Effort of this part: {one.effort}.*", ""]
        if one.missing:
            lines += ["Unavailable data sets:", ""]
            lines += [f"- {name}: {reason}" for name, reason in one.missing.items()] + [""]
        for sheet in one.result.sheets:
            lines += _sheet(sheet)
        for plot in one.result.plots:
            lines += [f"![{plot.alt}]({paper.name}-{plot.name}.png)", ""]
    return "\n".join(lines).rstrip() + "\n"


def _made_by(paper: Paper, done: Sequence[FinishedPart]) -> str:
    """Say which command makes this page again, and with how many repetitions."""
    efforts = [one.effort for one in done]
    # The least effort is the flag, larger ones are named by part: a run of this command never
    # takes longer than the one that made the page.
    common = min(efforts, key=EFFORTS.index, default="default")
    command = f"python -m studies {paper.name}"
    if len(done) < len(paper.parts):
        command += "".join(f" --part {one.part.name}" for one in done)
    command += FLAGS[common]
    command += "".join(
        f" --effort {one.part.name}={one.effort}" for one in done if one.effort != common
    )
    if all(effort == common for effort in efforts):
        return f"Made by `{command}`, with {COUNTS[common]}."
    efforts_used = "; ".join(f"{one}: {COUNTS[one]}" for one in EFFORTS if one in efforts)
    return f"Made by `{command}`. Each part states its effort ({efforts_used})."


def _findings(findings: Sequence[Finding]) -> list[str]:
    lines = ["| finding | holds here | values |", "|---|---|---|"]
    for one in findings:
        says = f"**{one.says}**" if one.headline else one.says
        # A cause explains what does not hold; where the finding holds it would only confuse.
        values = one.values if not one.cause or one.holds else f"{one.values}. {one.cause}"
        lines.append(f"| {_cell(says)} | {'yes' if one.holds else 'no'} | {_cell(values)} |")
    return lines


def _readings(readings: Sequence[Reading]) -> list[str]:
    lines = ["| tables and figures | ambiguity | interpretation here |", "|---|---|---|"]
    for one in readings:
        lines.append(f"| {_cell(one.where)} | {_cell(one.left_open)} | {_cell(one.used)} |")
    return lines


def _sheet(sheet: Sheet) -> list[str]:
    columns = sheet.columns()
    lines = [f"### {sheet.title}", ""]
    if sheet.about:
        lines += [sheet.about, ""]
    lines += ["| " + " | ".join(map(_cell, columns)) + " |", "|" + "---|" * len(columns)]
    for row in sheet.rows:
        lines.append("| " + " | ".join(_cell(row.get(name, "")) for name in columns) + " |")
    lines.append("")
    return lines + _causes(sheet)


def _causes(sheet: Sheet) -> list[str]:
    """List the differences beyond tolerance, those with one cause together."""
    lines = [f"- {'; '.join(places)}: {cause}" for cause, places in sheet.explained().items()]
    return ["Differences beyond tolerance:", "", *lines, ""] if lines else []


def _cell(value: object) -> str:
    # A line break ends a row of a Markdown table, and a bar ends a cell.
    text = "" if value is None else str(value)
    return re.sub(r"\s+", " ", text).replace("|", "\\|")


def _draw(plot: Plot, path: Path) -> None:
    figure = new_figure("studies", *plot.size)
    plot.draw(figure)
    memory = io.BytesIO()
    # Without a date and the version of the drawing library two runs give the same file.
    figure.savefig(memory, format="png", dpi=110, metadata={"Software": None})
    with replacing(path) as out:
        out.write(memory.getvalue())
