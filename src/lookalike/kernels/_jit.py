"""The one decorator that compiles, and the switch that turns compiling off.

Kernels are serial loops over arrays that release the GIL; ``lookalike._runtime.threads`` runs
several in parallel. They are strict about NaN: ``fastmath`` would let the compiler assume there is
none, and numba's disk cache does not distinguish a fast build from a strict one.

A kernel is given to numba when it is first called, or when one that calls it is compiled: importing
numba and loading the kernels of a search takes 0.7 s of processor time, which a small one saves.

``LOOKALIKE_COMPILE=0`` (or numba's own ``NUMBA_DISABLE_JIT=1``) runs every kernel as plain Python:
slow, but a debugger and a coverage tool can see inside. Kernels with hand-made vector code then use
their plain Python fallback.
"""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Callable
from functools import cache, update_wrapper
from inspect import Parameter, signature
from typing import Any

from lookalike.kernels._cache import ForkLock, cache_folder, listen, lock_compiler

COMPILED = os.environ.get("LOOKALIKE_COMPILE", "1") != "0" and os.environ.get(
    "NUMBA_DISABLE_JIT", "0"
) in ("", "0")

# Called with no arguments whenever numba begins to compile; a loop found on disk is not compiled.
when_compiling: list[Callable[[], None]] = []
_making = threading.RLock()


def _hold_at_fork(lock: Any) -> None:
    """Let a fork wait for a lock: one that another thread holds is never released in the child."""
    if hasattr(os, "register_at_fork"):
        after = {"after_in_parent": lock.release, "after_in_child": lock.release}
        os.register_at_fork(before=lock.acquire, **after)


_hold_at_fork(_making)


def load_compiler() -> None:
    """Import numba now: a process that answers often does so at its start."""
    if COMPILED:
        with _making:
            _register_kernels()


@cache
def _register_kernels() -> None:
    """Register the type of kernels with numba, once in a process.

    numba asks for the type of every name that a function uses. Given the one of the compiled
    kernel, it compiles kernels inside kernels without a name of any module being replaced.
    """
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.registry import cpu_target
    from numba.extending import typeof_impl

    @typeof_impl.register(Deferred)
    def find_type(value: Deferred, context: Any) -> Any:
        made, types = value.ready(inside=True), cpu_target.typing_context
        types.refresh()  # an intrinsic is registered when it is made
        return types.resolve_value_type(made)

    thresholds: list[tuple[int, int, int]] = []

    def announce() -> None:
        # A compilation makes millions of objects that live until its end: at the usual threshold
        # looking for garbage among them takes a tenth of its time, at this one 20 MB more.
        thresholds.append(gc.get_threshold())
        gc.set_threshold(50_000, 10, 10)
        for call in tuple(when_compiling):
            call()

    listen("numba:compile", announce, lambda: gc.set_threshold(*thresholds.pop()))
    # Made under numba's lock as well: a process that compiles nothing must not wait for another.
    _ = cpu_target.target_context
    folder = cache_folder()
    if folder is not None:
        lock_compiler(folder)
    # What is registered last is called first: numba's lock before ``_making``, as when compiling.
    _hold_at_fork(ForkLock(global_compiler_lock))


class Deferred:
    """A function that is given to numba when it is first needed.

    Parameters
    ----------
    body : callable
    make : callable
        Returns what numba makes of the body, given the options and whether Python calls it.
    options : dict
        Of ``numba.njit``; numba itself reads here whether it is to inline the function.
    """

    __qualname__: str

    def __init__(
        self, body: Callable[..., Any], make: Callable[..., Any], options: dict[str, Any]
    ) -> None:
        update_wrapper(self, body)
        self.py_func: Any = body
        self.targetoptions = options
        self._make = make
        self._made: Any = None
        self._part: Any = None

    def __call__(self, *arguments: Any) -> Any:
        """Run the loop, compiled."""
        return (self._made or self.ready())(*arguments)

    def ready(self, inside: bool = False) -> Any:
        """Return what numba makes of the function, for Python or for the kernels that call it.

        The code of a kernel holds that of the kernels it calls. These need no wrapper that Python
        can call and no file of their own, which would cost a tenth of the compiler's time.
        """
        with _making:  # two threads would compile twice
            load_compiler()
            if inside and self._made is None:
                self._part = self._part or self._make(self.py_func, self.targetoptions, False)
                return self._part
            self._made = self._made or self._make(self.py_func, self.targetoptions, True)
            return self._made

    @property
    def overloads(self) -> Any:
        """What Python can call by now, by the types it is for."""
        return {} if self._made is None else self._made.overloads

    def __reduce__(self) -> str:
        return self.__qualname__


def _make_kernel(body: Any, options: dict[str, Any], called: bool) -> Any:
    import numba

    folder = cache_folder() if called else None
    # numba looks at the setting when a function is decorated; it is put back for other users.
    before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, folder or ""
    try:
        made = numba.njit(cache=folder is not None, no_cpython_wrapper=not called, **options)(body)
    finally:
        numba.config.CACHE_DIR = before
    find_call = made.get_call_template

    def widened(arguments: Any, named: Any) -> Any:
        # A kernel that is passed 0, or a counter that starts with 0, would be compiled for this
        # constant, then for integers: 5 of the 42 kernels of ``lookalike classify`` were.
        values = {name: numba.types.unliteral(kind) for name, kind in named.items()}
        return find_call(tuple(map(numba.types.unliteral, arguments)), values)

    made.get_call_template = widened
    return made


def _make_intrinsic(body: Any, options: dict[str, Any], called: bool) -> Any:
    from numba.extending import intrinsic as make

    return make(body)


def kernel(body: Callable[..., Any], **options: Any) -> Any:
    """Compile a loop over arrays, keeping the result on disk where there is a place for it."""
    if not COMPILED:
        return body
    # error_model: divisions by zero give inf or NaN, without a branch that stops vectorization.
    usual = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
    return Deferred(body, _make_kernel, usual | options)


def inline(body: Callable[..., Any]) -> Any:
    """Compile a small function that other kernels call; it is inlined into each of them."""
    return kernel(body, inline="always")


def intrinsic(body: Callable[..., Any]) -> Any:
    """Build instructions by hand; as numba's own, but numba is not imported until it is needed."""
    return Deferred(body, _make_intrinsic, {})


def instruction(build: Callable[..., Any], returns: int | str = 0) -> Callable[..., Any]:
    """Compile a function of numbers to LLVM instructions that are chosen by hand.

    numba would widen integers to 64 bits and turn a choice into a jump; either keeps most of the
    vector unit idle. The decorated function is the plain Python form of the same instructions.

    Parameters
    ----------
    build : callable
        Takes LLVM's builder and the values of the arguments, returns the value of the result.
    returns : int or str
        Which argument has the type of the result, or the name of the type.
    """

    def decorate(plain: Callable[..., Any]) -> Any:
        if not COMPILED:
            return plain

        def define(context: Any, *kinds: Any) -> Any:
            from numba import types

            result = getattr(types, returns) if isinstance(returns, str) else kinds[returns]
            return result(*kinds), lambda _, builder, __, values: build(builder, *values)

        # numba reads the names of the arguments off the signature.
        named = signature(plain)
        first = Parameter("context", Parameter.POSITIONAL_OR_KEYWORD)
        update_wrapper(define, plain)
        define.__signature__ = named.replace(  # type: ignore[attr-defined]
            parameters=[first, *named.parameters.values()]
        )
        return intrinsic(define)

    return decorate
