"""Requests for verbs as JSON holds them: for the HTTP routes and for the tools of agents."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, create_model

from lookalike.verbs.annotations import spelling_of


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
    for name, parameter in inspect.signature(verb).parameters.items():
        spelling = spelling_of(parameter)
        if not spelling.in_request:
            continue
        default = ... if parameter.default is parameter.empty else parameter.default
        hint = (
            Annotated[spelling.json, Field(ge=spelling.least)] if spelling.least else spelling.json
        )
        fields[name] = (hint, default)
    # Strict: true is not 1, and "5" is not 5.
    config = ConfigDict(extra="forbid", strict=True)
    title = f"{verb.__name__.capitalize()}Ask"
    return create_model(title, __config__=config, __doc__=None, **fields)
