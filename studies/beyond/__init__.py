"""Past the five papers: which combinations of their ideas are best."""

from studies.beyond import combinations, learners, notes, rule
from studies.paper import Paper, StudyPart

PAPER = Paper(
    "beyond",
    "Past the papers",
    notes.CITATION,
    notes.ABOUT,
    [
        StudyPart("combinations", "Each measure with each reducer on each task", combinations.run),
        StudyPart("rule", "A rule for measure=auto", rule.run),
        StudyPart("learners", "With labels: the papers' classifiers", learners.run),
    ],
    notes.SUMMARY,
)
