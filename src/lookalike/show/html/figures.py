"""Pictures drawn by matplotlib, which is only needed when one is asked for."""

from __future__ import annotations

from typing import Any

from lookalike.errors import MissingExtra


def new_figure(who: str, width: float, height: float) -> Any:
    """Return an empty matplotlib figure; without pyplot, so nothing global is touched.

    Parameters
    ----------
    who : str
        Who is drawing, for the message where matplotlib is missing.
    width, height : float
        In inches.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtra(
            who, "matplotlib", "it is not installed", "Run: pip install 'lookalike[report]'"
        ) from error
    return Figure(figsize=(width, height), layout="constrained")
