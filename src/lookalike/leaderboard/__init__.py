"""Comparing measures with each other."""

from lookalike.leaderboard.ranking import Agreement, ranking_agreement

__all__ = ["Agreement", "ranking_agreement"]
