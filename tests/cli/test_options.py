"""Options and arguments as typer reads them."""

from typing import Annotated

import typer
from typer.testing import CliRunner

from cli.run import PLAIN
from lookalike.cli.build import add_command
from lookalike.cli.options import IdColumn, argument, option
from lookalike.cli.reading import FileSource
from lookalike.cli.serving import AddressOptions


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


def test_a_group_has_its_options_at_its_fields():
    """The flag of a field is its name, unless it says another."""
    app = typer.Typer()

    @app.callback()
    def _first():
        pass

    def show(file: FileSource, address: AddressOptions):
        read = file.reading
        typer.echo(f"{file.file} {read.label_column} {read.missing} {read.kinds}")
        typer.echo(f"{address.host} {address.port} {address.open_page}")

    add_command(app, "show", show, ())

    def run(*words):
        return CliRunner().invoke(app, ["show", *words], env=PLAIN)

    assert run("a.csv").output == "a.csv None None None\n127.0.0.1 8571 False\n"
    words = ("a.csv", "--label-column", "x", "--missing", "?", "--missing", "-", "--open")
    assert run(*words, "--port", "0").output == "a.csv x ['?', '-'] None\n127.0.0.1 0 True\n"
    for port in ("-1", "65536"):
        assert run("a.csv", "--port", port).exit_code == 2
    assert "--no-open" not in run("--help").output
