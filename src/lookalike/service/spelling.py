"""Parameters of the library in the words of a request: ``encoding: "latin-1"``."""

from __future__ import annotations

import json
from functools import cache

from lookalike.errors import Param
from lookalike.service.api import models

OTHERS = {"n_neighbors": "k", "y": "label_column"}  # parameters whose field has another name


@cache
def fields() -> frozenset[str]:
    """Return the names of all fields that a request can have."""
    requests = [one for one in vars(models).values() if isinstance(one, type)]
    known = [one for one in requests if issubclass(one, models.Strict)]
    return frozenset(name for one in known for name in one.model_fields)


def field_of(param: Param) -> str | None:
    """Return the field of a request that a parameter stands for; None for those without one."""
    name = OTHERS.get(param.name, param.name)
    return name if name in fields() else None


def spell_field(param: Param) -> str:
    """Return a parameter as a field with its value, as JSON has it.

    Examples
    --------
    >>> spell_field(Param("kinds", {"zip": "category"})), spell_field(Param("n_neighbors"))
    ('kinds: {"zip": "category"}', 'k')
    >>> spell_field(Param("memory_limit", of="config")), spell_field(Param("n_samples", 1))
    ('memory limit', '1 row')
    """
    if not param.name:
        return "table" if param.of == "read_table" else "request"
    if param.name == "n_samples":
        return f"{param.value:,} row" + ("" if param.value == 1 else "s")
    name = field_of(param) or param.name.replace("_", " ")
    return name if param.value is ... else f"{name}: {json.dumps(param.value, default=str)}"
