"""Distances to the closest record, against the formula that SDMetrics documents; the answer."""

import math
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lookalike as la
from lookalike.errors import InvalidInput
from lookalike.linkage.audit import (
    LEAKED_SHARE,
    Closeness,
    closest,
    distance_ratios,
    draw_uniform,
    measure_closeness,
    share_equal,
)
from lookalike.neighbors import NeighborGraph

KINDS = {"age": "number", "level": "number", "sex": "category", "size": ["S", "M", "L"]}
CELLS = {
    "age": st.none() | st.floats(-5, 5, width=16),
    "level": st.none() | st.just(2.0),
    "sex": st.none() | st.sampled_from(["m", "f", "x"]),
    "size": st.none() | st.sampled_from(["S", "M", "L"]),
}
KINDS_OF_TWO = {"age": "number", "sex": "category"}
FIRST = {"age": 0.25, "level": 2.0, "sex": "m", "size": "S"}


@st.composite
def drawn_tables(draw):
    rows = st.lists(st.fixed_dictionaries(CELLS), min_size=1, max_size=8)
    new = st.lists(
        st.fixed_dictionaries(
            CELLS | {"level": st.none() | st.floats(1, 3, width=16), "age": st.floats(-50, 50)}
        ),
        min_size=1,
        max_size=8,
    )
    real = la.read_table([FIRST, *draw(rows)], kinds=KINDS)
    return real, la.table.as_table(draw(new), real.schema)


def naive(real, row, record):
    """The mean over the columns of what SDMetrics says two cells differ by."""
    total = 0.0
    for column in real:
        a, b = row[column.name], record[column.name]
        known = [x for x in (column.cell(i) for i in range(len(column))) if x is not None]
        if a is None or b is None:
            total += (a is None) != (b is None)
        elif column.kind.name == "number":
            span = max(known) - min(known) if known else 0.0
            total += float(a != b) if span == 0 else min(abs(a - b) / span, 1.0)
        else:
            total += a != b
    return total / len(real.columns)


@settings(max_examples=60, deadline=None)
@given(tables=drawn_tables())
def test_distances_are_those_of_the_formula(tables):
    real, made = tables
    (lists,) = closest(real, [made])
    for row in range(len(made)):
        far = sorted(
            naive(real, made.record(row), real.record(record)) for record in range(len(real))
        )
        expected = [*far, math.inf][:2]
        assert lists.distances[row].tolist() == pytest.approx(expected, abs=1e-12)
        found = int(lists.indices[row, 0])
        assert naive(real, made.record(row), real.record(found)) == pytest.approx(far[0], abs=1e-12)


@pytest.mark.parametrize("value", [0.0, 0.25, -3.0, 1e20, 1e-200])
def test_a_constant_number_differs_from_every_other(value):
    real = la.read_table({"age": [value, value, None], "sex": ["m", "f", "f"]}, kinds=KINDS_OF_TWO)
    other = [value, float(np.nextafter(value, 1e300)) + 1e-299, value + 1.0, -1e25, None]
    made = la.table.as_table({"age": other, "sex": ["m"] * 5}, real.schema)
    (lists,) = closest(real, [made])
    equal = [1.0 if x == value else 0.0 for x in other[:-1]]
    # A missing cell is that of the third row, whose sex differs.
    assert lists.distances[:, 0] == pytest.approx([*[(1 - same) / 2 for same in equal], 0.5])


def test_rows_of_the_reference_are_left_out_of_their_own_lists():
    real = la.read_table({"age": [1.0, 2.0, 5.0], "sex": ["m", "m", "f"]})
    lists, _ = closest(real, [real, real[[0]]])
    assert lists.indices[:, 0].tolist() == [1, 0, 1]
    assert lists.distances[:, 0] == pytest.approx([1 / 8, 1 / 8, (3 / 4 + 1) / 2])


def test_scores_by_hand():
    """Three of four rows are nearer to the training data: 2 (1 - 3/4); medians 0.2 and 0.4."""
    near = NeighborGraph(
        np.array([[0, 1]] * 4), np.array([[0.1, 0.2], [0.0, 0.0], [0.3, np.inf], [0.3, 0.4]]), 2
    )
    usual = NeighborGraph(
        np.zeros((200, 2), int), np.c_[np.linspace(0.01, 2, 200), np.ones(200)], 2
    )
    held, random = np.array([0.2, 0.1, 0.5, 0.3]), np.array([0.4, 0.5, 0.3])
    found = Closeness(near, usual, held, random)
    assert found.overfitting_protection == 2 * (1 - 3 / 4)
    assert found.baseline_protection == pytest.approx(0.2 / 0.4)
    assert distance_ratios(near)[[0, 1, 3]].tolist() == pytest.approx([0.5, 1.0, 0.75])
    assert np.isnan(distance_ratios(near)[2])
    assert found.shares.tolist() == pytest.approx([0.05, 0.0, 0.15, 0.15])
    assert found.leaked.tolist() == []  # the second is a copy of two records: it singles out none
    single = NeighborGraph(near.indices, near.distances + [[0, 0.1]], 2)
    assert Closeness(single, usual, None, random).leaked.tolist() == [1]
    assert Closeness(single, usual, None, random).overfitting_protection is None
    assert Closeness(near, usual, held, np.zeros(3)).baseline_protection is None
    assert Closeness(near, usual, held, np.full(3, 1e-9)).baseline_protection == 1.0


def test_random_rows_are_uniform_over_each_column():
    frame = {"n": [1.0, 9.0] * 50, "x": [0.5, 2.5] * 50, "c": ["a", "a", "a", "b"] * 25}
    real = la.read_table(frame | {"m": [1.5, None, 2.5, 7.5] * 25})
    drawn = draw_uniform(real, 4000, seed=3)
    n, x, c = (drawn[name].values for name in "nxc")
    assert sorted(set(n)) == list(range(1, 10))
    assert x.min() >= 0.5
    assert x.max() <= 2.5
    assert np.unique(x).size > 3000
    assert abs((c == 0).mean() - 0.5) < 0.05
    assert abs(drawn["m"].missing.mean() - 0.25) < 0.05
    assert (
        draw_uniform(real, 5, 1)["x"].values.tolist()
        == draw_uniform(real, 5, 1)["x"].values.tolist()
    )


def test_random_rows_of_numbers_whose_range_overflows():
    random = draw_uniform(
        la.read_table({"a": [-1e308, 1e308, 1.0] * 5, "b": [1.5, 2.0, 3.0] * 5}), 9
    )
    assert np.isfinite(random["a"].values).all()
    assert np.ptp(random["a"].values / 1e308) > 0.5
    with pytest.raises(InvalidInput, match="an integer >= 0"):
        draw_uniform(random, 9, seed=-1)


def test_shares_of_equal_cells():
    real = la.read_table({"age": [1.0, None, 3.0], "sex": ["m", "f", "f"]})
    made = la.table.as_table({"age": [1.0, None, 2.0], "sex": ["f", "f", "f"]}, real.schema)
    lists = NeighborGraph(np.array([[0, 1], [1, 0], [2, 1]]), np.zeros((3, 2)), 3)
    assert share_equal(made, real, lists, np.arange(3)) == pytest.approx([2 / 3, 2 / 3])
    assert share_equal(made, real, lists, np.array([], int)) == [0.0, 0.0]


def people(n, seed):
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": random.integers(18, 90, n).astype(float),
            "income": random.lognormal(10, 1, n),
            "score": random.normal(size=n).round(1),
            "sex": random.choice(["m", "f"], n),
            "job": random.choice(list("abcdefg"), n),
        }
    )
    return frame.mask(random.random(frame.shape) < 0.05)


def test_copies_are_found_and_honest_rows_are_not():
    """Sixty of 360 rows are copies: they come first, and few others are taken for copies."""
    real, held = la.read_table(people(400, 1)), people(300, 2)
    made = pd.concat([people(300, 3), people(400, 1)[:60]], ignore_index=True)
    made, held = (la.table.as_table(frame, real.schema) for frame in (made, held))
    found = measure_closeness(real, made, held)
    assert set(found.leaked[:60].tolist()) == set(range(300, 360))
    assert len(found.leaked) <= 60 + 9  # 3 are expected by chance
    # The values of sdmetrics 0.32.0 for these tables.
    assert found.overfitting_protection == pytest.approx(0.6388888888888888, abs=1e-12)
    assert np.median(found.distances) == pytest.approx(0.029764713683100574, abs=1e-12)
    honest = measure_closeness(real, made[0:300], held)
    assert honest.overfitting_protection > 0.7
    assert len(honest.leaked) <= 9


def test_the_scores_are_those_of_sdmetrics():
    metrics = pytest.importorskip("sdmetrics.single_table", reason="sdmetrics is not installed")
    real, held = people(400, 1), people(300, 2)
    made = pd.concat([people(300, 3), real[:60]], ignore_index=True)
    kinds = dict.fromkeys(("age", "income", "score"), "numerical")
    kinds |= {"sex": "categorical", "job": "categorical"}
    metadata = {"columns": {name: {"sdtype": kind} for name, kind in kinds.items()}}
    baseline = type("Seeded", (metrics.DCRBaselineProtection,), {"_seed": 5})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = metrics.DCROverfittingProtection.compute(real, made, held, metadata, None)
        np.random.seed(7)
        random = baseline._generate_random_data(real, len(made))
        np.random.seed(7)
        base = baseline.compute(real, made, metadata, None)
    table = la.read_table(real)
    made, held, random = (la.table.as_table(f, table.schema) for f in (made, held, random))
    found = measure_closeness(table, made, held)
    assert found.overfitting_protection == pytest.approx(theirs, abs=1e-12)
    (drawn,) = closest(table, [random])
    same = Closeness(found.synthetic, found.usual, found.holdout, drawn.distances[:, 0])
    assert same.baseline_protection == pytest.approx(base, abs=1e-12)


# -- the answer ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def audit():
    penguins = la.datasets.load_penguins()
    order = np.random.default_rng(0).permutation(len(penguins))
    real, held = penguins[order[:150]], penguins[order[150:300]]
    made = penguins[np.concatenate([order[300:], order[:20]])]
    return la.audit(real, made, held, n=5)


def test_copies_come_first_with_the_cells_they_share(audit):
    leaks = audit.leaks
    assert len(leaks) == 5
    assert [one["distance"] for one in leaks] == [0.0] * 5
    assert all(one["row"] >= 44 and one["record"] == one["row"] - 44 for one in leaks)
    assert all("same" in one["because"] for one in leaks)
    assert len(audit.found.leaked) >= 20


def test_columns_that_give_away_are_those_that_real_rows_differ_in(audit):
    columns = audit.columns
    assert columns[0]["column"] == "bill_length_mm"
    assert columns[0]["equal"] > 0.9 > 0.1 > columns[0]["equal_in_real_rows"]
    gains = [one["equal"] - one["equal_in_real_rows"] for one in columns]
    assert gains == sorted(gains, reverse=True)


def test_forms(audit):
    answer = audit.to_dict()
    assert answer["leaked"] == len(audit.found.leaked)
    assert answer["expected_by_chance"] == pytest.approx(64 * LEAKED_SHARE)
    assert answer["scores"] == audit.scores
    assert set(audit.scores) >= {"overfitting_protection", "baseline_protection", "median_ratio"}
    assert list(audit.to_frame().columns) == [
        "row",
        "record",
        "distance",
        "ratio",
        "share",
        "because",
    ]
    text = audit.text()
    assert f"{len(audit.found.leaked)} of 64 rows are nearer to a real record" in text
    assert "overfitting protection 0." in text
    assert "bill_length_mm" in text


def test_without_a_holdout_the_text_says_what_that_means():
    penguins = la.datasets.load_penguins()
    found = la.audit(penguins[0:100], penguins[200:230])
    assert found.scores["overfitting_protection"] is None
    assert found.scores["median_distance_to_holdout"] is None
    assert "real rows among each other" in found.text()
    assert "without a holdout" in found.text()


def test_no_leak_has_forms_too():
    real = {"age": [float(i) for i in range(30)], "sex": list("mf") * 15}
    made = {"age": [-4.5, 37.5], "sex": ["f", "f"]}
    found = la.audit(real, made)
    assert len(found.found.leaked) == 0
    assert found.to_dict()["leaks"] == []
    assert len(found.to_frame()) == 0
    assert "0 of 2 rows" in found.text()
    assert "because" not in found.text()  # no empty tables of rows and columns


def test_memory_grows_with_the_rows_and_not_with_the_pairs():
    """A matrix of all pairs would take 200 MB; the lists of all rows take less than 1 MB."""
    n = 5_000

    def people(seed):
        random = np.random.default_rng(seed)
        words = random.choice(list("abcdefg"), n).tolist()
        return la.read_table({"age": random.normal(size=n), "job": words})

    tables = [people(seed) for seed in range(3)]
    measure_closeness(*(table[:200] for table in tables))  # compiles
    tracemalloc.start()
    try:
        measure_closeness(*tables)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < n * n * 8 / 5


def test_so_many_random_rows_are_drawn_at_most(monkeypatch):
    monkeypatch.setattr("lookalike.linkage.audit.MAX_RANDOM_ROWS", 5)
    table = la.read_table({"age": np.arange(9.0), "sex": list("mfmfmfmfm")}, kinds=KINDS_OF_TWO)
    assert len(measure_closeness(table, table).random) == 5
    assert len(measure_closeness(table, table[:4]).random) == 4
