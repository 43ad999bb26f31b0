"""The one decorator that compiles, and the switch that turns compiling off.

Kernels are serial loops over arrays that let go of the GIL; ``lookalike._threads`` runs several at
once. They are strict about NaN: ``fastmath`` would let the compiler assume there is none, and
numba's disk cache does not tell a fast build from a strict one.

``LOOKALIKE_COMPILE=0`` (or numba's own ``NUMBA_DISABLE_JIT=1``) runs every kernel as plain Python:
slow, but a debugger and a coverage tool can see inside. Kernels with hand-made vector code then use
their plain twin.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any

from lookalike.kernels._cache import cache_folder
from lookalike.kernels._one_at_a_time import share_cache

_deciding = threading.Lock()

COMPILED = os.environ.get("LOOKALIKE_COMPILE", "1") != "0" and os.environ.get(
    "NUMBA_DISABLE_JIT", "0"
) in ("", "0")


def kernel(body: Callable[..., Any], **options: Any) -> Any:
    """Compile a loop over arrays, keeping the result on disk where there is a place for it."""
    if not COMPILED:
        return body
    import numba

    options = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, **options}
    folder = cache_folder()
    if folder is None:  # nowhere to write
        return numba.njit(**options)(body)
    with _deciding:
        share_cache(folder)
        # numba looks at the setting when a function is decorated; it is put back for other users.
        before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, folder
        try:
            return numba.njit(cache=True, **options)(body)
        finally:
            numba.config.CACHE_DIR = before


def inline(body: Callable[..., Any]) -> Any:
    """Compile a small function that other kernels call; it is melted into each of them."""
    return kernel(body, inline="always")
