"""
Clustering with a forest similarity
===================================

Cells of breast tissue have thirty features, many of them nearly redundant. RatioRF counts the tests
of random trees on which two cells agree; its clusters agree with the diagnosis, which was not used.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import adjusted_rand_score

from lookalike.clustering import SimilarityClustering
from lookalike.measures import ForestProximity, Vector

cells, benign = load_breast_cancer(return_X_y=True)
measures = {
    "Vector (z-scores)": Vector(scale="standard"),
    "RatioRF": ForestProximity("ratio", random_state=0),
}

# %%
# Similarities of all pairs, cells sorted by diagnosis: a good measure shows diagonal blocks.
order = np.argsort(benign, kind="stable")
figure, axes = plt.subplots(1, 2, figsize=(9, 4.4), layout="constrained")
for axis, (name, measure) in zip(axes, measures.items(), strict=True):
    model = SimilarityClustering(measure, 2, method="spectral").fit(cells)
    similarity = model.measure_.similarity()[np.ix_(order, order)]
    low, high = np.quantile(similarity, [0.02, 0.98])
    axis.imshow(similarity, cmap="Blues", vmin=low, vmax=high, interpolation="antialiased")
    axis.set_title(f"{name}: adjusted Rand {adjusted_rand_score(benign, model.labels_):.2f}")
    axis.set(xticks=[], yticks=[], xlabel="malignant, then benign cells")
plt.show()
