"""Neighbor lists: what they are, how they merge, and how they are found exactly."""

from lookalike.neighbors.graph import NeighborGraph

__all__ = ["NeighborGraph"]
