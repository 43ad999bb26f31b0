"""
No, not like that
=================

Marks teach: rows that are wanted pull, rows that are not push. Here a pupil of the digits marks the
first wrong and the first right answer after each round, as a person would.
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
asked = random.choice(len(images), 100, replace=False)
rounds = 5
right = np.zeros((len(asked), rounds + 1))
for at, row in enumerate(asked):
    session = FeedbackSession(index, int(row), k=50)
    for turn in range(rounds + 1):
        same = [bool(digits[hit.id] == digits[row]) for hit in session.hits]
        right[at, turn] = np.mean(same)
        good = [hit.id for hit, yes in zip(session.hits, same, strict=True) if yes][:2]
        bad = [hit.id for hit, yes in zip(session.hits, same, strict=True) if not yes][:2]
        if turn < rounds and bad:
            session.mark(like=good, unlike=bad)

# %%
# Precision of the first fifty, in the mean over a hundred questions; a quarter of the questions is
# below the lower edge of the band.
figure, axis = plt.subplots(figsize=(7, 3.4), layout="constrained")
axis.fill_between(range(rounds + 1), *np.quantile(right, [0.25, 0.75], axis=0), color="#cfe3f1")
axis.plot(range(rounds + 1), right.mean(axis=0), "o-", color="#0072B2")
axis.set(xlabel="rounds of feedback", ylabel="right among the first 50", ylim=(0.5, 1.02))
plt.show()
