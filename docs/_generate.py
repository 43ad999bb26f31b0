"""Pages of the reference that are made of the code; ``conf.py`` writes them before each build."""

import re

import typer
from typer.testing import CliRunner

from lookalike.cli.app import VERBS, app
from lookalike.measures import MEASURES
from lookalike.saving.encode import FORMAT, SAVEABLE
from lookalike.saving.fields import fields_of, parameters_of
from lookalike.saving.load import import_packages

FORMAT_TOP = f"""\
# Saved files

`save` writes one zip file, by custom ending in `.lookalike`, of format {FORMAT}: a page
`measure.json`, then arrays `arrays/0.npy`, `arrays/1.npy`, ... as numpy writes them, all stored
uncompressed. This page is made of the declarations that loading checks.

**The page** is `{{"format": {FORMAT}, "root": ...}}`. What JSON has no word for is an object with
the key `$`:

| `$` | holds |
|---|---|
| `estimator` | `class`, `params` and `learned` attributes |
| `record` | `class` and `fields` |
| `array` | `at`, the number of an array |
| `cells` | an array of Python values: its `shape` and what it `is` |
| `callable` | the `name` of a function, which the caller of `load` passes |
| `again` | the `id` of an object that stands earlier in the page |
| `tuple`, `set`, `frozenset`, `dict` | the items (of a dict: pairs) it `is` |
| `float` | `nan`, `inf` or `-inf` |
| `date`, `datetime`, `time`, `timedelta`, `slice`, `generator` | what it `is` |

**What loading refuses** before memory is taken: members of other names, compressed or overlapping
ones, arrays whose shape and size do not agree, pages nested more than 256 deep. Then: unknown
classes and fields, an `id` twice, objects that hold one another over and over, and whatever is not
as declared below. Dimensions of one name have one size within an object. Objects that belong
together are compared as well: rows with the measure that encoded them, leaves with their trees,
numbers of rows with the rows there are.
"""

CLI_TOP = """\
# Command line

One verb per question. This page is what `--help` prints.

Standard output holds the answer alone, so `--output csv` and `--output json` can be piped on;
notes, warnings (yellow) and errors (red, one line) go to standard error.

| exit code | meaning |
|---|---|
| 0 | done |
| 1 | something to fix in the data or the options, said in one line (`--debug`: the traceback) |
| 2 | wrong usage |
| 130 | interrupted by Ctrl-C |

**Tables.** `FILE` is a table in any of the forms named below, `-` for standard input (the form is
told by the content), or an index that `lookalike index build` has written (`NAME.lookalike`),
which every verb takes in the place of a table: it brings its rows, their ids, how they were read
and its measure. `.xlsx` needs the extra `excel`; its first sheet is read. How a table is read is
said by the same options everywhere: `--kinds`, `--missing`, `--split tags=;` for columns of sets,
`--encoding`, `--delimiter`. `--filter` chooses rows (`'year>=1990'`, `mpaa=PG`, `'genre!=Drama'`,
`'tags~red'` for "contains", `'budget='` for missing, `'budget!='` for not missing, or a JSON
object as `Index.search(filter=...)` takes it); rows keep their numbers. In `search` it chooses
what may be found.

**Forms of the answer.** `--output` is `text` (for people), `csv`, `safe-csv`, `json`, `parquet` (to
a file or a pipe), or the name of a page to write, `NAME.html`. `--quiet` leaves out notes, warnings
and progress. `--memory 8GB` raises the most that one matrix may take. Long work shows its progress
on a terminal; Ctrl-C ends it at once, and a file that was to be written is then as it was before.

**Measures by name.** `--measure` takes the name of a measure in small letters with hyphens
(`gower`, `ranked`, `vector`), or a setting people know by name (`euclidean`, `cityblock`,
`chebyshev`, `cosine`; of forests `ratio`, `shi`, `zhu2`, `zhu3`, `ting`, `aryal`, `oob`), or
`auto`, which chooses by the columns and prints the reason. Options follow a colon:
`vector:metric=cityblock,scale=minmax`, `'gower:weights={"year": 2}'`. Options of how a forest is
grown and read stand among them: `ratio:n_trees=200,forest=extra,max_depth=8`. A measure made of
another one takes it as its option `measure`: `nicdm:measure=gower`. A name that is not known is
answered with the names that are. `--weight genres=3` gives weights to columns, for measures that
weigh them. Methods take their options in the same way: `--method density:eps=0.2`,
`--method forest:trees=200`, `--method neighbors:k=5`.

**Search by example.** `--row 17` starts from a row, `--like '{"year": 1977}'` from a record.
`--like 20` and `--unlike 3`, which may be repeated, name rows that answers should be like and not
be like; without `--row` the first of `--like` is the start.

**Predict.** `classify` and `regress` learn `--label` from rows where it is known, by a random
similarity forest or by neighbors (`--method`), and say how well that goes on rows that were held
out, beside what guessing the commonest class or the median would give. A label that looks like an
amount is refused by `classify`; `--kinds price=category` makes each number a class.

**Completion.** `lookalike --install-completion` teaches the shell (bash, zsh, fish, PowerShell) to
complete verbs and options; `lookalike --show-completion` prints what it would add.

**Search as CSV.** The columns `id`, `score`, `distance` and `similarity` come first, with `--why`
also `for` and `against`, then the columns of the table; one of them that has such a name itself is
written as `table.id`. Distance and similarity are empty where no column is filled in both rows.

**Untrusted tables.** A table for people holds no control characters: escape sequences, C1
codes, marks that turn the direction of text and line breaks in names and cells are shown as
spaces. JSON writes them as `\\u` escapes. CSV is the data as they are, for a program to read,
except on a terminal, where they are spaces too. A spreadsheet runs a text that begins with `=`,
`+`, `-`, `@`, a tab or a line break as a formula: `--output safe-csv` puts an apostrophe before
such texts (not before numbers). Pages (`-o NAME.html`) show markup as text; the path is checked
before the work begins, and an existing page is replaced only once the new one is complete.

**The shell and Python.** Every verb that asks a question is a function of the library with the same
parameters and defaults: `lookalike search films.csv --row 3 --weight genres=3` is
`la.search("films.csv", row=3, weights={"genres": 3})`, and `--output json` is its `to_dict()`.

**Search as JSON.** An object with `measure`, `reason` (why this measure, with `auto`, else null),
`query` (`id`, `row`) and `hits`, each with `id`, `score`, `distance`, `similarity`, `row` and, with
`--why`, `reasons`: `for` and `against`, each with the `column`, its `share` of the similarity (for)
or of what is missing to 1 (against), and the two cells, `query` and `found`.
"""

MEASURES_TOP = """\
# All measures in one table

Made of the traits that each measure states (see `Traits` in [measures](measures.md)). Facts that
depend on parameters are those of the default; a measure around another one has what that one has.

| measure | what it is | compares | missing cells | two new rows | all pairs | weights when asked |
|---|---|---|---|---|---|---|
"""


def format_page():
    """Return the page about saved files, made of what the classes declare."""
    import_packages()
    lines = [FORMAT_TOP]
    for name, cls in sorted(SAVEABLE.items()):
        if not cls.__module__.startswith("lookalike."):
            continue
        lines.append(f"## {name}\n")
        rows = fields_table(cls)
        if not rows:
            lines.append("No parameters, and nothing learned.\n")
            continue
        lines.append("| field | what it must be |\n|---|---|")
        lines += [f"| `{field}` | {text.replace('|', '/')} |" for field, text in rows]
        lines.append("")
    return "\n".join(lines)


def fields_table(cls):
    """Return the rows of one class's table: parameters, then learned attributes."""
    fields, params = fields_of(cls), parameters_of(cls)
    rows = [(f"{name} (parameter)", fields[name].describe()) for name in params]
    return rows + [(name, one.describe()) for name, one in fields.items() if name not in params]


def cli_page():
    """Return the page about the command line: what ``--help`` prints."""
    parts = [CLI_TOP]
    for words in ([], *(words for verb in VERBS for words in verbs_of(verb))):
        lines = [line.rstrip() for line in help_of(words).strip("\n").splitlines()]
        head = " ".join(["lookalike", *words])
        parts.append(f"## `{head}`\n\n```text\n" + "\n".join(lines).strip("\n") + "\n```\n")
    return "\n".join(parts)


def verbs_of(verb):
    """Return the words of a verb, and of the verbs that it has itself."""
    command = typer.main.get_command(app).commands[verb]
    return [[verb], *([verb, name] for name in getattr(command, "commands", ()))]


def help_of(words):
    """Return what ``--help`` prints on a plain terminal of 90 columns."""
    env = {"COLUMNS": "90", "NO_COLOR": "1", "TERM": "dumb"}
    # Rich looks at these before NO_COLOR: on a build machine the page would have other lines.
    env |= dict.fromkeys(("FORCE_COLOR", "PY_COLORS", "GITHUB_ACTIONS", "CLICOLOR_FORCE"))
    done = CliRunner().invoke(app, [*words, "--help"], env=env, prog_name="lookalike")
    if done.exit_code:
        raise RuntimeError(f"lookalike {' '.join(words)} --help failed") from done.exception
    return re.sub(r"\x1b\[[0-9;]*m", "", done.stdout)


def columns_of(traits):
    """Return in words what a measure compares."""
    return "a square matrix" if traits.pairwise else ", ".join(traits.kinds) or "every kind"


def measure_table():
    """Return the table of measures, made of what they state about themselves."""
    import_packages()
    lines = []
    for name, cls in sorted(MEASURES.items()):
        if not cls.__module__.startswith("lookalike."):
            continue
        example = cls.examples()[0]
        traits = example.traits
        around = {"measure", "measures", "parts"} & set(example.get_params(deep=False))
        first = cls.__doc__.strip().splitlines()[0].rstrip(".").replace("|", "/")
        package = cls.__module__.split(".")[1]
        cells = [
            f"[`{name}`]({package}.md)",
            first,
            "what the inner one compares" if around else columns_of(traits),
            *(
                "yes" if fact else "as inside" if around and inner else "no"
                for fact, inner in (
                    (traits.missing, True),
                    (traits.unseen_pairs, False),
                    (traits.needs_all, False),
                    (traits.weighs_columns, False),
                )
            ),
        ]
        lines.append(f"| {' | '.join(cells)} |\n")
    return MEASURES_TOP + "".join(lines)


PAGES = {"format.md": format_page, "cli.md": cli_page, "measure-table.md": measure_table}


def write_pages(folder):
    """Write the pages into a folder; Sphinx does not read one again that is left alone."""
    for name, make in PAGES.items():
        path, text = folder / name, make()
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
