"""Every command that README, docs and help show runs; every option says what it is for."""

import re
import shlex
from io import StringIO
from itertools import pairwise
from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
import typer
from typer.testing import CliRunner

from cli.run import PLAIN, run
from lookalike.cli.app import COMMANDS as OTHERS
from lookalike.cli.app import VERBS, app
from lookalike.cli.build import add_command
from lookalike.cli.reading import FileSource, IdColumn
from lookalike.cli.serving import AddressOptions
from lookalike.verbs import VERBS as QUESTIONS
from lookalike.verbs import module_of
from lookalike.verbs.annotations import Spelling
from table.parts import cut

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
SHELL = re.compile(r"```(?:sh|bash|console|shell)\n(.*?)```", re.DOTALL)
INLINE = re.compile(r"`(lookalike [a-z]+ (?:FILE|[\w.-]+\.(?:csv|lookalike))[^`]*)`")
# These have tests of their own: a server does not end by itself, films take long.
ELSEWHERE = ("demo", "explore", "mcp", "serve", "token", "warm")


def documented():
    """Every command in README and docs, once."""
    found = {}
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        blocks = [line for block in SHELL.findall(text) for line in block.splitlines()]
        for line in [*(b.strip().removeprefix("$ ") for b in blocks), *INLINE.findall(text)]:
            if line.startswith("lookalike ") and line.split()[1] in VERBS:
                found.setdefault(line.replace("FILE", "films.csv"), page.name)
    return list(found)


def examples():
    shown = {verb: module_of(verb).EXAMPLES for verb in QUESTIONS}
    for verb, (module, _) in OTHERS.items():
        shown |= {verb: getattr(module, "EXAMPLES", {}).get(verb, ())}
    return [line for lines in shown.values() for line in lines]


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with the files that the commands name."""
    monkeypatch.chdir(tmp_path)
    genres = ["Drama;War", "Comedy", "Drama;Romance", "Comedy;Romance"]
    lines = ["title,year,length,budget,rating,genres,genre,mpaa"]
    for i in range(48):
        budget = "" if i % 5 == 0 else str(1000 * (i * 7 % 13 + 1))
        kind = genres[i % 4]
        words = f"Film {chr(65 + i % 26)}{i} of the {['Sea', 'Moon', 'Hill'][i % 3]}"
        words = {30: "Toy Story", 31: "Star Wars"}.get(i, words)
        lines.append(
            f"{words},{1950 + i * 11 % 50},{80 + i * 7 % 60},{budget},{(i * 3 % 90) / 10 + 1},"
            f"{kind},{kind.split(';')[0]},{['PG', 'R'][i % 3 == 0]}"
        )
    Path("films.csv").write_text("\n".join(lines) + "\n")
    Path("more.csv").write_text("\n".join(lines[:1] + lines[3:5]) + "\n")
    lines = ["species,island,bill_length_mm,flipper_length_mm,body_mass_g,sex,year"]
    for i in range(60):
        s = i % 3
        sex = ["male", "female", ""][2 if i % 17 == 0 else i % 2]
        lines.append(
            f"{['Adelie', 'Gentoo', 'Chinstrap'][s]},{['Dream', 'Biscoe'][s == 1]},"
            f"{38 + 5 * s + i % 7},{180 + 15 * s + i % 5},{3500 + 700 * s + 31 * (i % 9)},"
            f"{sex},{2007 + i % 3}"
        )
    Path("penguins.csv").write_text("\n".join(lines) + "\n")
    Path("new.csv").write_text("\n".join(lines[:4]) + "\n")
    films = Path("films.csv").read_text().splitlines()
    Path("synthetic.csv").write_text("\n".join(films[:1] + films[3:30:2]) + "\n")
    Path("rivals.csv").write_text("\n".join(films[:1] + films[5:45:4]) + "\n")
    pd.read_csv("films.csv").to_json("films.jsonl", orient="records", lines=True)
    write_people()
    return tmp_path


def write_people():
    """Write 30 people, ten of them twice, with slips, and customers who are half of them."""
    first, last = (
        ["Anna", "Bertram", "Clara", "Dietrich", "Emil", "Frida"],
        ["Kowalski", "Lindqvist"],
    )
    last += ["Moreau", "Novotny", "Okafor"]
    people = [
        {
            "name": f"{first[i % 6]} {last[i % 5]}",
            "street": f"{i * 37 % 89 + 1} {['Dock', 'Hill', 'Elm', 'High'][i % 4]} Street",
            "born": f"19{40 + i * 7 % 53}-0{1 + i % 9}-{10 + i * 3 % 18}",
            "country": ["France", "Poland", "Sweden"][i % 3],
        }
        for i in range(30)
    ]
    slips = [{**one, "name": one["name"][:4] + one["name"][5:]} for one in people]
    for moved in slips[::3]:  # these are doubtful
        moved |= {"street": "5 Lake Road", "born": "1999" + moved["born"][4:]}
    pd.DataFrame(people + slips[:10]).to_csv("people.csv", index=False)
    pd.DataFrame(slips[15:]).to_csv("customers.csv", index=False)


def review_people():
    """Decide the doubtful pairs of people as a reader of the page does, who fills in 'same'."""
    done = run(*"dedupe people.csv --show review -n 50 --output csv -q".split())
    pairs = pd.read_csv(StringIO(done.stdout))
    assert len(pairs)
    same = pairs["right"] - pairs["left"] == 30
    pairs.assign(same=np.where(same, "yes", "no")).to_csv("review.csv", index=False)


def write_vectors(name):
    """Write a vector for each film."""
    np.save(name, np.random.default_rng(0).normal(size=(48, 6)))


def index_films():
    assert run("index", "build", "films.csv", "-o", "films.lookalike", "-q").exit_code == 0


def index_rows(place):
    """Make the folder of Parquet files that a page speaks of, and its index."""
    rows = pa.table({"size": [float(at * 7 % 11) for at in range(12)], "color": list("ab") * 6})
    cut(rows, place / "rows", [5])
    words = ("rows/", "-o", "rows-index", "--measure", "gower", "-q")
    assert run("index", "build", *words).exit_code == 0


def words_of(line):
    """The words of a command, without what only a shell understands."""
    words = shlex.split(line, comments=True)
    for mark in (">", "|"):
        words = words[: words.index(mark)] if mark in words else words
    return words[1:]


COMMANDS = list(dict.fromkeys(documented() + examples()))


@pytest.mark.parametrize(
    "line", [line for line in COMMANDS if line.split()[1] not in ELSEWHERE and "..." not in line]
)
def test_a_command_that_is_shown_runs(line, place):
    if "films.lookalike" in line:
        index_films()
    if "rows-index" in line:
        index_rows(place)
    if "--decisions review.csv" in line:
        review_people()
    for name in re.findall(r"[\w.]+\.npy", line):
        write_vectors(name)
    done = run(*words_of(line))
    assert done.exit_code == 0, done.output
    writes = line.split()[1] == "report" or ".parquet" in line
    assert done.stdout or (writes and "wrote" in done.stderr)


def test_commands_are_found():
    assert len(documented()) >= 8
    assert len(examples()) >= 20


def commands(group, *words):
    for name, command in sorted(group.commands.items()):
        if hasattr(command, "commands"):
            yield from commands(command, *words, name)
        else:
            yield (*words, name), command


ALL = dict(commands(typer.main.get_command(app)))


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_every_option_has_help(words):
    command = ALL[words]
    assert command.help
    for option in command.params:
        assert getattr(option, "help", None), f"{' '.join(words)}: {option.name} has no help"


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_every_verb_can_be_quiet_and_has_an_example(words):
    command = ALL[words]
    assert any("--quiet" in option.opts for option in command.params)
    assert f"lookalike {' '.join(words)}" in command.epilog


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_help_shows_names_and_no_types_of_python(words):
    shown = run(*words, "--help").stdout
    assert "<str>" not in shown
    assert "list[" not in shown
    assert "{" not in shown.splitlines()[1]  # the line of usage
    # A paragraph is broken by the terminal alone: no line in it is much shorter than the next word.
    about = [line.strip() for line in shown.split("╭")[0].splitlines()[2:]]
    for line, after in pairwise(about):
        assert not line or not after or len(line) + len(after.split()[0]) > 90


PAIRS = ("audit", "dedupe", "join", "link", "match")
READERS = [w for w in ALL if w[0] not in (*ELSEWHERE, "report", "index")]


@pytest.mark.parametrize("words", [*READERS, ("index", "build")], ids=" ".join)
def test_verbs_that_read_a_table_have_the_same_options(words):
    known = {name for option in ALL[words].params for name in option.opts}
    shared = {"--kinds", "--missing", "--split", "--encoding", "--delimiter", "--memory"}
    assert shared <= known
    if words[0] in PAIRS:  # rows are all those of the tables
        assert {"--output", "--columns" if words == ("audit",) else "--on"} <= known
        return
    assert "--filter" in known or words == ("explain",)  # two rows are named
    if words[0] not in ("inspect", "index"):
        assert {"--output", "--columns"} <= known
        assert words in (("search",), ("explain",)) or "--seed" in known
        how = {"--equal-weights"} if words == ("impute",) else {"--measure", "--weight"}
        assert words == ("compare",) or how <= known  # what fills a column is learned for each


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["serch", "a.csv"], "'search'"),
        (["search", "a.csv", "--rwo", "1"], "--row"),
        (["cluster", "a.csv", "--methd", "ward"], "--method"),
        (["index", "biuld", "a.csv"], "'build'"),
    ],
)
def test_typing_errors_are_answered_with_what_was_meant(words, meant):
    done = run(*words)
    assert done.exit_code == 2
    assert meant in done.stderr
    assert "Did you mean" in done.stderr or "Possible" in done.stderr


ROWS = "id,size,color,tags\na,1.5,red,x;y\nb,2.5,blue,y\nc,2.0,red,\nd,9.0,,x;z\n"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(ROWS)
    return path


def one_line(*words):
    done = run(*words)
    assert (done.exit_code, done.stdout) == (1, ""), done.output
    (line,) = done.stderr.splitlines()
    return line


def test_quiet_leaves_errors_and_the_answer(file, tmp_path):
    words = ("search", file, "--row", 0, "-k", 9, "--measure", "ranked")
    loud, still = run(*words), run(*words, "--quiet")
    assert "leaves out" in loud.stderr
    assert "rows can be found" in loud.stdout
    assert still.stderr == ""
    assert still.stdout == loud.stdout
    assert "file not found" in run("inspect", tmp_path / "x.csv", "-q").stderr


def test_memory_is_an_option(file):
    assert "--memory: needs a number of bytes, or a size" in one_line(
        "inspect", file, "--memory", "much"
    )
    assert run("inspect", file, "--memory", "1GB").exit_code == 0


# -- commands that are no verbs, by the same rules -------------------------------------------------


def test_flags_help_and_metavar_reach_the_command():
    app = typer.Typer()

    def show(
        file: Annotated[str, Spelling(metavar="FILE", argument=True)],
        more: Annotated[list[str] | None, Spelling(metavar="FILE...", argument=True)] = None,
        loud: Annotated[bool, Spelling(flags=("--loud", "-l"))] = False,
        id_column: IdColumn = None,
    ):
        """Show it.

        Parameters
        ----------
        file : str
            A table.
        loud : bool
            Say much.
        """
        typer.echo(f"{file} {more} {loud} {id_column}")

    add_command(app, "show", show, ())

    def run(*words):
        return CliRunner().invoke(app, list(words), env=PLAIN)

    assert run("a.csv").output == "a.csv None False None\n"
    words = ("a.csv", "b.csv", "-l", "--id-column", "name")
    assert run(*words).output == "a.csv ['b.csv'] True name\n"
    shown = run("--help").output
    for words in ("FILE", "A table.", "--loud", "-l", "Say much.", "COLUMN", "Show it."):
        assert words in shown
    assert "Parameters" not in shown
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
