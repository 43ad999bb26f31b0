"""What the library advises, in the words of the command line: ``--encoding``, not ``encoding=``."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable

from lookalike.errors import suggest

# Parameters of the library that are options here.
OPTIONS = {
    "n_clusters": "-n",
    "min_neighbors": "--min-neighbors",
    "landmarks": "--landmarks",
    "n_splits": "--folds",
    "eps": "--eps",
    "max_seconds": "--max-seconds",
}
WORD = r"""(?:'[^']*'|"[^"]*")"""


def _kind(found: re.Match[str]) -> str:
    return "--kinds " + shlex.quote(f"{found['column'][1:-1]}={found['kind'][1:-1]}")


def _option(found: re.Match[str]) -> str:
    option = OPTIONS[found["name"]]
    value = found["value"]
    return option if value is None else f"{option} {value.strip(chr(39) + chr(34))}"


def _who(found: re.Match[str]) -> str:
    option, value, neighbors = found.groups()
    return neighbors or (f"{option} {value}" if value else option)


RULES: list[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]] = [
    # Advice that is given in both spellings keeps the second one.
    (re.compile(r"kinds=\{[^{}]*\} \((--kinds [^()]*)\)"), r"\1"),
    (re.compile(rf"kinds=\{{(?P<column>{WORD}): (?P<kind>{WORD})\}}"), _kind),
    (
        re.compile(r"kinds=\{(?P<q>['\"])(?P<column>[^'\"]*)(?P=q): \[lowest, \.\.\., highest\]\}"),
        r"""--kinds '\g<column>=["lowest", ..., "highest"]'""",
    ),
    (
        re.compile(rf"missing=\[({WORD}|-?[\d.]+)\]"),
        lambda found: "--missing " + shlex.quote(found[1].strip(chr(39) + chr(34))),
    ),
    (re.compile(rf"encoding=({WORD})"), lambda found: f"--encoding {found[1][1:-1]}"),
    (
        re.compile(rf"delimiter=({WORD})"),
        lambda found: "--delimiter " + shlex.quote(found[1][1:-1]),
    ),
    (re.compile(r"^read_table\((--\w+ \S+)\)"), r"\1"),
    (re.compile(r"^config: needs memory_limit in bytes or like"), "--memory: needs a size such as"),
    (re.compile(r"^Index\.fit \(id_column=(['\"])(.*?)\1\)"), r"--id-column \2"),
    (re.compile(r"^RandomSimilarityForest\w+\(distances=\.\.\.\)"), "--distance"),
    (re.compile(r"a cell may be missing \(None\)"), "its cells may be empty"),
    (re.compile(r"^read_table\((kinds|missing|delimiter)=\.\.\.\)"), r"--\1"),
    (re.compile(r"^Index\.search(?=: needs columns of the table)"), "--like"),
    (re.compile(r"^Index\.search\(weights=\.\.\.\)"), "--weight"),
    (re.compile(r"^Index\.search\(columns=\.\.\.\)"), "--columns"),
    (re.compile(r"^Index\.search\(((?:un)?like)=\.\.\.\)"), r"--\1"),
    (re.compile(r"^kinds\[(['\"])(.*?)\1\]"), r"--kinds \2"),
    (re.compile(r"\bMixedKMeans \((--method means)\)"), r"\1"),
    # scikit-learn's own words stand in the middle, for tools that look for them.
    (
        re.compile(r"^read_table: needs rows and columns, found an empty table: .* is required\."),
        "the table: it is empty.",
    ),
    (re.compile(r"^read_table: "), "the table: "),
    (re.compile(r"^cross_validate: (?=needs at least two classes)"), "--label: "),
    (re.compile(r"; look at ties='expected' as well"), ""),
    (re.compile(r"Lower n_neighbors to 0 or leave out"), "Leave out"),
    (re.compile(r"^Index\.delete"), "index delete"),
    (
        re.compile(r"Use index\.ids to see the ids that are there"),
        "See lookalike search --output csv",
    ),
    (
        re.compile(r"Drop the empty rows, or set undefined= to the similarity .*? have"),
        "Leave the empty rows out with --filter, such as 'COLUMN!='",
    ),
    (re.compile(r"(or )?give levels from low to high by kinds="), r"\1give levels by --kinds"),
    (
        re.compile(r"(?:raise the limit with )?(?:lookalike\.)?config\(memory_limit=\.\.\.\)"),
        "--memory",
    ),
    (
        re.compile(rf"(?<!-)\b(?P<name>{'|'.join(OPTIONS)})\b(?:=(?P<value>{WORD}|[\w.]+))?"),
        _option,
    ),
    (
        re.compile(
            r"^(?P<who>--\w+ (?P<column>.+?)): (?P<what>needs .*)Drop these rows or fill them"
        ),
        r"\g<who>: \g<what>Leave these rows out with --filter '\g<column>!='",
    ),
    (re.compile(r"\(k=(\d+)\)"), r" -k \1"),
    # Who is an option by now: the function behind it is of no interest here.
    (re.compile(r"^\w+(?:\((--?[\w-]+)(?:=\S+| (\S+))?\)| (-k \d+))(?=: )"), _who),
    (re.compile(r", or one of 'knee', found"), ", found"),
    (re.compile(r" Change the parameter\."), " Give another value."),
    (re.compile(r"\bn_samples=1\b"), "1 row"),
    (re.compile(r"\b1 rows were\b"), "1 row was"),
    (re.compile(r"\bn_samples=(\d+)\b"), r"\1 rows"),
    (re.compile(r"\b(Lower|Raise) k\b"), r"\1 -k"),
    (re.compile(r"\bPass (?=(?:for example )?--)"), "Use "),
    (re.compile(r"\bpass (?=(?:for example )?--)"), "use "),
    (re.compile(r"\bPass y\b"), "Name the column with --label"),
    (re.compile(r"\b([Ll])eave y out\b"), r"\1eave --label out"),
    (re.compile(r"^compare: (?=needs labels)"), "--label: "),
    (
        re.compile(r"^RandomSimilarityForest\w+\(oob_score=True\): (?P<what>\d+ rows were .*)"),
        r"out-of-bag: \g<what> Raise --trees.",
    ),
    (
        re.compile(
            r"^cross_validate: (?P<what>needs .*?\.) "
            r"(?:Add rows|Lower --folds to [01] or add rows)\.$"
        ),
        r"no cross-validation: \g<what>",
    ),
]


def in_options(text: str) -> str:
    """Return a message of the library with its advice spelled as options.

    Examples
    --------
    >>> in_options('File a.csv: needs text in UTF-8. Pass encoding="latin-1".')
    'File a.csv: needs text in UTF-8. Use --encoding latin-1.'
    >>> in_options("kinds['size']: needs a known kind, found 'siez'.")
    "--kinds size: needs a known kind, found 'siez'."
    >>> in_options("Column 'zip': pass kinds={'zip': 'category'}.")
    "Column 'zip': use --kinds zip=category."
    """
    for pattern, to in RULES:
        text = pattern.sub(to, text)
    return text


# What typer says about a value, and how a person would say it.
USAGE = [
    (re.compile(r"^Value error, "), ""),
    (re.compile(r"^Input should be greater than or equal to (\S+)$"), r"needs at least \1"),
    (re.compile(r"^Input should be less than or equal to (\S+)$"), r"needs at most \1"),
    (re.compile(r"^Input should be a valid integer.*$"), "needs a whole number"),
    (re.compile(r"^Input should be a valid number.*$"), "needs a number"),
]


def in_usage(text: str, found: object = None) -> str:
    """Return what is wrong with the value of an option, in words, with the nearest known one.

    Parameters
    ----------
    text : str
        What typer says.
    found : the value, where it is known

    Examples
    --------
    >>> in_usage("Input should be greater than or equal to 1", 0)
    "needs at least 1, found '0'."
    >>> in_usage("Value error, 'jsn' is not one of 'csv', 'json'.")
    "'jsn' is not one of 'csv', 'json'. Did you mean 'json'?"
    """
    for pattern, to in USAGE:
        text = pattern.sub(to, text)
    if text.startswith("needs "):
        return f"{text}, found {str(found)!r}." if found is not None else f"{text}."
    told = re.fullmatch(r"'(?P<word>[^']*)' is not one of (?P<known>.*)\.", text)
    if told:
        near = suggest(told["word"], re.findall(r"'([^']*)'", told["known"]))
        text += f" {near}" if near.startswith("Did you mean") else ""
    return text
