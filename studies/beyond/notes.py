"""Text about the results, separate from the code so that rewording does not invalidate caches."""

CITATION = "A study of our own, on the data sets and with the measures of all five papers."
ABOUT = (
    "Five papers, each with its own measure, data sets and task. Here every measure is combined "
    "with every hubness reducer and evaluated on every task and data set: does a combination "
    "that none of the papers tried beat their recommendations?"
)
COUNTS = (
    "At most {rows} rows of each set (a fixed draw) and 500 columns (those of the largest "
    "variance), forests grown from {seeds}; texts as 50 principal components of tf-idf. "
    "{numbers} tables of numbers without missing values, {mixed} of mixed columns or with gaps, "
    "{objects} of sequences or histograms. neighbors: leave-one-out accuracy of five neighbors; "
    "retrieval: precision at 20; medoids, spectral: adjusted Rand index of clusterings into as "
    "many clusters as there are classes. {selection} sets, chosen by the hash of their family's "
    "name before anything was scored, are the selection half, the others the validation half."
)
NUMBERS = (
    "Score in percent and mean rank, best first. On numbers without missing values, Gower on "
    "ranks is the ranked cityblock distance of the first paper."
)
MIXED = "Only measures that support categories and missing values."
EVERY = "Only measures that support sequences and histograms as well."
REDUCERS = (
    "Mean gain in points over every set and measure, and how often the reducer is better and "
    "worse by more than half a point. Spectral clustering was tried with four reducers."
)
DUELS = (
    "Mean gain in points, sets better : worse by more than half a point, p of Wilcoxon's "
    "signed-rank test. Without correction for multiple tests: of {asked} tests {chance} "
    "give p below 0.05 by chance."
)
BEST = (
    "Mean rank over neighbors, retrieval and medoids among all measures with all reducers. † the "
    "six best are chosen on this statistic; the validation half was not used."
)
AUTO = (
    'Gain in points against `measure="auto"`, sets ahead : behind, p; by task and half. A rule '
    "would be changed only if the validation half confirms the selection half."
)
RULE = (
    "`auto` wraps a measure in mutual proximity if the skewness of the 10-occurrences is above "
    "1.4. Would a lower threshold be better? Each row compares a rule with `auto`: gain in "
    "points, tables better : worse, p. † the threshold that gains most for neighbors and "
    "retrieval on the selection half, of those that do not make medoids worse. Everyday: "
    "{tables} labelled tables of R packages and scikit-learn, at most {rows} rows of each, ten "
    "neighbors vote or give a mean (R2); they were selected for the study of scales before "
    "anything was scored."
)
RULE_STAYS = 'So `measure="auto"` is not changed.'
NO_DIFFERENCE = "Such ranks can occur by chance."
NOT_CONFIRMED = "The choice is not confirmed on the validation sets, so nothing is changed."
LEARNERS = (
    "Share of rows right in {folds}-fold cross-validation, the same folds for all; {sets} sets, "
    "at most {rows} rows each, forests of {trees} trees, prototypes a tenth of the rows by "
    "medoids, five neighbors. The forest of the second row was trained with the labels of the "
    "training rows, and RatioRF is computed from it."
)
FOREST_STANDS = "No combination does."
SUMMARY = """
**Combinations are best, but not the expected ones, and never by much.**

- The scale of the numbers matters more than the family of the measure. Of the measures alone `auto`
  comes first on numbers, on mixed tables and on all, then Gower on ranks (on plain numbers: ranked
  cityblock), which `auto` mostly selects. On tables of numbers it beats RatioRF by 4 points for
  neighbors and 3 for retrieval. For medoids no measure is significantly different from another.
- **Mutual proximity on Gower on ranks beats the recommendations of the four papers without
  labels**, on tables of numbers: on average for neighbors, retrieval and medoids, and beyond chance
  for neighbors. Over mutual proximity on Euclidean distances, the recommendation of the paper on
  hubs, the gain is 0.9, 0.8 and 0.1 points. On mixed tables Gower on ranks is better than Gower;
  nothing is clearly better than RatioRF.
- Hubness reducers improve the tasks for which they were designed. Compared with no reducer, NICDM,
  local scaling and CSLS gain most for neighbor classification (1.3 points), mutual proximity nearly
  as much (1.1), and it alone also improves retrieval and does not make medoids worse. NICDM and
  local scaling cost medoids seven points, CSLS three. Shared neighbors (lists of ten) make
  neighbors and medoids worse. Spectral clustering gains half a point on average from mutual
  proximity and is worse more often than better.
- RatioRF gains from a reducer for neighbors and stays behind plain distances, also in spectral
  clustering, the criterion of its paper. Computed from trees that compare cells instead of
  thresholds it is better (neighbors: 27 sets to 1), and supports every kind of column.
- SimUSF is as good as ranks for neighbors and worse for retrieval and clusters; mutual proximity
  improves it in all three, NICDM makes its clusters worse.
- With labels random similarity forests come first, then neighbors under the RatioRF of such a
  forest, then neighbors by NICDM on Gower on ranks, all within the critical difference. Plain
  neighbors are behind the forest by more than that.
- **`measure="auto"` is not changed.** Two changes were tried. The best on the selection half is not
  better in every task on the validation half, neither for numbers nor for mixed tables nor for all.
  A lower threshold for hubness reduction, chosen on the selection half, is confirmed by the
  validation half (neighbors +0.4 points, six sets to none), but not by 33 everyday tables: there it
  gains nothing for neighbors and loses a little for retrieval.

Limitations: the validation half has few mixed tables, each forest has two seeds only, and sets
whose largest class has 95 % of the rows (the sequences of sets, wgs_ovarian) are not informative.
"""
