"""Reasons as phrases: why two rows are alike.

One phrase per column, made from the kind of the column, its two cells and whether they are alike;
the same for the command line, notebooks, reports and the HTTP interface. It knows
cells and kinds, not measures, so that every package that explains can use it.
"""

from lookalike.show.reasons.reason import Reason, make_reason, sentence
from lookalike.show.reasons.style import Style, Styles, style_of

__all__ = ["Reason", "Style", "Styles", "make_reason", "sentence", "style_of"]
