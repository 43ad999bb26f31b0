"""Parameters of the library in the words of the shell: ``--encoding latin-1``."""

import inspect
import json
import shlex
from collections.abc import Container
from functools import cache
from typing import Any

from lookalike._runtime.text import plain, plural
from lookalike.errors import Param
from lookalike.verbs import VERBS, get_verb
from lookalike.verbs.annotations import flag_of

# Parameters of the library that have other names in verbs; options of methods and measures stand
# within --method and --measure.
OTHERS = {
    "memory_limit": "--memory",
    "n_splits": "--folds",
    "query": "--like",
    "random_state": "--seed",
    "y": "--label",
}
READING = ("kinds", "missing", "encoding", "delimiter", "id_column", "label_column", "scheduler")
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
    # scikit-learn's word for the number of rows, which no option sets.
    if name == "n_samples":
        return plural(value)
    # Without an option of its own it is shown by name and value, as inside of --measure.
    option = _option_of(param, options)
    if value is ...:
        return option or name
    if not option:
        return f"{name} {_word(value)}"
    return " ".join(f"{option} {shlex.quote(_word(one))}" for one in _entries(value))


def _option_of(param: Param, options: Container[str] | None) -> str:
    """Return the option of a parameter; "" where the command has none for it."""
    # A parameter of a measure stands within --measure.
    from lookalike.measures.contract.base import MEASURES

    if param.name != "weights" and param.of in MEASURES:
        return ""
    option = _options().get(param.name, "")
    return option if options is None or option in options else ""


def _entries(value: Any) -> list[Any] | tuple[Any, ...]:
    """Return the values of an option, which is given once for each."""
    if isinstance(value, dict):
        keys = [",".join(key) if isinstance(key, tuple) else key for key in value]
        return [f"{key}={_word(item)}" for key, item in zip(keys, value.values(), strict=True)]
    return value if isinstance(value, list | tuple) else [value]


# Cached: it imports every verb, which only an error has to pay for.
@cache
def _options() -> dict[str, str]:
    """Return the option of every parameter that has one; those of verbs as verbs spell them."""
    verbs = (inspect.signature(get_verb(verb)).parameters.values() for verb in VERBS)
    own = {one.name: flag_of(one) for some in verbs for one in some}
    return own | {name: f"--{name.replace('_', '-')}" for name in READING} | OTHERS


def _word(value: Any) -> str:
    """Return a value as an option takes it: words as they are, lists as JSON."""
    return value if isinstance(value, str) else json.dumps(plain(value), default=str)
