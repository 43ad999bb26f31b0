"""What the parts of a saved object must look like, said as data beside each class.

A class says ``SHAPE = {"offsets": Offsets("values"), "values": Array("float64", "values")}``.
Names of dimensions are shared by all fields of an object: the first array that has one fixes its
size, the others must agree. Files are read by ``lookalike._decode``, which checks every object
against its shape before anything else sees it; the page about the file format is written from the
same declarations. What two objects must agree on is checked by a method ``check_loaded``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from lookalike._shape_arrays import Array, Objects, Offsets
from lookalike._shape_base import Dims, Misfit, Shape, require
from lookalike._shape_values import (
    Anything,
    Choice,
    Either,
    Fits,
    Flag,
    ListOf,
    MapOf,
    Maybe,
    Of,
    Plain,
    Real,
    Sometimes,
    Text,
    TupleOf,
    Whole,
)

__all__ = [
    "Anything",
    "Array",
    "Choice",
    "Dims",
    "Either",
    "Fields",
    "Fits",
    "Flag",
    "ListOf",
    "MapOf",
    "Maybe",
    "Misfit",
    "Objects",
    "Of",
    "Offsets",
    "Plain",
    "Real",
    "Shape",
    "Sometimes",
    "Text",
    "TupleOf",
    "Whole",
    "check_fields",
    "missing_fields",
    "require",
    "rules_of",
    "shape_of",
]

Fields = Mapping[str, "Shape | None"]  # a SHAPE: names of fields and what they must be


def shape_of(cls: type) -> dict[str, Shape]:
    """Return the declared fields of a class, its own and its bases'; None takes one back."""
    found: dict[str, Shape | None] = {}
    for base in reversed(cls.__mro__):
        found |= base.__dict__.get("SHAPE", {})
    return {name: shape for name, shape in found.items() if shape is not None}


def rules_of(cls: type) -> dict[str, Shape]:
    """Return what the parameters of a class must be, by the rules that fitting checks."""
    found: dict[str, Shape] = {}
    for base in reversed(cls.__mro__):
        found |= {name: Fits(rule) for name, rule in base.__dict__.get("PARAMS", {}).items()}
    return found


def check_fields(
    fields: Mapping[str, Any], shapes: Mapping[str, Shape], where: str, dims: Dims | None = None
) -> Dims:
    """Check fields against their shapes, all forms first; return the sizes of the dimensions."""
    dims = {} if dims is None else dims
    known = [name for name in shapes if name in fields]
    for name in known:
        shapes[name].form(fields[name], dims, f"{where}.{name}")
    for name in known:
        shapes[name].content(fields[name], dims, f"{where}.{name}")
    return dims


def missing_fields(fields: Iterable[str], shapes: Mapping[str, Shape]) -> list[str]:
    """Return declared names that are not there and have to be."""
    given = set(fields)
    return [n for n, shape in shapes.items() if n not in given and not isinstance(shape, Sometimes)]
