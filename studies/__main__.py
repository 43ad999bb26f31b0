"""The studies as a command: ``python -m studies hubs --quick``."""

from __future__ import annotations

import sys

import typer

from lookalike.cli.build import add_command
from lookalike.cli.output import complain
from lookalike.errors import LookalikeError
from studies.command import EXAMPLES, papers

app = typer.Typer(name="studies", pretty_exceptions_enable=False)
add_command(app, "papers", papers, EXAMPLES)


def main() -> None:
    """Run the command; what the library raises is one line."""
    try:
        app(prog_name="python -m studies")
    except (LookalikeError, OSError) as error:
        # Typer runs an app of one command without its group, where `lookalike` catches errors.
        complain(str(error))
        sys.exit(1)


if __name__ == "__main__":
    main()
