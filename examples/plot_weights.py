"""
What matters to you?
====================

The same question with other weights. Nothing is fitted again: weights are part of the question, and
the answer is the one of an index that was fitted with them.
"""

import matplotlib.pyplot as plt

import lookalike as la

films = la.datasets.load_films()
index = la.Index().fit(films)
title = films.aside[0]
asked = next(row for row in range(len(films)) if title.cell(row) == "Toy Story")
questions = {
    "as it is": {},
    "the year counts four times": {"year": 4},
    "never mind fame and money": {"budget": 0, "votes": 0},
    "only how people voted": {name: 0 for name in films.names if name != "ratings"},
}
answers = {
    name: index.search(asked, k=6, weights=weights or None) for name, weights in questions.items()
}

# %%
# Films that are in several answers are joined by a line.
figure, axis = plt.subplots(figsize=(10, 4), layout="constrained")
for at, hits in enumerate(answers.values()):
    for rank, hit in enumerate(hits):
        axis.text(at, -rank, hit.row["title"][:24], ha="center", va="center", fontsize=8)
        for other in list(answers.values())[at + 1 : at + 2]:
            if hit.id in other.ids:
                ends = (at + 0.36, at + 0.64), (-rank, -other.ids.index(hit.id))
                axis.plot(*ends, color="#0072B2", linewidth=1.5)
axis.set_xticks(range(len(answers)), list(answers))
axis.xaxis.tick_top()
axis.set_xlim(-0.5, len(answers) - 0.5)
axis.set_ylim(-5.6, 0.6)
axis.set_yticks([])
axis.tick_params(length=0)
axis.spines[:].set_visible(False)
plt.show()
