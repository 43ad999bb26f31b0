"""What the parts of a saved object must look like, said as data beside each class.

A class says ``SHAPE = {"offsets": Offsets("values"), "values": Array("float64", "values")}``.
Names of dimensions are shared by all fields of an object: the first array that has one fixes its
size, the others must agree. ``lookalike.saving.decode`` reads files and checks every object
against its shape before anything else sees it; the page about the file format is written from the
same declarations. What two objects must agree on is checked by a method ``check_loaded``.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lookalike.errors import LookalikeError
from lookalike.saving.params import Rule

Dims = dict[str, int]


class Misfit(LookalikeError, ValueError):
    """A part of a saved object that is not what its class declares."""

    def __init__(self, where: str, needed: str, found: str) -> None:
        super().__init__(where, needed, found, "Save the estimator again")
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
    """Return the size of a dimension, given as a number or by its name."""
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
    """Say a range in words."""
    text = "" if low == -math.inf else f", at least {low:g}"
    return text + ("" if high == math.inf else f", at most {high:g}")


def below_words(name: str | int | None) -> str:
    """Say an exclusive upper bound in words."""
    return "" if name is None else f", below {name}"


class Array(Shape):
    """An array of numbers.

    Parameters
    ----------
    dtype : str
        One dtype, or several with spaces between; "text" for strings of any width.
    *dims : str or int
        A size, or its name; ``"n+1"`` is one more than n.
    finite, no_nan : bool
        No NaN and no infinities, or no NaN.
    low, high : number, optional
        The range of the values (NaN aside).
    below : str or int, optional
        A size, or its name, that whole numbers must stay under.
    ascending : bool
        Every value is larger than the one before.
    """

    def __init__(
        self,
        dtype: str,
        *dims: str | int,
        finite: bool = False,
        no_nan: bool = False,
        low: float | None = None,
        high: float | None = None,
        below: str | int | None = None,
        ascending: bool = False,
    ) -> None:
        self.dtypes, self.dims = dtype.split(), dims
        self.finite, self.no_nan, self.low, self.high = finite, no_nan, low, high
        self.below, self.ascending = below, ascending

    def form(self, value: Any, dims: Dims, where: str) -> None:
        """Check dtype and dimensions."""
        require(isinstance(value, np.ndarray), where, "an array", type(value).__name__)
        name = "text" if value.dtype.kind == "U" else value.dtype.name
        native = value.dtype.isnative
        require(native and name in self.dtypes, where, " or ".join(self.dtypes), str(value.dtype))
        shown = f"{len(self.dims)} dimensions"
        require(value.ndim == len(self.dims), where, shown, f"shape {value.shape}")
        for dim, size in zip(self.dims, value.shape, strict=True):
            bind(dim, size, dims, where)

    def content(self, value: Any, dims: Dims, where: str) -> None:
        """Check the values."""
        if not value.size:
            return
        if value.dtype.kind == "f" and (self.finite or self.no_nan):
            with np.errstate(all="ignore"):
                fine = np.isfinite(value.sum())  # quick, and right unless a sum overflows
            if not fine:
                good = np.isfinite(value) if self.finite else ~np.isnan(value)
                kind = "finite numbers" if self.finite else "numbers without NaN"
                require(good.all(), where, kind, "others")
        top = None if self.below is None else size_of(self.below, dims) - 1
        for bound, find, word in (
            (self.low, np.fmin, "at least"),
            (self.high, np.fmax, "at most"),
            (top, np.fmax, "at most"),
        ):
            if bound is not None:
                end = find.reduce(value, axis=None)
                outside = end < bound if word == "at least" else end > bound
                require(not outside, where, f"numbers of {word} {bound}", str(end))
        if self.ascending:
            require((value[1:] > value[:-1]).all(), where, "ascending numbers", "others")

    def describe(self) -> str:
        """Say in words what is allowed."""
        size = ", ".join(str(dim) for dim in self.dims)
        parts = [f"{' or '.join(self.dtypes)} array ({size})"]
        parts += ["finite"] * self.finite + ["no NaN"] * self.no_nan
        parts += ["ascending"] * self.ascending
        text = ", ".join(parts)
        low = -math.inf if self.low is None else self.low
        high = math.inf if self.high is None else self.high
        return text + range_words(low, high) + below_words(self.below)


class Offsets(Array):
    """Where each part of a flat array begins: from 0, never falling, to the size of the array."""

    def __init__(self, total: str, parts: str) -> None:
        super().__init__("int64", f"{parts}+1", low=0)
        self.total = total

    def content(self, value: Any, dims: Dims, where: str) -> None:
        """Check where it begins, that it never falls, and where it ends."""
        total = dims[self.total]
        ends = len(value) > 0 and value[0] == 0 and value[-1] == total
        require(ends, where, f"offsets from 0 to {total}", "others")
        require((value[1:] >= value[:-1]).all(), where, "offsets that never fall", "others")

    def describe(self) -> str:
        """Say in words what is allowed."""
        return f"int64 array ({self.dims[0]}), from 0 to the number of {self.total}, never falling"


@dataclass(frozen=True)
class Objects(Shape):
    """A one-dimensional array of Python values."""

    dim: str
    item: Shape | None = None

    def form(self, value: Any, dims: Dims, where: str) -> None:
        """Check the array, and each value."""
        ok = isinstance(value, np.ndarray) and value.dtype == object and value.ndim == 1
        require(ok, where, "an array of values", type(value).__name__)
        bind(self.dim, len(value), dims, where)
        if self.item is not None:
            for at, one in enumerate(value):
                self.item.form(one, dims, f"{where}[{at}]")

    def describe(self) -> str:
        """Say in words what is allowed."""
        return f"array ({self.dim}) of " + ("values" if self.item is None else self.item.describe())


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
