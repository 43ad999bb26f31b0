"""Generated pages of the reference; ``conf.py`` writes them before each build."""

import re
import tomllib
from collections.abc import Collection
from importlib import import_module, metadata
from pathlib import Path

import typer
from packaging.requirements import Requirement
from typer.testing import CliRunner

from lookalike.cli.app import VERBS, app
from lookalike.measures import MEASURES
from lookalike.saving.encode import FORMAT, SAVEABLE
from lookalike.saving.fields import fields_of, parameters_of
from lookalike.saving.load import import_packages
from lookalike.verbs import VERBS as ASKED

FORMAT_TOP = f"""\
# Saved files

`save` writes one zip file, usually with the extension `.lookalike`, of format {FORMAT}: a JSON
document `measure.json`, then arrays `arrays/0.npy`, `arrays/1.npy`, ... in numpy's format, all
stored uncompressed. This page is generated from the declarations that are checked at loading.

**The document** is `{{"format": {FORMAT}, "root": ...}}`. Values that JSON cannot represent are
objects with the key `$`:

| `$` | holds |
|---|---|
| `estimator` | `class`, `params` and `learned` attributes |
| `record` | `class` and `fields` |
| `array` | `at`, the number of an array |
| `cells` | an array of Python values: its `shape` and what it `is` |
| `callable` | the `name` of a function, which the caller passes to `load` |
| `again` | the `id` of an earlier object of the document |
| `tuple`, `set`, `frozenset`, `dict` | the items (of a dict: pairs) it `is` |
| `float` | `nan`, `inf` or `-inf` |
| `date`, `datetime`, `time`, `timedelta`, `slice`, `generator` | what it `is` |

**Validation.** Rejected before memory is allocated: unexpected, compressed or overlapping members,
arrays whose shape and size do not agree, documents nested more than 256 deep. Then: unknown classes
and fields, duplicate `id`s, circular objects, and values that violate the declarations below.
Dimensions of one name have one size within an object. Objects that belong together are compared as
well: rows with the measure that encoded them, leaves with their trees, row positions with the
number of rows.
"""

CLI_TOP = """\
# Command line

One verb per question. This page shows the output of `--help`.

Standard output has only the result, so `--output csv` and `--output json` can be piped; notes,
warnings (yellow) and errors (red, one line) go to standard error.

| exit code | meaning |
|---|---|
| 0 | success |
| 1 | an error in the data or the options, with a one-line message (`--debug`: the traceback) |
| 2 | wrong usage |
| 130 | interrupted by Ctrl-C |

**Tables.** `FILE` is a table in any of the formats named below, `-` for standard input (the format
is detected from the content), or an index written by `lookalike index build` (`NAME.lookalike`),
which every verb accepts instead of a table, with its rows, ids, column kinds and measure. `.xlsx`
needs the extra `excel`; the first sheet is read. The options for reading a table are the same for
all verbs: `--kinds`, `--missing`, `--split tags=;` for columns of sets, `--encoding`,
`--delimiter`. `--filter` selects rows (`'year>=1990'`, `mpaa=PG`, `'genre!=Drama'`, `'tags~red'`
for "contains", `'budget='` for missing, `'budget!='` for not missing, or a JSON object as in
`Index.search(filter=...)`); rows keep their numbers. In `search` it selects the possible hits.

**Output formats.** `--output` is `text`, `csv`, `safe-csv`, `json`, or the name of a file to write:
`NAME.html`, a page, or `NAME.parquet`. `--quiet` suppresses notes, warnings and progress.
`--memory 8GB` sets the memory limit of a matrix. Long computations show their progress on a
terminal; Ctrl-C stops them immediately and leaves existing output files unchanged.

**Measures by name.** `--measure` takes the name of a measure in lower case with hyphens (`gower`,
`ranked`, `vector`), or a well-known setting (`euclidean`, `cityblock`, `chebyshev`, `cosine`; for
forests `ratio`, `shi`, `zhu2`, `zhu3`, `ting`, `aryal`, `oob`), or `auto`, which chooses from the
column kinds and prints the reason. Options follow a colon: `vector:metric=cityblock,scale=minmax`,
`'gower:weights={"year": 2}'`. They include the options of a forest and its proximity:
`ratio:n_trees=200,forest=extra,max_depth=8`. A wrapper takes the wrapped measure as its option
`measure`: `nicdm:measure=gower`. For an unknown name the error lists the known ones.
`--weight genres=3` sets weights of columns, for measures with query-time weights. Methods take
their options in the same way: `--method density:eps=0.2`, `--method forest:trees=200`,
`--method neighbors:k=5`.

**Search by example.** `--row 17` searches from a row, `--like '{"year": 1977}'` from a record.
`--like 20` and `--unlike 3`, which may be repeated, are relevant and irrelevant rows (feedback);
without `--row` the first `--like` is the query.

**Predict.** `classify` and `regress` learn `--label` from the rows where it is known, by a random
similarity forest or by neighbors (`--method`), and report the score on held-out rows next to a
baseline, the most frequent class or the median. `classify` rejects a label that looks like an
amount; `--kinds price=category` makes each number a class.

**Completion.** `lookalike --install-completion` installs the completion of verbs and options for
the shell (bash, zsh, fish, PowerShell); `lookalike --show-completion` prints it.

**Search as CSV.** The columns `id`, `score`, `distance` and `similarity` come first, with `--why`
also `for` and `against`, then the columns of the table; a column of the table with one of these
names is written as `table.id`. Distance and similarity are empty if no column is comparable.

**Untrusted tables.** Text output contains no control characters: escape sequences, C1 codes,
bidirectional marks and line breaks in names and cells are replaced by spaces. JSON writes them as
`\\u` escapes. CSV contains the unchanged data, except on a terminal, where they are replaced by
spaces too. A spreadsheet evaluates text that begins with `=`, `+`, `-`, `@`, a tab or a line break
as a formula: `--output safe-csv` puts an apostrophe before such text (not before numbers). HTML
pages (`-o NAME.html`) escape markup; the path is checked before the computation, and an existing
page is replaced only when the new one is complete.

**The shell and Python.** Every verb is a function of the library with the same parameters and
defaults: `lookalike search films.csv --row 3 --weight genres=3` is
`la.search("films.csv", row=3, weights={"genres": 3})`, and `--output json` is its `to_dict()`.

**Search as JSON.** An object with `measure`, `reason` (why this measure, with `auto`, else null),
`query` (`id`, `row`) and `hits`, each with `id`, `score`, `distance`, `similarity`, `row` and, with
`--why`, `reasons`: `for` and `against`, each with the `column`, its `share` of the similarity (for)
or of the dissimilarity (against), and the two cells, `query` and `found`.
"""

MEASURES_TOP = """\
# Table of measures

Generated from the traits of each measure (see `Traits` in [measures](measures.md)). Traits that
depend on parameters are those of the defaults; a wrapper inherits those of the wrapped measure.

| measure | description | columns | missing values | two new rows | all pairs | query-time weights |
|---|---|---|---|---|---|---|
"""


def format_page():
    """Return the page about saved files, generated from the declarations of the classes."""
    import_packages()
    lines = [FORMAT_TOP]
    for name, cls in sorted(SAVEABLE.items()):
        if not cls.__module__.startswith("lookalike."):
            continue
        lines.append(f"## {name}\n")
        rows = fields_table(cls)
        if not rows:
            lines.append("No parameters and no learned attributes.\n")
            continue
        lines.append("| field | constraint |\n|---|---|")
        lines += [f"| `{field}` | {text.replace('|', '/')} |" for field, text in rows]
        lines.append("")
    return "\n".join(lines)


def fields_table(cls):
    """Return the rows of one class's table: parameters, then learned attributes."""
    fields, params = fields_of(cls), parameters_of(cls)
    rows = [(f"{name} (parameter)", fields[name].describe()) for name in params]
    return rows + [(name, field.describe()) for name, field in fields.items() if name not in params]


def cli_page():
    """Return the page about the command line: the output of ``--help``."""
    parts = [CLI_TOP]
    for words in ([], *(words for verb in VERBS for words in verbs_of(verb))):
        lines = [line.rstrip() for line in help_of(words).strip("\n").splitlines()]
        head = " ".join(["lookalike", *words])
        parts.append(f"## `{head}`\n\n```text\n" + "\n".join(lines).strip("\n") + "\n```\n")
    return "\n".join(parts)


def verbs_of(verb):
    """Return the words of a verb and of its subcommands."""
    command = typer.main.get_command(app).commands[verb]
    return [[verb], *([verb, name] for name in getattr(command, "commands", ()))]


def help_of(words):
    """Return the output of ``--help`` on a plain terminal of 90 columns."""
    env = {"COLUMNS": "90", "NO_COLOR": "1", "TERM": "dumb"}
    # Rich checks these before NO_COLOR; on a build machine the page would have other lines.
    env |= dict.fromkeys(("FORCE_COLOR", "PY_COLORS", "GITHUB_ACTIONS", "CLICOLOR_FORCE"))
    result = CliRunner().invoke(app, [*words, "--help"], env=env, prog_name="lookalike")
    if result.exit_code:
        raise RuntimeError(f"lookalike {' '.join(words)} --help failed") from result.exception
    return re.sub(r"\x1b\[[0-9;]*m", "", result.stdout)


def columns_of(traits):
    """Return a description of the columns that a measure compares."""
    return "a square matrix" if traits.pairwise else ", ".join(traits.kinds) or "every kind"


def measure_table():
    """Return the table of measures, generated from their traits."""
    import_packages()
    lines = []
    for name, cls in sorted(MEASURES.items()):
        if not cls.__module__.startswith("lookalike."):
            continue
        example = cls.examples()[0]
        traits = example.traits
        is_wrapper = {"measure", "measures", "parts"} & set(example.get_params(deep=False))
        first = cls.__doc__.strip().splitlines()[0].rstrip(".").replace("|", "/")
        package = cls.__module__.split(".")[1]
        cells = [
            f"[`{name}`]({package}.md)",
            first,
            "as the wrapped measure" if is_wrapper else columns_of(traits),
            *(
                "yes" if trait else "as wrapped" if is_wrapper and inherited else "no"
                for trait, inherited in (
                    (traits.missing, True),
                    (traits.unseen_pairs, False),
                    (traits.needs_all, False),
                    (traits.weighs_columns, False),
                )
            ),
        ]
        lines.append(f"| {' | '.join(cells)} |\n")
    return MEASURES_TOP + "".join(lines)


DEPENDENCIES_TOP = """\
# Dependencies

What `pip install lookalike` brings along, and what the extras add, with the licence that each
package states; read from the packages that this page was built with. A test refuses a package in
the core whose licence asks more of its users than that of lookalike.

| package | version | licence | for |
|---|---|---|---|
"""
# What untrusted files, requests or clients could reach: package, advisory, what it allowed, and the
# first version without it. tests/test_licences.py compares bounds and pinned versions.
ADVISORIES = (
    ("filelock", "CVE-2025-68146", "a link instead of a lock empties the file behind it", "3.20.1"),
    ("filelock", "CVE-2026-22701", "the same where the system has no locks of files", "3.20.3"),
    ("h11", "CVE-2025-43859", "a malformed chunk hides a second request", "0.16.0"),
    ("jinja2", "CVE-2025-27516", "a template leaves its sandbox", "3.1.6"),
    ("pyarrow", "CVE-2023-47248", "an Arrow or Parquet file runs code", "14.0.1"),
    ("python-multipart", "CVE-2024-53981", "a form takes the processor by its log", "0.0.18"),
    ("python-multipart", "CVE-2026-24486", "an upload is written to any path", "0.0.22"),
    ("python-multipart", "CVE-2026-40347", "text around a form takes the processor", "0.0.26"),
    ("python-multipart", "CVE-2026-42561", "headers of a part without end", "0.0.27"),
    ("scikit-learn", "CVE-2024-5206", "a vectorizer keeps words that it should forget", "1.5.0"),
    ("starlette", "CVE-2024-47874", "a field of a form fills the memory", "0.40.0"),
    ("starlette", "CVE-2025-54121", "a large upload holds up all other requests", "0.47.2"),
    ("starlette", "CVE-2025-62727", "a header of ranges takes the processor", "0.49.1"),
    ("tornado", "CVE-2025-47287", "a malformed form fills the log", "6.5"),
)
ADVISORIES_TOP = """
## Known vulnerabilities

Advisories about these packages that untrusted files, requests or clients could reach, and the first
version without them. The pinned versions (`constraints.txt`) are later, and the lower bounds of
lookalike's own dependencies exclude them. The list is kept by hand: `make audit` asks the public
database about all pinned versions, and [`pip-audit`](https://pypi.org/project/pip-audit/) about
those of your environment.

| package | advisory | what it allowed | fixed in |
|---|---|---|---|
"""
PROJECT = Path(__file__).parents[1] / "pyproject.toml"
TOOLS = {"dev", "docs", "studies"}  # extras for those who work on lookalike itself


def brought_by(lines):
    """Return the installed distributions that requirements bring along, by name; theirs too."""
    todo, seen = [Requirement(line) for line in lines], {}
    while todo:
        requirement = todo.pop()
        name = requirement.name.lower().replace("_", "-")
        if name in seen or (requirement.marker and not requirement.marker.evaluate({"extra": ""})):
            continue
        try:
            seen[name] = metadata.metadata(requirement.name)
        except metadata.PackageNotFoundError:  # an extra that is not installed here
            continue
        todo += [Requirement(line) for line in metadata.requires(requirement.name) or []]
    return seen


def licence_of(facts):
    """Return the licence of a distribution in one line: an expression, a name, or classifiers."""
    classifiers = [c for c in facts.get_all("Classifier") or [] if c.startswith("License ::")]
    named = [c.rsplit(" :: ", 1)[-1] for c in classifiers]
    text = (facts.get("License") or "").strip().splitlines()[:1]
    # Some put the whole text of the licence there: its first line is a name, if it is short.
    short = [line for line in text if len(line) < 60]
    return facts.get("License-Expression") or "; ".join(named or short) or "see the package"


def dependencies_page():
    """Return the page of dependencies and their licences."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    groups = {"core": project["dependencies"]}
    groups |= {k: v for k, v in project["optional-dependencies"].items() if k not in TOOLS}
    needed, about = {}, {}
    for group, lines in groups.items():
        found = brought_by(line for line in lines if not line.startswith("lookalike"))
        about |= found
        for name in found:
            needed.setdefault(name, []).append(group)
    rows = [
        (
            f"[{name}](https://pypi.org/project/{name}/)",
            facts["Version"],
            licence_of(facts),
            "core" if "core" in needed[name] else ", ".join(needed[name]),
        )
        for name, facts in sorted(about.items())
    ]
    advice = [
        (p, f"[{a}](https://www.cve.org/CVERecord?id={a})", *rest) for p, a, *rest in ADVISORIES
    ]
    tables = ("".join(f"| {' | '.join(row)} |\n" for row in some) for some in (rows, advice))
    licences, vulnerabilities = tables
    return DEPENDENCIES_TOP + licences + ADVISORIES_TOP + vulnerabilities


REQUESTS_TOP = """\
# HTTP requests

What a server answers, generated from its routes. `/openapi.json` has the same for programs, with
the types of all parameters and answers, and `/docs` shows an example of each; `{c}` is the name
of a collection.
"""


def requests_page():
    """Return the page about the HTTP API: every request with its parameters, by group."""
    from fastapi import FastAPI

    from lookalike.service.api.document import describe_api
    from lookalike.service.server import ROUTERS

    app = FastAPI()
    for router in ROUTERS:
        app.include_router(router)
    document, groups = describe_api(app), {}
    for path, methods in document["paths"].items():
        for method, route in methods.items():
            names = [one["name"] for one in route.get("parameters", ()) if one["in"] == "query"]
            for content in route.get("requestBody", {}).get("content", {}).values():
                schema = content["schema"]
                last = schema.get("$ref", "").rpartition("/")[2]
                names += document["components"]["schemas"].get(last, schema)["properties"]
            purpose = " ".join(route["description"].partition("\n\n")[0].split())
            cells = (f"`{method.upper()} {path}`", " ".join(f"`{name}`" for name in names), purpose)
            groups.setdefault(route["tags"][0], []).append(f"| {' | '.join(cells)} |\n")
    head = "| request | parameters | purpose |\n|---|---|---|\n"
    parts = [f"\n## {tag.capitalize()}\n\n{head}{''.join(rows)}" for tag, rows in groups.items()]
    return REQUESTS_TOP + "".join(parts)


PAGES = {
    "requests.md": requests_page,
    "dependencies.md": dependencies_page,
    "format.md": format_page,
    "cli.md": cli_page,
    "measure-table.md": measure_table,
}


def write_pages(folder):
    """Write the pages into a folder; unchanged files are not touched, so Sphinx skips them."""
    for name, make in PAGES.items():
        path, text = folder / name, make()
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def fill_in_names(text: str) -> str:
    """Write out the public names of a module where a page says ``__all__``, verbs for ``VERBS``.

    Constants are left out: autodoc cannot describe them, so a page does, as ``.. data::``.
    """

    def names_of(found: re.Match) -> str:
        module = import_module(found[2])
        things = {name: getattr(module, name) for name in module.__all__}
        names = [name for name, thing in things.items() if not isinstance(thing, Collection)]
        return found[1] + "\n".join(f"   {name}" for name in names)

    top = r"^(\.\. currentmodule:: (\S+)\n\.\. autosummary::\n   :nosignatures:\n\n)   __all__$"
    text = re.sub(top, names_of, text, flags=re.MULTILINE)
    each_verb = r"^(   |\.\. autofunction:: )VERBS$"

    def write_verbs(found: re.Match) -> str:
        return "\n".join(found[1] + verb for verb in ASKED)

    return re.sub(each_verb, write_verbs, text, flags=re.MULTILINE)
