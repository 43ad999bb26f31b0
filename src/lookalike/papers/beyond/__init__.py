"""Past the five papers."""

from lookalike.papers.beyond import combinations
from lookalike.papers.paper import Paper, Part

PAPER = Paper(
    "beyond", "Past the papers", "", "", [Part("combinations", "Combos", combinations.run)]
)
