"""What came out, written after reading the figures."""

from __future__ import annotations

SUMMARY = """
### What came of it

**The claim holds, and so do the figures.** With five forests for each setting RatioRF is first on
the ten sets that can be had, by purity and by the adjusted Rand index, under every clustering and
every setting of the forest, and its means are the printed ones: purity 0.742 (printed 0.740), index
0.387 (0.385). By clustering it is within 0.01 of print, and the four come in the printed order.
Zhu2 and Zhu3 have their printed means as well (index 0.322 and 0.331, printed 0.322 and 0.328),
Ting and Aryal nearly (0.294 and 0.306, printed 0.302 and 0.320). RatioRF wins against Zhu2 nearly
as often as printed. The share of columns matters as little as printed; that 100 trees look better
than 50 and 200 is chance, as more forests show.

**Shi is better here than in print, and it has its cause.** Two rows that share no leaf have
similarity 0, and on half of the sets most pairs share none. Spectral clustering cuts these
similarities here; the authors' code gives it exp(-d²/2), which is never below 0.6 and hides the
difference between few shared leaves and none. With it Shi has an index of 0.30 on the mean under
spectral clustering (printed 0.27, over two sets more), without it 0.39. Complete linkage joins
clusters at tied distances in the order of the rows, and that of a file can give classes away: the
same similarities have 0.19 as the files list the rows and 0.14 with rows shuffled, nearly all of it
on WBC. Rows are shuffled throughout this study since that was found. RatioRF does not care for the
affinity; its lead over Shi under spectral clustering is 0.03 when Shi is given what suits it, and
0.12 when it is not (printed 0.13).

**Text and code.** The text draws columns at every split, counts the test where two ways part
twice and leaves open what spectral clustering is given; the released code draws columns once per
tree, counts that test once and uses exp(-d²/2). For RatioRF it makes no difference: the mean
difference from print by set and clustering is 0.025 for the text, 0.018 for the code.

**Synthetic rows decide about small sets.** Lung has 32 rows: forests that share one draw of
synthetic rows all had an index near 0 there, others near 0.1 as printed. Repetitions have to draw
anew, and one forest is no result: on Parkinsons all six measures were 0.04 above print in one quick
run of this study and 0.04 to 0.09 below in the next; with 30 forests they are within 0.02 of it.

**Purities leave a row out.** Printed purities are shares of n - 1 rows, and on Parkinsons below
what all rows allow. It changes the third digit.

**Chosen by silhouette** RatioRF stays first on the mean, but its chosen runs are no better than
its average run (index 0.388 against 0.387; in print 0.370 against 0.385 on the same sets). On
Parkinsons and Pima a high silhouette says nothing about the classes, here as in print.

**Larger sets.** On a part of Isolet RatioRF is first, significantly by the index. On a part of Gas
the six are close (0.27 to 0.30) and nobody is significantly first; in print, on all rows, RatioRF
is.
"""
