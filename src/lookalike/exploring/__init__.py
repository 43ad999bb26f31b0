"""The explorer page in a notebook, and as one file that needs no server."""

from lookalike._runtime.extras import check_service

check_service("explore")

from lookalike.exploring.explore import Explorer, explore  # noqa: E402  first what is missing

__all__ = ["Explorer", "explore"]
