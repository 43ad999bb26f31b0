"""Load what is rarely needed when it is first used, not when scikit-learn mentions it.

scikit-learn imports all of ``scipy.stats`` to have two names at hand; that is a good part of the
time a small command takes. In the process of the command line it is loaded at the first use.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader
from types import ModuleType

__all__ = ["load_later"]

LATER = ("scipy.stats",)


class _Later(MetaPathFinder):
    """Finds some modules as Python does, to be run when a name in them is first asked for."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(fullname, path, target) if fullname in LATER else None
        if spec is not None and spec.loader is not None:
            spec.loader = LazyLoader(spec.loader)
        return spec


def load_later() -> None:
    """Put off the modules of ``LATER`` for the rest of this process, where they are not loaded."""
    if not any(isinstance(finder, _Later) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Later())
