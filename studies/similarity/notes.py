"""Causes of differences, what the paper leaves open, and what came out.

Prose is apart from what makes figures, so that a better sentence makes none of them again.
"""

from __future__ import annotations

from studies.paper import Reading

Causes = dict[tuple[str, str], str]


def _line(text: str) -> str:
    return " ".join(text.split())


GERMAN = _line("""
    Not explained. Tried on german with two repetitions (ours was 0.718 then): 1, 4 or all 18
    columns per node (0.714, 0.728, 0.716), squared distances (0.720), numbers as they are (0.721),
    five pairs per column (0.720), entropy (0.722), shares of leaves as votes (0.718). Trees on all
    rows instead of bootstrap samples come nearer (with ten repetitions 0.709), but are farther from
    print than ours on heart (0.846, printed 0.88), australian (0.900, 0.91), ionosphere (0.826,
    0.86) and diabetes (0.785, 0.80).
""")
GERMAN_BELOW = "Not explained; what was tried stands below Table I."
IONOSPHERE = "The gap is in the printed direction, and smaller than what folds differ by."
LIVER = _line("""
    Few repetitions: with ten this study has RF 0.748, RSF 0.752 and SF 0.747, all within tolerance
    of print.
""")
LIVER_LABEL = _line("""
    The paper's 145 rows are those of selector 1, the training file of the LIBSVM collection; its
    four columns are those without a zero after scaling. The paper does not say how the label is
    made, but that file has one: of its 145 lines, 78 stand in a public repository, and each is one
    of these rows to the last digit, labelled 0 with up to three drinks and 1 with four or more.
    Table I here uses this cut, which is not chosen by its score; the others show how much the cut
    matters.
""")
PACKAGE = "Not explained by the misplaced cuts alone."
PACKAGE_NEARER = _line("""
    On these sets misplaced cuts cost little or nothing, so they do not tell the two apart; on the
    generated items they do.
""")
WHOLE_NEARER = "It fits german and is farther from print elsewhere."
RISES = _line("""
    On few rows the difference is smaller than its noise, and on Two-Norm and Ring-Norm, whose
    columns are all alike, few columns are better for both forests.
""")
COLUMNS = "The curves are flat near their tops, so the best place is mostly chance on few rows."
NOISE = _line("""
    Few repetitions: with ten this study has RF 0.870, RSF 0.872 and SF 0.882 on heart and RF 0.893,
    RSF 0.887 and SF 0.898 on sonar, all within tolerance of print.
""")
WHOLE = "Not the paper's reading, it seems: it fits german and hardly another set."
SCALAR_CAUSES: Causes = {
    ("german", "RSF"): GERMAN,
    ("liver", "*"): LIVER,
    ("heart", "*"): NOISE,
    ("sonar", "*"): NOISE,
    ("*", "*"): "Not explained.",
}
SEQUENCES_CAUSES: Causes = {
    ("items", "SF"): _line("""
        The paper ran SF by a public package whose cuts are misplaced; with such cuts the printed
        figure comes out (next column).
    """),
    ("*", "SF, package"): _line("""
        Misplaced cuts alone are not the whole of the package: it also draws its pairs of rows with
        the same seed in every node, which was not repeated here.
    """),
    ("*", "*"): "Not explained by the draw of the set; no other setting was tried.",
}
READINGS_CAUSES: Causes = {
    ("german", "RSF"): GERMAN,
    ("heart", "RSF, all rows per tree"): WHOLE,
    ("sonar", "RSF, all rows per tree"): WHOLE,
    ("*", "RSF, all rows per tree"): WHOLE,
    ("heart", "*"): NOISE,
    ("sonar", "*"): NOISE,
    ("*", "*"): "Not explained.",
}


READINGS = (
    Reading(
        "Table I, scalar sets",
        "which columns are 'features with a missing value'",
        "those with a zero in the scaled file, which sparse files leave out: it gives the printed "
        "numbers of columns but for sonar (58, printed 59)",
    ),
    Reading(
        "Table I, liver",
        "where the number of drinks is cut",
        "more than three, as in the file of the collection that the paper used; how that is known, "
        "and every other cut, in part 'Liver's label'",
    ),
    Reading(
        "Table I, sequences",
        "the settings of the generator",
        "estimated from the parts of the sets that were published later, not from a score; our "
        "generator's defaults stand beside them",
    ),
    Reading(
        "all with RSF",
        "the projection d(q, x) - d(p, x): said to keep the order of a column, which it does only "
        "between p and q",
        "as printed",
    ),
    Reading(
        "all with RSF",
        "columns tried at a node: drawn in a loop, with replacement, or a subset",
        "a subset",
    ),
    Reading(
        "all with RSF",
        "'weighted prediction of the majority class'",
        "the majority class of a leaf, weighted by its share; means over trees",
    ),
    Reading(
        "Table I, sequences and mixed data",
        "the variance of a column of objects",
        "half the mean squared distance of pairs, estimated from pivots",
    ),
    Reading(
        "all with SF",
        "whether its package is as its paper has it: cuts are misplaced in it",
        "cuts in their place; with the package's cuts beside it ('SF, package')",
    ),
    Reading(
        "Figure 3",
        "the twelve sets, and how they are made binary",
        "the six that can be had; the first half of the classes against the rest",
    ),
)


SUMMARY = """
### What came of it

**On numbers** the three forests are as good as each other, as printed: RSF is within 0.02 of RF
on all ten sets, and no forest is significantly better than another over the sets. One distance
over all columns fails on splice and svmguide3, as printed. German is the exception of the paper
that does not come out: RSF is 0.04 better here than in print, and nothing we tried explains it.
Ionosphere is the exception that does: there RSF is ahead of both others.

**The generated sequences are found again.** The paper does not state the settings of its
generator. The 210 rows of each set that were published later give them away: lengths 20 ± 4,
sizes 20 ± 4, items 250 ± 50 of 500, which are the settings in the experiments of the generator's
own repository, and between the classes 260 and 240 for items, 24 and 16 for lengths, a rise of a
tenth of the range in one class and none in the other. Drawn with these, eight of the nine printed
areas come out within the spread of the draws, none of them by choosing a setting for its score.
The defaults of our generator, which follow the description alone, make items and order far too
easy.

**The ninth is SF on items** (printed 0.84, ours 0.92). The package that the paper ran applies the
order of the projection to labels that are already in that order, so that its cuts are nearly
random. With cuts misplaced in this way SF has 0.87, and 0.84 is within the spread of the draws. On
the nine tables of numbers where it was tried such cuts cost nothing.

**The encoding is not blind to order** (0.58, printed 0.56) because the class with a rise spreads
its items wider. Were the other class made by shuffling such sequences, both would hold the same
items, and the encoding could see nothing (0.52).

**svmguide3** has no scaled file in the collection that the paper used. As it is stored, SF has
0.78 (printed 0.77); with scaled columns it would have 0.735.

**Liver's label is found.** Its 145 rows have none in their first file; the number of drinks has
to be cut, and the paper does not say where. The collection it used cuts above three: its file,
of which a part can be had, says so line by line. With this cut all three areas come out (printed
0.77, 0.76 and 0.76, here 0.75 each); three and more, the cut of the older literature, gives 0.70,
more than four 0.85.

**Mixed data** could not be checked: of wgsovarian six positive rows can be had, of chickenpieces
and toolset nothing.

**Columns per node.** From one column to half of them RSF gains more than RF on the mean, and its
best share of columns is the larger one, as printed; but the curves are flat near their tops, and on
Two-Norm and Ring-Norm, whose columns are all alike, few columns are better for both.
"""
