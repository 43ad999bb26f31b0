"""
Relevance feedback
==================

Feedback moves the ranking towards relevant rows and away from irrelevant ones. Here the labels of
the digits simulate a user who marks up to two relevant and two irrelevant hits in each round.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import lookalike as la
from lookalike.index import FeedbackSession

images, digits = load_digits(return_X_y=True)
index = la.Index("auto").fit(images)
print(index.reason_)
random = np.random.default_rng(0)
queries = random.choice(len(images), 100, replace=False)
rounds = 5
precision = np.zeros((len(queries), rounds + 1))
for i, row in enumerate(queries):
    session = FeedbackSession(index, int(row), k=50)
    for j in range(rounds + 1):
        same = [bool(digits[hit.id] == digits[row]) for hit in session.hits]
        precision[i, j] = np.mean(same)
        good = [hit.id for hit, yes in zip(session.hits, same, strict=True) if yes][:2]
        bad = [hit.id for hit, yes in zip(session.hits, same, strict=True) if not yes][:2]
        if j < rounds and bad:
            session.mark(like=good, unlike=bad)

# %%
# Precision at 50, mean over a hundred queries; the band shows the quartiles.
figure, axis = plt.subplots(figsize=(7, 3.4), layout="constrained")
axis.fill_between(range(rounds + 1), *np.quantile(precision, [0.25, 0.75], axis=0), color="#cfe3f1")
axis.plot(range(rounds + 1), precision.mean(axis=0), "o-", color="#0072B2")
axis.set(xlabel="rounds of feedback", ylabel="precision at 50", ylim=(0.5, 1.02))
plt.show()
