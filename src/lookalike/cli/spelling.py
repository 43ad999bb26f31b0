"""Parameters of the library in the words of the shell: ``--encoding latin-1``."""

from __future__ import annotations

import json
import shlex
from collections.abc import Container
from typing import Any

from lookalike._runtime.text import plain
from lookalike.errors import Param

# Parameters whose option has another name; what stands in neither list has no option.
OTHERS = {
    "distances": "--distance",
    "k": "-k",
    "memory_limit": "--memory",
    "n_clusters": "-n",
    "n_estimators": "--trees",
    "n_neighbors": "-k",
    "n_splits": "--folds",
    "query": "--like",
    "random_state": "--seed",
    "weights": "--weight",
    "y": "--label",
}
SAME = frozenset(
    "columns delimiter encoding eps filter id_column kinds label label_column landmarks like "
    "max_seconds measure measures method min_neighbors missing reduce row sample scheduler "
    "unlike".split()
)
FUNCTIONS = {"read_table": "the table", "Index.delete": "index delete"}


def spell_option(param: Param, command: str = "lookalike") -> str:
    """Return a parameter as an option with its value, and a function as the command that runs.

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
        option = ""  # a parameter of a measure stands within --measure
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
