"""Answers as data frames of whatever library the user has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lookalike.errors import MissingExtra

__all__ = ["make_frame"]


def make_frame(columns: Mapping[str, Sequence[Any]], backend: str = "pandas") -> Any:
    """Return columns as a data frame.

    Parameters
    ----------
    columns : mapping of name to values
    backend : {"pandas", "polars", "pyarrow"}
    """
    import narwhals as nw

    try:
        return nw.from_dict(dict(columns), backend=backend).to_native()  # type: ignore[arg-type]
    except ImportError as error:
        raise MissingExtra(
            f"to_frame: needs {backend}, found none. Install it or choose another backend."
        ) from error
