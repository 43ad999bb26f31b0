"""Reference implementations: trees as nested dictionaries, walked node by node."""

import math

import numpy as np


def leaf():
    return {"leaf": True}


def node(feature, threshold, left, right, equal=False):
    return {"f": feature, "t": threshold, "eq": equal, "l": left, "r": right}


def is_leaf(v):
    return "leaf" in v


def flat_lists(trees):
    """The arrays of a list of nested trees, nodes numbered breadth first (not preorder)."""
    feature, threshold, left, right, equal, offsets = [], [], [], [], [], [0]
    for root in trees:
        queue = [root]
        base = len(feature)
        for v in queue:  # grows while it is read
            if is_leaf(v):
                feature.append(-1)
                threshold.append(0.0)
                left.append(-1)
                right.append(-1)
                equal.append(0)
            else:
                feature.append(v["f"])
                threshold.append(v["t"])
                left.append(len(queue))
                queue.append(v["l"])
                right.append(len(queue))
                queue.append(v["r"])
                equal.append(int(v["eq"]))
        offsets.append(base + len(queue))
    return feature, threshold, left, right, offsets, equal


def outcome(v, x):
    """True for left, False for right, None if the value is missing."""
    value = x[v["f"]]
    if math.isnan(value):
        return None
    return value == v["t"] if v["eq"] else value <= v["t"]


def leaves_of(tree):
    """Leaves from left to right."""
    if is_leaf(tree):
        return [tree]
    return leaves_of(tree["l"]) + leaves_of(tree["r"])


def mass(tree, rows):
    """Fitted rows in each node by id, missing values joining the side of more known ones."""
    found = {id(tree): len(rows)}
    tree["mass"] = len(rows)
    if not is_leaf(tree):
        answers = [outcome(tree, x) for x in rows]
        to_left = answers.count(True) >= answers.count(False)
        tree["default"] = to_left
        sides = [to_left if o is None else o for o in answers]
        mass(tree["l"], [x for x, s in zip(rows, sides, strict=True) if s])
        mass(tree["r"], [x for x, s in zip(rows, sides, strict=True) if not s])
    return found


def path(tree, x):
    """Nodes from the root to the leaf of x; missing values by default side (else left)."""
    nodes = [tree]
    while not is_leaf(nodes[-1]):
        v = nodes[-1]
        side = outcome(v, x)
        if side is None:
            side = v.get("default", True)
        nodes.append(v["l"] if side else v["r"])
    return nodes


def leaf_number(tree, x):
    end = path(tree, x)[-1]
    return next(i for i, v in enumerate(leaves_of(tree)) if v is end)


def same_leaf(trees, x, y):
    return sum(path(t, x)[-1] is path(t, y)[-1] for t in trees) / len(trees)


def soft(tree, x, by_mass=False, weight=1.0):
    """Leaf id -> weight."""
    if is_leaf(tree):
        return {id(tree): weight}
    side = outcome(tree, x)
    if side is not None:
        return soft(tree["l"] if side else tree["r"], x, by_mass, weight)
    share = 0.5
    if by_mass and tree["l"]["mass"] + tree["r"]["mass"] > 0:
        share = tree["l"]["mass"] / (tree["l"]["mass"] + tree["r"]["mass"])
    both = soft(tree["l"], x, by_mass, weight * share)
    both.update(soft(tree["r"], x, by_mass, weight * (1 - share)))
    return both


def soft_same_leaf(trees, x, y, by_mass=False):
    total = 0.0
    for t in trees:
        mx, my = soft(t, x, by_mass), soft(t, y, by_mass)
        total += sum(w * my.get(k, 0.0) for k, w in mx.items())
    return total / len(trees)


def content(v):
    return (v["f"], v["t"], v["eq"])


def path_set(tree, x):
    """The set of (test, outcome) pairs on the path of x whose outcome x knows."""
    return {(content(v), outcome(v, x)) for v in path(tree, x)[:-1] if outcome(v, x) is not None}


def ask(test, x):
    f, t, eq = test
    if math.isnan(x[f]):
        return None
    return x[f] == t if eq else x[f] <= t


def ratio_sets(tree, x, y):
    """|common|, X - Y and Y - X as sets of tests, tests that x or y cannot answer left out."""
    px = {(t, o) for t, o in path_set(tree, x) if ask(t, y) is not None}
    py = {(t, o) for t, o in path_set(tree, y) if ask(t, x) is not None}
    common = {t for t, _ in px | py if ask(t, x) == ask(t, y)}
    return common, {t for t, o in px if ask(t, y) != o}, {t for t, o in py if ask(t, x) != o}


def information(test, x, rows):
    """-log of the share of rows that answer a test as x does, half a row added to each side."""
    answers = [ask(test, row) for row in rows if ask(test, row) is not None]
    return -math.log((answers.count(ask(test, x)) + 0.5) / (len(answers) + 1))


def ratio(trees, x, y, parting="twice", alpha=1.0, beta=1.0, rows=None):
    """Tversky's ratio; with rows each answer counts by its information among them."""

    def weigh(tests, x):
        return sum(1 if rows is None else information(test, x, rows) for test in tests)

    values = []
    for tree in trees:
        if is_leaf(tree):
            values.append(1.0)
            continue
        common, only_x, only_y = ratio_sets(tree, x, y)
        if not (common or only_x or only_y):
            continue
        total = weigh(common, x) + alpha * weigh(only_x, x) + beta * weigh(only_y, y)
        if parting == "once":
            both = only_x & only_y
            total -= (alpha * weigh(both, x) + beta * weigh(both, y)) / 2
        values.append(weigh(common, x) / total if total else 0.0)
    return sum(values) / len(values) if values else math.nan


def shared_nodes(tree, x, y):
    px, py = path(tree, x), path(tree, y)
    return [v for v in px if any(v is w for w in py)], px, py


def zhu2(trees, x, y):
    total = 0.0
    for tree in trees:
        shared, px, py = shared_nodes(tree, x, y)
        longest = max(len(px), len(py)) - 1
        total += (len(shared) - 1) / longest if longest else 1.0
    return total / len(trees)


def zhu3(trees, x, y, denominator="longer"):
    total = 0.0
    for tree in trees:
        shared, px, py = shared_nodes(tree, x, y)
        ws, wx, wy = (sum(1 / max(v["mass"], 1) for v in p[1:]) for p in (shared, px, py))
        if is_leaf(tree):
            total += 1.0
        elif denominator == "max":
            total += ws / max(wx, wy)
        elif len(px) == len(py):
            total += (ws / wx + ws / wy) / 2
        else:
            total += ws / (wx if len(px) > len(py) else wy)
    return total / len(trees)


def ting(trees, x, y, n):
    return sum(shared_nodes(t, x, y)[0][-1]["mass"] / n for t in trees) / len(trees)


def aryal(trees, x, y, n):
    return sum(math.log(max(shared_nodes(t, x, y)[0][-1]["mass"], 1) / n) for t in trees) / len(
        trees
    )


def out_of_bag(trees, bags, x, y, i, j):
    """Share of leaves over the trees that hold neither row i nor row j (None: a new row)."""
    usable = [t for t in range(len(trees)) if i not in bags[t] and j not in bags[t]]
    usable = usable or list(range(len(trees)))
    return sum(path(trees[t], x)[-1] is path(trees[t], y)[-1] for t in usable) / len(usable)


# The running example: root asks x0 <= .5 (leaf A), its right child x1 <= .5 (leaves B and C).
def f2():
    return node(0, 0.5, leaf(), node(1, 0.5, leaf(), leaf()))


A, B, C, E = ((0.2, 0.2), (0.8, 0.2), (0.8, 0.8), (0.9, 0.9))


def random_tree(rng, n_inputs, category, deepest, values):
    """A random tree; few different thresholds, so that tests repeat on a path and in a tree."""
    if deepest == 0 or rng.random() < 0.2:
        return leaf()
    f = int(rng.integers(n_inputs))
    t = float(rng.choice(values))
    children = [random_tree(rng, n_inputs, category, deepest - 1, values) for _ in range(2)]
    return node(f, t, *children, equal=bool(category[f]))


def random_rows(rng, n, n_inputs, values, gaps=0.0):
    rows = rng.choice(values, size=(n, n_inputs)).astype(float)
    rows[rng.random(rows.shape) < gaps] = np.nan
    return rows


def chain(length, n_inputs=2):
    """A tree of one path: node k asks for x[k % 2] <= -k, left is a leaf."""
    tree = leaf()
    for k in range(length - 1, -1, -1):
        tree = node(k % n_inputs, -float(k), leaf(), tree)
    return tree
