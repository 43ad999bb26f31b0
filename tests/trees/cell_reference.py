"""A random similarity tree straight from its definition: lists, fractions, one row at a time.

Only the random numbers are shared with the library: ``draw(n)`` gives an integer below n,
``unit()`` a number below 1.
"""

from fractions import Fraction
from math import log2

import numpy as np

MAX_ROWS_ALL_PAIRS = 32
CLOSE = 1e-12


def jaccard(u, v):
    return Fraction(len(u ^ v), len(u | v)) if u | v else Fraction(0)


def differ(u, v):
    return int(u != v)


def apart(u, v):
    return abs(u - v)


def answers(trees, cells):
    """Return what each row answers to each node's test: 1 left, 0 right, 2 missing or a leaf."""
    values = trees.inputs(cells)[:, trees._inputs[1]]
    known = (trees.feature >= 0) & ~np.isnan(values)
    return np.where(known, values <= trees.threshold, 2)


class Column:
    """Cells (None where missing), their distance, and what is subtracted: d, d squared, nothing."""

    def __init__(self, cells, delta, use="distance", exact=True):
        self.cells, self.delta, self.use = cells, delta, use
        self.exact = exact  # numbers and categories have their whole variance at any size

    def d(self, a, b):
        return self.delta(self.cells[a], self.cells[b])

    def project(self, x, p, q):
        if self.cells[x] is None:
            return None
        if self.use == "value":
            return self.cells[x]
        power = 2 if self.use == "squared" else 1
        return self.d(q, x) ** power - self.d(p, x) ** power


class Tree:
    def __init__(self, columns, y, times, draw, weight=None, unit=None, **limits):
        self.columns, self.y, self.times, self.draw = columns, y, times, draw
        self.unit = unit  # where thresholds are drawn
        self.weight = weight or [1] * len(y)
        self.limits = {
            "tried": 1, "pairs": 1, "depth": 10**6, "split": 2, "leaf": 1, "criterion": "gini",
            "by_class": True, "balanced": True, "midpoint": False,
        } | limits  # fmt: skip
        self.pool = list(range(len(columns)))
        self.nodes = []
        self.grow([r for r in range(len(y)) if times[r] and self.weight[r]], 0)

    # -- pieces ------------------------------------------------------------------------------------

    def mass(self, rows):
        return sum(self.weight[r] * self.times[r] for r in rows)

    def count(self, rows):
        return sum(self.times[r] for r in rows)

    def impurity(self, rows):
        total = self.mass(rows)
        if not total:
            return 0
        if self.limits["criterion"] == "variance":
            mean = Fraction(sum(self.weight[r] * self.times[r] * self.y[r] for r in rows)) / total
            off = sum(self.weight[r] * self.times[r] * (self.y[r] - mean) ** 2 for r in rows)
            return off / total
        shares = [
            Fraction(self.mass([r for r in rows if self.y[r] == c])) / total
            for c in sorted({self.y[r] for r in rows})
        ]
        if self.limits["criterion"] == "entropy":
            return -sum(float(s) * log2(s) for s in shares if s)
        return 1 - sum(s * s for s in shares)

    def pick(self, rows):
        entries = [r for r in rows for _ in range(self.times[r])]
        return entries[self.draw(len(entries))]

    def varies(self, column, rows):
        if column.exact or len(rows) <= MAX_ROWS_ALL_PAIRS:
            return any(column.d(a, b) > 0 for a in rows for b in rows)
        pivot = self.pick(rows)
        return any(column.d(pivot, r) > 0 for r in rows)

    def variance(self, column, rows):
        entries = [r for r in rows for _ in range(self.times[r])]
        if column.exact or len(rows) <= MAX_ROWS_ALL_PAIRS:
            total = sum(column.d(a, b) ** 2 for a in entries for b in entries)
            return Fraction(total) / (2 * len(entries) ** 2)
        pivot = self.pick(rows)
        return Fraction(sum(column.d(pivot, r) ** 2 for r in entries)) / (2 * len(entries))

    # -- the algorithm -----------------------------------------------------------------------------

    def pairs_of(self, column, rows):
        """Yield the pairs that a column tries in a node."""
        by_target = self.limits["criterion"] == "variance"
        members = rows
        if self.limits["by_class"] and not by_target:
            groups = [
                [r for r in rows if self.y[r] == c] for c in sorted({self.y[r] for r in rows})
            ]
            spreads = [self.variance(column, group) for group in groups]
            members = groups[spreads.index(min(spreads))]
        for _ in range(self.limits["pairs"]):
            p = self.pick(members)
            away = [r for r in rows if column.d(r, p) > 0]
            if by_target:
                std = float(self.impurity(self.here)) ** 0.5
                far = [r for r in away if abs(self.y[r] - self.y[p]) > std]
                others = far or [r for r in away if self.y[r] != self.y[p]]
            else:
                others = [r for r in away if self.y[r] != self.y[p]]
            if others:
                q = self.pick(others)
                yield (p, q) if self.limits["by_class"] else (q, p)

    def cuts(self, column, p, q, rows):
        """Yield (score, imbalance, threshold, left, right) of every admissible cut."""
        where = {r: column.project(r, p, q) for r in rows}
        values = sorted(set(where.values()))
        unknown = [r for r in self.here if r not in where]
        drawn = None
        if self.unit and len(values) > 1:
            u = self.unit()
            drawn = (1 - u) * float(values[0]) + u * float(values[-1])
        for at, value in enumerate(values[:-1]):
            left = [r for r in rows if where[r] <= value]
            right = [r for r in rows if where[r] > value]
            if min(self.count(left), self.count(right)) < self.limits["leaf"]:
                continue
            parts = [self.mass(side) * self.impurity(side) for side in (left, right, unknown)]
            score = sum(parts) / self.mass(self.here)
            threshold = (value + values[at + 1]) / 2 if self.limits["midpoint"] else value
            if drawn is not None:
                if not value <= drawn < values[at + 1]:
                    continue
                threshold = drawn
            yield score, abs(self.count(left) - self.count(right)), threshold, left, right

    def candidates(self):
        tried = 0
        for drawn in range(len(self.pool)):
            if tried >= self.limits["tried"]:
                break
            other = drawn + self.draw(len(self.pool) - drawn)
            self.pool[drawn], self.pool[other] = self.pool[other], self.pool[drawn]
            column = self.columns[self.pool[drawn]]
            rows = [r for r in self.here if column.cells[r] is not None]
            if len(rows) < 2 or not self.varies(column, rows):
                continue
            tried += 1
            pairs = [(None, None)] if column.use == "value" else self.pairs_of(column, rows)
            for p, q in pairs:
                for cut in self.cuts(column, p, q, rows):
                    yield self.pool[drawn], p, q, *cut

    def grow(self, rows, depth):
        node = {"rows": rows, "depth": depth, "test": None}
        self.nodes.append(node)
        pure = len({self.y[r] for r in rows}) == 1
        small = self.count(rows) < max(self.limits["split"], 2 * self.limits["leaf"])
        if pure or small or depth >= self.limits["depth"]:
            return
        self.here = rows
        best = None
        for one in self.candidates():
            if best is None or one[3] < best[3] - CLOSE:
                best = one
            elif self.limits["balanced"] and one[3] <= best[3] + CLOSE and one[4] < best[4]:
                best = one
        if best is None:
            return
        f, p, q, _, _, threshold, left, right = best
        goes_left = self.count(left) >= self.count(right)
        node["test"] = (f, p, q, threshold, goes_left)
        column = self.columns[f]

        def side(r):
            value = column.project(r, p, q)
            return goes_left if value is None else value <= threshold

        self.grow([r for r in rows if side(r)], depth + 1)
        self.grow([r for r in rows if not side(r)], depth + 1)
