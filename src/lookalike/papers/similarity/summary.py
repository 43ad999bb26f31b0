"""What came out, written after reading the figures."""

from __future__ import annotations

__all__ = ["SUMMARY"]

SUMMARY = ""
