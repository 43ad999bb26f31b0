"""Methods by name, with their options after a colon: ``density:eps=0.3``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lookalike._runtime.options import read_option, split_options
from lookalike.errors import InvalidInput, Param, suggest

# Short names of options; those of measures are the same.
SYNONYMS = {
    "trees": "n_estimators",
    "n_trees": "n_estimators",
    "k": "n_neighbors",
    "seed": "random_state",
}


def read_method(text: str, known: Mapping[str, Sequence[str]]) -> tuple[str, dict[str, Any]]:
    """Return the name of a method and its options.

    Parameters
    ----------
    text : str
    known : mapping of method to the options that it takes

    Examples
    --------
    >>> read_method("neighbors:k=5", {"neighbors": ("n_neighbors",), "forest": ()})
    ('neighbors', {'n_neighbors': 5})
    >>> read_method("forest:k=5", {"neighbors": ("n_neighbors",), "forest": ()})
    Traceback (most recent call last):
    lookalike.errors.InvalidInput: method='forest:k=5': needs an option of 'forest', found 'k'. \
It is an option of 'neighbors'.
    """
    name, _, rest = str(text).partition(":")
    name = name.strip().lower()
    if name not in known:
        raise InvalidInput(Param("method"), "a known method", repr(name), suggest(name, known))
    options: dict[str, Any] = {}
    for part in split_options(rest):
        option, equals, value = (word.strip() for word in part.partition("="))
        meant = SYNONYMS.get(option, option)
        if not equals:
            hint = f"Write {name}:option=value"
            raise InvalidInput(Param("method", text), "options as name=value", repr(part), hint)
        if meant not in known[name]:
            who, needed = Param("method", text), f"an option of {name!r}"
            hint = suggest(option, known[name]) if known[name] else "It has none"
            # Most mistakes are options of another method, which the nearest name would hide.
            if others := [other for other in known if meant in known[other]]:
                hint = f"It is an option of {', '.join(map(repr, others))}"
            raise InvalidInput(who, needed, repr(option), hint)
        options[meant] = read_option(value)
    return name, options


def refuse_unused(method: str, methods: Sequence[str], **given: Any) -> None:
    """Refuse parameters that were given and have no effect: ignoring them would mislead.

    Parameters
    ----------
    method : str
        The method that was chosen.
    methods : names of the methods that the parameters are for
    **given : values of the parameters, None where they were not given

    Examples
    --------
    >>> refuse_unused("neighbors", ["neighbors"], measure="gower")
    >>> refuse_unused("forest", ["neighbors"], measure="gower")
    Traceback (most recent call last):
    lookalike.errors.InvalidInput: measure: needs method='neighbors', found method='forest'. \
Leave measure out, or use method='neighbors'.
    """
    for name, value in given.items():
        if not value or method in methods:
            continue
        # Parts, not a text: each surface spells parameters in its own way.
        first = Param("method", methods[0])
        rest = "".join(f" or {other}" for other in methods[1:])
        hint = ("Leave ", Param(name), " out, or use ", first, rest)
        raise InvalidInput(Param(name), (first, rest), Param("method", method), hint)
