"""Find the rows of a table that are alike, and say why.

Names are resolved when they are first used, so ``import lookalike`` itself loads nothing heavy.

Examples
--------
>>> import lookalike as la
>>> table = la.read_table({"size": [1.0, 2.5, 2.0], "color": ["red", "blue", "red"]})
>>> table.shape
(3, 2)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from lookalike._version import __version__
from lookalike.verbs import VERBS as _VERBS
from lookalike.verbs import get_verb as _get_verb

# Type checkers take a name that is not listed here for ``Any``, as ``__getattr__`` returns it.
if TYPE_CHECKING:
    from lookalike._runtime.config import config as config
    from lookalike.hubness import hubness_report as hubness_report
    from lookalike.index import Index as Index
    from lookalike.saving.load import load as load
    from lookalike.table import Table as Table
    from lookalike.table import read_table as read_table
    from lookalike.verbs.audit import audit as audit
    from lookalike.verbs.classify import classify as classify
    from lookalike.verbs.cluster import cluster as cluster
    from lookalike.verbs.compare import compare as compare
    from lookalike.verbs.dedupe import dedupe as dedupe
    from lookalike.verbs.explain import explain as explain
    from lookalike.verbs.hubs import hubs as hubs
    from lookalike.verbs.impute import impute as impute
    from lookalike.verbs.inspect import inspect as inspect
    from lookalike.verbs.join import join as join
    from lookalike.verbs.link import link as link
    from lookalike.verbs.match import match as match
    from lookalike.verbs.outliers import outliers as outliers
    from lookalike.verbs.regress import regress as regress
    from lookalike.verbs.report import report as report
    from lookalike.verbs.search import search as search
    from lookalike.warming import warm as warm

# Public name -> the module it is found in; a submodule is its own home, a verb has a file.
_NAMES = {
    "Index": "lookalike.index",
    "Table": "lookalike.table",
    "config": "lookalike._runtime.config",
    "explore": "lookalike.exploring",
    "hubness_report": "lookalike.hubness",
    "load": "lookalike.saving.load",
    "read_table": "lookalike.table",
    "warm": "lookalike.warming",
}
_MODULES = (
    "clustering columns datasets errors evaluate hubness index leaderboard linkage measures "
    "neighbors prediction represent table trees"
).split()
_NAMES |= {name: f"lookalike.{name}" for name in _MODULES}
_NAMES |= {verb: f"lookalike.verbs.{verb}" for verb in _VERBS}

__all__ = ["__version__", *_NAMES]


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        raise AttributeError(f"module 'lookalike' has no attribute {name!r}")
    home = _NAMES[name]
    if name in _VERBS:
        value: Any = _get_verb(name)
    else:
        module = import_module(home)
        value = module if home == f"lookalike.{name}" else getattr(module, name)
    globals()[name] = value  # the next look-up is an ordinary one
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
