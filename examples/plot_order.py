"""
Invariance under monotone transformations
=========================================

Measurements can be recorded on many scales, and the neighbors by a plain distance differ for each.
Measures that depend only on the order of values are invariant.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

from lookalike.datasets import transforms
from lookalike.evaluate import loo_accuracy
from lookalike.measures import Ranked, StochasticForest, Vector

wines, kinds = load_wine(return_X_y=True)
measures = {
    "Vector (Euclidean)": Vector(),
    "Ranked (cityblock)": Ranked(),
    "StochasticForest": StochasticForest(500, random_state=0),
}

# %%
# Six transformations of the same numbers, each monotone.
scales = transforms(wines)
accuracy = {
    name: [loo_accuracy(measure.fit(rows), kinds, k=5) for rows in scales.values()]
    for name, measure in measures.items()
}
figure, axis = plt.subplots(figsize=(8, 3.6), layout="constrained")
positions = np.arange(len(scales))
for (name, values), color in zip(accuracy.items(), ("#999999", "#0072B2", "#009E73"), strict=True):
    axis.plot(positions, values, "o-", color=color, label=name)
axis.set_xticks(positions, list(scales))
axis.set(ylabel="accuracy of five neighbors", ylim=(0.5, 1.0))
axis.legend(frameon=False, loc="lower left")
plt.show()
