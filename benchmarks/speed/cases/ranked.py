"""Rank distance of 1,000 unseen rows to 5,000 fitted ones, beside a loop over rows in numpy."""

import numpy as np

from benchmarks.speed.case import Case, Faster

LOOP = "numpy searchsorted loop"


def problem(small):
    """Values with ties, between the columns of the fitted rows and with the unseen ones."""
    n, unseen = (200, 20) if small else (5_000, 1_000)
    random = np.random.default_rng(2)
    return random.random((n, 20)).round(3), random.random((unseen, 20)).round(3)


def ours(problem):
    from lookalike.measures import Ranked

    fitted, unseen = problem
    measure = Ranked("cityblock").fit(fitted)
    return lambda: measure.distance(unseen, None)


def loop(problem):
    """Take one unseen row at a time: its place in every sorted column, then all fitted rows."""
    fitted, unseen = problem
    columns = np.sort(fitted, axis=0).T.copy()
    middle = np.empty(fitted.shape)  # rows below a value, and half of those equal to it
    for a, column in enumerate(columns):
        below = np.searchsorted(column, fitted[:, a], side="left")
        middle[:, a] = (below + np.searchsorted(column, fitted[:, a], side="right")) / 2

    def run():
        distances = np.empty((len(unseen), len(fitted)))
        for i, row in enumerate(unseen):
            place = np.array(
                [
                    (np.searchsorted(column, v, "left") + np.searchsorted(column, v, "right")) / 2
                    for column, v in zip(columns, row, strict=True)
                ]
            )
            gaps = np.abs(middle - place)
            gaps += 0.5
            gaps[fitted == row] = 0.0
            distances[i] = gaps.sum(axis=1)
        return distances

    return run


def agree(ours, theirs):
    """Check equal values: rank differences are multiples of 1/2, so sums are exact."""
    if np.array_equal(ours, theirs):
        return ""
    if ours.shape != theirs.shape:
        return f"shapes {ours.shape} and {theirs.shape}"
    return f"values differ by up to {np.max(np.abs(ours - theirs)):g}"


CASES = [
    Case(
        "ranked cityblock, unseen rows", problem, ours, {LOOP: loop}, agree, (Faster(LOOP, 1 / 50),)
    )
]
