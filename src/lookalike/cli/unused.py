"""Options that the chosen method would not look at: refused, since ignoring them misleads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lookalike.errors import InvalidInput


def refuse_unused(method: str, used: Mapping[str, tuple[Any, Sequence[str]]]) -> None:
    """Refuse an option that was given and has no effect on this method.

    Parameters
    ----------
    method : str
        What ``--method`` says.
    used : mapping of option to its value, None where it was not given, and the methods it is for

    Examples
    --------
    >>> refuse_unused("forest", {"-k": (None, ["neighbors"]), "--trees": (50, ["forest"])})
    >>> refuse_unused("forest", {"-k": (5, ["neighbors"])})
    Traceback (most recent call last):
    lookalike.errors.InvalidInput: -k: needs --method neighbors, found --method forest. Leave -k \
out, or use --method neighbors.
    """
    for option, (value, methods) in used.items():
        if not value or method in methods:
            continue
        one_of = " or ".join([", ".join(methods[:-1]), methods[-1]] if methods[1:] else methods)
        hint = f"Leave {option} out, or use --method {one_of}"
        raise InvalidInput(option, f"--method {one_of}", f"--method {method}", hint)
