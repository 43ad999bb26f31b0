"""Classify penguins: a mixed table with missing values, in a pipeline and a grid search.

Run it with ``python examples/scripts/predict_from_neighbors.py``.
The table comes with the extra ``demo``.
"""

import numpy as np
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from lookalike.datasets import load_penguins
from lookalike.measures import Gower
from lookalike.prediction import NeighborClassifier

# Numbers, categories and missing values. Slices keep the inferred kinds, so they are not inferred
# again in the folds below.
table = load_penguins()
print(table)
species = np.array([table["species"].cell(row) for row in range(len(table))])
rows = table.drop("species")
X, X_new, y, y_new = train_test_split(rows, species, stratify=species, random_state=0)

# The simplest model: k and the weights of votes are chosen by cross-validation.
model = NeighborClassifier(n_neighbors="tune", weights="tune").fit(X, y)
print(f"\n{model.n_neighbors_} neighbors, weights {model.weights_!r}: ", end="")
print(f"{model.score(X_new, y_new):.1%} accuracy on new penguins")

# The neighbors that determined the first prediction, with the reasons.
position, explanation = model.explain(X_new[[0]])[0]
print(f"\nmost like penguin {position}, a {y[position]}:\n{explanation}")

# In a pipeline, with a grid over the treatment of missing values and the weight of the island, on
# which some species live alone.
steps = Pipeline(
    [
        ("columns", FunctionTransformer(lambda penguins: penguins.drop("year"))),
        ("vote", NeighborClassifier(Gower())),
    ]
)
grid = {
    "vote__measure__missing": ["ignore", "midpoint"],
    "vote__measure__weights": [None, {"island": 0.0}, {"island": 0.3}],
    "vote__n_neighbors": [1, 5, 9],
    "vote__weights": ["uniform", "distance"],
}
search = GridSearchCV(steps, grid, cv=5).fit(X, y)
print(f"\nbest of {len(search.cv_results_['params'])}: {search.best_params_}")
print(f"{search.best_score_:.1%} in cross-validation, {search.score(X_new, y_new):.1%} on new ones")
