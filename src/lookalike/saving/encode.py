"""Writing: one file for every estimator, a zip of arrays and one JSON page, never a pickle.

A page is a tree of plain values; what JSON has no word for is a small object with the key ``$``.
Objects that appear twice are written once and stay shared. Classes are looked up in a table that
importing them fills; a name found in a file is never imported. ``lookalike.saving.decode`` reads.
"""

import datetime as dt
import hashlib
import json
import math
import os
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from operator import attrgetter
from typing import Any, TypeVar

import numpy as np

from lookalike._runtime.files import check_writable, replacing
from lookalike.errors import InvalidInput, WrongType
from lookalike.saving.fields import learned_by
from lookalike.saving.safe_json import DEEPEST, json_depth

FORMAT = 2  # goes up when files that were written before cannot be read any more
PAGE = "measure.json"
SAVEABLE: dict[str, type] = {}
BIT_GENERATORS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")

Cls = TypeVar("Cls", bound=type)


def saveable(cls: Cls) -> Cls:
    """Enter a class under its name among those that can be written and read."""
    other = _path_of(SAVEABLE.get(cls.__name__, cls))
    if other != _path_of(cls):  # running a notebook cell again is not a clash
        found = f"{other} of the same name"
        raise InvalidInput(f"class {cls.__name__}", "a name of its own", found, "Rename the class")
    SAVEABLE[cls.__name__] = cls
    return cls


def _path_of(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def array_name(number: int) -> str:
    """Return the name of an array's member."""
    return f"arrays/{number}.npy"


class SaveMixin:
    """Gives an estimator ``save``; subclassing makes it saveable, unless it is ``abstract``."""

    def __init_subclass__(cls, abstract: bool = False, **options: Any) -> None:
        super().__init_subclass__(**options)
        if not abstract and not cls.__name__.startswith("_"):
            saveable(cls)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the estimator to one file, to be read by ``lookalike.load``.

        Parameters
        ----------
        path : str or path
            Usually ending in ``.lookalike``. An existing file is replaced only once the new one is
            complete.
        """
        write(path, self)


def write(path: str | os.PathLike[str], root: Any) -> None:
    """Write an object and everything it holds."""
    check_writable(path)  # before the work of encoding
    writer = _Writer()
    name = type(root).__name__
    try:
        page = {"format": FORMAT, "root": writer.encode(root, name)}
        text = json.dumps(page, allow_nan=False).encode()
        deep = json_depth(text) > DEEPEST
    except RecursionError:  # a list that holds itself
        deep = True
    if deep:
        needed = f"values nested less than {DEEPEST} deep"
        hint = "Replace the list that holds itself, or the deepest of the lists in lists"
        raise WrongType(f"save ({name})", needed, "deeper ones", hint)
    with replacing(path) as raw, zipfile.ZipFile(raw, "w", zipfile.ZIP_STORED) as pack:
        pack.writestr(PAGE, text)
        # Stored, not compressed: the reader then knows each size before it takes any memory.
        for number, array in enumerate(writer.arrays):
            with pack.open(array_name(number), "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, array, allow_pickle=False)


def digest_of(root: Any) -> str:
    """Return the SHA-256 of all that would be written of an object: equal for equal content.

    Unlike ``repr`` it shortens nothing and looks at what was learned as well.
    """
    writer = _Writer()
    text = json.dumps(writer.encode(root, type(root).__name__), allow_nan=False, sort_keys=True)
    digest = hashlib.sha256(text.encode())
    for array in writer.arrays:
        # Shape and type as well: four zeros have the bytes of a 2 x 2 matrix of zeros.
        digest.update(repr((array.dtype.str, array.shape)).encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def encode_cell(cell: Any) -> str:
    """Return a cell as a JSON text, for cells that Arrow has no type for.

    Examples
    --------
    >>> from lookalike.saving.decode import decode_cell
    >>> decode_cell(encode_cell(frozenset({1, "a"}))) == {1, "a"}
    True
    """
    writer = _Writer()
    page = writer.encode(cell, "cell")
    if writer.arrays:
        needed, hint = "values without arrays", "Turn the arrays into lists or tuples"
        raise WrongType("save (cell)", needed, type(cell).__name__, hint)
    return json.dumps(page, allow_nan=False)


def _generator(state: dict[str, Any]) -> np.random.Generator:
    if state["bit_generator"] not in BIT_GENERATORS:  # never any other name of numpy.random
        raise ValueError("an unknown generator")
    bits = getattr(np.random, state["bit_generator"])()
    bits.state = state
    return np.random.Generator(bits)


def hashed(kind: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Make a set or a dict; very long numbers, which can be made to collide, are refused."""

    def make(items: Any) -> Any:
        for item in items:
            key = item[0] if kind is dict else item
            # hash() of an int is its remainder by 2**61 - 1: long ones can all be given one hash.
            if isinstance(key, int) and abs(key) >= 2**64:
                raise ValueError("a key of more than 64 bits")
        return kind(items)

    return make


# What JSON has no word for: the form in the page, what it is of, how it is taken apart and made
# again. A datetime is a date as well.
FORMS: tuple[tuple[str, type, Callable[[Any], Any], Callable[[Any], Any]], ...] = (
    ("tuple", tuple, list, tuple),
    # Sorted, so that equal sets give equal files whatever the seed of hashes is.
    *((kind.__name__, kind, partial(sorted, key=repr), hashed(kind)) for kind in (frozenset, set)),
    *((c.__name__, c, c.isoformat, c.fromisoformat) for c in (dt.datetime, dt.date, dt.time)),
    (
        "timedelta",
        dt.timedelta,
        lambda span: [span.days, span.seconds, span.microseconds],
        lambda parts: dt.timedelta(*parts),
    ),
    ("generator", np.random.Generator, attrgetter("bit_generator.state"), _generator),
    ("slice", slice, lambda part: [part.start, part.stop, part.step], lambda parts: slice(*parts)),
)


class _Writer:
    def __init__(self) -> None:
        self.arrays: list[np.ndarray] = []
        self.seen: dict[int, int] = {}  # from id() to the number in the page
        self.kept: list[Any] = []  # keeps ids from being reused while writing
        self.functions: dict[str, Any] = {}

    def encode(self, value: Any, where: str) -> Any:
        if isinstance(value, bool | str | int | None):
            return value
        if isinstance(value, float):  # JSON has no NaN and no infinities
            return value if math.isfinite(value) else {"$": "float", "is": repr(value)}
        if isinstance(value, np.generic):  # np.float64 is a float, np.int64 is no int
            return self.encode(value.item(), where)
        if isinstance(value, list):
            return [self.encode(item, f"{where}[{i}]") for i, item in enumerate(value)]
        if isinstance(value, Mapping):
            # As pairs: JSON would turn keys that are numbers or tuples into strings.
            pairs = [
                [self.encode(k, where), self.encode(v, f"{where}[{k!r}]")] for k, v in value.items()
            ]
            return {"$": "dict", "is": pairs}
        for form, cls, parts, _ in FORMS:
            if isinstance(value, cls):
                return {"$": form, "is": self.encode(parts(value), where)}
        if id(value) in self.seen:
            return {"$": "again", "id": self.seen[id(value)]}
        number = self.seen[id(value)] = len(self.seen)
        self.kept.append(value)
        return {**self._encode_object(value, where), "id": number}

    def _encode_object(self, value: Any, where: str) -> dict[str, Any]:
        if isinstance(value, np.ndarray):
            return self._encode_array(value, where)
        name = type(value).__name__
        # The class itself, not its name: one of the same name may be defined elsewhere.
        if SAVEABLE.get(name) is type(value):
            if hasattr(value, "to_saved"):  # with arrays where others have objects of a library
                value = value.to_saved()
            if hasattr(value, "get_params"):
                params = self._encode_all(value.get_params(deep=False), where)
                learned = self._encode_all(learned_by(value), where)
                return {"$": "estimator", "class": name, "params": params, "learned": learned}
            state = vars(value)
            if is_dataclass(value):
                # What the constructor does not take is a cache, which is made again when needed.
                state = {f.name: getattr(value, f.name) for f in fields(value) if f.init}
            return {"$": "record", "class": name, "fields": self._encode_all(state, where)}
        if callable(value) and not isinstance(value, type) and hasattr(value, "__name__"):
            return self._encode_function(value, where)
        needed = "numbers, words, arrays and lookalike's own objects"
        hint = "Replace it before saving; a function can be handed back at loading"
        raise WrongType(f"save ({where})", needed, _path_of(type(value)), hint)

    def _encode_all(self, state: Mapping[str, Any], where: str) -> dict[str, Any]:
        return {name: self.encode(value, f"{where}.{name}") for name, value in state.items()}

    def _encode_function(self, function: Any, where: str) -> dict[str, Any]:
        name = function.__name__
        # Loading finds functions by name alone: of two lambdas it would take one for both.
        if self.functions.setdefault(name, function) != function:
            found, hint = f"two of the name {name!r}", "Define them with def, each with its name"
            raise WrongType(f"save ({where})", "functions of different names", found, hint)
        return {"$": "callable", "name": name}

    def _encode_array(self, array: np.ndarray, where: str) -> dict[str, Any]:
        # numpy would pickle Python objects: they go into the page, cell by cell.
        if array.dtype == object:
            cells = [self.encode(cell, where) for cell in array.ravel()]
            return {"$": "cells", "shape": list(array.shape), "is": cells}
        # In C order, the only one that is read; ascontiguousarray would add an axis to a scalar.
        self.arrays.append(np.ascontiguousarray(array) if array.ndim else array)
        return {"$": "array", "at": len(self.arrays) - 1}
