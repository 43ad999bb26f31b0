"""
Query-time weights
==================

The same query with different weights of columns. Nothing is refitted: weights are part of the
query, and the hits are those of an index fitted with these weights.
"""

import matplotlib.pyplot as plt

import lookalike as la

films = la.datasets.load_films()
index = la.Index().fit(films)
title = films.aside[0]
query = next(row for row in range(len(films)) if title.cell(row) == "Toy Story")
settings = {
    "equal weights": {},
    "year: weight 4": {"year": 4},
    "without budget and votes": {"budget": 0, "votes": 0},
    "ratings only": {name: 0 for name in films.names if name != "ratings"},
}
results = {
    name: index.search(query, k=6, weights=weights or None) for name, weights in settings.items()
}

# %%
# Lines connect films that occur in adjacent lists.
figure, axis = plt.subplots(figsize=(10, 4), layout="constrained")
for i, hits in enumerate(results.values()):
    for rank, hit in enumerate(hits):
        axis.text(i, -rank, hit.row["title"][:24], ha="center", va="center", fontsize=8)
        for other in list(results.values())[i + 1 : i + 2]:
            if hit.id in other.ids:
                ends = (i + 0.36, i + 0.64), (-rank, -other.ids.index(hit.id))
                axis.plot(*ends, color="#0072B2", linewidth=1.5)
axis.set_xticks(range(len(results)), list(results))
axis.xaxis.tick_top()
axis.set_xlim(-0.5, len(results) - 0.5)
axis.set_ylim(-5.6, 0.6)
axis.set_yticks([])
axis.tick_params(length=0)
axis.spines[:].set_visible(False)
plt.show()
