"""Causes of differences, and what was tried: prose apart from figures, so that those are kept."""

from __future__ import annotations

__all__ = [
    "COLUMNS",
    "GERMAN",
    "LIVER",
    "PACKAGE",
    "PACKAGE_CUTS",
    "RISES",
    "SCALAR_CAUSES",
    "SEQUENCES_CAUSES",
]

Causes = dict[tuple[str, str], str]

SCALAR_CAUSES: Causes = {}
SEQUENCES_CAUSES: Causes = {}
PACKAGE_CUTS: Causes = {}
GERMAN = ""
LIVER = ""
PACKAGE = ""
PACKAGE_NEARER = ""
RISES = ""
COLUMNS = ""
