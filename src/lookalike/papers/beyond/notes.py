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
    "For neighbors and for medoids: mean gain in points, sets ahead : behind by more than half a "
    "point, p of Wilcoxon's signed-rank test. Nothing is corrected for asking many times: of 80 "
    "questions four give p below 0.05 by chance."
)
BEST = (
    "Mean rank over neighbors, retrieval and medoids among all measures with all repairs. † the "
    "six best are chosen by this very figure; the checking half took no part in it."
)
AUTO = (
    'Gain in points against `measure="auto"`, sets ahead : behind, p; by task and half. A rule '
    "would be changed only if the checking half confirms the finding half."
)
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

- The scale of the numbers matters more than the family of the measure. Of the measures alone Gower
  on ranks (on plain numbers: ranked cityblock) comes first after `auto`, which mostly is the same;
  it beats RatioRF on tables of numbers in every task.
- Repairs are worth it for what they were made for. Against no repair, CSLS and NICDM gain most for
  voting neighbors, both kinds of mutual proximity for retrieval (beyond the critical difference);
  only mutual proximity also helps medoids. Spectral clustering hardly gains from any (MP +0.3
  points on average, but behind more often than ahead). NICDM, local scaling and CSLS hurt medoids
  on average, shared neighbors (lists of ten) hurt neighbors.
- MP on Euclidean distances, the winner of the paper on hubs, is beaten in every task by no
  combination tried: NICDM on Gower on ranks is ahead for neighbors and behind for clusters.
- RatioRF gains from a repair for neighbors and stays behind plain distances, in spectral
  clustering, which its paper judges by, too. Read from trees that compare cells instead of cutting
  values it is better, and takes every kind of column.
- SimUSF has the best mean rank for neighbors without a repair; NICDM on it spoils clusters.
- With labels, neighbors by NICDM on Gower on ranks have the best mean rank, before random
  similarity forests, but within the critical difference: the forest is not beaten. Prototypes
  with discriminant analysis come last; a tenth of 80 rows is eight.
- **`measure="auto"` stays as it is.** What leads on the finding half is not ahead in every task on
  the checking half, neither for numbers nor for mixed tables nor for all.

What weakens it: samples are small, the checking half has few mixed tables, one seed stands for
each forest in a quick run, and sets whose largest class has 95 % of the rows (the sequences of
sets, wgs_ovarian) say little.
"""
