"""Whether a loop is worth compiling now, or numpy answers before the compiler would be done.

The first ``lookalike search`` on 300 rows takes 2.3 s of processor time with the numpy functions of
``fallback`` and 9.9 s with the loops compiled at their first call; once they are on disk, 2.2 s and
2.9 s. Loops with a fallback are therefore compiled, or loaded, when one process has compared more
than a few million cells; in a process that has loaded numba, those on disk are used immediately.
The answers are the same to the last bit.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from lookalike.kernels._cache import cache_folder
from lookalike.kernels._jit import COMPILED

# Cells that numpy compares in one process before loops are loaded from disk (about 0.3 s), and
# before one is compiled: numpy takes 2 to 3 s for so many, the compiler up to 14 (decision 14).
MAX_CELLS_BEFORE_LOADING, MAX_CELLS_BEFORE_COMPILING = 32_000_000, 256_000_000

_compared: dict[str, int] = {}  # cells, by the name of the loop
_forced: bool | None = None


def pick(loop: Any, fallback: Callable[..., Any], cells: int) -> Any:
    """Return a compiled loop, or its numpy fallback while compiling does not pay.

    Parameters
    ----------
    loop : what ``kernel`` returned
    fallback : callable that takes and writes the same arrays
    cells : int
        How many cells will be compared.
    """
    return loop if worth_compiling(loop, cells) else fallback


def worth_compiling(loop: Any, cells: int) -> bool:
    """Whether a loop is compiled already, or compares so many cells that compiling pays."""
    if _forced is not None:
        return _forced
    if not COMPILED or loop.overloads:  # ``signatures`` would hash all types
        return True
    name = f"{loop.py_func.__module__}.{loop.py_func.__qualname__}"
    _compared[name] = _compared.get(name, 0) + cells
    if _compared[name] > MAX_CELLS_BEFORE_COMPILING:
        return True
    # Importing numba is most of the cost of loading a loop: once it is there, the loop is cheaper.
    many = "numba" in sys.modules or sum(_compared.values()) > MAX_CELLS_BEFORE_LOADING
    return many and _is_on_disk(loop)


@contextmanager
def compile_at_once(wanted: bool = True) -> Iterator[None]:
    """Compile every loop at its first call inside this block, however small the call.

    Parameters
    ----------
    wanted : bool
        False: use the numpy fallbacks alone, however large the call.
    """
    global _forced
    before, _forced = _forced, wanted
    try:
        yield
    finally:
        _forced = before


@cache
def _is_on_disk(loop: Any) -> bool:
    """Whether an earlier process has left the loop compiled in the cache."""
    folder = cache_folder()
    if folder is None:
        return False
    file = f"{loop.py_func.__module__.rpartition('.')[2]}.{loop.py_func.__qualname__}-*.nbi"
    return any(Path(folder).glob(f"*/{file}"))
