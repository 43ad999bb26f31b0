"""Comparing measures with each other, and looking into one."""

from lookalike.leaderboard.board import Entry, Leaderboard
from lookalike.leaderboard.comparing import compare
from lookalike.leaderboard.diagnosing import Diagnosis, diagnose
from lookalike.leaderboard.scores import Agreement, ranking_agreement

__all__ = [
    "Agreement",
    "Diagnosis",
    "Entry",
    "Leaderboard",
    "compare",
    "diagnose",
    "ranking_agreement",
]
