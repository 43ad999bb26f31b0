"""Reading saved estimators back."""

import importlib
import os
from collections.abc import Iterable, Mapping
from typing import Any

from lookalike.saving.decode import read
from lookalike.saving.encode import SaveMixin

# Packages whose classes can be in a file; importing them fills the table of classes. A fixed list:
# a name that is found in a file is never imported.
PACKAGES = tuple(
    "table columns trees neighbors measures evaluate hubness represent prediction index "
    "clustering leaderboard".split()
)


def load(path: str | os.PathLike[str], callables: Mapping[str, Any] | None = None) -> Any:
    """Read an estimator that was written by its ``save``.

    The file holds arrays and one JSON page; nothing in it is executed. A class of your own is found
    if its module has been imported.

    Parameters
    ----------
    path : str or path
    callables : mapping of name to function, optional
        Functions the estimator was given (a distance of your own): they are saved by name only.

    Examples
    --------
    >>> import lookalike as la, os, tempfile
    >>> from lookalike.measures import Vector
    >>> measure = Vector("cityblock").fit([[0.0, 1.0], [2.0, 3.0]])
    >>> path = os.path.join(tempfile.mkdtemp(), "rows.lookalike")
    >>> measure.save(path)
    >>> la.load(path).distance()
    array([[0., 4.],
           [4., 0.]])
    """
    import_packages()
    return read(path, callables, root=SaveMixin)


def import_packages(packages: Iterable[str] = PACKAGES) -> None:
    """Import packages, by default all that define saved classes, to know these by name."""
    for package in packages:
        importlib.import_module(f"lookalike.{package}")
