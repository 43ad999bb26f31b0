"""Can a linear model read a mixed table with gaps? Similarities to a few prototypes make it so.

Run it with ``python examples/scripts/similarity_features.py``.
The table comes with the extra ``demo``. The
picture at the end needs matplotlib.
"""

import tempfile
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline

from lookalike.datasets import load_penguins
from lookalike.measures import Gower
from lookalike.prediction import SimilarityNetworkClassifier
from lookalike.represent import (
    SimilarityRepresentation,
    class_similarity,
    importance_weights,
    plot_class_similarity,
)

table = load_penguins()
species = np.array([table["species"].cell(row) for row in range(len(table))])
rows = table.drop(["species", "island"])  # the island alone nearly gives the species away
X, X_new, y, y_new = train_test_split(rows, species, stratify=species, random_state=0)

# Eight penguins stand for all: every row becomes eight numbers, whatever its columns and gaps.
represent = SimilarityRepresentation(n_prototypes=8).fit(X)
print(represent.get_feature_names_out())
print(represent.transform(X_new[:3]).round(2))

# From here on it is ordinary scikit-learn.
model = make_pipeline(SimilarityRepresentation(Gower()), LogisticRegression(C=100))
grid = {
    "similarityrepresentation__n_prototypes": [3, 8, 20],
    "similarityrepresentation__prototypes": ["medoids", "farthest", "cfs"],
}
found = GridSearchCV(model, grid, cv=5).fit(X, y)
print(f"\nbest: {found.best_params_}\n{found.score(X_new, y_new):.1%} right on new penguins")

# A network of similarities tunes its own curve, and knows how sure it is.
network = SimilarityNetworkClassifier(n_prototypes="tune", random_state=0).fit(X, y)
sure = network.predict_proba(X_new).max(axis=1)
print(f"\nnetwork: {network.score(X_new, y_new):.1%} right, least sure {sure.min():.0%}")

# Which columns does a forest miss most? Weights for the measure, to be used anywhere.
weights = importance_weights(X, y)
found = zip(X.names, weights, strict=True)
print("\n" + ", ".join(f"{name} {weight:.2f}" for name, weight in found))

# Are classes told apart better after the change? One panel before, one after.
spaces = {
    "all columns alike": Gower().fit(X),
    "weighted": Gower(weights=weights).fit(X),
    "similarities to 8 prototypes": Gower().fit(represent.transform(X)),
}
for title, space in spaces.items():
    print(f"{title}: separation {class_similarity(space, y)['separation']:.3f}")
picture = Path(tempfile.gettempdir()) / "similarity_features.png"
plot_class_similarity(spaces, y).savefig(picture)
print(f"drawn to {picture}")
