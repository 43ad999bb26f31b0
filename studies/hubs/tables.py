"""Tables 1 and 2, Figures 5, 6 and 7: nineteen of the thirty sets, in three spaces."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from studies.hubs.plots import gain_plot, symmetry_plot
from studies.hubs.published import AVERAGES, SETS, SPACES
from studies.hubs.sets import SOURCES, files_of
from studies.hubs.spaces import look_at
from studies.result import Finding, Result, Sheet, Value
from studies.work import Work

ROUNDING = 1e-9  # nothing is drawn: a difference is one of method, or of the printed digits
DIVIDE = 1.4  # the hubness above which the paper sees gains
ALPHA = 0.05
FEWER = ("mfeat-karhunen", "mfeat-pixels")  # mutual neighbors in lists of a tenth of the rows
DIFFER = ("corel1000", "ionosphere", "ballroom")  # NICDM from MP at k = 5, by the text
TEXTS = {name for name, source in SOURCES.items() if source.least}
TEXTS_APART = "The others are texts, whose words are not the authors'."
Found = dict[str, dict[str, dict[str, float]]]

TIED_VOTES = (
    "Counting a vote that ends in a tie as wrong, instead of giving it to the nearest neighbor as "
    "the paper says, reproduces the printed values to 0.1 points (sheet 'Tied votes'); five "
    "votes on two classes never tie."
)
LOTS = (
    "Empirical proximities are integers and tie; the authors' program breaks ties at random, "
    "ours by position. The printed values are inside the range of random tie breaking (part "
    "'Ties, labels')."
)
WORDS = (
    "Not explained: stop words, stemmer, which words are too rare and what is kept of a message "
    "are not printed. Tried: raw frequencies (this table), their logarithms, presence, roots, "
    "two weights that depend on the length of a text, and the words that occur five times in "
    "total, which are as many as printed (part 'Readings of the texts')."
)
BY_VARIANCE = (
    "The authors' program divides every column by its variance before it estimates, which the "
    "paper does not say; the other column does, and reproduces the printed value of all "
    "seventeen numeric tables."
)
OTHER_WORDS = "Other words than the authors' (see above)."
MOVIES = (
    "These use raw frequencies, for which hubness is low from the start; under the other "
    "interpretations of the texts NICDM lowers it there too"
)


def run(work: Work) -> Result:
    """Compute the statistics of every set and compare them with the printed ones."""
    found: Found = {
        name: work.once(name, partial(look_at, work.data, name))
        for name in work.each("sets", work.available(files_of(SOURCES)))
    }
    return Result(
        [_accuracy(found), _quality(found), _tied_votes(found), _averages(found)],
        _findings(found),
        [gain_plot(found, 1), gain_plot(found, 5), symmetry_plot(found)],
    )


def _mark(statistics: Mapping[str, float], k: int) -> bool:
    return statistics[f"p{k}"] < ALPHA


def _accuracy(found: Found) -> Sheet:
    rows: list[dict[str, Any]] = []
    causes: dict[tuple[str, str], str] = {}
    for name, spaces in found.items():
        for at, space in enumerate(SPACES):
            ours, theirs = spaces[space], SETS[name].rows[at]
            label = name if not at else f"{name}, {space}"
            row: dict[str, Any] = {"set": label}
            for k, printed in ((1, theirs.c1), (5, theirs.c5)):
                row[f"C{k} %"] = Value(ours[f"C{k}"], printed, ROUNDING, digits=1)
                row[f"significant at {k}"] = _stars(at, k, ours, theirs.starred)
            row["S5"] = Value(ours["S5"], theirs.s5, ROUNDING, digits=2)
            row["Goodman-Kruskal"] = Value(ours["GK"], theirs.gk, ROUNDING, digits=2)
            rows.append(row)
            if SOURCES[name].least:
                causes[label, "*"] = WORDS
            # Five votes on two classes never tie: only sets with more classes have this cause.
            elif SETS[name].classes > 2:
                causes[label, "C5 %"] = TIED_VOTES
            if space == "MP" and name in ("liver-disorders", "amlall"):
                causes[label, "*"] = LOTS
    about = (
        "Leave-one-out accuracy of 1 and 5 neighbors, hubness of lists of 5, index of Goodman "
        "and Kruskal. NICDM with 10 neighbors: the paper does not print the number, and 10 "
        "reproduces its values. Tolerance: rounding. 'Significant' compares with the original "
        "distances (McNemar, 0.05): ours, then the printed star in brackets. Texts: stop words "
        "of scikit-learn removed, Porter's stemmer, tf-idf; messages without headers, which name "
        "the class; words that occur in at least 3 (newsgroups) or 4 texts (reviews), for which "
        "their number is nearest to the printed one (8,033 for 8,811; 10,734 for 10,382)."
    )
    return Sheet("accuracy", "Tables 1 and 2: accuracy and hubness", rows, about, causes)


def _stars(at: int, k: int, ours: Mapping[str, float], starred: tuple[int, ...]) -> str:
    # The original distances are what the other two spaces are tested against.
    if not at:
        return ""
    return f"{'yes' if _mark(ours, k) else 'no'} ({'yes' if k in starred else 'no'})"


def _quality(found: Found) -> Sheet:
    rows: list[dict[str, Any]] = [
        {
            "set": name,
            "n": Value(statistics["set"]["n"], SETS[name].n, 0, digits=0),
            "d": Value(statistics["set"]["d"], SETS[name].d, 0, digits=0),
            "classes": Value(statistics["set"]["classes"], SETS[name].classes, 0, digits=0),
            "d_mle": Value(
                statistics["set"]["dimension"], SETS[name].dimension, ROUNDING, digits=0
            ),
            "d_mle, columns by variance": (
                Value(
                    statistics["set"]["dimension, variance"],
                    SETS[name].dimension,
                    ROUNDING,
                    digits=0,
                )
                if "dimension, variance" in statistics["set"]
                else ""
            ),
        }
        for name, statistics in found.items()
    ]
    about = (
        "Maximum likelihood estimate (Levina and Bickel) over 6 to 12 neighbors, Euclidean, "
        "duplicates removed; columns unscaled, and divided by their variance. For texts, whose "
        "columns are nearly all zeros, only the first."
    )
    causes = {("*", "d_mle"): BY_VARIANCE}
    causes |= {(name, "*"): OTHER_WORDS for name in found if SOURCES[name].least}
    causes |= {(name, "d_mle"): OTHER_WORDS for name in found if SOURCES[name].least}
    title = "Tables 1 and 2: sizes and intrinsic dimension"
    return Sheet("dimension", title, rows, about, causes)


def _tied_votes(found: Found) -> Sheet:
    rows: list[dict[str, Any]] = []
    for name, statistics in found.items():
        if SETS[name].classes > 2 and not SOURCES[name].least:
            for at, space in enumerate(SPACES):
                printed = SETS[name].rows[at].c5
                ours = statistics[space]["C5 without tied votes"]
                rows.append(
                    {
                        "set": f"{name}, {space}",
                        "C5, nearest wins": Value(statistics[space]["C5"], digits=1),
                        "C5, a tie is wrong": Value(ours, printed, ROUNDING, digits=1),
                    }
                )
    about = "Two interpretations of a tied vote on the sets with ten classes."
    return Sheet("votes", "Tied votes", rows, about)


def _averages(found: Found) -> Sheet:
    rows: list[dict[str, Any]] = []
    keys = {"S5": "S5", "symmetric, k = 5": "symmetric 5",
            "symmetric, k = 10 % of n": "symmetric 10 %"}  # fmt: skip
    for title, key in keys.items():
        row: dict[str, Any] = {"mean of the sets": title}
        for at, space in enumerate(SPACES):
            ours = float(np.mean([one[space][key] for one in found.values()]))
            row[space] = Value(ours, AVERAGES[title][at], digits=2 if key == "S5" else 1)
        rows.append(row)
    here = [SETS[name].rows for name in found]
    row = {"mean of the sets": "S5, printed for the same sets"}
    for at, space in enumerate(SPACES):
        row[space] = Value(float(np.mean([rows[at].s5 for rows in here])), digits=2)
    rows.append(row)
    about = (
        f"Ours over {len(found)} sets, printed over 30, so no difference is judged: the sets "
        "with the largest hubs (dorothea, c1ka-twitter, gisette, both music collections) are "
        "not available."
    )
    return Sheet("averages", "Averages", rows, about)


def _findings(found: Found) -> list[Finding]:
    return [
        *_of_hubness(found),
        *_of_accuracy(found),
        *_of_mutual_neighbors(found),
        *_of_the_two(found),
    ]


def _by_space(found: Found, key: str) -> np.ndarray:
    """Return a statistic as an array: a row for each set, a column for each space."""
    return np.array([[one[space][key] for space in SPACES] for one in found.values()])


def _of_hubness(found: Found) -> list[Finding]:
    s5 = _by_space(found, "S5")
    lower = (s5[:, 1:] < s5[:, :1]).sum(axis=0)
    higher = [name for name, row in zip(found, s5, strict=True) if (row[1:] >= row[0]).any()]
    means = s5.mean(axis=0)
    n = len(found)
    return [
        Finding(
            "Both scalings lower the hubness S5 on every set",
            bool((lower == n).all()),
            f"NICDM on {lower[0]}, MP on {lower[1]} of {n} sets"
            + (f"; not on {', '.join(higher)}" if higher else ""),
            MOVIES if higher == ["movie-reviews"] else "",
            headline=True,
        ),
        Finding(
            "On the mean MP leaves fewer hubs than NICDM, and both far fewer than the original",
            # "Far fewer" in numbers: the printed means fall from 2.5 to 0.94 and 0.29.
            bool(means[2] < means[1] < means[0] / 2),
            f"mean S5 {means[0]:.2f}, NICDM {means[1]:.2f}, MP {means[2]:.2f} (2.5, 0.94, 0.29)",
            headline=True,
        ),
    ]


def _of_accuracy(found: Found) -> list[Finding]:
    s5, c5 = _by_space(found, "S5"), _by_space(found, "C5")
    changes = [
        (name, space, k, one[space][f"C{k}"] - one["original"][f"C{k}"])
        for name, one in found.items()
        for space in SPACES[1:]
        for k in (1, 5)
        if _mark(one[space], k)
    ]
    losses = [f"{n}, {s}, k = {k}: {gain:+.1f}" for n, s, k, gain in changes if gain < 0]
    # The paper divides the sets at S5 = 1.4: scaling pays above it.
    large = s5[:, 0] > DIVIDE
    gains = c5[:, 1:].mean(axis=1) - c5[:, 0]
    hubby = {name for name, high in zip(found, large, strict=True) if high}
    at5 = [name for name, _, k, _ in changes if k == 5]
    above = sum(name in hubby for name in at5)
    return [
        Finding(
            "Neither scaling loses accuracy significantly on any set",
            not losses,
            f"{len(changes)} significant changes, {len(losses)} of them losses"
            + (f" ({'; '.join(losses)})" if losses else ""),
            headline=True,
        ),
        Finding(
            "Accuracy is gained where hubness is high: S5 = 1.4 divides the sets",
            # The paper shows this as a plot and names no number; a point of accuracy is our choice.
            bool(gains[large].mean() > gains[~large].mean() + 1) and above > len(at5) / 2,
            f"mean gain of C5 {gains[large].mean():+.1f} points above 1.4, "
            f"{gains[~large].mean():+.1f} below; {above} of "
            f"{len(at5)} significant changes at k = 5 are above",
        ),
    ]


def _of_mutual_neighbors(found: Found) -> list[Finding]:
    even = _by_space(found, "symmetric 5")
    shares = even.mean(axis=0)
    n = len(found)
    key = "symmetric 10 %"
    fewer = {
        space: [name for name, one in found.items() if one[space][key] < one["original"][key]]
        for space in SPACES[1:]
    }
    return [
        Finding(
            "Neighbors are mutual more often after scaling",
            bool((even[:, 1:] > even[:, :1]).all()),
            f"mean share at k = 5: {shares[0]:.1f} %, NICDM {shares[1]:.1f} %, MP {shares[2]:.1f} "
            f"% (46, 70.8, 69); up on {int((even[:, 1] > even[:, 0]).sum())} and "
            f"{int((even[:, 2] > even[:, 0]).sum())} of {n} sets",
            headline=True,
        ),
        Finding(
            "In lists of a tenth of the rows, too, except by NICDM on mfeat-karhunen and "
            "mfeat-pixels",
            fewer == {"NICDM": [name for name in FEWER if name in found], "MP": []},
            "fewer mutual neighbors: "
            + "; ".join(f"{space} on {', '.join(sets) or 'none'}" for space, sets in fewer.items()),
            "The two are reproduced; why fourclass falls too (by two points) is not explained, "
            "and the texts are processed differently from the paper",
        ),
    ]


def _of_the_two(found: Found) -> list[Finding]:
    """Compare NICDM with mutual proximity."""
    gk = _by_space(found, "GK")
    # Rounded to the printed two digits: smaller differences do not show in the paper's table.
    better = (gk[:, 1:].round(2) >= gk[:, :1].round(2)).sum(axis=0)
    apart = {
        k: [n for n, one in found.items() if one["MP"][f"p{k} to NICDM"] < ALPHA] for k in (1, 5)
    }
    there = [name for name in DIFFER if name in found]
    n = len(found)
    return [
        Finding(
            f"NICDM and MP differ significantly at k = 5 on {' and '.join(there) or 'no set'} "
            "alone (in print also corel1000 and ballroom), at k = 1 on no set",
            apart == {1: [], 5: there},
            f"at k = 5 on {', '.join(apart[5]) or 'none'}, at k = 1 on "
            f"{', '.join(apart[1]) or 'none'}",
            TEXTS_APART if set(apart[1] + apart[5]) - set(there) <= TEXTS else "Not explained.",
        ),
        Finding(
            "MP keeps or betters the Goodman-Kruskal index more often than NICDM",
            bool(better[1] > better[0]),
            f"MP on {better[1]}, NICDM on {better[0]} of {n} sets (26 and 17 of 30)",
        ),
    ]
