"""A linear model on a mixed table with missing values, using similarities to prototypes.

Run it with ``python examples/scripts/similarity_features.py``.
The table comes with the extra ``demo``. The plot at the end needs matplotlib.
"""

import tempfile
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline

from lookalike.datasets import load_penguins
from lookalike.measures import Gower, importance_weights
from lookalike.prediction import SimilarityNetworkClassifier
from lookalike.represent import (
    SimilarityRepresentation,
    class_similarity,
    plot_class_similarity,
)

table = load_penguins()
species = np.array([table["species"].cell(row) for row in range(len(table))])
rows = table.drop(["species", "island"])  # the island alone nearly determines the species
X, X_new, y, y_new = train_test_split(rows, species, stratify=species, random_state=0)

# Every row is represented by its similarities to eight prototypes.
represent = SimilarityRepresentation(n_prototypes=8).fit(X)
print(represent.get_feature_names_out())
print(represent.transform(X_new[:3]).round(2))

# The rest is ordinary scikit-learn.
model = make_pipeline(SimilarityRepresentation(Gower()), LogisticRegression(C=100))
grid = {
    "similarityrepresentation__n_prototypes": [3, 8, 20],
    "similarityrepresentation__prototypes": ["medoids", "farthest", "cfs"],
}
search = GridSearchCV(model, grid, cv=5).fit(X, y)
print(f"\nbest: {search.best_params_}\n{search.score(X_new, y_new):.1%} accuracy on new penguins")

# A similarity network tunes its own activation and has predicted probabilities.
network = SimilarityNetworkClassifier(n_prototypes="tune", random_state=0).fit(X, y)
probability = network.predict_proba(X_new).max(axis=1)
print(f"\nnetwork: {network.score(X_new, y_new):.1%} accuracy, ", end="")
print(f"lowest probability {probability.min():.0%}")

# Permutation importances of a forest as weights of the measure.
weights = importance_weights(X, y)
pairs = zip(X.names, weights, strict=True)
print("\n" + ", ".join(f"{name} {weight:.2f}" for name, weight in pairs))

# How well are the classes separated by each measure? One panel for each.
spaces = {
    "equal weights": Gower().fit(X),
    "weighted": Gower(weights=weights).fit(X),
    "similarities to 8 prototypes": Gower().fit(represent.transform(X)),
}
for title, space in spaces.items():
    print(f"{title}: separation {class_similarity(space, y)['separation']:.3f}")
path = Path(tempfile.gettempdir()) / "similarity_features.png"
plot_class_similarity(spaces, y).savefig(path)
print(f"plot written to {path}")
