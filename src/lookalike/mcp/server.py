"""The server: verbs as tools, the tables of a folder as resources, two prompts."""

from __future__ import annotations

import inspect
import json
import os
import threading
import warnings
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from glob import has_magic
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import anyio
import anyio.to_thread
from mcp.server import Server
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel, Field, ValidationError, create_model

from lookalike import errors
from lookalike._runtime.progress import Cancelled, watching
from lookalike._version import __version__
from lookalike.errors import InvalidInput, LookalikeError, Param, suggest
from lookalike.service.limits import RequestLimits, check_verb
from lookalike.show.result import Result
from lookalike.verbs import VERBS, get_verb
from lookalike.verbs.annotations import describe_parameters, spelling_of
from lookalike.verbs.requests import other_tables, request_model
from lookalike.verbs.source import TableSource, is_index_folder, is_saved_index, load_index
from mcp import types

# Endings of files that are listed; others can be asked about by their name.
LISTED = (".csv", ".tsv", ".parquet", ".jsonl", ".ndjson", ".json", ".npy", ".xlsx", ".lookalike")
MAX_LISTED = 200  # files in a list; more would fill the context of an agent
MAX_VISITED = 20_000  # files that are looked at for it: a folder may be a whole disk
MAX_KEPT = 4  # tables in memory; the longest unused are forgotten first


class Tables:
    """The tables in a folder, read when they are asked about and kept while they do not change.

    Parameters
    ----------
    folder : path
        Files outside of it are refused; symbolic links are resolved first.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder).expanduser().resolve()
        if not self.folder.is_dir():
            raise errors.missing_file(self.folder)
        self._read = lru_cache(MAX_KEPT)(_read)

    def resolve(self, name: str) -> Path:
        """Return the path of a file under the folder; raise for any other."""
        who = Param("table", name)
        if has_magic(name) or "\0" in name:
            raise InvalidInput(who, "the name of one file", "a pattern", "Name one file")
        # Resolved before it is compared: neither ".." nor a link may lead outside.
        path = Path(os.path.realpath(self.folder / Path(name).expanduser()))
        inside = [path, *(islice(path.rglob("*"), MAX_VISITED) if os.path.isdir(path) else ())]
        if len(inside) > MAX_VISITED:
            found = f"a folder of more than {MAX_VISITED:,} files"
            raise InvalidInput(who, "a table", found, "Name a file in it")
        if not all(self._holds(part) for part in inside):
            needed, hint = "a file under the folder that is served", "Use a path relative to it"
            raise InvalidInput(who, needed, "a path outside of it", hint)
        return path

    def _holds(self, path: Path) -> bool:
        # A link may lead outside, or in a circle, of which ``Path.resolve`` makes an error.
        return Path(os.path.realpath(path)).is_relative_to(self.folder)

    def listed(self) -> list[str]:
        """Return the names of the tables, sorted; the first of very many."""
        paths: list[Path] = []
        for top, folders, files in os.walk(self.folder):  # which follows no links to folders
            # In place, so that the walk does not enter the others: hidden folders hold no tables,
            # but often very many files. Sorted: the same files are listed on every machine.
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            paths += [Path(top, name) for name in sorted(files)]
            if len(paths) > MAX_VISITED:
                break
        names = [
            path.relative_to(self.folder).as_posix()
            for path in paths
            if path.name.lower().endswith(LISTED) and path.is_file() and self._holds(path)
        ]
        return sorted(names)[:MAX_LISTED]

    def source(self, name: str, kinds: Mapping[str, Any] | None = None) -> TableSource:
        """Return a table as verbs take it.

        Parameters
        ----------
        name : str
            A path relative to the folder.
        kinds : mapping of column to kind, optional
            As in ``read_table``.
        """
        path = self.resolve(name)
        if not os.path.exists(path):  # also where a name is too long to be one
            hint, problem = suggest(name, self.listed()), "file not found"
            raise errors.MissingFile(Param("table", name), "a file", "none", hint, problem=problem)
        stat = path.stat()
        # With its time and size: a file that was written anew is read again.
        given = self._read(path, json.dumps(kinds), stat.st_mtime_ns, stat.st_size)
        return TableSource(given, path.relative_to(self.folder).as_posix())


def _read(path: Path, given: str, *version: int) -> Any:
    from lookalike.table import read_table

    kinds = json.loads(given)
    if is_saved_index(path) or is_index_folder(path):
        if kinds:
            hint = "Leave it out, or ask about the table itself"
            raise InvalidInput(Param("kinds"), "a table", "a saved index", hint)
        return load_index(path)
    return read_table(path, kinds=kinds)


# A report is a page of HTML: a resource to open, and a file with ``--write``, not an answer.
TOOLS = tuple(verb for verb in VERBS if verb != "report")
DEFAULT_SIZE = 2_000  # bytes of an answer, some 500 tokens
MIN_SIZE, MAX_SIZE = 100, 200_000
NOTE_SIZE = 80  # bytes kept for the note on how much there is
WIDTH = 100  # characters of a line
KINDS = "What columns hold where it is guessed wrong: {'zip': 'category'}"
SCHEME = "lookalike://"
FORMS = {"summary": "text/plain", "report": "text/html"}  # of a resource
INSTRUCTIONS = (
    "Tables on this machine: which rows are alike and why, groups, outliers, predictions. Begin "
    "with `inspect`, which says what the columns hold. Rows are named by id (their position from 0 "
    "unless a column has ids) or by name. Answers are cut at `size` bytes; ask for more, or for "
    "fewer rows."
)
PROMPTS = {
    "what-is-in-this-table": (
        "What a table holds, and what is unusual about it",
        ("table",),
        "Inspect the table {table}. Say in five sentences what its rows are, which columns matter "
        "and which have missing values. Then find its clusters and its outliers, and describe each "
        "group and the three most unusual rows by the columns that set them apart.",
    ),
    "rows-like-this": (
        "The rows most like one row, with reasons",
        ("table", "row"),
        "Search the table {table} for the rows most like {row}, with reasons (why: true). List the "
        "five best with their ids and, for each, what it shares with {row} and where it differs. "
        "If a column that does not matter decides the list, search again with its weight at 0 and "
        "say what changed.",
    ),
}


@cache
def arguments_of(verb: str) -> type[BaseModel]:
    """Return what a call of a tool may hold: the table, the parameters of the verb, the size."""
    about = f"Bytes of the answer; {DEFAULT_SIZE:,} unless asked for."
    return create_model(
        f"{verb.capitalize()}Call",
        __base__=request_model(get_verb(verb)),
        table=(str, Field(description="Path of a table, relative to the folder that is served.")),
        kinds=(dict[str, str | list[Any]] | None, Field(None, description=KINDS)),
        size=(int, Field(DEFAULT_SIZE, ge=MIN_SIZE, le=MAX_SIZE, description=about)),
    )


def describe_tool(verb: str) -> types.Tool:
    """Return a verb as a tool: its docstring up to the parameters, and its JSON schema."""
    function = get_verb(verb)
    about = (inspect.getdoc(function) or "").partition("\n\nParameters\n")[0]
    hints = types.ToolAnnotations(read_only_hint=True, open_world_hint=False)
    texts, parameters = describe_parameters(function), inspect.signature(function).parameters
    schema = arguments_of(verb).model_json_schema()
    for name in request_model(function).model_fields:
        said = texts[name] or spelling_of(parameters[name]).help
        schema["properties"][name]["description"] = said
    return types.Tool(name=verb, description=about, input_schema=schema, annotations=hints)


def shorten(text: str, size: int) -> str:
    r"""Cut a text after a line, with a note on how much there is.

    Examples
    --------
    >>> print(shorten("one\ntwo\n" + "three" * 20, 100))
    one
    two
    (8 of 108 bytes: ask for a larger size, or for fewer rows)
    """
    given = text.encode()
    if len(given) <= size:
        return text
    kept = given[: size - NOTE_SIZE].decode(errors="ignore")
    kept = kept[: kept.rfind("\n") + 1] or kept
    shown, whole = len(kept.encode()), len(given)
    return f"{kept}({shown:,} of {whole:,} bytes: ask for a larger size, or for fewer rows)"


class Agent:
    """What the tools, resources and prompts of one server share.

    Parameters
    ----------
    tables : Tables
    write : bool
        Whether there is a tool that writes reports under the folder.
    """

    def __init__(self, tables: Tables, write: bool = False) -> None:
        self.tables, self.write = tables, write
        # One call at a time: each uses all cores, and warnings are caught for the whole process.
        self._lock = threading.Lock()

    # -- tools -------------------------------------------------------------------------------------

    def call(self, name: str, arguments: dict[str, Any]) -> str:
        """Answer a call of a tool as text; errors are raised as the library raises them."""
        if name == "report" and self.write:
            asked = _checked(ReportCall, arguments)
            path = self.tables.resolve(asked.path)
            if path.suffix.lower() not in (".html", ".htm"):
                raise InvalidInput(Param("path"), "a name that ends in .html", repr(asked.path), "")
            get_verb("report")(self.tables.source(asked.table)).to_html(path)
            return f"written: {path.relative_to(self.tables.folder).as_posix()}"
        if name not in TOOLS:
            raise InvalidInput("tool", "a known tool", repr(name), suggest(name, TOOLS))
        given = _checked(arguments_of(name), arguments).model_dump()
        table, kinds, size = (given.pop(field) for field in ("table", "kinds", "size"))
        check_verb(given, RequestLimits())
        # A text names a file under the folder, for every table of the question.
        given |= other_tables(name, given, self.tables.source)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result: Result = get_verb(name)(self.tables.source(table, kinds), **given)
        notes = [
            f"note: {one.message.text(spell_argument)}"
            for one in caught
            if isinstance(one.message, errors.LookalikeWarning)
        ]
        # Tables are padded to their width, which would be bytes of nothing.
        lines = [line.rstrip() for line in result.text(WIDTH).split("\n")]
        return shorten("\n".join([*lines, *dict.fromkeys(notes)]), size)

    async def run(self, work: Callable[[], str]) -> str:
        """Run work in a thread; a call that the client cancels stops between two blocks."""
        gone = threading.Event()

        def run() -> str:
            with self._lock, watching(cancelled=gone.is_set):
                return work()

        # A thread cannot be stopped from outside: a cancelled call leaves it behind, and it ends by
        # itself when it next sees that no client waits.
        try:
            return await anyio.to_thread.run_sync(run, abandon_on_cancel=True)
        except Cancelled:
            raise MCPError(types.INTERNAL_ERROR, "the call was cancelled") from None
        finally:
            gone.set()

    async def on_call_tool(self, ctx: Any, params: types.CallToolRequestParams) -> Any:
        """Answer a call of a tool; what the caller can mend is an answer marked as an error."""
        try:
            text = await self.run(lambda: self.call(params.name, params.arguments or {}))
        except LookalikeError as error:
            return _answer(shorten(error.text(spell_argument), DEFAULT_SIZE), is_error=True)
        return _answer(text)

    async def on_list_tools(self, ctx: Any, params: Any) -> types.ListToolsResult:
        """List the verbs, and the report where files may be written."""
        tools = [describe_tool(verb) for verb in TOOLS]
        if self.write:
            about = "Write a report of a table, a page of HTML, under the folder."
            schema = ReportCall.model_json_schema()
            tools.append(types.Tool(name="report", description=about, input_schema=schema))
        return types.ListToolsResult(tools=tools)

    # -- resources and prompts ---------------------------------------------------------------------

    async def on_list_resources(self, ctx: Any, params: Any) -> types.ListResourcesResult:
        """List a summary and a report of every table."""
        names = await anyio.to_thread.run_sync(self.tables.listed)
        resources = [
            types.Resource(
                name=f"{what} of {name}", uri=f"{SCHEME}{what}/{quote(name)}", mime_type=mime
            )
            for name in names
            for what, mime in FORMS.items()
        ]
        return types.ListResourcesResult(resources=resources)

    async def on_read_resource(self, ctx: Any, params: types.ReadResourceRequestParams) -> Any:
        """Return the summary or the report of a table."""
        uri = str(params.uri)
        what, _, name = uri.removeprefix(SCHEME).partition("/")
        if not uri.startswith(SCHEME) or what not in FORMS:
            raise MCPError(types.INVALID_PARAMS, f"unknown resource {uri!r}")

        def read() -> str:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", errors.LookalikeWarning)
                source = self.tables.source(unquote(name))
                if what == "report":
                    return str(get_verb("report")(source).to_html())
                return get_verb("inspect")(source).text(WIDTH)

        try:
            text = await self.run(read)
        except LookalikeError as error:
            raise MCPError(types.INVALID_PARAMS, error.text(spell_argument)) from error
        contents = types.TextResourceContents(uri=uri, mime_type=FORMS[what], text=text)
        return types.ReadResourceResult(contents=[contents])

    async def on_list_prompts(self, ctx: Any, params: Any) -> types.ListPromptsResult:
        """List the prompts."""
        prompts = []
        for name, (about, given, _) in PROMPTS.items():
            arguments = [types.PromptArgument(name=one, required=True) for one in given]
            prompts.append(types.Prompt(name=name, description=about, arguments=arguments))
        return types.ListPromptsResult(prompts=prompts)

    async def on_get_prompt(self, ctx: Any, params: types.GetPromptRequestParams) -> Any:
        """Fill in a prompt."""
        about, names, text = PROMPTS.get(params.name, ("", (), ""))
        given = params.arguments or {}
        if not text or any(name not in given for name in names):
            known = ", ".join(f"{name} ({', '.join(PROMPTS[name][1])})" for name in PROMPTS)
            raise MCPError(types.INVALID_PARAMS, f"prompts and their arguments: {known}")
        content = types.TextContent(text=text.format(**{name: given[name] for name in names}))
        message = types.PromptMessage(role="user", content=content)
        return types.GetPromptResult(description=about, messages=[message])


class ReportCall(BaseModel):
    """What a call of the tool ``report`` holds."""

    table: str
    path: str = Field(description="The page to write, such as report.html, relative to the folder.")


def _checked(model: type[BaseModel], arguments: dict[str, Any]) -> Any:
    """Check the arguments of a call; a wrong one is an error in our words."""
    try:
        return model.model_validate(arguments)
    except ValidationError as error:
        # Without the address of pydantic's pages: an agent should correct the call, not read them.
        first = error.errors(include_url=False)[0]
        name = str(first["loc"][0]) if first["loc"] else "arguments"
        if first["type"] == "extra_forbidden":
            hint = suggest(name, model.model_fields)
            raise InvalidInput("tool", "known arguments", repr(name), hint) from None
        missing = first["type"] == "missing"
        found = "none" if missing else repr(first["input"])[:80]
        needed = "a value" if missing else first["msg"].removeprefix("Input should be ")
        if first["type"] == "greater_than_equal":
            needed = f"an integer >= {first['ctx']['ge']}"
        raise InvalidInput(Param(name), needed, found, f"Send another {name}") from None


def _answer(text: str, is_error: bool = False) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=text)], is_error=is_error)


def spell_argument(param: Param) -> str:
    """Return a parameter as an argument of a tool.

    Examples
    --------
    >>> spell_argument(Param("weights", {"budget": 0})), spell_argument(Param("row"))
    ('weights: {"budget": 0}', 'row')
    """
    if not param.name:
        return "the table"
    if param.value is ...:
        return param.name
    return f"{param.name}: {json.dumps(param.value, default=str)}"


def make_server(tables: Tables, write: bool = False) -> Server[Any]:
    """Return a server of the protocol for the tables of a folder.

    Parameters
    ----------
    tables : Tables
    write : bool
        Whether reports may be written under the folder.
    """
    agent = Agent(tables, write)
    names = [name for name in dir(agent) if name.startswith("on_")]  # what is asked for
    answers: dict[str, Any] = {name: getattr(agent, name) for name in names}
    return Server("lookalike", version=__version__, instructions=INSTRUCTIONS, **answers)


def serve_stdio(server: Server[Any]) -> None:
    """Serve one client over standard input and output, until it closes them."""
    from mcp.server.stdio import stdio_server

    async def serve() -> None:
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    anyio.run(serve)


def serve_http(server: Server[Any], port: int) -> None:
    """Serve clients on loopback by streamable HTTP, at the path /mcp."""
    import uvicorn  # here, since standard input and output need no web server

    # Loopback only, where the host and origin of each request are checked (DNS rebinding).
    app = server.streamable_http_app(host="127.0.0.1")
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning")
