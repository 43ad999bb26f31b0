"""What Schnitzer and others (2012) leave open, and how it is read here."""

from __future__ import annotations

from studies.paper import Reading

READINGS = (
    Reading("all with NICDM", "the number of neighbors", "10, with which the figures come out"),
    Reading(
        "Tables 1 and 2",
        "who decides a tied vote: the class of the nearest neighbor, which need not be among the "
        "tied ones",
        "the nearest neighbor of a tied class; the printed figures count a tie as wrong",
    ),
    Reading(
        "Tables 1 and 2",
        "the neighbors that the intrinsic dimension is estimated from, and the scale of columns",
        "6 to 12 neighbors, as in the authors' program; with columns as they are and divided by "
        "their variance",
    ),
    Reading(
        "Tables 1 and 2",
        "the form of McNemar's test",
        "chi-squared with one degree of freedom and correction for continuity",
    ),
    Reading(
        "Tables 1 and 2",
        "which of equally counted proximities comes first",
        "the one that is first in the file; part 'Ties, labels' draws lots",
    ),
    Reading(
        "Tables 1 to 3",
        "stop words, stemmer, rarest words and weights of the texts",
        "scikit-learn's list, Porter's stemmer, words in at least 3 or 4 texts, frequency times "
        "rarity; other words and five other weights in part 'Readings of the texts'",
    ),
    Reading(
        "Figures 8 and 9",
        "whether a row's distance to itself counts in mean and variance (the formulas say so, the "
        "authors' program leaves it out)",
        "left out",
    ),
    Reading(
        "Table 5",
        "a weighted sum of proximities is called a distance",
        "a similarity: the larger the sum, the nearer",
    ),
)
