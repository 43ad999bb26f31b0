"""What all declarations of shape have in common."""

from __future__ import annotations

import math
from typing import Any

from lookalike.errors import LookalikeError, message

__all__ = ["Dims", "Misfit", "Shape", "below_words", "bind", "range_words", "require", "size_of"]

Dims = dict[str, int]


class Misfit(LookalikeError, ValueError):
    """A part of a saved object that is not what its class declares."""

    def __init__(self, where: str, needed: str, found: str) -> None:
        super().__init__(message(where, needed, found, "Save the estimator again"))
        self.where = where


def require(holds: Any, where: str, needed: str, found: str = "something else") -> None:
    """Refuse a saved object unless a condition holds."""
    if not bool(holds):
        raise Misfit(where, needed, found)


class Shape:
    """What a field must be: ``form`` looks at type and size, ``content`` at the values."""

    def form(self, value: Any, dims: Dims, where: str) -> None:
        """Check type, dtype and dimensions, and learn the sizes of named dimensions."""

    def content(self, value: Any, dims: Dims, where: str) -> None:
        """Check the values, when the sizes of all dimensions are known."""

    def describe(self) -> str:
        """Say in words what is allowed, for the documentation of the format."""
        raise AssertionError(f"{type(self).__name__} must describe itself")


def size_of(dim: str | int, dims: Dims) -> int:
    return dim if isinstance(dim, int) else dims[dim]


def bind(dim: str | int | None, size: int, dims: Dims, where: str) -> None:
    """Fix the size of a named dimension, or compare it with what is known."""
    if dim is None:
        return
    if isinstance(dim, int):
        require(size == dim, where, f"a size of {dim}", str(size))
        return
    name, plus, more = dim.partition("+")
    size -= int(more) if plus else 0
    known = dims.setdefault(name, size)
    require(size == known >= 0, where, f"a size of {known} ({name})", str(size))


def range_words(low: float, high: float) -> str:
    text = "" if low == -math.inf else f", at least {low:g}"
    return text + ("" if high == math.inf else f", at most {high:g}")


def below_words(name: str | int | None) -> str:
    return "" if name is None else f", below {name}"
