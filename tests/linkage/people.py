"""Made-up people, some of them typed twice with slips of the pen."""

import numpy as np
import pandas as pd

FIRST = "ann bob carol dave erin frank grace henry iris jack kate liam mona nick olga paul".split()
LAST = "archer baker carter dyer fisher glover hunter mason miller potter sawyer tailor".split()
STREETS = "oak elm high dock hill mill church station garden river bridge castle".split()


def slip(text, random):
    """One letter replaced, left out, or doubled."""
    i = int(random.integers(len(text)))
    letter = chr(97 + int(random.integers(26)))
    return text[:i] + ("", letter, text[i] * 2)[int(random.integers(3))] + text[i + 1 :]


def people(n, doubles=0, seed=0):
    """A frame of n people, then some of them again; the person of each row."""
    random = np.random.default_rng(seed)
    rows = [
        [
            f"{random.choice(FIRST)}{random.choice(list('aeo'))} {random.choice(LAST)}",
            f"{random.integers(1, 200)} {random.choice(STREETS)} street",
            f"19{random.integers(10, 99)}-{random.integers(1, 13):02}-{random.integers(1, 29):02}",
            f"{random.integers(10**7, 10**8)}",
        ]
        for _ in range(n)
    ]
    again = random.choice(n, doubles, replace=False)
    for person in again.tolist():
        row = [*rows[person]]
        for column in random.choice(4, 2, replace=False).tolist():
            row[column] = slip(row[column], random)
        rows.append(row)
    frame = pd.DataFrame(rows, columns=["name", "street", "born", "phone"])
    return frame, np.concatenate([np.arange(n), again])


def pairs_of(entities):
    """All pairs of rows that are the same person, by force."""
    n = len(entities)
    return {(a, b) for a in range(n) for b in range(a + 1, n) if entities[a] == entities[b]}
