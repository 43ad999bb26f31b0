"""``lookalike inspect``: what the columns hold, why, and what to look at before comparing rows."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from lookalike._runtime.text import short
from lookalike.cli import output as out
from lookalike.cli.options import Form
from lookalike.cli.source import Source, takes_table
from lookalike.cli.spelling import spell_option
from lookalike.errors import spelled

if TYPE_CHECKING:
    from rich.table import Table as Grid

    from lookalike.table import TableSummary

EXAMPLES = (
    "lookalike inspect films.csv",
    "lookalike inspect films.csv --kinds year=category --missing '?'",
)


SHOWN = 100  # columns in a table for people
NAMED = 20  # columns that a line below it names


@takes_table
def inspect(source: Source, output: Form = out.Output.table) -> None:
    """Show what each column of a table holds, and the reason for thinking so."""
    loaded = source.load()
    summary = loaded.table.summary()
    if output is out.Output.table:
        show_summary(summary, loaded.name)
        return
    rows = [one | {"warnings": "; ".join(one["warnings"])} for one in summary.records()]
    out.write(
        output,
        list(rows[0]),
        [list(row.values()) for row in rows],
        lambda: {"file": source.file, "rows": summary.n_rows, "columns": summary.records()},
    )


def show_summary(summary: TableSummary, name: str) -> None:
    """Print a summary for people: the columns, then what to look at."""
    console = out.make_console()
    out.headline(console, f"{name}: {summary.title}")
    console.print(summary_grid(summary))
    more = Counter(one.kind if one.compared else "aside" for one in summary.columns[SHOWN:])
    if more:
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in more.most_common())
        out.say(
            console, f"not shown: {more.total():,} more columns: {kinds} (csv and json have all)"
        )
    said: dict[str, list[str]] = {}
    for one in summary:
        for warning in one.warnings:
            if warning.startswith("mostly missing"):  # how much stands in the table
                said.setdefault("mostly missing", []).append(one.column)
            elif one.reason not in warning:  # the reason stands in the table
                said.setdefault(spelled(warning, spell_option), []).append(one.column)
    for warning, columns in said.items():
        names = ", ".join(map(short, columns[:NAMED]))
        rest = f" and {len(columns) - NAMED:,} more" if len(columns) > NAMED else ""
        out.say(console, f"! {names}{rest}: {warning}", "yellow")


def summary_grid(summary: TableSummary) -> Grid:
    """Return a summary as a table for people, of the first columns if there are very many."""
    heads = [("column", "left"), ("kind", "left"), ("gaps", "right")]
    table = out.grid([*heads, ("values", "fold"), ("why", "fold")])
    for name, *words in summary.grid()[:SHOWN]:
        table.add_row(*out.cells([short(name), *words]))
    return table
