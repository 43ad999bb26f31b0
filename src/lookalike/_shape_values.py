"""Shapes of single values and of what holds several: numbers, words, tuples, mappings."""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lookalike._params import Rule
from lookalike._shape_base import Dims, Misfit, Shape, below_words, bind, range_words, require

__all__ = [
    "Anything",
    "Choice",
    "Either",
    "Fits",
    "Flag",
    "ListOf",
    "MapOf",
    "Maybe",
    "Of",
    "Plain",
    "Real",
    "Sometimes",
    "Text",
    "TupleOf",
    "Whole",
]

LARGEST = 2**53  # whole numbers that a float64 still counts exactly
SCALARS = (bool, int, float, str, datetime.date, datetime.time, datetime.timedelta, type(None))


@dataclass(frozen=True)
class Anything(Shape):
    """A value that is kept for people to read and that nothing computes with."""

    def describe(self) -> str:
        """Say in words what is allowed."""
        return "any value"


@dataclass(frozen=True)
class Text(Shape):
    """A string."""

    def form(self, value: Any, dims: Dims, where: str) -> None:
        """Check the type."""
        require(isinstance(value, str), where, "a text", type(value).__name__)

    def describe(self) -> str:
        """Say in words what is allowed."""
        return "text"


@dataclass(frozen=True)
class Flag(Shape):
    """True or False."""

    def form(self, value: Any, dims: Dims, where: str) -> None:
        """Check the type."""
        require(isinstance(value, bool), where, "true or false", type(value).__name__)

    def describe(self) -> str:
        """Say in words what is allowed."""
        return "true or false"


@dataclass(frozen=True)
class Whole(Shape):
    """A whole number; ``below`` names a dimension it must stay under."""

    low: int = 0
    high: int = LARGEST
    below: str | None = None

    def form(self, value: Any, dims: Dims, where: str) -> None:
        """Check the type and the fixed ends."""
        whole = isinstance(value, int) and not isinstance(value, bool)
        ok = whole and self.low <= value <= self.high
        found = str(value)[:40] if whole else type(value).__name__
        require(ok, where, f"a whole number from {self.low} to {self.high}", found)

    def content(self, value: Any, dims: Dims, where: str) -> None:
        """Check the named end."""
        if self.below is not None:
            top = dims[self.below]
            require(value < top, where, f"a number below {top} ({self.below})", str(value))

    def describe(self) -> str:
        """Say in words what is allowed."""
        top = "" if self.high == LARGEST else f", at most {self.high}"
        return f"whole number of at least {self.low}{top}" + below_words(self.below)


@dataclass(frozen=True)
class Real(Shape):
    """A number."""

    low: float = -math.inf
    high: float = math.inf
    finite: bool = False

    def form(self, value: Any, dims: Dims, where: str) -> None:
        """Check type and range; NaN is allowed unless finite numbers are asked for."""
        number = isinstance(value, int | float) and not isinstance(value, bool)
        require(number, where, "a number", type(value).__name__)
        if isinstance(value, int):
            require(abs(value) <= LARGEST, where, "a number of usual size", str(value)[:40])
        if self.finite:
            require(math.isfinite(value), where, "a finite number", str(value))
        outside = value < self.low or value > self.high
        require(not outside, where, f"a number from {self.low:g} to {self.high:g}", str(value))

    def describe(self) -> str:
        """Say in words what is allowed."""
        return ("finite number" if self.finite else "number") + range_words(self.low, self.high)


@dataclass(frozen=True)
class Plain(Shape):
    """A value that can be compared and looked up: a scalar, or a tuple or frozenset of them."""

    def form(self, value: Any, dims: Dims, where: str) -> None:
        """Check the type, and the types inside."""
        require(_is_plain(value), where, "a plain value", type(value).__name__)

    def describe(self) -> str:
        """Say in words what is allowed."""
        return "plain value"


def _is_plain(value: Any) -> bool:
    if isinstance(value, tuple | frozenset):
        return all(map(_is_plain, value))
    return isinstance(value, SCALARS)


class Choice(Shape):
    """One of a few values."""

    def __init__(self, *values: Any) -> None:
        self.values = values

    def form(self, value: Any, dims: Dims, where: str) -> None:
        """Check that it is one of them."""
        ok = any(type(value) is type(one) and value == one for one in self.values)
        require(ok, where, self.describe(), str(value)[:40])

    def describe(self) -> str:
        """Say in words what is allowed."""
        return "one of " + ", ".join(map(repr, self.values))


@dataclass(frozen=True)
class Fits(Shape):
    """What the rule of a parameter allows."""

    rule: Rule

    def form(self, value: Any, dims: Dims, where: str) -> None:
        """Ask the rule."""
        if isinstance(value, int) and not isinstance(value, bool):
            require(abs(value) < 2**63, where, "a number of usual size", "a longer one")
        require(self.rule.fits(value), where, self.rule.wants(), type(value).__name__)

    def describe(self) -> str:
        """Say in words what is allowed."""
        return self.rule.wants()


class Of(Shape):
    """An object of one of these classes or of a class below them, by name."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def form(self, value: Any, dims: Dims, where: str) -> None:
        """Check the class."""
        bases = {cls.__name__ for cls in type(value).__mro__}
        require(bases & set(self.names), where, self.describe(), type(value).__name__)

    def describe(self) -> str:
        """Say in words what is allowed."""
        return " or ".join(self.names)


@dataclass(frozen=True)
class _Wrapper(Shape):
    inner: Shape

    def form(self, value: Any, dims: Dims, where: str) -> None:
        if value is not None:
            self.inner.form(value, dims, where)

    def content(self, value: Any, dims: Dims, where: str) -> None:
        if value is not None:
            self.inner.content(value, dims, where)


class Maybe(_Wrapper):
    """None, or what another shape says."""

    def describe(self) -> str:
        """Say in words what is allowed."""
        return f"none, or {self.inner.describe()}"


@dataclass(frozen=True)
class Sometimes(Shape):
    """A field that may be lacking."""

    inner: Shape

    def form(self, value: Any, dims: Dims, where: str) -> None:
        """Check what is there."""
        self.inner.form(value, dims, where)

    def content(self, value: Any, dims: Dims, where: str) -> None:
        """Check what is there."""
        self.inner.content(value, dims, where)

    def describe(self) -> str:
        """Say in words what is allowed."""
        return f"{self.inner.describe()}; may be lacking"


class Either(Shape):
    """What one of several shapes says."""

    def __init__(self, *shapes: Shape) -> None:
        self.shapes = shapes

    def _first(self, value: Any, dims: Dims, where: str) -> Shape:
        for shape in self.shapes:
            try:
                shape.form(value, dict(dims), where)
            except Misfit:
                continue
            return shape
        raise Misfit(where, self.describe(), type(value).__name__)

    def form(self, value: Any, dims: Dims, where: str) -> None:
        """Check that one of them fits."""
        self._first(value, dims, where).form(value, dims, where)

    def content(self, value: Any, dims: Dims, where: str) -> None:
        """Check the values by the shape that fits."""
        self._first(value, dims, where).content(value, dims, where)

    def describe(self) -> str:
        """Say in words what is allowed."""
        return ", or ".join(shape.describe() for shape in self.shapes)


@dataclass(frozen=True)
class _Items(Shape):
    item: Shape
    dim: str | int | None = None

    def form(self, value: Any, dims: Dims, where: str) -> None:
        require(isinstance(value, self._type()), where, self.describe(), type(value).__name__)
        bind(self.dim, len(value), dims, where)
        if isinstance(self.item, Text | Plain) and set(map(type, value)) <= {str}:
            return  # thousands of levels
        for at, one in enumerate(value):
            self.item.form(one, dims, f"{where}[{at}]")

    def content(self, value: Any, dims: Dims, where: str) -> None:
        if type(self.item).content is Shape.content:
            return
        for at, one in enumerate(value):
            self.item.content(one, dims, f"{where}[{at}]")

    def _type(self) -> type:
        return tuple

    def describe(self) -> str:
        size = "" if self.dim is None else f" ({self.dim})"
        return f"{self._type().__name__}{size} of {self.item.describe()}"


class TupleOf(_Items):
    """A tuple of things of one shape."""


class ListOf(_Items):
    """A list of things of one shape."""

    def _type(self) -> type:
        return list


@dataclass(frozen=True)
class MapOf(Shape):
    """A mapping from things of one shape to things of another."""

    key: Shape
    value: Shape
    dim: str | None = None

    def form(self, value: Any, dims: Dims, where: str) -> None:
        """Check keys and values."""
        require(isinstance(value, Mapping), where, "a mapping", type(value).__name__)
        bind(self.dim, len(value), dims, where)
        for key, one in value.items():
            self.key.form(key, dims, where)
            self.value.form(one, dims, f"{where}[{str(key)[:40]!r}]")

    def content(self, value: Any, dims: Dims, where: str) -> None:
        """Check the values inside."""
        for key, one in value.items():
            self.value.content(one, dims, f"{where}[{str(key)[:40]!r}]")

    def describe(self) -> str:
        """Say in words what is allowed."""
        return f"mapping of {self.key.describe()} to {self.value.describe()}"
