"""Parameters of the library in the words of the shell: ``--encoding latin-1``."""

from __future__ import annotations

import json
import shlex
from collections.abc import Container
from typing import Any

from lookalike._runtime.text import plain
from lookalike.errors import Param

# Parameters whose option has another name. What stands in neither list has no option: it is
# written within --measure or --method (``density:eps=0.3``), which may not be in the command.
OTHERS = {
    "k": "-k",
    "memory_limit": "--memory",
    "n_clusters": "-n",
    "n_neighbors": "-k",
    "n_splits": "--folds",
    "query": "--like",
    "random_state": "--seed",
    "weights": "--weight",
    "y": "--label",
}
SAME = frozenset(
    "columns delimiter encoding filter id_column kinds label label_column like max_seconds measure "
    "measures method missing reduce row sample scheduler unlike".split()
)
FUNCTIONS = {"read_table": "the table", "Index.delete": "index delete"}


def spell_option(
    param: Param, command: str = "lookalike", options: Container[str] | None = None
) -> str:
    """Return a parameter as an option with its value, and a function as the command that runs.

    Parameters
    ----------
    param : Param
    command : str
    options : those that the command has; None: all of the program

    Examples
    --------
    >>> spell_option(Param("kinds", {"my zip": "category"})), spell_option(Param("k", 5))
    ("--kinds 'my zip=category'", '-k 5')
    >>> spell_option(Param("missing", ["?", -999])), spell_option(Param("weights", of="Gower"))
    ("--missing '?' --missing -999", '--weight')
    >>> spell_option(Param("height", 7)), spell_option(Param("n_samples", 1))
    ('height 7', '1 row')
    """
    name, value = param.name, param.value
    if not name:
        return FUNCTIONS.get(param.of, command)
    if name == "n_samples":
        return f"{value:,} row" + ("" if value == 1 else "s")
    option = OTHERS.get(name, f"--{name.replace('_', '-')}" if name in SAME else "")
    if name != "weights" and param.of in _measures():
        option = ""
    if options is not None and option not in options:
        option = ""
    if value is ...:
        return option or name
    if not option:
        return f"{name} {_word(value)}"
    if isinstance(value, dict):
        value = [f"{key}={_word(item)}" for key, item in value.items()]
    values = value if isinstance(value, list | tuple) else [value]
    return " ".join(f"{option} {shlex.quote(_word(one))}" for one in values)


def _measures() -> Container[str]:
    from lookalike.measures.contract.base import MEASURES

    return MEASURES


def _word(value: Any) -> str:
    """Return a value as an option takes it: words as they are, lists as JSON."""
    return value if isinstance(value, str) else json.dumps(plain(value), default=str)
