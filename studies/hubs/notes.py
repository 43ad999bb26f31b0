"""What the study says about its texts, and what the paper leaves open.

Text is separate from code so that rewording does not invalidate cached results.
"""

from __future__ import annotations

from studies.paper import Reading

WORDS_ABOUT = (
    "Number of words after rare ones are dropped; the paper states the number but not the rule. "
    "Runs of letters without scikit-learn's stop words, stemmed by Porter's rules; reviews have "
    "no headers. Nothing is judged."
)
TEXTS_ABOUT = (
    "Original distances (cosine), and hubness after scaling. The weight of a word in a text: its "
    "frequency, 1 + the logarithm of it, or 1; each times log(n / texts that have the word). The "
    "paper also brings texts to the mean length, which a cosine sees only before something that "
    "is not linear: log(1 + frequency at mean length), and Robertson's saturating weight (BM25, "
    "k1 = 1.2, b = 0.75). Root: the square root of frequency times rarity. The first is the "
    "usual 'tf-idf' and is used in Tables 1 and 2; it was not chosen on a score. '5 times in "
    "all': the words that occur five times in whole messages, headers included, as the sheet "
    "above suggests. Tolerance: half a point, a tenth of hubness."
)
TEXTS_CAUSE = (
    "Not explained: no reading gives all printed values of a set. The words themselves seem to "
    "be found (sheet above), what they count is not: hubness depends on how strongly frequency "
    "and rarity are damped, and on the list of stop words. Roots come nearest on the reviews. "
    "Tried besides, once: the first three without the rarity of words (S5 of the reviews 10.6, "
    "6.2 and 7.4, C5 of the newsgroups 59.8 to 63.5); newsgroups with their subject (C5 up by "
    "three to four points, S5 down by 0.1 to 0.5). On words that stand five times in all, stemmed "
    "by Snowball's English rules (10,384 and 8,817 words with scikit-learn's stop words, printed "
    "10,382 and 8,811) and without the 526 stop words of Weka, roots give C1 71.6, C5 75.3 and S5 "
    "3.92 on the reviews, 66.2, 66.0 (a tie is wrong) and 3.77 on the newsgroups, and logarithms "
    "without the rarity of words 73.0, 75.5 and 5.08, 65.3, 67.0 and 4.74."
)


READINGS = (
    Reading("all with NICDM", "the number of neighbors", "10, which reproduces the values"),
    Reading(
        "Tables 1 and 2",
        "which class wins a tied vote: that of the nearest neighbor, which need not be among the "
        "tied ones",
        "the nearest neighbor of a tied class; the printed values count a tie as wrong",
    ),
    Reading(
        "Tables 1 and 2",
        "the neighbors that the intrinsic dimension is estimated from, and the scale of columns",
        "6 to 12 neighbors, as in the authors' program; with columns unscaled and divided by "
        "their variance",
    ),
    Reading(
        "Tables 1 and 2",
        "the form of McNemar's test",
        "chi-squared with one degree of freedom and correction for continuity",
    ),
    Reading(
        "Tables 1 and 2",
        "which of tied proximities comes first",
        "the one that is first in the file; part 'Ties, labels' breaks ties at random",
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
