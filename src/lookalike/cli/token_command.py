"""``lookalike token``: who may use a server that others can reach."""

from __future__ import annotations

from typing import Annotated

import typer

from lookalike.cli import output as out
from lookalike.cli.build import Group, add_command
from lookalike.cli.output import Form, check_form
from lookalike.cli.serving import Store, open_tokens

token = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    help="Create, list and revoke tokens for a server that others can reach.",
)


def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Who or what will use it.")],
    store: Store = None,
    scope: Annotated[
        str,
        typer.Option(
            "--scope", metavar="NAME", help="read: look and search; write: change rows as well."
        ),
    ] = "read",
) -> None:
    """Create a token and show it, this once only."""
    with open_tokens(store, make=True) as tokens:
        made, text = tokens.create(name, scope)
    out.note(f"token {made.id} for {made.name!r}, scope {made.scope}; it is not shown again:")
    typer.echo(text)


def list_tokens(store: Store = None, output: Form = None) -> None:
    """List all tokens, without their secrets."""
    form = check_form(output or "text")
    with open_tokens(store) as tokens:
        found = [each.to_dict() for each in tokens.list()]
    heads = ("id", "name", "scope", "created", "revoked")
    if form != "text":
        columns = {head: [each[head] for each in found] for head in heads}
        out.write(form, lambda: columns, lambda: {"tokens": found})
        return
    console, grid = out.make_console(), out.grid([(head, "left") for head in heads])
    for row in ([each[head] for head in heads] for each in found):
        grid.add_row(*out.cells(["" if cell is None else str(cell) for cell in row]))
    console.print(grid)


def revoke(
    id: Annotated[str, typer.Argument(metavar="ID", help="The id of the token.")],
    store: Store = None,
) -> None:
    """Revoke a token; servers stop accepting it within seconds."""
    with open_tokens(store) as tokens:
        tokens.revoke(id)
    out.note(f"token {id} is revoked")


STORE = "--store films.lookalike.sqlite"
add_command(token, "create", create, (f"lookalike token create reports --scope read {STORE}",))
add_command(token, "list", list_tokens, (f"lookalike token list {STORE}",))
add_command(token, "revoke", revoke, (f"lookalike token revoke 3f9c21aa {STORE}",))
