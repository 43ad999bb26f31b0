"""S. Seshadri's thesis on similarity representations of mixed tables, re-run."""

from lookalike.papers.gower import prototypes, readings
from lookalike.papers.paper import Paper, Part

PAPER = Paper(
    "gower",
    "Gower",
    "c",
    "",
    [
        Part("prototypes", "Neighbors and prototypes", prototypes.run),
        Part("readings", "Why the errors differ from print", readings.run),
    ],
)
