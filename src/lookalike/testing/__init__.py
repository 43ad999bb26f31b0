"""For people who add measures: random tables for hypothesis, and the contract as one check.

Needs the package ``hypothesis``.
"""

from lookalike.testing.contract import check_measure
from lookalike.testing.strategies import frames, matrices, number_tables, tables

__all__ = ["check_measure", "frames", "matrices", "number_tables", "tables"]
