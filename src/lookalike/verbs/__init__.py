"""The questions people ask of a table, one file each: a function, its parameters, its result.

``la.search``, the shell command ``lookalike search`` and the HTTP route ``search`` are translations
of one function, ``verbs.search.search``. To add a verb, write ``verbs/<name>.py`` with a function
of that name that returns a ``Result``, its ``HEADING`` and ``RANK`` in the help of the program, and
``EXAMPLES``: every file of this folder but the ``HELPERS`` is a verb.
"""

import os
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lookalike.show.result import Result

# Files of this folder that are no verbs, but what verbs share.
HELPERS = {"annotations", "learning", "measures", "pairing", "requests", "source"}
# By the names of the files alone: ``import lookalike`` must not import what verbs need, nor
# pkgutil, which lists modules in twenty milliseconds (os.listdir in a tenth of one).
_STEMS = {file.removesuffix(".py") for file in os.listdir(os.path.dirname(__file__))}
VERBS = tuple(sorted(name for name in _STEMS - HELPERS if name.isidentifier() and name[0] != "_"))


def module_of(name: str) -> Any:
    """Return the module of a verb: its function, EXAMPLES, HEADING, RANK and perhaps OUTPUT."""
    # Imported when it is used: the help of the program needs signatures, but no heavy package.
    return import_module(f"lookalike.verbs.{name}")


@cache  # so that it is one function everywhere
def get_verb(name: str) -> Callable[..., "Result"]:
    """Return the function of a verb, which takes its target by either name.

    Examples
    --------
    >>> get_verb("search").__name__
    'search'
    """
    from lookalike._runtime.keywords import forgiving

    verb: Callable[..., Result] = getattr(module_of(name), name)
    return forgiving(verb)
