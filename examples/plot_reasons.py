"""
Contributions of columns to a similarity
========================================

Five films like Star Wars, with the contribution of each column. The contributions for similarity
sum to the similarity s, those against it to 1 - s.
"""

import textwrap

import matplotlib.pyplot as plt

import lookalike as la

films = la.datasets.load_films()
index = la.Index().fit(films)
title = films.aside[0]
star_wars = next(row for row in range(len(films)) if title.cell(row) == "Star Wars")
hits = index.search(star_wars, k=5)
print(hits)

# %%
# Each bar has length 1, from the contributions against to those for similarity. A column without a
# segment has a missing value in one of the two films, so the others have larger weights.
columns = films.names
colors = dict(zip(columns, plt.get_cmap("Dark2").colors, strict=False))
figure, axis = plt.subplots(figsize=(7.2, 4), layout="constrained")
names = [textwrap.fill(hit.row["title"], 22) for hit in hits]
for side, sign in (("plus", 1), ("minus", -1)):
    left = [0.0] * len(hits)
    for column in columns:
        shares = [sign * getattr(hit.explanation, side).get(column, 0.0) for hit in hits]
        label = column if side == "plus" else None
        axis.barh(names, shares, left=left, color=colors[column], label=label, edgecolor="white")
        left = [a + b for a, b in zip(left, shares, strict=True)]
axis.axvline(0, color="0.3", linewidth=1)
axis.margins(x=0.03)
axis.invert_yaxis()
axis.set_xlabel("against    |    for similarity with Star Wars")
figure.legend(ncols=4, loc="outside lower center", frameon=False)
plt.show()
