"""The published tables beside our numbers: one command re-runs the field.

A paper is a list of parts; a part is one table or figure of it. Each part gives sheets (what was
printed, what we find, the difference), findings (sentences that hold or do not) and plots. The
command line prints them, ``write`` makes the pages of the documentation.
"""

from studies.diagram import (
    Ranking,
    critical_difference,
    draw_diagram,
    rank_methods,
)
from studies.paper import PAPERS, Paper, StudyPart, find_paper, run_paper
from studies.result import Finding, Plot, Result, Sheet, Value
from studies.work import Work

__all__ = [
    "PAPERS",
    "Finding",
    "Paper",
    "Plot",
    "Ranking",
    "Result",
    "Sheet",
    "StudyPart",
    "Value",
    "Work",
    "critical_difference",
    "draw_diagram",
    "find_paper",
    "rank_methods",
    "run_paper",
]
