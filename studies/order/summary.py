"""What came out, written after reading the figures."""

from __future__ import annotations

SUMMARY = """\
### What we learned

- **Order alone is enough, exactly.** With one seed, forests give bit for bit the same similarities
  on every scale that keeps the order, and so do ranked distances. A reversal (1/x, exp(-x)) is
  invisible to ranked cityblock, Euclidean and Chebyshev, but not to the cosine of ranks, and SimUSF
  moves a little: its trees send values between two middle rows to the right. The paper claims
  invariance for all of them.
- **Table 1** does not print the height of its trees. It is that of height 2: no zero similarities
  at 100 trees, 0.994 and 0.999 at 1000 and 10000. Trees of height 5, the paper's value elsewhere,
  agree less and have zeros.
- **The band that eight of twelve tables left** (agreement 0.945 ± 0.01 of two forests with 100
  trees of height 2) was too narrow for what it measures, and too high: ten pairs of forests on each
  of the twelve tables have a mean of 0.932 and a standard deviation of 0.017, 97 % of the variance
  between forests on one table, so no table is to blame. All twelve had been tried with one pair of
  seeds. That a hundred first cuts fall on four columns by chance, and two forests that favor
  different columns rank differently, is a small part of it (correlation -0.29).
- **S2.** SimUSF is behind cityblock with 1000 trees (0.895 against 0.902, mean of five forests)
  and level from 3000 on (0.904, and 0.901 with 10000). In the plane every distance is informative,
  and the noise of a similarity (a standard error of up to 0.016 with 1000 trees) blurs the gaps
  between fifteen clusters. Lower trees do not help; taller ones, whose leaves fewer rows share,
  make it worse. All three definitions of the F-measure say so.
- **Bounds are not results.** The F-measures of density clustering are the best that the classes
  can find; by them SimUSF is first on three of six sets, and close on the others. With eps at the
  knee and the silhouette for the neighborhood it is first on one, and far behind on Wine.
- **SimURF** agrees with itself by 0.02 to 0.03 less than printed; its zero similarities come out to
  0.5 points. The likely cause is what the two forests share: grown against the same synthetic rows,
  and with each row in its own list, they have the printed agreement. The paper says neither. Two
  such forests vary less than two that know nothing of each other, so Table 1 stays with those.
- **Retrieval.** On the first scale settings chosen on other queries lose two points at most against
  the best ones, and mostly nothing, so the paper's choice by the score itself does not decide what
  is found. SimUSF has 58, 67, 68, 65 and 83 % on GTZAN, Steel Plates, Cardiotocography, ISOLET and
  Letter, ranked cityblock 59, 67, 64, 68 and 84, ReFeat 58, 69, 66, 67 and 87: closer to SimUSF
  than published, and ahead of both on two sets, as long as the scale suits it. On Cardiotocography
  both forests are ahead of ranks by more than repetitions spread. On ISOLET, of which a fifth can
  be had, Euclidean distances (75 %) are ahead of everything that looks at order alone; why was not
  looked into.
- **Cost.** Comparing two rows by SimUSF takes the same time whatever was fitted. For ranks, ours
  grow with the columns and hardly with the rows: of the factor of a thousand in the paper, ten is
  its program's search for ranks, which took time in proportion to the rows."""
