"""Comparing measures with each other, and looking into one."""

from lookalike.leaderboard.board import Leaderboard
from lookalike.leaderboard.comparing import compare
from lookalike.leaderboard.diagnosing import Diagnosis, diagnose
from lookalike.leaderboard.ranking import Agreement, ranking_agreement
from lookalike.leaderboard.trial import Entry

__all__ = [
    "Agreement",
    "Diagnosis",
    "Entry",
    "Leaderboard",
    "compare",
    "diagnose",
    "ranking_agreement",
]
