"""What Fernando and Webb (2017) leave open, and how it is read here."""

from __future__ import annotations

from studies.paper import Reading

READINGS = (
    Reading(
        "Table 1",
        "the height of SimUSF's trees (5 elsewhere)",
        "both 2 and 5; the printed figures are those of 2",
    ),
    Reading(
        "all with SimUSF",
        "the cut is called the (m/2)-th largest value of a sample of m, yet the left half is at "
        "or below it",
        "the (m/2)-th smallest; values between the two middle ones go right, so a reversal of "
        "the scale is not quite invisible",
    ),
    Reading(
        "all with SimURF",
        "the program of the forests: columns per node, size of leaves, how the synthetic rows are "
        "drawn",
        "square root of the columns, pure leaves, each column permuted, a bootstrap sample per "
        "tree; only trees that were grown on neither of two rows compare them",
    ),
    Reading(
        "Figure 2",
        "size and parameters of the two sets (in a figure that our copy lost)",
        "as many rows as Table 1 (300 in a quick run), 4 columns, uniform and standard normal",
    ),
    Reading(
        "Figures 3 and 4",
        "how the F-measure matches clusters with classes, and what it makes of noise",
        "the best cluster of each class, classes weighted by size, noise is no cluster; two other "
        "definitions on S2",
    ),
    Reading(
        "Figures 5 and 6, Table 5",
        "ranks of an unseen value: the printed formula is exact only if its lower neighbor is "
        "unique",
        "the place where the value would be inserted, ties counting half",
    ),
    Reading(
        "Figure 5",
        "ReFeat is cited, not described",
        "rebuilt from its own paper: isolation trees weighted by how deep the query lies in them",
    ),
    Reading(
        "Figure 5",
        "the settings behind each bar are the best on the very score",
        "settings from other queries; the paper's way stands beside them (†)",
    ),
)
