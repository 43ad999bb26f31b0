"""A real client asks the server of an agent; the answers are those of the library."""

import os
import socket
import subprocess
import sys
import time
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from pydantic import BaseModel

import lookalike as la

pytest.importorskip("mcp", reason="the protocol of agents is not installed")

from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from lookalike import Index
from lookalike.errors import InvalidInput, LookalikeError, MissingFile, Param
from lookalike.mcp.server import (
    DEFAULT_SIZE,
    MAX_KEPT,
    TOOLS,
    WIDTH,
    Tables,
    _checked,
    shorten,
    spell_argument,
)
from lookalike.verbs import get_verb
from mcp import ClientSession, StdioServerParameters, stdio_client
from service.running import run_alone

ENVIRONMENT = {
    name: os.environ[name]
    for name in ("PYTHONPATH", "PATH", "HOME", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME")
    if name in os.environ
}
PROGRAM = ["-m", "lookalike", "mcp"]
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "agents.md"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Penguins as CSV, and a table of three rows."""
    made = tmp_path_factory.mktemp("agent")
    la.datasets.load_penguins().to_frame().to_csv(made / "penguins.csv", index=False)
    (made / "pets.csv").write_text("name,weight\nTom,4\nRex,30\nKit,5\n")
    return made


@asynccontextmanager
async def connect(folder, *options):
    """A client of a server process, over standard input and output."""
    server = StdioServerParameters(
        command=sys.executable, args=[*PROGRAM, str(folder), *options], env=ENVIRONMENT
    )
    async with stdio_client(server) as streams, ClientSession(*streams) as session:
        await session.initialize()
        yield session


def ask_all(folder, questions, *options):
    """Ask the questions in turn; return pairs of the text and whether it is an error."""

    async def main():
        answers = []
        async with connect(folder, *options) as session:
            for tool, arguments in questions:
                found = await session.call_tool(tool, arguments)
                answers.append((found.content[0].text, found.is_error))
        return answers

    return run_alone(main())


def expected(folder, tool, arguments):
    """What the library answers, as lines without the padding of tables."""
    given = {name: value for name, value in arguments.items() if name not in ("table", "size")}
    source = la.read_table(folder / arguments["table"])
    text = get_verb(tool)(source, **given).text(WIDTH)
    return "\n".join(line.rstrip() for line in text.split("\n")).partition("\n")[2]


PENGUINS = {"table": "penguins.csv"}
ROWS = [{"row": row, "k": k, "why": why} for row in (0, 7, 200) for k in (1, 5) for why in (0, 1)]
QUESTIONS = [
    ("inspect", {}),
    ("inspect", {"filter": "species=Gentoo"}),
    *(("search", row | {"why": bool(row["why"])}) for row in ROWS),
    ("search", {"row": {"bill_length_mm": 50.0}, "k": 3}),
    ("search", {"like": [4, 7], "unlike": [9], "k": 3}),
    ("search", {"row": 3, "weights": {"body_mass_g": 3.0}, "k": 3}),
    ("search", {"row": 3, "columns": ["body_mass_g", "sex"], "k": 3}),
    ("search", {"row": 3, "filter": ["year>=2008"], "k": 3}),
    ("search", {"row": 3, "measure": "ranked", "columns": "year", "k": 3}),
    ("explain", {"row": 0, "other": 5}),
    ("explain", {"row": 0, "other": {"island": "Biscoe"}}),
    ("explain", {"row": 1, "other": 2, "weights": {"sex": 0.0}}),
    ("cluster", {"n_clusters": 3}),
    ("cluster", {"n_clusters": 2, "label": "species"}),
    ("outliers", {}),
    ("outliers", {"n": 2, "method": "isolation"}),
    ("hubs", {}),
    ("hubs", {"k": 3, "label": "species"}),
    ("search", {"row": 10, "measure": "gower:scale=range", "k": 3}),
    ("explain", {"row": 3, "other": 3}),
    ("inspect", {"filter": ["year>=2008", "sex=male"]}),
]
WRONG = [
    ("search", {"table": "nothing.csv", "row": 0}, "file not found"),
    ("search", {"table": "pest.csv", "row": 0}, "Did you mean 'pets.csv'"),
    ("search", {"table": "../secret.csv", "row": 0}, "outside"),
    ("search", {"table": "/etc/passwd", "row": 0}, "outside"),
    ("search", {"table": "*.csv", "row": 0}, "one file"),
    ("join", {**PENGUINS, "other": "../secret.csv"}, "outside"),
    ("join", {**PENGUINS, "other": "/etc/passwd"}, "outside"),
    ("search", {"row": 0}, "table"),
    ("search", {**PENGUINS}, "say what to look for"),
    ("search", {**PENGUINS, "row": 100_000}, "a row from 0 to 343"),
    ("search", {**PENGUINS, "row": 0, "k": 0}, "integer >= 1"),
    ("search", {**PENGUINS, "row": 0, "k": "5"}, "k"),
    ("search", {**PENGUINS, "row": 0, "weight": {}}, "Did you mean 'weights'"),
    ("search", {**PENGUINS, "row": 0, "weights": {"mass": 2.0}}, "mass"),
    ("search", {**PENGUINS, "row": 0, "measure": "ratio:n_trees=1000000000"}, "at most 20,000"),
    ("search", {**PENGUINS, "row": 0, "k": 100_000}, "at most 1,000"),
    ("cluster", {**PENGUINS, "label": "specis"}, "species"),
    ("serch", {**PENGUINS, "row": 0}, "Did you mean 'search'"),
    ("report", {**PENGUINS, "path": "page.html"}, "known tool"),
    ("inspect", {**PENGUINS, "size": 1}, "size"),
]


def test_answers_are_those_of_the_library(folder):
    asked = [(tool, PENGUINS | arguments | {"size": 100_000}) for tool, arguments in QUESTIONS]
    for (tool, arguments), (text, wrong) in zip(asked, ask_all(folder, asked), strict=True):
        assert not wrong, text
        # The first line names the table, which is a file here.
        assert text.partition("\n")[2].startswith(expected(folder, tool, arguments)), tool


@pytest.mark.long
def test_the_lines_of_the_page_are_answered(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "films.csv").write_text(
        "title,year\nToy Story,1995\nBabe,1995\nEva,1953\n"
    )
    code = PAGE.read_text("utf-8").split("```python\n")[1].partition("```")[0]
    path = os.pathsep.join([str(Path(sys.executable).parent), ENVIRONMENT["PATH"]])
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=ENVIRONMENT | {"PATH": path},
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert "the 2 rows most like row 0 (Toy Story)" in done.stdout, done.stderr
    assert f"lookalike {' '.join(PROGRAM[2:])} data/ " in PAGE.read_text("utf-8")


def test_wrong_calls_say_what_to_do(folder):
    answers = ask_all(folder, [(tool, arguments) for tool, arguments, _ in WRONG])
    for (tool, arguments, part), (text, wrong) in zip(WRONG, answers, strict=True):
        assert wrong, (tool, arguments)
        assert part in text, text
    assert len(QUESTIONS) + len(WRONG) >= 50


def test_answers_are_short_unless_asked_for(folder):
    long = {**PENGUINS, "row": 0, "k": 100, "why": True}
    levels = {**PENGUINS, "kinds": {"species": ["x" * 100] * 10_000}}
    asked = [("search", long), ("search", long | {"size": 50_000}), ("inspect", levels)]
    few, many, wrong = ask_all(folder, asked)
    assert wrong[1]
    assert len(wrong[0].encode()) < DEFAULT_SIZE + 100
    assert DEFAULT_SIZE - 250 < len(few[0].encode()) <= DEFAULT_SIZE  # cut after a whole line
    assert "bytes: ask for a larger size" in few[0]
    assert many[0].startswith(few[0].rpartition("\n")[0])
    assert "ask for a larger size" not in many[0]


def test_tools_resources_and_prompts_are_listed(folder):
    async def main():
        async with connect(folder) as session:
            tools = {tool.name: tool for tool in (await session.list_tools()).tools}
            resources = (await session.list_resources()).resources
            prompts = (await session.list_prompts()).prompts
            summary = await session.read_resource("lookalike://summary/pets.csv")
            page = await session.read_resource("lookalike://report/pets.csv")
            like = await session.get_prompt("rows-like-this", {"table": "pets.csv", "row": "Tom"})
            for wrong in ("lookalike://summary/..%2Fsecret.csv", "lookalike://rows/pets.csv"):
                with pytest.raises(MCPError):
                    await session.read_resource(wrong)
            with pytest.raises(MCPError):
                await session.get_prompt("rows-like-this", {"table": "pets.csv"})
            return tools, resources, prompts, summary, page, like

    tools, resources, prompts, summary, page, like = run_alone(main())
    assert set(tools) == set(TOOLS)
    for tool in tools.values():
        assert tool.description
        assert "table" in tool.input_schema["required"]
        assert all(field.get("description") for field in tool.input_schema["properties"].values())
        assert tool.annotations.read_only_hint
    assert {resource.uri for resource in resources} == {
        f"lookalike://{what}/{name}.csv"
        for what in ("summary", "report")
        for name in ("penguins", "pets")
    }
    assert "weight" in summary.contents[0].text
    assert page.contents[0].text.startswith("<!doctype html>")
    assert "Tom" in like.messages[0].content.text
    assert len(prompts) == 2


def test_reports_are_written_on_request_only_under_the_folder(tmp_path):
    (tmp_path / "pets.csv").write_text("name,weight\nTom,4\nRex,30\nKit,5\nAnn,7\n")
    call = {"table": "pets.csv"}
    answers = ask_all(
        tmp_path,
        [("report", call | {"path": name}) for name in ("page.html", "../page.html", "pets.csv")],
        "--write",
    )
    assert [wrong for _, wrong in answers] == [False, True, True]
    assert (tmp_path / "page.html").read_text().startswith("<!doctype html>")
    assert not (tmp_path.parent / "page.html").exists()
    assert (tmp_path / "pets.csv").read_text().startswith("name")


def test_a_cancelled_call_does_not_block_the_next(folder):
    slow = {**PENGUINS, "measures": "gower,ranked,ratio:n_trees=20000", "k": 5}

    async def main():
        async with connect(folder) as session:
            with anyio.move_on_after(2) as scope:
                await session.call_tool("compare", slow)
            found = await session.call_tool("inspect", {"table": "pets.csv"})
            return scope.cancelled_caught, found.content[0].text

    cancelled, text = run_alone(main())
    assert cancelled
    assert text.startswith("pets.csv: 3 rows")


def test_the_same_tools_by_http(folder):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [sys.executable, *PROGRAM, str(folder), "--http", "--port", str(port)]
    with subprocess.Popen(words, env=ENVIRONMENT, stderr=subprocess.DEVNULL) as process:
        try:
            end = time.monotonic() + 300  # only guards against hanging
            while time.monotonic() < end and process.poll() is None:
                with socket.socket() as knock:
                    if knock.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.1)

            async def main():
                address = f"http://127.0.0.1:{port}/mcp"
                async with streamable_http_client(address) as streams:
                    async with ClientSession(streams[0], streams[1]) as session:
                        await session.initialize()
                        found = await session.call_tool("search", {"table": "pets.csv", "row": 0})
                        return found.content[0].text

            assert "Kit" in run_alone(main())
        finally:
            process.terminate()


def test_cut_answers_end_with_a_line():
    assert shorten("short", 10) == "short"
    assert shorten("ab\ncd\n" * 20, 90).startswith("ab\ncd\nab\n(9 of 120 bytes")
    assert shorten("é" * 60, 91).startswith("ééééé(10 of 120")
    assert len(shorten("é" * 999_999, 200_000).encode()) <= 200_000


def test_a_lacking_argument_is_told_from_a_wrong_one():
    class Asked(BaseModel):
        n: int

    for given, words in (({}, "a value.*none"), ({"n": "x"}, "a valid integer.*'x'")):
        with pytest.raises(InvalidInput, match=words):
            _checked(Asked, given)


def test_arguments_are_spelled_as_json():
    assert spell_argument(Param("", of="search")) == "the table"
    assert spell_argument(Param("row")) == "row"
    assert spell_argument(Param("row", {"year": 1977})) == 'row: {"year": 1977}'


def test_the_folder_of_the_program_is_checked_first(tmp_path):
    done = subprocess.run(
        [sys.executable, *PROGRAM, str(tmp_path / "none")],
        env=ENVIRONMENT, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 1
    assert "file not found" in done.stderr
    assert Path(tmp_path / "none").exists() is False


# -- files of one folder, and none outside of it --------------------------------------------------

PETS = "name,weight\nTom,4\nRex,30\nKit,5\n"


@pytest.fixture
def inside(tmp_path):
    inside = tmp_path / "inside"
    (inside / "deep").mkdir(parents=True)
    (inside / "pets.csv").write_text(PETS)
    (inside / "deep" / "more.csv").write_text(PETS)
    (inside / "notes.md").write_text("no table")
    (tmp_path / "secret.csv").write_text(PETS)
    return inside


def test_tables_below_the_folder_are_listed(inside):
    assert Tables(inside).listed() == ["deep/more.csv", "pets.csv"]


@pytest.mark.parametrize("name", ["../secret.csv", "deep/../../secret.csv", "{tmp}/secret.csv"])
def test_a_path_outside_is_refused(inside, name):
    with pytest.raises(InvalidInput, match="outside"):
        Tables(inside).source(name.format(tmp=inside.parent))


def test_a_link_to_a_file_outside_is_refused_and_not_listed(inside):
    os.symlink(inside.parent / "secret.csv", inside / "link.csv")
    tables = Tables(inside)
    with pytest.raises(InvalidInput, match="outside"):
        tables.source("link.csv")
    assert "link.csv" not in tables.listed()


def test_a_folder_with_a_link_to_the_outside_is_refused(inside):
    os.symlink(inside.parent / "secret.csv", inside / "deep" / ".part.csv")
    with pytest.raises(InvalidInput, match="outside"):
        Tables(inside).source("deep")


def test_a_link_within_the_folder_is_followed(inside):
    os.symlink(inside / "pets.csv", inside / "same.csv")
    assert len(Tables(inside).source("same.csv").rows().table) == 3


def test_links_in_a_circle_pipes_and_names_of_any_length_are_no_tables(inside):
    os.symlink("loop.csv", inside / "loop.csv")
    os.mkfifo(inside / "pipe.csv")
    tables = Tables(inside)
    assert tables.listed() == ["deep/more.csv", "pets.csv"]
    for name in ("loop.csv", "a" * 5_000, "http://127.0.0.1/pets.csv"):
        with pytest.raises(MissingFile):
            tables.source(name)


def test_a_folder_of_very_many_files_is_not_walked(inside, monkeypatch):
    monkeypatch.setattr("lookalike.mcp.server.MAX_VISITED", 2)
    with pytest.raises(InvalidInput, match="more than 2 files"):
        Tables(inside).source(".")


def test_patterns_are_refused(inside):
    with pytest.raises(InvalidInput, match="one file"):
        Tables(inside).source("*.csv")


def test_a_mistyped_name_is_answered_with_the_nearest(inside):
    with pytest.raises(MissingFile, match=r"Did you mean 'pets\.csv'"):
        Tables(inside).source("pest.csv")


def test_a_folder_that_does_not_exist_is_an_error(tmp_path):
    with pytest.raises(LookalikeError):
        Tables(tmp_path / "none")


def test_a_table_is_read_once_until_it_changes(inside):
    tables = Tables(inside)
    first = tables.source("pets.csv").given
    assert tables.source("pets.csv").given is first
    assert tables.source("pets.csv", {"weight": "category"}).given is not first
    (inside / "pets.csv").write_text(PETS + "Ann,7\n")
    assert len(tables.source("pets.csv").given) == 4


def test_the_longest_unused_tables_are_forgotten(inside):
    tables = Tables(inside)
    first = tables.source("pets.csv").given
    for i in range(MAX_KEPT):
        (inside / f"{i}.csv").write_text(PETS)
        tables.source(f"{i}.csv")
    assert tables.source("pets.csv").given is not first


def test_a_saved_index_is_a_table_with_kinds_of_its_own(inside):
    Index().fit({"size": [1.0, 2.0, 4.0]}).save(inside / "sizes.lookalike")
    tables = Tables(inside)
    assert len(tables.source("sizes.lookalike").rows().table) == 3
    with pytest.raises(InvalidInput, match="kinds"):
        tables.source("sizes.lookalike", {"size": "category"})
