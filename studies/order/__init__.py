"""Order and scale: the paper of Fernando and Webb (2017)."""

from __future__ import annotations

from studies.order import agreement, cost, density, parameters, retrieval, shared, transforms
from studies.order.notes import READINGS, SUMMARY
from studies.paper import Paper, StudyPart

__all__ = ["PAPER"]

ABOUT = """\
Distances assume that equal differences mean equal things, which the unit a column happens to be
recorded in decides. The paper compares rows by order alone: by ranks, or by how often balanced
random trees put two rows into the same leaf (SimUSF). Such measures do not change when a column is
replaced by its logarithm or square, and do as well or better at clustering and retrieval."""

PAPER = Paper(
    name="order",
    title="Order instead of scale: SimUSF",
    citation=(
        "T. L. Fernando, G. I. Webb (2017). SimUSF: an efficient and effective similarity measure "
        "that is invariant to violations of the interval scale assumption. Data Mining and "
        "Knowledge Discovery 31. doi:10.1007/s10618-016-0463-0"
    ),
    about=ABOUT.replace("\n", " "),
    parts=(
        StudyPart("table1", "Table 1: agreement of forests", agreement.run),
        StudyPart("shared", "Table 1: what two SimURF forests share", shared.run),
        StudyPart("transforms", "Figure 2: rankings under transforms", transforms.run),
        StudyPart("density", "Figure 3: density clustering", density.run),
        StudyPart("parameters", "Figures 4 and 6: height and trees", parameters.run),
        StudyPart("retrieval", "Figure 5: retrieval with feedback", retrieval.run),
        StudyPart("cost", "Table 5: cost", cost.run),
    ),
    summary=SUMMARY,
    readings=READINGS,
)
