"""The page about the command line, made of what ``--help`` really prints.

``python tests/cli/help_page.py`` writes it again; a test compares.
"""

import re
import sys
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "cli.md"

TOP = """\
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

**Tables from strangers.** A table for people holds no control characters: escape sequences, C1
codes, marks that turn the direction of text and line breaks in names and cells are shown as spaces.
JSON writes them as `\\u` escapes. CSV is the data as they are, for a program to read, except on a
terminal, where they are spaces too. A spreadsheet runs a text that begins with `=`, `+`, `-`, `@`,
a tab or a line break as a formula: `--output safe-csv` puts an apostrophe before such texts (not
before numbers). Pages (`--output NAME.html`) show markup as text; the path is checked before the
work begins, and a page that is there is replaced only once the new one is complete.

**The shell and Python.** Every verb that asks a question is a function of the library with the same
parameters and defaults: `lookalike search films.csv --row 3 --weight genres=3` is
`la.search("films.csv", row=3, weights={"genres": 3})`, and `--output json` is its `to_dict()`.

**Search as JSON.** An object with `measure`, `reason` (why this measure, with `auto`, else null),
`query` (`id`, `row`) and `hits`, each with `id`, `score`, `distance`, `similarity`, `row` (the
record) and, with `--why`, `reasons`, `for` and `against`: lists of reasons with the `column`, its
`share` of the similarity (for) or of what is lacking to 1 (against), and the two cells, `query` and
`found`.
"""


def verbs_of(verb):
    """The words of a verb, and of the verbs that it has itself."""
    import typer

    from lookalike.cli.app import app

    command = typer.main.get_command(app).commands[verb]
    return [[verb], *([verb, name] for name in getattr(command, "commands", ()))]


def page():
    """Return the page as it should be."""
    from cli.run import run
    from lookalike.cli.app import VERBS

    parts = [TOP]
    for words in ([], *(words for verb in VERBS for words in verbs_of(verb))):
        shown = run(*words, "--help", COLUMNS="90").stdout
        shown = re.sub(r"\x1b\[[0-9;]*m", "", shown)
        lines = [line.rstrip() for line in shown.strip("\n").splitlines()]
        head = " ".join(["lookalike", *words])
        parts.append(f"## `{head}`\n\n```text\n" + "\n".join(lines).strip("\n") + "\n```\n")
    return "\n".join(parts)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    PAGE.write_text(page(), encoding="utf-8")
