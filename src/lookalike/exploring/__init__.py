"""The explorer page in a notebook, and as one file that needs no server."""

from lookalike.exploring.explore import Explorer, explore

__all__ = ["Explorer", "explore"]
