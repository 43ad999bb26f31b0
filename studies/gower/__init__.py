"""S. Seshadri's thesis on similarity representations of mixed tables, re-run."""

from studies.gower import example, layers, notes, powers, prototypes, readings, weights
from studies.gower.notes import READINGS
from studies.paper import Paper, StudyPart

PAPER = Paper(
    "gower",
    "Gower representations",
    notes.CITATION,
    notes.ABOUT,
    [
        StudyPart("example", "The sets, and an indefinite matrix", example.run),
        StudyPart("prototypes", "Neighbors and prototypes", prototypes.run),
        StudyPart("readings", "Why the errors differ from print", readings.run),
        StudyPart("weights", "Weights of the columns", weights.run),
        StudyPart("layers", "Similarity of similarity", layers.run),
        StudyPart("powers", "Powers of the matrix, and chains", powers.run),
    ],
    notes.SUMMARY,
    READINGS,
)
