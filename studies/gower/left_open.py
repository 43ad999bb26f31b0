"""What S. Seshadri's thesis leaves open, and how it is read here."""

from __future__ import annotations

from studies.paper import Reading

READINGS = (
    Reading(
        "all",
        "which rows and columns of Horse Colic, which columns and which four groups of Audiology",
        "all rows with a class and 22 columns; 31 columns in which at least four rows differ from "
        "the commonest value, and a grouping of ours; others in part 'Why the errors differ'",
    ),
    Reading(
        "all",
        "the probabilities of ordered levels",
        "relative frequencies of the rows that were learned from",
    ),
    Reading(
        "Table 3, Figures 8, 9 and 18",
        "which of the names 'PAMnonClass' and 'PAMClassical' is which space, and the distance "
        "between mixed rows with gaps",
        "similarity space and data space; 1 - Gower instead of cityblock",
    ),
    Reading(
        "Table 3, Figures 9 and 18",
        "the correlation in CFS",
        "Pearson's, without sign, over the classes by their weight",
    ),
    Reading(
        "Figures 9 to 25",
        "penalties of the learners",
        "logistic nearly without, linear SVM with C = 1; neither was tuned",
    ),
    Reading(
        "Figures 11 and 19",
        "negative weights of ReliefF, and a listing that swaps rows and columns",
        "ReliefF as its authors have it, negative weights as 0, weights to a sum of 1",
    ),
    Reading(
        "Figures 12 and 20",
        "gaps in the least-squares weights: the denominator is dropped",
        "a gap counts as the mean of the other columns",
    ),
    Reading(
        "Figures 14 and 21 to 24",
        "widths that shrink 'at a constant rate', and how many layers",
        "by equal steps; 4 layers in a quick run, 6 otherwise",
    ),
    Reading(
        "Figures 16 and 25",
        "powers: defined with a root of every cell, computed from the eigenvalues of S itself; "
        "how many columns are kept",
        "both; as many columns as 5 % of the training rows",
    ),
)
