"""Causes of differences, and what was tried: prose apart from figures, so that those are kept."""

from __future__ import annotations

__all__ = [
    "COLUMNS",
    "GERMAN",
    "LIVER",
    "PACKAGE",
    "PACKAGE_NEARER",
    "READINGS_CAUSES",
    "RISES",
    "SCALAR_CAUSES",
    "SEQUENCES_CAUSES",
    "WHOLE_NEARER",
]

Causes = dict[tuple[str, str], str]

SCALAR_CAUSES: Causes = {}
SEQUENCES_CAUSES: Causes = {}
READINGS_CAUSES: Causes = {}
GERMAN = ""
LIVER = ""
PACKAGE = ""
PACKAGE_NEARER = ""
WHOLE_NEARER = ""
RISES = ""
COLUMNS = ""
