"""Causes of differences, and what was tried: prose apart from figures, so that those are kept."""

from __future__ import annotations

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
