"""Reference implementations: neighbors by sorting, votes by counting, folds row by row."""

import math


def gower(x, y, ranges):
    """Mean likeness over the cells present in both rows; a range of None means a category."""
    alike = []
    for a, b, span in zip(x, y, ranges, strict=True):
        if a is None or b is None:
            continue
        if span is None or span == 0:
            alike.append(1.0 if a == b else 0.0)
        else:
            alike.append(max(0.0, 1 - abs(a - b) / span))
    return sum(alike) / len(alike) if alike else None


def ranges_of(rows, numeric):
    spans = []
    for j, is_number in enumerate(numeric):
        known = [row[j] for row in rows if row[j] is not None]
        spans.append((max(known) - min(known) if known else 0.0) if is_number else None)
    return spans


def nearest(distances, k, leave_out=None):
    """Positions of the k nearest by (distance, position); None is undefined, and last."""
    order = sorted(
        (math.inf if d is None else d, i) for i, d in enumerate(distances) if i != leave_out
    )
    return [i for _, i in order[:k]]


def weigh(distances, weights):
    if weights == "uniform":
        return [1.0] * len(distances)
    if weights == "kernel":
        known = [d for d in distances if d < math.inf]
        if not known or max(known) == 0:
            return [float(not known or d < math.inf) for d in distances]
        return [math.exp(-2 * (d / max(known)) ** 2) for d in distances]
    if 0 in distances:
        return [1.0 if d == 0 else 0.0 for d in distances]
    if all(math.isinf(d) for d in distances):
        return [1.0] * len(distances)
    return [1 / d for d in distances]


def shares(labels, weights):
    votes = {}
    for label, weight in zip(labels, weights, strict=True):
        votes[label] = votes.get(label, 0.0) + weight
    whole = sum(votes.values())
    return {label: count / whole for label, count in votes.items()}


def vote(labels, weights, tie="first"):
    """The class with the most votes; labels are in the order of the neighbors."""
    votes = {}
    for label, weight in zip(labels, weights, strict=True):
        votes[label] = votes.get(label, 0.0) + weight
    most = max(votes.values())
    tied = [label for label, count in votes.items() if count == most]
    if len(tied) == 1:
        return tied[0]
    if tie == "nearest":
        return labels[0]
    return next(label for label in labels if label in tied)


def mean(values, weights):
    top = sum(v * w for v, w in zip(values, weights, strict=True))
    return top / sum(weights)


def tune(rows, y, folds, distance, answer, loss, tried=(*range(1, 16), 20, 25, 30, 40, 50)):
    """Mean loss for each k: every held-out row is answered from the rows of the other folds."""
    fewest = min(sum(f != fold for f in folds) for fold in folds)
    errors = {}
    for k in [k for k in tried if k <= fewest]:
        lost = []
        for row, fold in enumerate(folds):
            known = [i for i, other in enumerate(folds) if other != fold]
            away = [distance(rows[row], rows[i], [rows[j] for j in known]) for i in known]
            near = nearest(away, k)
            votes = [y[known[i]] for i in near]
            lost.append(loss(answer(votes, [away[i] for i in near]), y[row]))
        errors[k] = sum(lost) / len(lost)
    return errors
