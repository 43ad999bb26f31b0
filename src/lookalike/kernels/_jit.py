"""The one decorator that compiles, and the switch that turns compiling off.

Kernels are serial loops over arrays that release the GIL; ``lookalike._runtime.threads`` runs
several in parallel. They are strict about NaN: ``fastmath`` would let the compiler assume there is
none, and numba's disk cache does not distinguish a fast build from a strict one.

Loading numba and handing it all kernels takes longer than many a question. It therefore happens to
the kernels that are called, and to those inside them, when they are called.

``LOOKALIKE_COMPILE=0`` (or numba's own ``NUMBA_DISABLE_JIT=1``) runs every kernel as plain Python:
slow, but a debugger and a coverage tool can see inside. Kernels with hand-made vector code then use
their plain twin.
"""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import update_wrapper
from types import CodeType, ModuleType
from typing import Any

from lookalike.kernels._cache import cache_folder
from lookalike.kernels._one_at_a_time import share_cache

_deciding = threading.RLock()

COMPILED = os.environ.get("LOOKALIKE_COMPILE", "1") != "0" and os.environ.get(
    "NUMBA_DISABLE_JIT", "0"
) in ("", "0")

# Called with nothing when numba is about to be used for the first time.
when_started: list[Callable[[], None]] = []
_started = False


def started() -> bool:
    """Whether a kernel of this process has been handed to numba."""
    return _started


class Later(ABC):
    """A function for numba that is handed to it when it is first needed.

    Parameters
    ----------
    body : callable
    """

    __qualname__: str

    def __init__(self, body: Callable[..., Any]) -> None:
        update_wrapper(self, body)
        self.py_func: Any = body
        self._made: Any = None  # may still name kernels that are not
        self._ready: Any = None

    def ready(self) -> Any:
        """Return what numba makes of the function; whatever it calls is made first."""
        global _started
        with _deciding:
            if self._made is None:
                if not _started:
                    _started = True
                    for call in when_started:
                        call()
                self._made = self._make()  # before the others: a function may call itself
                _make_inner(self.py_func)
                self._ready = self._made  # from here on other threads may call it
            return self._made

    @abstractmethod
    def _make(self) -> Any: ...

    def __reduce__(self) -> str:
        return self.__qualname__


class Kernel(Later):
    """A loop over arrays: compiled when it is first called, kept on disk where there is a place."""

    def __init__(self, body: Callable[..., Any], options: dict[str, Any]) -> None:
        super().__init__(body)
        self.options = options

    def __call__(self, *arguments: Any) -> Any:
        """Run the loop."""
        return self.ready()(*arguments) if self._ready is None else self._ready(*arguments)

    @property
    def overloads(self) -> Any:
        """What is compiled by now, by the types it is for."""
        return {} if self._ready is None else self._ready.overloads

    def _make(self) -> Any:
        import numba

        folder = cache_folder()
        if folder is None:  # nowhere to write
            return numba.njit(**self.options)(self.py_func)
        share_cache(folder)
        # numba looks at the setting when a function is decorated; it is put back for other users.
        before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, folder
        try:
            return numba.njit(cache=True, **self.options)(self.py_func)
        finally:
            numba.config.CACHE_DIR = before


class Intrinsic(Later):
    """A function that builds instructions by hand, for use inside kernels."""

    def _make(self) -> Any:
        from numba.extending import intrinsic

        return intrinsic(self.py_func)


def kernel(body: Callable[..., Any], **options: Any) -> Any:
    """Compile a loop over arrays, keeping the result on disk where there is a place for it."""
    if not COMPILED:
        return body
    return Kernel(
        body, {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, **options}
    )


def inline(body: Callable[..., Any]) -> Any:
    """Compile a small function that other kernels call; it is melted into each of them."""
    return kernel(body, inline="always")


def intrinsic(body: Callable[..., Any]) -> Any:
    """Build instructions by hand; as numba's own, but numba is not loaded until it is needed."""
    return Intrinsic(body)


def _make_inner(body: Any) -> None:
    """Put what numba needs in the place of every kernel that a function names."""
    names = set(_names(body.__code__))
    for name in names:
        value = body.__globals__.get(name)
        if isinstance(value, Later):
            body.__globals__[name] = value.ready()
        elif isinstance(value, ModuleType):
            for inner in names & vars(value).keys():
                found = getattr(value, inner)
                if isinstance(found, Later):
                    setattr(value, inner, found.ready())
    for cell in body.__closure__ or ():
        if isinstance(cell.cell_contents, Later):
            cell.cell_contents = cell.cell_contents.ready()


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for value in code.co_consts:
        if isinstance(value, CodeType):
            yield from _names(value)
