"""Verbs as methods of data frames: ``import lookalike.frames``, then ``df.lookalike.search(3)``.

Importing this module adds the accessor ``lookalike`` to the frames of pandas and polars, whichever
is installed. ``import lookalike`` alone imports neither of them.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from types import MethodType
from typing import Any

from lookalike.verbs import VERBS, get_verb

NAME = "lookalike"


class FrameAccessor:
    """The verbs, with a frame as their table.

    Parameters
    ----------
    frame : data frame

    Examples
    --------
    >>> import pandas as pd
    >>> import lookalike.frames
    >>> pets = pd.DataFrame({"weight": [4.0, 30.0, 5.0], "animal": ["cat", "dog", "cat"]})
    >>> pets.lookalike.search(0, k=1).ids
    [2]
    """

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Return a verb whose table is the frame."""
        if name not in VERBS:
            raise AttributeError(f"no verb {name!r}; verbs: {', '.join(VERBS)}")
        # As a method, whose signature is without the table: what editors complete.
        return MethodType(get_verb(name), self._frame)

    def __dir__(self) -> list[str]:
        """List the verbs, for completion."""
        return [*super().__dir__(), *VERBS]


if find_spec("pandas"):
    import pandas as pd

    pd.api.extensions.register_dataframe_accessor(NAME)(FrameAccessor)
if find_spec("polars"):
    import polars as pl

    pl.api.register_dataframe_namespace(NAME)(FrameAccessor)
    pl.api.register_lazyframe_namespace(NAME)(FrameAccessor)
