"""What the parameters and learned attributes of a class may be, as data beside the class.

A class states ``FIELDS = {"n_neighbors": Integer(1), "offsets_": Offsets("items", "rows")}``: names
with a trailing underscore are learned, the others are parameters; a record lists its attributes.
The same line is read when an estimator is fitted (``check_params``), when a file is loaded
(``lookalike.saving.decode``) and when the reference page of the file format is built.

Names of dimensions are shared by all fields of an object: the first array that has one fixes its
size, the others must agree. What two objects must agree on is checked by a method
``check_loaded``.
"""

import datetime
import inspect
import math
import numbers
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from lookalike.errors import InvalidInput, LookalikeError, Param, suggest

Dims = dict[str, int]

INT64 = 2**63 - 1  # ``sys.maxsize``, as callers write "no limit"
# float64 counts integers exactly up to here. A larger count in a file makes no sense, and int64
# would overflow where kernels add to it or multiply by it.
LARGEST = 2**53
SCALARS = (bool, int, float, str, datetime.date, datetime.time, datetime.timedelta, type(None))
NO_HINT = "Change the parameter"
MAX_QUOTED = 200  # characters of a wrong value that are shown


class Misfit(LookalikeError, ValueError):
    """A part of a saved object that is not what its class declares."""

    def __init__(self, where: str, needed: str, found: str) -> None:
        super().__init__(where, needed, found, "Save the estimator again")


def require(holds: Any, where: str, needed: str, found: str = "something else") -> None:
    """Refuse a saved object unless a condition holds."""
    if not bool(holds):
        raise Misfit(where, needed, found)


class Field:
    """What a value must be; a kind that looks at one value alone only says what ``fits``."""

    # Enough for a field that allows all values of some types.
    types: tuple[Any, ...] = (object,)
    description: str = "any value"
    required = True  # whether what was learned must have it

    def fits(self, value: Any) -> bool:
        """Whether the value is allowed, the sizes of dimensions aside."""
        return isinstance(value, self.types)

    def describe(self) -> str:
        """Return what is allowed, in words."""
        return self.description

    def hint(self, value: Any) -> str:
        """Return what to do about a parameter with a wrong value."""
        return NO_HINT

    def form(self, value: Any, dims: Dims, where: str) -> None:
        """Check type, dtype and dimensions, and learn the sizes of named dimensions."""
        if not self.fits(value):
            raise Misfit(where, self.describe(), shown(value))

    def content(self, value: Any, dims: Dims, where: str) -> None:
        """Check the values, when the sizes of all dimensions are known."""
        return  # what a value alone can say, ``fits`` has said

    def check(self, owner: str, name: str, value: Any, hint: str = "") -> None:
        """Refuse the value of a parameter that does not fit.

        Parameters
        ----------
        owner : str
            The function or class that the parameter belongs to.
        name : str
        value : object
        hint : str
            What to do about it, where the field cannot know.
        """
        if not self.fits(value):
            found, advice = repr(value), hint or self.hint(value)
            if "\n" in found or len(found) > MAX_QUOTED:  # a table where an option belongs
                found, value = f"a {type(value).__name__}", ...
            raise InvalidInput(Param(name, value, of=owner), self.describe(), found, advice)


def shown(value: Any) -> str:
    """Return a value as a message about a file shows it: scalars shortened, else the type."""
    return repr(value)[:40] if isinstance(value, SCALARS) else type(value).__name__


def range_words(low: float | None, high: float | None, open_low: bool = False) -> str:
    """Return a range in words.

    Examples
    --------
    >>> range_words(0.0, 1.0, open_low=True)
    ' > 0 and <= 1'
    """
    ends = []
    if low is not None and low != -math.inf:
        ends.append(f" {'>' if open_low else '>='} {low:.17g}")
    if high is not None and high < LARGEST:
        ends.append(f" <= {high:.17g}")
    return " and".join(ends)


# -- single values ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Anything(Field):
    """A value that nothing computes with, or that the class reads and checks itself."""


class Text(Field):
    """A string."""

    types, description = (str,), "a string"


class Flag(Field):
    """True or False."""

    types, description = (bool, np.bool_), "True or False"


@dataclass(frozen=True)
class Integer(Field):
    """An integer.

    Parameters
    ----------
    low : int, optional
    high : int or infinity, optional
        None: what int64 holds, and ``LARGEST`` in a file. A caller's number of neighbors is
        compared with the rows there are when it is used; a file would be believed.
    size : str, optional
        A dimension whose size it is.
    """

    low: int | None = None
    high: float | None = None
    size: str | None = None

    def fits(self, value: Any) -> bool:
        """Whether the value is allowed."""
        if not isinstance(value, numbers.Integral) or isinstance(value, bool):
            return False
        low = -INT64 if self.low is None else self.low
        return low <= int(value) <= (INT64 if self.high is None else self.high)

    def form(self, value: Any, dims: Dims, where: str) -> None:
        """Check the value in a file."""
        super().form(value, dims, where)
        if self.high is None:
            require(value <= LARGEST, where, f"{self.describe()} of usual size", shown(value))
        bind(self.size, value, dims, where)

    def describe(self) -> str:
        """Return what is allowed, in words."""
        text = "an integer" if self.size is None else f"the number of {self.size}, an integer"
        return text + range_words(self.low, self.high)


@dataclass(frozen=True)
class Real(Field):
    """A real number; ``open_low`` leaves out the lower end, ``nan`` lets NaN in."""

    low: float = -math.inf
    high: float = math.inf
    open_low: bool = False
    finite: bool = False
    nan: bool = False

    def fits(self, value: Any) -> bool:
        """Whether the value is allowed."""
        if not isinstance(value, numbers.Real) or isinstance(value, bool):
            return False
        if isinstance(value, numbers.Integral) and abs(int(value)) > INT64:
            return False  # float() of a very long one raises OverflowError
        number = float(value)
        if math.isnan(number):
            return self.nan
        if self.finite and math.isinf(number):
            return False
        above = number > self.low if self.open_low else number >= self.low
        return above and number <= self.high

    def describe(self) -> str:
        """Return what is allowed, in words."""
        text = "a finite number" if self.finite else "a number"
        return text + range_words(self.low, self.high, self.open_low) + ", or NaN" * self.nan


class Plain(Field):
    """A value that can be compared and looked up: a scalar, or a tuple or frozenset of them."""

    types, description = SCALARS, "a plain value"

    def fits(self, value: Any) -> bool:
        """Whether the value is allowed."""
        if isinstance(value, tuple | frozenset):
            return all(map(self.fits, value))
        return super().fits(value)


class Choice(Field):
    """One of a few values, of the same type."""

    def __init__(self, *values: Any) -> None:
        self.values = values

    def fits(self, value: Any) -> bool:
        """Whether the value is allowed."""
        return any(type(value) is type(one) and value == one for one in self.values)

    def describe(self) -> str:
        """Return what is allowed, in words."""
        return "one of " * (len(self.values) > 1) + ", ".join(map(repr, self.values))

    def hint(self, value: Any) -> str:
        """Suggest the nearest allowed word."""
        return suggest(str(value), [v for v in self.values if isinstance(v, str)] or self.values)


class Instance(Field):
    """An instance of one of these types; True and False are no integers."""

    def __init__(self, *types: Any, named: str = "") -> None:
        self.types = types
        self.description = named or " or ".join(t.__name__ for t in types)

    def fits(self, value: Any) -> bool:
        """Whether the value is allowed."""
        return super().fits(value) and not isinstance(value, bool)


def learned_by(estimator: Any) -> dict[str, Any]:
    """Return what an estimator has learned: empty before it is fitted."""
    # Other attributes are not learned even where they are not parameters: a subclass may fix a
    # parameter of its base, as RankShare does with trim.
    return {k: v for k, v in vars(estimator).items() if k.endswith("_") and k[0] != "_"}


def is_fitted(value: Any) -> bool:
    """Whether a saveable object has all it can have: a record always, an estimator after fit."""
    return not hasattr(value, "get_params") or bool(learned_by(value))


class Saved(Field):
    """An object of one of these saveable classes or of a class below them; estimators are fitted.

    Parameters
    ----------
    *classes : class or str
        By name where importing the class would be a circle of imports.
    fitted : bool
        Whether an estimator has to be fitted.
    """

    def __init__(self, *classes: str | type, fitted: bool = True) -> None:
        self.names = [one if isinstance(one, str) else one.__name__ for one in classes]
        self.fitted = fitted

    def fits(self, value: Any) -> bool:
        """Whether the value is allowed."""
        known = any(cls.__name__ in self.names for cls in type(value).__mro__)
        return known and (not self.fitted or is_fitted(value))

    def form(self, value: Any, dims: Dims, where: str) -> None:
        """Check class and state."""
        state = "" if is_fitted(value) else ", not fitted"
        require(self.fits(value), where, self.describe(), type(value).__name__ + state)

    def describe(self) -> str:
        """Return what is allowed, in words."""
        return " or ".join(self.names)


# -- values with parts -----------------------------------------------------------------------------


class Composed(Field):
    """A field whose ``form`` looks at parts of a value, which may have the sizes of others."""

    def fits(self, value: Any) -> bool:
        """Whether the value is allowed, the sizes of dimensions aside."""
        try:
            self.form(value, {}, "")
        except Misfit:
            return False
        return True


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


class Array(Composed):
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
        A size, or its name, that integers must stay under.
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
        needed = f"{len(self.dims)} dimensions"
        require(value.ndim == len(self.dims), where, needed, f"shape {value.shape}")
        for dim, size in zip(self.dims, value.shape, strict=True):
            bind(dim, size, dims, where)

    def content(self, value: Any, dims: Dims, where: str) -> None:
        """Check the values."""
        if not value.size:
            return
        if (self.finite or self.no_nan) and value.dtype.kind == "f":
            with np.errstate(all="ignore"):
                fine = np.isfinite(value.sum())  # quick, and right unless a sum overflows
            good = fine or np.all(np.isfinite(value) if self.finite else ~np.isnan(value))
            kind = "finite numbers" if self.finite else "numbers without NaN"
            require(good, where, kind, "others")
        if self.low is not None:
            least = np.fmin.reduce(value, axis=None)
            require(not least < self.low, where, f"numbers >= {self.low}", str(least))
        below = dims[self.below] if isinstance(self.below, str) else self.below
        for bound in (self.high, None if below is None else below - 1):
            if bound is not None:
                most = np.fmax.reduce(value, axis=None)
                require(not most > bound, where, f"numbers <= {bound}", str(most))
        if self.ascending:
            require((value[1:] > value[:-1]).all(), where, "ascending numbers", "others")

    def describe(self) -> str:
        """Return what is allowed, in words."""
        size = ", ".join(str(dim) for dim in self.dims)
        parts = [f"array ({size}) of {' or '.join(self.dtypes)}"]
        parts += ["finite"] * self.finite + ["no NaN"] * self.no_nan
        parts += ["ascending"] * self.ascending
        parts += [range_words(self.low, self.high).strip()]
        parts += [] if self.below is None else [f"< {self.below}"]
        return ", ".join(filter(None, parts))


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
        """Return what is allowed, in words."""
        ends = f"from 0 to the number of {self.total}"
        return f"array ({self.dims[0]}) of int64, {ends}, never falling"


@dataclass(frozen=True)
class Objects(Composed):
    """A one-dimensional array of Python values."""

    dim: str
    item: Field = Anything()

    def form(self, value: Any, dims: Dims, where: str) -> None:
        """Check the array, and each value."""
        ok = isinstance(value, np.ndarray) and value.dtype == object and value.ndim == 1
        require(ok, where, "an array of values", type(value).__name__)
        bind(self.dim, len(value), dims, where)
        check_items(self.item, value, dims, where)

    def describe(self) -> str:
        """Return what is allowed, in words."""
        return f"array ({self.dim}) of objects, each {self.item.describe()}"


def check_items(item: Field, values: Any, dims: Dims, where: str) -> None:
    """Check the form of each of many values."""
    # A column can have a hundred thousand levels: strings are checked without a call for each.
    simple = isinstance(item, Text | Plain) and set(map(type, values)) <= {str}
    if simple or isinstance(item, Anything):
        return
    for number, value in enumerate(values):
        item.form(value, dims, f"{where}[{number}]")


@dataclass(frozen=True)
class _Items(Composed):
    item: Field
    dim: str | int | None = None
    type_: ClassVar[type] = tuple

    def form(self, value: Any, dims: Dims, where: str) -> None:
        require(isinstance(value, self.type_), where, self.describe(), shown(value))
        bind(self.dim, len(value), dims, where)
        check_items(self.item, value, dims, where)

    def content(self, value: Any, dims: Dims, where: str) -> None:
        if type(self.item).content is not Field.content:  # else there is nothing to check
            for number, item in enumerate(value):
                self.item.content(item, dims, f"{where}[{number}]")

    def describe(self) -> str:
        size = "" if self.dim is None else f" ({self.dim})"
        return f"a {self.type_.__name__}{size}, each {self.item.describe()}"


class TupleOf(_Items):
    """A tuple of values that one field describes."""


class ListOf(_Items):
    """A list of values that one field describes."""

    type_ = list


class FrozensetOf(_Items):
    """A frozenset of values that one field describes."""

    type_ = frozenset


@dataclass(frozen=True)
class MapOf(Composed):
    """A mapping; ``named`` says of what to what where a person would not guess it."""

    key: Field
    value: Field
    dim: str | None = None
    named: str = ""

    def form(self, value: Any, dims: Dims, where: str) -> None:
        """Check keys and values."""
        require(isinstance(value, Mapping), where, self.describe(), shown(value))
        bind(self.dim, len(value), dims, where)
        for key, one in value.items():
            self.key.form(key, dims, where)
            self.value.form(one, dims, f"{where}[{str(key)[:40]!r}]")

    def content(self, value: Any, dims: Dims, where: str) -> None:
        """Check the values inside."""
        for key, one in value.items():
            self.value.content(one, dims, f"{where}[{str(key)[:40]!r}]")

    def describe(self) -> str:
        """Return what is allowed, in words."""
        return self.named or f"a mapping of {self.key.describe()} to {self.value.describe()}"


class Either(Composed):
    """What one of several fields allows."""

    def __init__(self, *fields: Field) -> None:
        self.fields = fields

    def _first(self, value: Any, dims: Dims, where: str) -> Field:
        for field in self.fields:
            try:
                field.form(value, dict(dims), where)
            except Misfit:
                continue
            return field
        raise Misfit(where, self.describe(), shown(value))

    def form(self, value: Any, dims: Dims, where: str) -> None:
        """Check that one of them fits."""
        self._first(value, dims, where).form(value, dims, where)

    def content(self, value: Any, dims: Dims, where: str) -> None:
        """Check the values by the field that fits."""
        self._first(value, dims, where).content(value, dims, where)

    def describe(self) -> str:
        """Return what is allowed, in words."""
        return ", or ".join(field.describe() for field in self.fields)

    def hint(self, value: Any) -> str:
        """Suggest the nearest allowed word where there is one."""
        hints = [field.hint(value) for field in self.fields] if isinstance(value, str) else []
        return next((hint for hint in hints if hint != NO_HINT), NO_HINT)


@dataclass(frozen=True)
class Wrapped(Composed):
    """A field that changes one thing about another field."""

    inner: Field
    takes_none: ClassVar[bool] = False
    words: ClassVar[str] = "{}"

    def form(self, value: Any, dims: Dims, where: str) -> None:
        """Check by the field inside."""
        if value is not None or not self.takes_none:
            self.inner.form(value, dims, where)

    def content(self, value: Any, dims: Dims, where: str) -> None:
        """Check the values by the field inside."""
        if value is not None or not self.takes_none:
            self.inner.content(value, dims, where)

    def describe(self) -> str:
        """Return what is allowed, in words."""
        return self.words.format(self.inner.describe())

    def hint(self, value: Any) -> str:
        """Ask the field inside."""
        return self.inner.hint(value)


class Maybe(Wrapped):
    """None, or what another field allows."""

    takes_none, words = True, "None, or {}"


class Sometimes(Wrapped):
    """A learned attribute that may be missing."""

    words, required = "{}; may be missing", False


class AtLoad(Wrapped):
    """A parameter that ``fit`` reads and checks itself: only what a file holds is checked here."""

    def fits(self, value: Any) -> bool:
        """Whether the value is allowed: ``fit`` decides."""
        return True


N_JOBS = Maybe(Integer())
KINDS = Maybe(MapOf(Plain(), Anything(), named="a mapping of column to kind"))


# -- the fields of a class -------------------------------------------------------------------------

Fields = Mapping[str, Field | None]  # the FIELDS of a class; None takes back one of a base


def parameters_of(cls: type) -> list[str]:
    """Return the parameters of an estimator's class; none for a plain record."""
    return list(inspect.signature(cls).parameters) if hasattr(cls, "get_params") else []


def fields_of(cls: type) -> dict[str, Field]:
    """Return the declared fields of a class, its own and its bases'.

    Bases of estimators state parameters that not every class below them has: these are left out.
    """
    found: dict[str, Field | None] = {}
    for base in reversed(cls.__mro__):
        found |= base.__dict__.get("FIELDS", {})
    if hasattr(cls, "get_params"):
        params = parameters_of(cls)
        found = {name: one for name, one in found.items() if name in params or name[-1] == "_"}
    return {name: field for name, field in found.items() if field is not None}


def check_params(estimator: Any) -> None:
    """Check every parameter that the FIELDS of the estimator's class and its bases name."""
    fields = fields_of(type(estimator))
    for name, value in estimator.get_params(deep=False).items():
        if name in fields:
            fields[name].check(type(estimator).__name__, name, value)


def check_fields(
    values: Mapping[str, Any], fields: Mapping[str, Field], where: str, dims: Dims | None = None
) -> Dims:
    """Check values against their fields, all forms first; return the sizes of the dimensions."""
    dims = {} if dims is None else dims
    known = [name for name in fields if name in values]
    for name in known:
        fields[name].form(values[name], dims, f"{where}.{name}")
    for name in known:
        fields[name].content(values[name], dims, f"{where}.{name}")
    return dims
