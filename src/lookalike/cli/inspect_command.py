"""``lookalike inspect``: what the columns hold, why, and what to look at before comparing rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lookalike._show import short
from lookalike.cli import output as out
from lookalike.cli.options import File, Form, Kinds, Missing, read

if TYPE_CHECKING:
    from rich.table import Table as Grid

    from lookalike.table import TableSummary

__all__ = ["inspect", "summary_grid"]


def inspect(
    file: File, kinds: Kinds = None, missing: Missing = None, output: Form = out.Output.table
) -> None:
    """Show what each column of a table holds, and the reason for thinking so."""
    summary = read(file, kinds, missing).summary()
    if output is out.Output.json:
        out.write_json({"file": file, "rows": summary.n_rows, "columns": summary.records()})
    elif output.is_csv:
        rows = [one | {"warnings": "; ".join(one["warnings"])} for one in summary.records()]
        out.write_csv(list(rows[0]), [list(row.values()) for row in rows], form=output)
    else:
        console = out.make_console()
        out.headline(console, f"{file}: {summary.title}")
        console.print(summary_grid(summary))
        for one in summary:
            for warning in one.warnings:
                out.say(console, f"! {one.column}: {warning}", "yellow")


def summary_grid(summary: TableSummary) -> Grid:
    """Return a summary as a table for people."""
    heads = [("column", "left"), ("kind", "left"), ("gaps", "right")]
    table = out.grid([*heads, ("values", "fold"), ("why", "fold")])
    for name, *words in summary.grid():
        table.add_row(*out.cells([short(name), *words]))
    return table
