"""A saved index as a collection: its rows, their ids, and its measure by name."""

from __future__ import annotations

import inspect
import json
from typing import Any

from lookalike.errors import InvalidInput, Param
from lookalike.index import Index
from lookalike.measures import Measure
from lookalike.measures.names import kebab, make_measure

ENDING = ".lookalike"


def load_saved(path: str) -> Index:
    """Load an index from one file."""
    from lookalike import load

    index = load(path)
    if not isinstance(index, Index):
        found, hint = f"a saved {type(index).__name__}", "Serve a table, or an index of one"
        raise InvalidInput(f"File {path!r}", "a saved index", found, hint)
    return index


def measure_text(measure: Measure) -> str:
    """Write a measure as ``make_measure`` reads it: collections keep theirs as a text.

    Examples
    --------
    >>> from lookalike.measures import Gower
    >>> measure_text(Gower(scale="rank", weights={"year": 2}))
    'gower:scale=rank,weights={"year": 2}'
    """
    name = kebab(type(measure).__name__)
    defaults = inspect.signature(type(measure)).parameters
    options = [
        f"{key}={_write(value)}"
        for key, value in measure.get_params(deep=False).items()
        if repr(value) != repr(defaults[key].default)
    ]
    text = ":".join([name, *([",".join(options)] if options else [])])
    try:
        same = repr(make_measure(text)) == repr(measure)
    except InvalidInput:
        same = False
    if not same:  # such as a function of one's own
        hint = ("Name another one with ", Param("measure"))
        found = f"{type(measure).__name__} with options that have no name"
        raise InvalidInput("the saved index", "a measure that can be named", found, hint)
    return text


def _write(value: Any) -> str:
    if isinstance(value, Measure):
        return measure_text(value)
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value)
    except TypeError:
        return repr(value)
