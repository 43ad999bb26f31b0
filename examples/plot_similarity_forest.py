"""
A random similarity forest on mixed columns
===========================================

Is this film a documentary? The features are year, length, votes and the histogram of ratings. A
random similarity forest splits by the distances to two examples, with a suitable distance for each
column, so the histogram is one feature and not ten unrelated numbers.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_score

import lookalike as la
from lookalike.prediction import NeighborClassifier, RandomSimilarityForestClassifier

films = la.datasets.load_films()
random = np.random.default_rng(0)
sample = np.sort(random.choice(len(films), 2000, replace=False))
is_documentary = np.array(["Documentary" in films["genres"].cell(int(row)) for row in sample])
table = films[sample].select(["year", "length", "votes", "ratings"])
folds = StratifiedKFold(5, shuffle=True, random_state=0)
models = {
    "15 neighbors": NeighborClassifier(n_neighbors=15),
    "similarity forest": RandomSimilarityForestClassifier(100, random_state=0),
    "the same, without the histogram": RandomSimilarityForestClassifier(100, random_state=0),
}
scores = {}
for name, model in models.items():
    rows = table.drop("ratings") if "without" in name else table
    scores[name] = cross_val_score(model, rows, is_documentary, cv=folds, scoring="roc_auc")

# %%
# Area under the ROC curve in each of the five folds; random guessing gives 0.5.
figure, axis = plt.subplots(figsize=(7, 2.8), layout="constrained")
for i, areas in enumerate(scores.values()):
    axis.plot(areas, [i] * 5, "o", color="#0072B2", alpha=0.6)
    axis.plot([areas.mean()] * 2, [i - 0.25, i + 0.25], color="#D55E00", linewidth=2)
axis.set_yticks(range(len(scores)), list(scores))
axis.invert_yaxis()
axis.set_xlabel("area under the ROC curve")
plt.show()
