"""Causes of differences, and what was tried: prose apart from figures, so that those are kept."""

from __future__ import annotations

Causes = dict[tuple[str, str], str]


def _line(text: str) -> str:
    return " ".join(text.split())


SHI = _line("""
    Leaf sharing (Shi) is better here than in print because of what spectral clustering is given:
    exp(-d²/2) of the distance, as in the authors' code, lowers it where most pairs share no leaf
    (part 'Why Shi is better here'). Read as the code in all, Shi is as near to print as the others
    are (part 'Paper and released code').
""")
HALF = "A difference of less than two standard errors with so few forests."
TREES = _line("""
    Chance of few forests: on Iris, Heart, Lung and Parkinsons, where five forests for each setting
    differ most, 25 others have 0.290, 0.291 and 0.294 with 50, 100 and 200 trees.
""")
ORDER = _line("""
    The four are close: which of two is ahead changes with the forests where there are few.
""")
CHANCE = _line("""
    No cause found. The standard error comes from few forests where the effort is small, so that
    more than one figure in twenty is beyond twice of it by chance alone.
""")
PARKINSONS = _line("""
    A matter of few forests: all six measures read the same ones and err together, in one quick run
    of this study 0.04 above print, in another 0.04 to 0.09 below. Tried for RatioRF besides:
    columns drawn once per tree, the parting test counted once, exp(-d²/2).
""")
CAUSES: Causes = {
    ("*", "shi"): SHI,
    ("Parkinsons", "*"): PARKINSONS,
    ("*", "*"): CHANCE,
}
WINS: Causes = {
    ("Parkinsons", "*"): PARKINSONS,
    ("*", "*"): CHANCE,
}
FEWER = _line("""
    One of a few runs was chosen here, one of 720 in print: the highest silhouette of so many
    belongs to a more extreme clustering. Nothing else was found.
""")
CHOSEN_CAUSES: Causes = {
    ("Parkinsons", "shi"): FEWER,
    ("Parkinsons", "*"): _line("""
        In print the chosen clustering agrees with the classes less than chance does (-0.098), as
        a split into one very small cluster and the rest would; here no such run was chosen.
    """),
    ("*", "*"): FEWER,
}
CHOSEN = FEWER
NOT_FIRST = _line("""
    On a part of Gas the six are close and none is significantly first; with the printed number of
    rows (13,910) it could not be checked.
""")
NO_READING = _line("""
    All are about as near: they differ from each other by less than forests do.
""")
NOT_BY_ORDER = "Where few pairs are tied there is little to give away."
NOT_BY_AFFINITY = "It lowers Shi on the sets where most pairs share no leaf, not on the others."
