"""Load what is rarely needed when it is first used, not when another package mentions it.

scikit-learn imports all of ``scipy.stats`` to have two names at hand, and pandas, where it is
installed, to ask whether a frame is one of its own, as pyarrow does; scipy imports the tests and
the Fortran compiler of numpy with everything else in it. Together that is more than half of the
time a small command takes. In the process of the command line each is loaded at its first use.

``importlib.util.LazyLoader`` would do, but for threads: until Python 3.11.8 two of them that meet
a module at once may see it half loaded, and importing it a second time loads it.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

LATER = ("scipy.stats", "scipy.special", "pandas", "numpy.f2py", "numpy.testing")
# What the import system looks at; everything else means that the module is wanted.
LOOKED_AT = ("__spec__", "__class__", "__dict__")


class _Module(ModuleType):
    """A module that is run when a name in it is first asked for."""

    def __getattribute__(self, name: str) -> Any:
        if name not in LOOKED_AT:
            _run(self)
        return ModuleType.__getattribute__(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in LOOKED_AT:
            _run(self)
        ModuleType.__setattr__(self, name, value)


def _run(module: ModuleType) -> None:
    """Run a module once; other threads wait until it is done."""
    inside = object.__getattribute__(module, "__dict__")
    waiting = inside.get("__later__")
    if waiting is None:
        return
    loader, lock = waiting
    with lock:
        if "__later__" not in inside or "__loading__" in inside:  # done, or at it in this thread
            return
        inside["__loading__"] = True
        try:
            inside["__spec__"].loader = inside["__loader__"] = loader
            loader.exec_module(module)
            del inside["__later__"]  # from here on nobody waits
            module.__class__ = ModuleType
        finally:
            del inside["__loading__"]


class _LaterLoader(Loader):
    """Makes a module that knows its loader and is not run yet."""

    def __init__(self, loader: Loader) -> None:
        self.loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Let the import system make the module."""
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Put off running it."""
        module.__dict__["__later__"] = self.loader, threading.RLock()
        module.__class__ = _Module


class _Later(MetaPathFinder):
    """Finds some modules as Python does, to be run when a name in them is first asked for."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(fullname, path, target) if fullname in LATER else None
        if spec is not None and spec.loader is not None:
            spec.loader = _LaterLoader(spec.loader)
        return spec


class _Hidden(MetaPathFinder):
    """Says that there is no pandas."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname == "pandas":
            raise ImportError("put off", name=fullname)
        return None


def use_arrow_alone() -> None:
    """Let pyarrow do without pandas in this process: a file that is read has no frame in it.

    The first value that pyarrow takes from Python makes it import all of pandas, where that is
    installed, to ask whether the value is one of its frames: half a second. It looks for pandas
    once, so it is let look while there is none. Only where modules are put off at all, and not
    after pandas was really wanted.
    """
    here = sys.modules.get("pandas")
    wanted = here is not None and "__later__" not in object.__getattribute__(here, "__dict__")
    if wanted or not any(isinstance(finder, _Later) for finder in sys.meta_path):
        return
    import pyarrow

    hidden = _Hidden()
    sys.meta_path.insert(0, hidden)
    sys.modules.pop("pandas", None)
    try:
        pyarrow.scalar(0)
    finally:
        sys.meta_path.remove(hidden)
        if here is not None:
            sys.modules["pandas"] = here


def load_later() -> None:
    """Put off the modules of ``LATER`` for the rest of this process, where they are not loaded."""
    if not any(isinstance(finder, _Later) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Later())
