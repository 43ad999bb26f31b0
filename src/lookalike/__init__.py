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

if TYPE_CHECKING:  # type checkers do not follow __getattr__
    from lookalike._config import config as config
    from lookalike._load import load as load
    from lookalike.hubness import hubness_report as hubness_report
    from lookalike.leaderboard.comparing import compare as compare
    from lookalike.reporting import report as report
    from lookalike.search import Index as Index
    from lookalike.table import Table as Table
    from lookalike.table import read_table as read_table
    from lookalike.warming import warm as warm

# Public name -> the module it is found in; a submodule is its own home.
_NAMES = {
    "Index": "lookalike.search",
    "Table": "lookalike.table",
    "cluster": "lookalike.cluster",
    "columns": "lookalike.columns",
    "compare": "lookalike.leaderboard",
    "config": "lookalike._config",
    "datasets": "lookalike.datasets",
    "errors": "lookalike.errors",
    "evaluate": "lookalike.evaluate",
    "forests": "lookalike.forests",
    "hubness": "lookalike.hubness",
    "hubness_report": "lookalike.hubness",
    "leaderboard": "lookalike.leaderboard",
    "load": "lookalike._load",
    "measures": "lookalike.measures",
    "neighbors": "lookalike.neighbors",
    "predict": "lookalike.predict",
    "read_table": "lookalike.table",
    "report": "lookalike.reporting",
    "reporting": "lookalike.reporting",
    "represent": "lookalike.represent",
    "search": "lookalike.search",
    "table": "lookalike.table",
    "warm": "lookalike.warming",
}

__all__ = ["__version__", *_NAMES]


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        raise AttributeError(f"module 'lookalike' has no attribute {name!r}")
    home = _NAMES[name]
    module = import_module(home)
    value = module if home == f"lookalike.{name}" else getattr(module, name)
    globals()[name] = value  # the next look-up is an ordinary one
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
