"""Causes of differences, what the paper leaves open, and what came out.

Text is separate from code so that rewording does not invalidate cached results.
"""

from __future__ import annotations

from studies.paper import Reading

Causes = dict[tuple[str, str], str]


def _line(text: str) -> str:
    return " ".join(text.split())


GERMAN = _line("""
    Not explained. Tried on german with two repetitions (ours was 0.718 then): 1, 4 or all 18
    columns per node (0.714, 0.728, 0.716), squared distances (0.720), numbers without projection
    (0.721), five pairs per column (0.720), entropy (0.722), shares of leaves as votes (0.718).
    Trees on all rows instead of bootstrap samples are nearer (with ten repetitions 0.709), but
    farther from the printed values than ours on heart (0.846, printed 0.88), australian (0.900,
    0.91), ionosphere (0.826, 0.86) and diabetes (0.785, 0.80).
""")
GERMAN_BELOW = "Not explained; see below Table I for what was tried."
IONOSPHERE = "The gap is in the printed direction, and smaller than what folds differ by."
LIVER = _line("""
    Few repetitions: with ten this study has RF 0.748, RSF 0.752 and SF 0.747, all within tolerance
    of print.
""")
LIVER_LABEL = _line("""
    The paper's 145 rows are those of selector 1, the training file of the LIBSVM collection; its
    four columns are those without a zero after scaling. The paper does not say how the label is
    made, but that file has one: 78 of its 145 lines are in a public repository, and each equals one
    of these rows to the last digit, labelled 0 with up to three drinks and 1 with four or more.
    Table I here uses this cut, which is not chosen by its score; the others show how much the cut
    matters.
""")
PACKAGE = "Not explained by the misplaced cuts alone."
PACKAGE_NEARER = _line("""
    On these sets misplaced thresholds cost little or nothing, so they do not distinguish the two;
    on the generated items they do.
""")
WHOLE_NEARER = "It fits german and is farther from the printed values elsewhere."
RISES = _line("""
    On Two-Norm and Ring-Norm, whose columns are equally informative, and on vowel, spambase,
    satellite and pendigits few columns are better for both forests.
""")
COLUMNS = "The curves are flat near their tops, so the best place is mostly chance on few rows."
NOISE = _line("""
    Few repetitions: with ten this study has RF 0.870, RSF 0.872 and SF 0.882 on heart and RF 0.893,
    RSF 0.887 and SF 0.898 on sonar, all within tolerance of print.
""")
WHOLE = "Probably not the paper's setting: it fits german and hardly another set."
SCALAR_CAUSES: Causes = {
    ("german", "RSF"): GERMAN,
    ("liver", "*"): LIVER,
    ("heart", "*"): NOISE,
    ("sonar", "*"): NOISE,
    ("*", "*"): "Not explained.",
}
SEQUENCES_CAUSES: Causes = {
    ("items", "SF"): _line("""
        The paper ran SF with a public package whose thresholds are misplaced; with such thresholds
        the printed value is reproduced (next column).
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
        "generator's defaults are shown as well",
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
        "whether its package follows its paper: its thresholds are misplaced",
        "correct thresholds; the package's thresholds as well ('SF, package')",
    ),
    Reading(
        "Figure 3",
        "the twelve sets, and how they are made binary",
        "the eleven that are available; the first half of the classes against the rest",
    ),
)


SUMMARY = """
### Summary

**On numbers** the three forests are equally good, as printed: RSF is within 0.02 of RF on all ten
sets, and no forest is significantly better than another over the sets. One distance over all
columns fails on splice and svmguide3, as printed. The exception of the paper on german is not
reproduced: RSF is 0.04 better here than printed, and nothing we tried explains it. The exception on
ionosphere is: there RSF is better than both others.

**The generated sequences are reproduced.** The paper does not state the settings of its generator.
The 210 rows of each set that were published later reveal them: lengths 20 ± 4, sizes 20 ± 4, items
250 ± 50 of 500, which are the settings in the experiments of the generator's own repository, and
between the classes 260 and 240 for items, 24 and 16 for lengths, a rise of a tenth of the range in
one class and none in the other. With these, eight of the nine printed areas are reproduced within
the spread of the draws, without choosing a setting on its score. The defaults of our generator,
which follow the description alone, make items and order far too easy.

**The ninth is SF on items** (printed 0.84, ours 0.92). The package that the paper ran applies the
order of the projection to labels that are already in that order, so that its thresholds are nearly
random. With thresholds misplaced in this way SF has 0.87, and 0.84 is within the spread of the
draws. On the nine numeric tables where it was tried such thresholds cost nothing.

**The encoding is sensitive to order** (0.58, printed 0.56) because the items of the class with a
rise have a larger spread. If the other class were made by shuffling such sequences, both would hold
the same items, and the encoding would be no better than chance (0.52).

**svmguide3** has no scaled file in the collection that the paper used. On the stored columns SF has
0.78 (printed 0.77); with scaled columns it would have 0.735.

**Liver's label is found.** Its 145 rows have none in their first file; the number of drinks has to
be cut, and the paper does not say where. The collection it used cuts above three, as its file
shows, of which a part is available. With this cut all three areas are reproduced (printed 0.77,
0.76 and 0.76, here 0.75 each); three and more, the cut of the older literature, gives 0.70, more
than four 0.85.

**Mixed data** could not be checked: of wgsovarian six positive rows are available, of chickenpieces
and toolset none.

**Columns per node.** From one column to half of them RSF gains more than RF on the mean, and its
best share of columns is the larger one, as printed; but the curves are flat near their maxima, and
on six of eleven sets, among them Two-Norm and Ring-Norm, whose columns are equally informative,
few columns are better for both.
"""
