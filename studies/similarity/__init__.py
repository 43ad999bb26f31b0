"""Piernik, Brzezinski and Zawadzki (2022): forests in which each column brings its distance."""

from __future__ import annotations

from studies.paper import Paper, StudyPart
from studies.similarity import liver, mixed, readings, sensitivity, sequences, table1
from studies.similarity.notes import READINGS, SUMMARY

__all__ = ["PAPER"]

PAPER = Paper(
    name="similarity",
    title="Random similarity forests",
    citation=(
        "M. Piernik, D. Brzezinski, P. Zawadzki (2022). Random similarity forests. ECML PKDD 2022. "
        "doi:10.48550/arXiv.2204.05389"
    ),
    about=(
        "A tree tests whether a cell is nearer to one example or to another, column by column, so "
        "any column with a distance can be used. The paper claims that such forests (RSF) are as "
        "good as random forests (RF) on numbers, and better than RF on an encoding and than "
        "forests with one distance over whole rows (SF) on sequences and on mixed data."
    ),
    parts=(
        StudyPart("table1", "Table I: scalar sets", table1.run),
        StudyPart("liver", "Liver's label", liver.run),
        StudyPart("sequences", "Table I: sequences of sets", sequences.run),
        StudyPart("mixed", "Table I: mixed data", mixed.run),
        StudyPart("readings", "SF and RSF, two interpretations each", readings.run),
        StudyPart("columns", "Figure 3: columns per node", sensitivity.run_columns),
        StudyPart("trees", "Figure 4: number of trees", sensitivity.run_trees),
    ),
    summary=SUMMARY,
    readings=READINGS,
)
