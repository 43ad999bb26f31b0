"""Bicego, Cicalese and Mensi (2023): similarities read out of random forests, for clustering."""

from __future__ import annotations

from studies.forests import readings, table2, table3, table4, table5, table6, ties
from studies.forests.notes import READINGS, SUMMARY
from studies.paper import Paper, StudyPart

__all__ = ["PAPER"]

PAPER = Paper(
    name="forests",
    title="Forest clustering: RatioRF",
    citation=(
        "M. Bicego, F. Cicalese, A. Mensi (2023). RatioRF: a novel measure for random forest "
        "clustering based on the Tversky's ratio model. IEEE Transactions on Knowledge and Data "
        "Engineering 35(1), 830-841. doi:10.1109/TKDE.2021.3086147"
    ),
    about=(
        "Two rows are compared by all tests that either meets on its way down a tree, wherever "
        "in the tree the test sits. The paper claims better clusterings than five older "
        "proximities of the same forests: leaf sharing (Shi), common paths (Zhu2, Zhu3) and "
        "masses (Ting, Aryal), under four clustering methods and six settings of the forest. Ten "
        "of its twelve smaller sets and parts of two of its three larger ones are available."
    ),
    parts=(
        StudyPart(
            "table2", "Table 2: six measures by set, clustering and parametrisation", table2.run
        ),
        StudyPart("table3", "Table 3: RatioRF against Zhu2", table3.run),
        StudyPart("table4", "Table 4: the effect of each parameter", table4.run),
        StudyPart("table5", "Table 5: chosen by silhouette", table5.run),
        StudyPart("table6", "Table 6: larger sets", table6.run),
        StudyPart("readings", "Paper and released code", readings.run),
        StudyPart("ties", "Why Shi is better here", ties.run),
    ),
    summary=SUMMARY,
    readings=READINGS,
)
