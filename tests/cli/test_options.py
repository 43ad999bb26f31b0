"""Options and arguments as typer reads them."""

from typing import Annotated

import typer
from typer.testing import CliRunner

from cli.run import PLAIN
from lookalike.cli.options import IdColumn, argument, option


def test_flags_help_and_metavar_reach_the_command():
    app = typer.Typer()

    @app.command()
    def show(
        file: Annotated[str, argument("FILE", "A table.")],
        quiet: Annotated[bool, option("--quiet -q", None, "Say little.")] = False,
        id_column: IdColumn = None,
    ):
        typer.echo(f"{file} {quiet} {id_column}")

    def run(*words):
        return CliRunner().invoke(app, list(words), env=PLAIN)

    assert run("a.csv").output == "a.csv False None\n"
    assert run("a.csv", "-q", "--id-column", "name").output == "a.csv True name\n"
    shown = run("--help").output
    for words in ("FILE", "A table.", "--quiet", "-q", "Say little.", "COLUMN"):
        assert words in shown
    assert run().exit_code == 2
