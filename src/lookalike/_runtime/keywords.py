"""Keywords that callers guess: a target by either name, and errors with the right one."""

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar, cast

from lookalike.errors import InPython, Param, WrongType, suggest

# The target of a verb is its ``label``, that of an estimator its ``y``; both take either name.
TARGETS = {"label": "y", "y": "label"}
# How many rows, neighbors or clusters, in the words of this library and of others. A function has
# at most one of these.
COUNTS = ("n_neighbors", "k", "n", "n_clusters", "n_estimators", "n_trees")
GUESSED_COUNTS = {*COUNTS, "top_k", "topk", "top_n", "n_results", "limit", "size"}
GUESSED_TARGETS = ("label", "y", "target", "labels")
# Parameters of ``read_table`` that are tried on verbs, and what they are called there.
READING = {
    **{name: name for name in ("kinds", "missing", "label_column", "encoding", "delimiter")},
    "label": "label_column",
}

Function = TypeVar("Function", bound=Callable[..., Any])


def check_keywords(who: str, known: Any, given: dict[str, Any]) -> dict[str, Any]:
    """Return keywords under the names that a function has; refuse unknown ones.

    Parameters
    ----------
    who : str
        The function or class.
    known : names of its parameters
    given : mapping of keyword to value

    Examples
    --------
    >>> check_keywords("classify", ["table", "label"], {"y": "species"})
    {'label': 'species'}
    >>> check_keywords("outliers", ["table", "n"], {"k": 5})
    Traceback (most recent call last):
    lookalike.errors.WrongType: outliers: has no parameter 'k'. Did you mean n=5?
    >>> check_keywords("outliers", ["table", "n"], {"kinds": {"zip": "code"}})
    Traceback (most recent call last):
    lookalike.errors.WrongType: outliers: has no parameter 'kinds'. Read the table with it:
    read_table(table, kinds=...).
    """
    found: dict[str, Any] = {}
    for name, value in given.items():
        meant = TARGETS.get(name, name) if name not in known else name
        if meant not in known:
            raise _unknown(who, known, name, value)
        if meant in found:
            both = f"{meant!r} and {TARGETS[meant]!r}"
            raise WrongType(who, "one of the two", both, "They mean the same: give one of them")
        found[meant] = value
    return found


def _unknown(who: str, known: Any, name: str, value: Any) -> WrongType:
    """Return the error about a keyword, with the one that was probably meant."""
    lists = ((GUESSED_COUNTS, COUNTS), (GUESSED_TARGETS, GUESSED_TARGETS))
    words = [word for guessed, right in lists if name in guessed for word in right if word in known]
    hint: Any = suggest(name, known) if not words else f"Did you mean {words[0]}=...?"
    if words and isinstance(value, int | str):  # a frame would fill the screen
        hint = ("Did you mean ", Param(words[0], value), "?")
    if not words and name in READING and "table" in known:
        # What a column holds or names is said once, when the table is read.
        hint = InPython(f"Read the table with it: read_table(table, {READING[name]}=...)")
    needed, found = "a parameter that it has", repr(name)
    return WrongType(who, needed, found, hint, problem=f"has no parameter {name!r}")


def forgiving(function: Function) -> Function:
    """Let a function take the target by either name, and name the parameter that was meant.

    Examples
    --------
    >>> @forgiving
    ... def vote(table, label=None):
    ...     return label
    >>> vote([], y="species")
    'species'
    """
    # Without self: a method is called with it as the first positional argument.
    known = [name for name in inspect.signature(function).parameters if name != "self"]
    names = set(known)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if not kwargs.keys() <= names:
            kwargs = check_keywords(function.__qualname__, known, kwargs)
        return function(*args, **kwargs)

    return cast(Function, call)
