"""Which species is this penguin? A mixed table with gaps, in a pipeline and a grid search.

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

# Numbers, categories and gaps, each column read as what it is. Slices keep these kinds, so nothing
# is guessed again in the folds below.
table = load_penguins()
print(table)
species = np.array([table["species"].cell(row) for row in range(len(table))])
rows = table.drop("species")
X, X_new, y, y_new = train_test_split(rows, species, stratify=species, random_state=0)

# The simplest way: k and the weights of votes are chosen by cross-validation on the known rows.
model = NeighborClassifier(n_neighbors="tune", weights="tune").fit(X, y)
print(f"\n{model.n_neighbors_} neighbors, weights {model.weights_!r}: ", end="")
print(f"{model.score(X_new, y_new):.1%} right on new penguins")

# Why? The neighbors that decided about the first new penguin, with the reasons.
position, why = model.explain(X_new[[0]])[0]
print(f"\nmost like penguin {position}, a {y[position]}:\n{why}")

# In a pipeline, with a grid over the treatment of gaps and the weight of the island, where some
# species live alone.
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
