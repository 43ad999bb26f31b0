"""The studies as a command: ``python -m studies hubs --quick``."""

from __future__ import annotations

import typer

from lookalike.cli.app import Verbs
from lookalike.cli.build import add_command
from studies.command import EXAMPLES, papers

app = typer.Typer(name="studies", cls=Verbs, pretty_exceptions_enable=False)
add_command(app, "papers", papers, EXAMPLES)

if __name__ == "__main__":
    app(prog_name="python -m studies")
