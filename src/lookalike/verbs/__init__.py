"""The questions people ask of a table, one file each: a function, its parameters, its result.

``la.search``, the shell command ``lookalike search`` and the HTTP route ``search`` are translations
of one function, ``verbs.search.search``. To add a verb, write ``verbs/<name>.py`` with a function
of that name that returns a ``Result``, and add its name to ``VERBS``.
"""

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lookalike.show.result import Result

# Name of a verb -> its heading in the help of the program.
VERBS = {
    "inspect": "Look at a table",
    "search": "Look at a table",
    "outliers": "Look at a table",
    "report": "Look at a table",
    "cluster": "Learn from it",
    "classify": "Learn from it",
    "regress": "Learn from it",
    "compare": "Choose how rows are compared",
    "hubs": "Choose how rows are compared",
}


def get_verb(name: str) -> Callable[..., "Result"]:
    """Return the function of a verb.

    Examples
    --------
    >>> get_verb("search").__name__
    'search'
    """
    # Imported when it is used: the help of the program needs signatures, but no heavy package.
    verb: Callable[..., Result] = getattr(_module(name), name)
    return verb


def examples_of(name: str) -> tuple[str, ...]:
    """Return shell commands that show how a verb is used."""
    examples: tuple[str, ...] = _module(name).EXAMPLES
    return examples


def output_of(name: str) -> str:
    """Return the form in which a shell shows the answer of a verb: "text", or "page"."""
    return str(getattr(_module(name), "OUTPUT", "text"))


def _module(name: str) -> Any:
    return import_module(f"lookalike.verbs.{name}")
