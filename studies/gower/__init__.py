"""S. Seshadri's thesis on similarity representations of mixed tables, re-run."""

from studies.gower import example, layers, notes, powers, prototypes, readings, weights
from studies.gower.left_open import READINGS
from studies.paper import Paper, Part

PAPER = Paper(
    "gower",
    "Gower representations",
    notes.CITATION,
    notes.ABOUT,
    [
        Part("example", "The sets, and a gap that breaks the matrix", example.run),
        Part("prototypes", "Neighbors and prototypes", prototypes.run),
        Part("readings", "Why the errors differ from print", readings.run),
        Part("weights", "Weights of the columns", weights.run),
        Part("layers", "Similarity of similarity", layers.run),
        Part("powers", "Powers of the matrix, and chains", powers.run),
    ],
    notes.SUMMARY,
    READINGS,
)
