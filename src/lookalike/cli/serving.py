"""``serve``, ``token``, ``mcp``, ``explore`` and ``warm``: tables kept within reach of others."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lookalike._runtime.extras import check_service, needing
from lookalike.cli import output as out
from lookalike.cli.build import Group, add_command
from lookalike.cli.reading import FileSource, IdColumn, ReadOptions
from lookalike.errors import InvalidInput, UnwritableFile, missing_file
from lookalike.verbs import annotations as args
from lookalike.verbs.report import Title

if TYPE_CHECKING:
    from lookalike.service.safety import TokenStore
    from lookalike.service.service import Service

STORE = "--store films.lookalike.sqlite"
EXAMPLES = {
    "serve": ("lookalike serve films.csv --open", f"lookalike serve {STORE}"),
    "explore": ("lookalike explore films.csv", "lookalike explore films.csv --weight year=3"),
    "mcp": ("lookalike mcp data/", "lookalike mcp data/ --http --port 8572"),
    "warm": ("lookalike warm", "lookalike warm --quiet"),
}
HEADS = ("id", "name", "scope", "created", "revoked")  # of a list of tokens

Store = Annotated[
    str | None,
    args.Spelling(
        metavar="FILE|ADDRESS",
        help="Where rows are kept: a file (SQLite, also as sqlite:///FILE), or "
        "postgresql+psycopg://host/name. "
        "Beside the first table unless given, else in the data folder of the user.",
    ),
]


@dataclass(frozen=True)
class AddressOptions:
    """Options of where to listen.

    Parameters
    ----------
    host : str
        Address to listen on; any but loopback needs tokens.
    port : int
        Port to listen on; 0: a free one.
    open_page : bool
        Open the page in a browser.
    """

    host: Annotated[str, args.Spelling(metavar="ADDRESS")] = "127.0.0.1"
    port: Annotated[int, args.Spelling(metavar="N", least=0, most=65_535)] = 8571
    open_page: Annotated[bool, args.Spelling(flags=("--open",))] = False


@dataclass(frozen=True)
class AccessOptions:
    """Options of what clients may do.

    Parameters
    ----------
    folder : str, optional
        Let clients add tables from this folder by their path.
    allow_host : list of str, optional
        A host name that requests may use, such as that of a proxy in front.
    need_token : bool
        Require tokens on loopback as well.
    """

    folder: Annotated[str | None, args.Spelling(metavar="FOLDER")] = None
    allow_host: Annotated[list[str] | None, args.Spelling(metavar="NAME", repeat=True)] = None
    need_token: bool = False


def serve(
    address: AddressOptions,
    access: AccessOptions,
    reading: ReadOptions,
    files: Annotated[list[str] | None, args.Spelling(metavar="FILE", argument=True)] = None,
    store: Store = None,
    id_column: IdColumn = None,
    measure: args.MeasureLike = None,
) -> None:
    """Serve tables: a page to explore them, and an HTTP API for programs.

    Parameters
    ----------
    files : list of str, optional
        Tables to serve, each a collection; saved indexes too.
    """
    check_service("lookalike serve")
    from lookalike.service.server import default_store, make_service, serve_file

    # Before the store is opened: a mistyped name must not leave an empty store behind.
    for file in files or []:
        if not Path(file).exists():
            raise missing_file(Path(file))
    path, hosts = store or default_store(files or []), tuple(access.allow_host or ())
    service = make_service(path, address.host, access.folder, hosts, access.need_token)
    out.note(f"rows are kept in {service.store.database.shown}")
    options: dict[str, Any] = {"kinds": reading.read_kinds(), "missing": reading.missing}
    options |= {"id_column": id_column, "label_column": reading.label_column, "measure": measure}
    options |= reading.of_text
    # Loaded before the server listens: the first page is then answered without waiting.
    with out.compile_note():
        for file in files or []:
            service.warm(serve_file(service, file, options, out.note))
    run_service(service, address)


def run_service(service: Service, address: AddressOptions, path: str = "") -> None:
    """Serve until the process is interrupted; on a terminal requests are not logged."""
    from lookalike.service.monitoring import set_up
    from lookalike.service.server import run

    # In a terminal a line per request would hide the address that was printed.
    set_up(requests=not sys.stderr.isatty())

    def started(url: str) -> None:
        out.note(f"serving {url} (stop it with Ctrl-C)")
        if address.open_page:
            typer.launch(url + path)

    run(service, address.host, address.port, started)


# -- tokens ----------------------------------------------------------------------------------------

token = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    help="Create, list and revoke tokens for a server that others can reach.",
)


@contextmanager
def open_tokens(store: str | None, *, make: bool = False) -> Iterator[TokenStore]:
    """Open the tokens of a store; create the store only if ``make`` is set."""
    # A mistyped path must not become an empty store, in which no token is found.
    check_service("lookalike token")
    from lookalike.service.safety import TokenStore
    from lookalike.service.server import default_store
    from lookalike.service.store.database import parse_address
    from lookalike.service.store.store import Store as Rows

    place = store or default_store([])
    path, _ = parse_address(place)
    if not make and path is not None and not path.exists():
        raise missing_file(path)
    rows = Rows(place)
    try:
        yield TokenStore(rows.database)
    finally:
        rows.close()


def create(
    name: Annotated[str, args.Spelling(metavar="NAME", argument=True)],
    store: Store = None,
    scope: Annotated[str, args.Spelling(metavar="NAME")] = "read",
) -> None:
    """Create a token and show it, only this once.

    Parameters
    ----------
    name : str
        Who or what will use it.
    scope : str
        read: look and search; write: change rows as well.
    """
    # The first token may be created before the server has run for the first time.
    with open_tokens(store, make=True) as tokens:
        made, text = tokens.create(name, scope)
    out.note(f"token {made.id} for {made.name!r}, scope {made.scope}; it is not shown again:")
    typer.echo(text)  # alone on standard output, to be piped on


def list_tokens(store: Store = None, output: out.Form = None) -> None:
    """List all tokens, without their secrets."""
    form = out.check_form(output or "text")
    with open_tokens(store) as tokens:
        records = [token.to_dict() for token in tokens.list()]
    if form != "text":
        columns = {head: [record[head] for record in records] for head in HEADS}
        out.write(form, lambda: columns, lambda: {"tokens": records})
        return
    lines = [[str(record[head] or "") for head in HEADS] for record in records]
    out.make_console().print(out.grid([(head, "left") for head in HEADS], lines))


def revoke(
    id: Annotated[str, args.Spelling(metavar="ID", argument=True)], store: Store = None
) -> None:
    """Revoke a token; servers stop accepting it within seconds.

    Parameters
    ----------
    id : str
        The id of the token.
    """
    with open_tokens(store) as tokens:
        tokens.revoke(id)
    out.note(f"token {id} is revoked")


add_command(token, "create", create, (f"lookalike token create reports --scope read {STORE}",))
add_command(token, "list", list_tokens, (f"lookalike token list {STORE}",))
add_command(token, "revoke", revoke, (f"lookalike token revoke 3f9c21aa {STORE}",))

# -- other pages and programs ----------------------------------------------------------------------


def mcp(
    folder: Annotated[str, args.Spelling(metavar="FOLDER", argument=True)] = ".",
    http: bool = False,
    port: Annotated[int, args.Spelling(metavar="N", least=1, most=65_535)] = 8572,
    write: bool = False,
) -> None:
    """Serve the verbs as tools for agents (Model Context Protocol), over stdio or HTTP.

    Agents see the tables under FOLDER and nothing else, and change nothing unless --write is given.

    Parameters
    ----------
    folder : str
        The tables that agents may ask about.
    http : bool
        Serve streamable HTTP on loopback instead of stdio.
    port : int
        Port to listen on.
    write : bool
        Let agents write reports under the folder.
    """
    with needing("mcp", "lookalike mcp"):
        from lookalike.mcp.server import Tables, make_server, serve_http, serve_stdio

        if http:
            import uvicorn  # noqa: F401  fails before the note that it serves

    server = make_server(Tables(folder), write)
    if http:
        out.note(f"serving {folder} at http://127.0.0.1:{port}/mcp")
        serve_http(server, port)
    else:
        serve_stdio(server)


def explore(
    source: FileSource,
    label: args.Label = None,
    measure: args.MeasureLike = None,
    weights: args.Weights = None,
    columns: args.Columns = None,
    title: Title = None,
) -> None:
    """Open the explorer page of a table, on a copy that is deleted at the end.

    To keep changes, use serve; to write one file that needs no server, report --explore.

    Parameters
    ----------
    label : name of a column, optional
        A column of known classes: not compared, but shown.
    columns : names, optional
        Compare by these columns only; the others are still shown.
    title : str, optional
        The name of the table on the page.
    """
    from lookalike.exploring import explore as open_page

    asked = {"label": label, "measure": measure, "weights": weights, "columns": columns}
    with out.compile_note():
        page = open_page(source, title=title, **asked)
    try:
        out.note(f"serving {page.url} (stop it with Ctrl-C)")
        typer.launch(page.url)
        while True:
            time.sleep(3600)
    finally:
        page.close()


def write_explorer(source: FileSource, form: str | Path, **given: Any) -> None:
    """Write the explorer page to one file.

    Parameters
    ----------
    source : FileSource
    form : form of the answer, or path of the page
    **given : the parameters of the verb ``report``
    """
    if not isinstance(form, Path) or form.suffix == ".parquet":
        hint = "Use a name that ends with .html"
        raise InvalidInput("--output", "NAME.html", repr(str(form)), hint)
    from lookalike.exploring import explore as open_page

    of_file = {name: given.pop(name) for name in ("filter", "k", "seed")}
    most = given.pop("sample")
    page = open_page(source, **given)
    try:
        page.to_html(form, **of_file, **({} if most is None else {"rows": most}))
    finally:
        page.close()
    out.note_file(form)


def warm() -> None:
    """Compile all loops now, so that no later command waits: for container images.

    Compiled loops are kept for this processor, this Python and this version of lookalike. The
    folder is NUMBA_CACHE_DIR or XDG_CACHE_HOME where one of them is set, else ~/.cache.
    """
    from lookalike.kernels import COMPILED, cache_folder
    from lookalike.warming import warm as compile_all

    if not COMPILED:
        hint = "Unset LOOKALIKE_COMPILE and NUMBA_DISABLE_JIT"
        raise InvalidInput("warm", "a compiler", "none", hint, problem="compiling is turned off")
    if cache_folder() is None:  # compiling would be for nothing
        hint = "Set NUMBA_CACHE_DIR to a folder that can be written to"
        problem = "there is no folder to keep compiled loops in"
        raise UnwritableFile("warm", "a folder for compiled loops", "none", hint, problem=problem)
    out.note("compiling all loops; the first time this takes some minutes")
    done = compile_all()
    console = out.make_console()
    out.say(console, f"{done.compiled} loops compiled in {done.seconds:.0f} s", "")
    out.say(console, f"kept in {done.folder}", "")
