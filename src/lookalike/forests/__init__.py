"""Growing trees, and the one flat array form they share."""

from lookalike.forests.flat import Forest, flatten

__all__ = ["Forest", "flatten"]
