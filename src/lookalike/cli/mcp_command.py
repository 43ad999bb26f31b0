"""``lookalike mcp``: the verbs as tools for agents."""

from __future__ import annotations

from typing import Annotated

from lookalike._runtime.extras import needing
from lookalike.cli import output as out
from lookalike.cli.options import argument, option

EXAMPLES = ("lookalike mcp data/", "lookalike mcp data/ --http --port 8572")


def mcp(
    folder: Annotated[str, argument("FOLDER", "The tables that agents may ask about.")] = ".",
    http: Annotated[
        bool, option("--http", None, "Serve streamable HTTP on loopback instead of stdio.")
    ] = False,
    port: Annotated[int, option("--port", "N", "Port to listen on.", min=1, max=65535)] = 8572,
    write: Annotated[
        bool, option("--write", None, "Let agents write reports under the folder.")
    ] = False,
) -> None:
    """Serve the verbs as tools for agents (Model Context Protocol), over stdio or HTTP.

    Agents see the tables under FOLDER and nothing else, and change nothing unless --write is given.
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
