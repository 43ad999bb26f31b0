"""Requests for verbs as JSON holds them: for the HTTP routes and for the tools of agents."""

import inspect
from collections.abc import Callable, Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, create_model

from lookalike.verbs import get_verb
from lookalike.verbs.annotations import spelling_of
from lookalike.verbs.source import TableSource


def request_model(verb: Callable[..., Any]) -> type[BaseModel]:
    """Return what a request for a verb may hold: its parameters, with their types and defaults.

    Parameters
    ----------
    verb : function of ``lookalike.verbs``

    Examples
    --------
    >>> from lookalike.verbs import get_verb
    >>> request_model(get_verb("outliers"))().n
    10
    """
    fields: dict[str, Any] = {}
    # The first parameter is the table, which is the collection of the route.
    for name, parameter in [*inspect.signature(verb).parameters.items()][1:]:
        spelling = spelling_of(parameter)
        default = ... if parameter.default is parameter.empty else parameter.default
        hint = (
            Annotated[spelling.json, Field(ge=spelling.least)] if spelling.least else spelling.json
        )
        fields[name] = (hint, default)
    # Strict: true is not 1, and "5" is not 5.
    config = ConfigDict(extra="forbid", strict=True)
    title = f"{verb.__name__.capitalize()}Ask"
    return create_model(title, __config__=config, __doc__=None, **fields)


def other_tables(
    verb: str, given: Mapping[str, Any], open_other: Callable[[str], TableSource]
) -> dict[str, TableSource]:
    """Return the other tables of a request: by their names, or as records.

    Parameters
    ----------
    verb : str
    given : mapping of parameters to what the request holds
    open_other : function of a text
        What a text means is up to the surface: a collection, or a file that may be read.
    """
    parameters = inspect.signature(get_verb(verb)).parameters
    tables = {name: given.get(name) for name, one in parameters.items() if spelling_of(one).table}
    return {
        name: open_other(value) if isinstance(value, str) else TableSource(value, name)
        for name, value in tables.items()
        if value is not None
    }
