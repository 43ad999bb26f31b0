"""
Clusters that a forest sees
===========================

Cells of breast tissue, thirty numbers each, many of them nearly the same number twice. A forest of
random trees counts the tests that two cells pass alike (RatioRF); clusters of it follow the
diagnosis that nobody told it.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from lookalike.clustering import SimilarityClustering, adjusted_rand
from lookalike.measures import ForestProximity, Vector

cells, benign = load_breast_cancer(return_X_y=True)
measures = {
    "Vector (z-scores)": Vector(scale="standard"),
    "RatioRF": ForestProximity("ratio", random_state=0),
}

# %%
# Similarities of all pairs, cells in the order of their diagnosis: a good measure draws squares.
order = np.argsort(benign, kind="stable")
figure, axes = plt.subplots(1, 2, figsize=(9, 4.4), layout="constrained")
for axis, (name, measure) in zip(axes, measures.items(), strict=True):
    model = SimilarityClustering(measure, 2, method="spectral").fit(cells)
    alike = model.measure_.similarity()[np.ix_(order, order)]
    low, high = np.quantile(alike, [0.02, 0.98])
    axis.imshow(alike, cmap="Blues", vmin=low, vmax=high, interpolation="antialiased")
    axis.set_title(f"{name}: adjusted Rand {adjusted_rand(benign, model.labels_):.2f}")
    axis.set(xticks=[], yticks=[], xlabel="malignant, then benign cells")
plt.show()
