"""
Level sets of forest similarities
=================================

Two crescents in a plane, and the similarity of every point of the plane to one of the rows. The
level sets of a plain distance are circles; forests adapt to the density of the rows: the same
difference counts less in empty regions and more in dense ones.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from lookalike.measures import ForestProximity, StochasticForest, Vector

rows, _ = make_moons(400, noise=0.08, random_state=0)
query = int(np.argmin(np.abs(rows - [-0.7, 0.7]).sum(axis=1)))  # on the upper crescent, left
side = 70
x, y = np.meshgrid(np.linspace(-1.4, 2.4, side), np.linspace(-1.0, 1.5, side))
plane = np.column_stack([x.ravel(), y.ravel()])

measures = {
    "Vector: Euclidean distance": Vector(),
    "StochasticForest: shared leaves": StochasticForest(random_state=0),
    "ratio: agreed tests": ForestProximity("ratio", random_state=0),
    "shi: shared leaves, deep trees": ForestProximity("shi", random_state=0),
    "zhu2: shared path": ForestProximity("zhu2", random_state=0),
    "ting: mass of the common node": ForestProximity("ting", random_state=0),
}

# Values below 1/1000 of the largest are white: for shared leaves that is most of the plane.
figure, axes = plt.subplots(2, 3, figsize=(10, 5), layout="constrained")
for axis, (name, measure) in zip(axes.flat, measures.items(), strict=True):
    similarity = measure.fit(rows).similarity(plane)[:, query].reshape(side, side)
    shown = np.ma.masked_less(similarity, similarity.max() / 1000)
    axis.pcolormesh(x, y, shown, cmap="Blues", shading="auto", rasterized=True)
    axis.plot(*rows.T, ".", color="0.35", markersize=2)
    axis.plot(*rows[query], "o", color="#c0563f", markersize=6)
    axis.set_title(name, fontsize=10)
    axis.set_xticks([])
    axis.set_yticks([])
plt.show()
