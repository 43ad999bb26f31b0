"""The words that the package knows, kept as TOML files in ``data``."""

from __future__ import annotations

from importlib import resources
from typing import Any

__all__ = ["read_data"]


def read_data(name: str) -> dict[str, Any]:
    """Return one file of words as TOML gives it; callers keep what they make of it.

    Parameters
    ----------
    name : str
        The file without its ending.
    """
    import tomllib  # only a table with a text column needs it

    text = resources.files("lookalike.table").joinpath("data", f"{name}.toml").read_text("utf-8")
    return tomllib.loads(text)
