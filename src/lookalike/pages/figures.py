"""Pictures drawn by matplotlib, which is only needed when one is asked for."""

from __future__ import annotations

import io
from typing import Any

from lookalike.errors import MissingExtra, message
from lookalike.pages.markup import Html

__all__ = ["figure_svg", "new_figure"]


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
            message(
                who, "matplotlib", "it is not installed", "Run: pip install 'lookalike[report]'"
            )
        ) from error
    return Figure(figsize=(width, height), layout="constrained")


def figure_svg(figure: Any) -> Html:
    """Return a matplotlib figure as an SVG element that can stand in a page.

    The same figure gives the same text; layers of points that were drawn with ``rasterized=True``
    are kept as one small image.
    """
    import matplotlib as mpl

    file = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": "lookalike"}):  # else every element id is drawn anew
        figure.savefig(file, format="svg", metadata={"Date": None}, transparent=True)
    text = file.getvalue()
    return Html(text[text.index("<svg") :])
