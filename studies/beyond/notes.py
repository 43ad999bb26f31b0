"""Sentences about the figures, apart from the code that makes them."""

CITATION = "A study of our own, on the data sets and with the measures of all five papers."
ABOUT = (
    "Five papers, each with its own measure, its own sets and its own task. Here every measure is "
    "combined with every repair of hubs and put to every task on every set of the data folder: "
    "does a combination that none of the papers could try beat what each of them recommends?"
)
COUNTS = (
    "At most {rows} rows of each set (a fixed draw) and 500 columns (those of the largest "
    "variance), forests grown from {seeds}; texts as 50 principal directions of tf-idf. {numbers} "
    "tables of numbers without gaps, {mixed} of mixed columns or with gaps, {objects} of "
    "sequences or histograms. neighbors: rows that five others vote right, leave-one-out; "
    "retrieval: share of the first 20 of a list that have the row's class; medoids, spectral: "
    "adjusted Rand index of clusterings into as many groups as there are classes. {finding} sets, "
    "chosen by the hash of their family's name before anything was scored, are the finding half, "
    "the others the checking half."
)
NUMBERS = (
    "Score in percent and mean rank, best first. On numbers without gaps, Gower on ranks is the "
    "ranked cityblock distance of the first paper."
)
MIXED = "Only measures that take categories and gaps."
EVERY = "Only measures that take sequences and histograms as well."
REPAIRS = (
    "Mean gain in points over every set and measure, and how often the repair is ahead and behind "
    "by more than half a point. Spectral clustering was tried with four repairs."
)
DUELS = (
    "Mean gain in points, sets ahead : behind by more than half a point, p of Wilcoxon's "
    "signed-rank test. Nothing is corrected for asking many times: of {asked} questions {chance} "
    "give p below 0.05 by chance."
)
BEST = (
    "Mean rank over neighbors, retrieval and medoids among all measures with all repairs. † the "
    "six best are chosen by this very figure; the checking half took no part in it."
)
AUTO = (
    'Gain in points against `measure="auto"`, sets ahead : behind, p; by task and half. A rule '
    "would be changed only if the checking half confirms the finding half."
)
RULE = (
    "`auto` wraps a measure in mutual proximity where a few rows fill most lists: where the "
    "occurrences among ten neighbors have a skewness above 1.4. Would a lower limit be better? "
    "Each row is a rule beside `auto`: gain in points, tables ahead : behind, p. † the limit that "
    "gains most for neighbors and retrieval on the finding half, of those by which medoids do not "
    "lose. Everyday: {tables} labelled tables of R packages and scikit-learn, at most {rows} rows "
    "of each, where ten neighbors vote or give a mean (R2); they were listed for the study of "
    "scales before anything was scored."
)
RULE_STAYS = 'So `measure="auto"` stays as it is.'
NO_DIFFERENCE = "Chance gives such ranks too."
NOT_CONFIRMED = "The choice is not confirmed by sets that took no part in it, so nothing changes."
LEARNERS = (
    "Share of rows right in {folds}-fold cross-validation, the same folds for all; {sets} sets, at "
    "most {rows} rows each, forests of {trees} trees, prototypes a tenth of the rows by medoids, "
    "five neighbors. The forest of the second row has seen the labels of the training rows, and "
    "RatioRF is read out of it."
)
FOREST_STANDS = "Nothing does."
SUMMARY = """
**Combinations win, but not those one would name first, and never by much.**

- The scale of the numbers matters more than the family of the measure. Of the measures alone `auto`
  comes first on numbers, on mixed tables and on all, then Gower on ranks (on plain numbers: ranked
  cityblock), which `auto` mostly is. On tables of numbers it beats RatioRF by 4 points for
  neighbors and 3 for retrieval. For medoids no measure is told apart from another.
- **Mutual proximity on Gower on ranks beats what the four papers without labels recommend**, on
  tables of numbers: on average for neighbors, retrieval and medoids, and beyond chance for
  neighbors. Over mutual proximity on Euclidean distances, the winner of the paper on hubs, the lead
  is 0.9, 0.8 and 0.1 points. On mixed tables Gower on ranks is ahead of Gower; nothing is clearly
  ahead of RatioRF.
- Repairs are worth it for what they were made for. Against no repair NICDM, local scaling and CSLS
  gain most for voting neighbors (1.3 points), mutual proximity nearly as much (1.1), and it alone
  also helps retrieval and does not hurt medoids. NICDM and local scaling cost medoids seven points,
  CSLS three. Shared neighbors (lists of ten) hurt neighbors and medoids. Spectral clustering gains
  half a point on average from mutual proximity and is behind more often than ahead.
- RatioRF gains from a repair for neighbors and stays behind plain distances, in spectral
  clustering, which its paper judges by, too. Read from trees that compare cells instead of cutting
  values it is better (neighbors: 27 sets to 1), and takes every kind of column.
- SimUSF is as good as ranks for neighbors and behind them for lists and clusters; mutual proximity
  helps it in all three, NICDM spoils its clusters.
- With labels random similarity forests come first, then neighbors under the RatioRF of such a
  forest, then neighbors by NICDM on Gower on ranks, all within the critical difference. Plain
  neighbors are behind the forest by more than that.
- **`measure="auto"` stays as it is.** Two ways to change it were tried. The leader of the finding
  half is not ahead in every task on the checking half, neither for numbers nor for mixed tables nor
  for all. A lower limit for its repair of hubs, fixed on the finding half, is confirmed by the
  checking half (neighbors +0.4 points, six sets to none), but not by 33 tables of everyday life:
  there it gains nothing for neighbors and loses a little for retrieval.

What weakens it: the checking half has few mixed tables, two seeds stand for each forest, and sets
whose largest class has 95 % of the rows (the sequences of sets, wgs_ovarian) say little.
"""
