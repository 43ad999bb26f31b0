"""Reasons as phrases: why two rows are alike, in words a person can read.

One phrase per column, made from the kind of the column, its two cells and the side they speak for;
the same words for the command line, notebooks, reports and the HTTP interface. A low room: it knows
cells and kinds, nothing of measures, so that everything that explains can use it.
"""

from lookalike.show.reasons.reason import Reason, make_reason, sentence
from lookalike.show.reasons.style import Style, Styles, style_of

__all__ = ["Reason", "Style", "Styles", "make_reason", "sentence", "style_of"]
