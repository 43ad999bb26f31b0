"""What Bicego, Cicalese and Mensi (2023) leave open, and how it is read here."""

from __future__ import annotations

from studies.paper import Reading

READINGS = (
    Reading(
        "all",
        "half of the columns: drawn at every node (text) or once per tree (released code)",
        "at every node; part 'Paper and released code' has the other",
    ),
    Reading(
        "all",
        "80 % of which rows a tree sees, and how often synthetic rows are drawn",
        "of the real and synthetic rows together; one synthetic set per forest",
    ),
    Reading(
        "all with RatioRF",
        "the test where two ways part: counted twice (formula, examples) or once (released code)",
        "twice, and equal tests in two nodes are one test; part 'Paper and released code' has "
        "the other",
    ),
    Reading(
        "all with Zhu3",
        "what a common way is divided by: the weight of the longer way (its own paper) or the "
        "larger weight (released code)",
        "the weight of the longer way",
    ),
    Reading(
        "all with Shi",
        "trees that compare two rows",
        "all of them; the out-of-bag form of the paper on order and scale is another measure",
    ),
    Reading(
        "all with spectral clustering",
        "what it cuts: similarities, or exp(-d²/2) as in the released code",
        "similarities; parts 'Paper and released code' and 'Why Shi is better here' have the other",
    ),
    Reading(
        "Table 5",
        "the distance of the silhouette",
        "each measure's own; so it is implied",
    ),
    Reading(
        "Tables 2 and 5",
        "purity as printed is a share of n - 1 rows",
        "of all n rows; Table 5 also with one row less",
    ),
    Reading(
        "all",
        "what is done with gaps",
        "rows left out where Table 1 says so (Heart, WBC), columns otherwise (Lung, Auto-mpg)",
    ),
)
