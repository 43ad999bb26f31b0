"""Causes of differences, and what was tried: prose apart from figures, so that those are kept."""

from __future__ import annotations

__all__ = [
    "CAUSES",
    "CHOSEN",
    "CHOSEN_CAUSES",
    "HALF",
    "NOT_FIRST",
    "NOT_SHI",
    "NO_READING",
    "ORDER",
    "SHI",
    "WINS",
]

Causes = dict[tuple[str, str], str]

CAUSES: Causes = {}
WINS: Causes = {}
CHOSEN_CAUSES: Causes = {}
SHI = ""
HALF = ""
ORDER = ""
CHOSEN = ""
NOT_FIRST = ""
NO_READING = ""
NOT_SHI = ""
