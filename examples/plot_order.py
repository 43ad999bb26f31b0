"""
Grams or logarithms of grams?
=============================

The sizes of wines can be written in many ways, and plain distance answers differently for each.
What only depends on order does not notice.
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
# Six ways to write the same numbers, each keeping (or turning) their order.
forms = transforms(wines)
right = {
    name: [loo_accuracy(measure.fit(rows), kinds, k=5) for rows in forms.values()]
    for name, measure in measures.items()
}
figure, axis = plt.subplots(figsize=(8, 3.6), layout="constrained")
places = np.arange(len(forms))
for (name, values), color in zip(right.items(), ("#999999", "#0072B2", "#009E73"), strict=True):
    axis.plot(places, values, "o-", color=color, label=name)
axis.set_xticks(places, list(forms))
axis.set(ylabel="wines with the right five neighbors", ylim=(0.5, 1.0))
axis.legend(frameon=False, loc="lower left")
plt.show()
