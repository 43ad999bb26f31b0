"""``lookalike token``: who may use a server that others can reach."""

from __future__ import annotations

from typing import Annotated

import typer

from lookalike.cli import output as out
from lookalike.cli.build import Group, add_command
from lookalike.cli.options import argument, option
from lookalike.cli.output import Form, check_form
from lookalike.cli.serving import Store, open_tokens

token = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    help="Create, list and revoke tokens for a server that others can reach.",
)


HEADS = ("id", "name", "scope", "created", "revoked")


def create(
    name: Annotated[str, argument("NAME", "Who or what will use it.")],
    store: Store = None,
    scope: Annotated[
        str,
        option("--scope", "NAME", "read: look and search; write: change rows as well."),
    ] = "read",
) -> None:
    """Create a token and show it, only this once."""
    # The first token may be created before the server has run for the first time.
    with open_tokens(store, make=True) as tokens:
        made, text = tokens.create(name, scope)
    out.note(f"token {made.id} for {made.name!r}, scope {made.scope}; it is not shown again:")
    typer.echo(text)  # alone on standard output, to be piped on


def list_tokens(store: Store = None, output: Form = None) -> None:
    """List all tokens, without their secrets."""
    form = check_form(output or "text")
    with open_tokens(store) as tokens:
        records = [token.to_dict() for token in tokens.list()]
    if form != "text":
        columns = {head: [record[head] for record in records] for head in HEADS}
        out.write(form, lambda: columns, lambda: {"tokens": records})
        return
    lines = [[str(record[head] or "") for head in HEADS] for record in records]
    out.make_console().print(out.grid([(head, "left") for head in HEADS], lines))


def revoke(id: Annotated[str, argument("ID", "The id of the token.")], store: Store = None) -> None:
    """Revoke a token; servers stop accepting it within seconds."""
    with open_tokens(store) as tokens:
        tokens.revoke(id)
    out.note(f"token {id} is revoked")


STORE = "--store films.lookalike.sqlite"
add_command(token, "create", create, (f"lookalike token create reports --scope read {STORE}",))
add_command(token, "list", list_tokens, (f"lookalike token list {STORE}",))
add_command(token, "revoke", revoke, (f"lookalike token revoke 3f9c21aa {STORE}",))
