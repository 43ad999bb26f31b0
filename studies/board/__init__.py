"""The public board: what the library claims beside the best of the field, losses included."""

from functools import partial

from studies.board import clusters, neighbors, outliers, prediction, series
from studies.board.contest import run_contest
from studies.paper import Paper, StudyPart

CONTESTS = (
    prediction.CONTEST,
    outliers.CONTEST,
    series.CONTEST,
    clusters.CONTEST,
    neighbors.HIDDEN,
    neighbors.CLASSES,
)
PAPER = Paper(
    "board",
    "Beside the field",
    "A study of our own, not of a published paper.",
    "Prediction, outliers, time series, clusters and neighbors beside well-known libraries at "
    "their defaults. The tables were listed, and split by the hashes of their names, before any "
    "score was computed (`studies/board/split.py`); nothing was chosen on the half that is "
    "reported. Mean ranks with Nemenyi's critical difference as in J. Demsar (2006), Statistical "
    "comparisons of classifiers over multiple data sets, JMLR 7, 1-30.",
    [StudyPart(one.name, one.title, partial(run_contest, one)) for one in CONTESTS],
)
