"""One file for every estimator: a zip of arrays and one JSON page, never a pickle.

A page is a tree of plain values; what JSON has no word for is a small object with the key ``$``.
Objects that appear twice are written once and stay shared. Classes are looked up in a table that
importing them fills; a name found in a file is never imported.
"""

from __future__ import annotations

import datetime
import json
import math
import os
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from lookalike._atomic import check_writable, replacing
from lookalike.errors import InvalidInput, UnreadableFile, WrongType, message

__all__ = ["SAVEABLE", "Saved", "read", "saveable", "write"]

FORMAT = 1
PAGE = "measure.json"
SAVEABLE: dict[str, type] = {}

Cls = TypeVar("Cls", bound=type)


def saveable(cls: Cls) -> Cls:
    """Enter a class under its name among those that can be written and read."""
    known = SAVEABLE.get(cls.__name__)
    same_place = known is not None and (known.__module__, known.__qualname__) == (
        cls.__module__,
        cls.__qualname__,
    )
    if known is not None and not same_place:  # running a notebook cell again is no clash
        raise InvalidInput(
            message(
                f"class {cls.__name__}",
                "a name of its own",
                f"{known.__module__}.{known.__qualname__} of the same name",
                "Rename the class",
            )
        )
    SAVEABLE[cls.__name__] = cls
    return cls


class Saved:
    """Gives an estimator ``save``; subclassing makes it saveable."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if not cls.__name__.startswith("_"):
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
    page = {"format": FORMAT, "root": writer.encode(root, type(root).__name__)}
    with replacing(path) as raw, zipfile.ZipFile(raw, "w", zipfile.ZIP_STORED) as pack:
        pack.writestr(PAGE, json.dumps(page, allow_nan=False))
        for at, array in enumerate(writer.arrays):
            with pack.open(f"arrays/{at}.npy", "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, array, allow_pickle=False)


class _Writer:
    def __init__(self) -> None:
        self.arrays: list[np.ndarray] = []
        self.seen: dict[int, int] = {}
        self.kept: list[Any] = []  # keeps ids from being reused while writing

    def encode(self, value: Any, where: str) -> Any:
        if value is None or isinstance(value, bool | str):
            return value
        if isinstance(value, int):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else {"$": "float", "is": repr(value)}
        if isinstance(value, np.generic):
            return self.encode(value.item(), where)
        if isinstance(value, list):
            return [self.encode(item, f"{where}[{i}]") for i, item in enumerate(value)]
        if isinstance(value, tuple):
            return {"$": "tuple", "is": self.encode(list(value), where)}
        if isinstance(value, frozenset | set):
            items = sorted(value, key=repr)
            return {"$": type(value).__name__, "is": self.encode(items, where)}
        if isinstance(value, Mapping):
            pairs = [
                [self.encode(k, where), self.encode(v, f"{where}[{k!r}]")] for k, v in value.items()
            ]
            return {"$": "dict", "is": pairs}
        if isinstance(value, datetime.datetime | datetime.date | datetime.time):
            return {"$": type(value).__name__, "is": value.isoformat()}
        if isinstance(value, datetime.timedelta):
            return {"$": "timedelta", "is": [value.days, value.seconds, value.microseconds]}
        if isinstance(value, np.random.Generator):
            state = value.bit_generator.state
            return {"$": "generator", "is": self.encode(state, where)}
        if isinstance(value, slice):
            return {"$": "slice", "is": [value.start, value.stop, value.step]}
        if id(value) in self.seen:
            return {"$": "again", "id": self.seen[id(value)]}
        number = self.seen[id(value)] = len(self.seen)
        self.kept.append(value)
        return {**self._encode_object(value, where), "id": number}

    def _encode_object(self, value: Any, where: str) -> dict[str, Any]:
        if isinstance(value, np.ndarray):
            return self._encode_array(value, where)
        name = type(value).__name__
        if SAVEABLE.get(name) is type(value):
            if hasattr(value, "get_params"):
                state = value.get_params(deep=False)
                learned = {k: v for k, v in vars(value).items() if k.endswith("_") and k[0] != "_"}
                return {
                    "$": "estimator",
                    "class": name,
                    "params": {k: self.encode(v, f"{where}.{k}") for k, v in state.items()},
                    "learned": {k: self.encode(v, f"{where}.{k}") for k, v in learned.items()},
                }
            if is_dataclass(value):
                state = {f.name: getattr(value, f.name) for f in fields(value)}
            else:
                state = vars(value)
            kept = {k: self.encode(v, f"{where}.{k}") for k, v in state.items()}
            return {"$": "record", "class": name, "fields": kept}
        if callable(value) and not isinstance(value, type) and hasattr(value, "__name__"):
            return {"$": "callable", "name": value.__name__}
        raise WrongType(
            message(
                f"save ({where})",
                "numbers, words, arrays and lookalike's own objects",
                f"{type(value).__module__}.{type(value).__qualname__}",
                "Replace it before saving; a function can be handed back at loading",
            )
        )

    def _encode_array(self, array: np.ndarray, where: str) -> dict[str, Any]:
        if array.dtype == object:
            cells = [self.encode(cell, where) for cell in array.ravel()]
            return {"$": "cells", "shape": list(array.shape), "is": cells}
        self.arrays.append(np.ascontiguousarray(array) if array.ndim else array)
        return {"$": "array", "at": len(self.arrays) - 1}


def read(
    path: str | os.PathLike[str], callables: Mapping[str, Callable[..., Any]] | None = None
) -> Any:
    """Read what ``write`` wrote; every fault of the file is an ``UnreadableFile``."""
    source = Path(path)
    who = f"load ({source.name})"
    if not source.exists():
        raise UnreadableFile(message(who, "a file", "none at this path", "Check the path"))
    if source.is_dir():
        raise UnreadableFile(message(who, "a file", "a directory", "Name the file in it"))
    damaged = "Save the estimator again; the file is incomplete or not from lookalike"
    try:
        with zipfile.ZipFile(source) as pack:
            page = json.loads(pack.read(PAGE))
            if not isinstance(page, dict) or not isinstance(page.get("format"), int):
                raise ValueError("no format number")
            if page["format"] > FORMAT:
                raise UnreadableFile(
                    message(
                        who,
                        f"format {FORMAT} or older",
                        f"format {page['format']}",
                        "Update lookalike to read it",
                    )
                )
            return _Reader(pack, callables or {}, who).decode(page["root"])
    except UnreadableFile:
        raise
    except (zipfile.BadZipFile, OSError, EOFError, KeyError, ValueError, TypeError) as error:
        if isinstance(error, InvalidInput):
            raise
        found = f"{type(error).__name__}: {error}"
        raise UnreadableFile(message(who, "a complete lookalike file", found, damaged)) from error


class _Reader:
    def __init__(self, pack: zipfile.ZipFile, callables: Mapping[str, Any], who: str) -> None:
        self.pack, self.callables, self.who = pack, callables, who
        self.made: dict[int, Any] = {}

    def decode(self, node: Any) -> Any:
        if isinstance(node, list):
            return [self.decode(item) for item in node]
        if not isinstance(node, dict):
            return node
        form = node["$"]
        if form == "again":
            return self.made[node["id"]]
        if form in _PLAIN:
            return _PLAIN[form](self.decode(node["is"]))
        value = self._decode_object(form, node)
        self.made[node["id"]] = value
        return value

    def _decode_object(self, form: str, node: dict[str, Any]) -> Any:
        if form == "array":
            with self.pack.open(f"arrays/{node['at']}.npy") as entry:
                return np.lib.format.read_array(entry, allow_pickle=False)
        if form == "cells":
            cells = np.empty(len(node["is"]), dtype=object)
            for at, cell in enumerate(node["is"]):
                cells[at] = self.decode(cell)
            return cells.reshape(node["shape"])
        if form == "callable":
            return self._callable(node["name"])
        cls = SAVEABLE.get(node["class"])
        if cls is None:
            raise UnreadableFile(
                message(
                    self.who,
                    f"the class {node['class']!r}",
                    "no class of that name",
                    "Import the module that defines it before loading",
                )
            )
        if form == "record":
            value: Any = object.__new__(cls)
            for name, part in node["fields"].items():
                object.__setattr__(value, name, self.decode(part))
            return value
        if form != "estimator":
            raise ValueError(f"unknown form {form!r}")
        params = {name: self.decode(part) for name, part in node["params"].items()}
        value = cls(**params)
        for name, part in node["learned"].items():
            setattr(value, name, self.decode(part))
        return value

    def _callable(self, name: str) -> Any:
        if name not in self.callables:
            raise InvalidInput(
                message(
                    self.who,
                    f"the function {name!r} it was fitted with",
                    "none" if not self.callables else ", ".join(self.callables),
                    f"Hand it back: load(path, callables={{{name!r}: function}})",
                )
            )
        return self.callables[name]


def _generator(state: dict[str, Any]) -> np.random.Generator:
    known: dict[str, Any] = {
        cls.__name__: cls
        for cls in (
            np.random.MT19937,
            np.random.PCG64,
            np.random.PCG64DXSM,
            np.random.Philox,
            np.random.SFC64,
        )
    }
    bits = known[state["bit_generator"]]()
    bits.state = state
    return np.random.Generator(bits)


_PLAIN: dict[str, Callable[[Any], Any]] = {
    "float": float,
    "tuple": tuple,
    "set": set,
    "frozenset": frozenset,
    "dict": dict,
    "datetime": datetime.datetime.fromisoformat,
    "date": datetime.date.fromisoformat,
    "time": datetime.time.fromisoformat,
    "timedelta": lambda parts: datetime.timedelta(*parts),
    "generator": _generator,
    "slice": lambda parts: slice(*parts),
}
