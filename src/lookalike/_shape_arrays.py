"""Shapes of arrays: dtype, dimensions that must agree, ranges, offsets."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from lookalike._shape_base import Dims, Shape, below_words, bind, range_words, require, size_of

__all__ = ["Array", "Objects", "Offsets"]


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
