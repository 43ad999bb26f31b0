"""Generated sequences of sets differ in what they are said to differ in, and in nothing else."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lookalike.datasets import PUBLISHED_SEQUENCES, make_sequences_of_sets
from lookalike.datasets.sequences import item_means
from lookalike.errors import InvalidInput


def facts(cells):
    lengths = np.array([len(cell) for cell in cells])
    sizes = np.array([len(one) for cell in cells for one in cell])
    items = np.array([item for cell in cells for one in cell for item in one])
    rises = np.array([np.mean(sorted(cell[-1])) - np.mean(sorted(cell[0])) for cell in cells])
    return lengths, sizes, items, rises


def test_means_rise_by_the_shift():
    assert_allclose(item_means(0.5, 0.4, 5), [0.3, 0.4, 0.5, 0.6, 0.7])
    assert_allclose(item_means(0.5, 0.0, 3), 0.5)


@pytest.mark.parametrize("kind", ["items", "lengths", "order"])
def test_what_differs(kind):
    table, y = make_sequences_of_sets(kind, random_state=1)
    cells = table["sequence"].values
    assert table.shape == (400, 1)
    assert np.bincount(y).tolist() == [200, 200]
    lengths, sizes, items, _ = facts(cells)
    assert lengths.min() >= 2
    assert lengths.max() <= 40
    assert (sizes.min() >= 1, sizes.max() <= 40) == (True, True)
    assert (items.min() >= 0, items.max() <= 100) == (True, True)
    a, b = facts(cells[:200]), facts(cells[200:])
    longer = b[0].mean() - a[0].mean()
    larger = b[1].mean() - a[1].mean()
    higher = b[2].mean() - a[2].mean()
    steeper = a[3].mean() - b[3].mean()
    assert abs(larger) < 0.5
    assert (longer > 6) == (kind == "lengths")
    assert (higher > 8) == (kind == "items")
    assert (steeper > 30) == (kind == "order")
    assert abs(longer) < 1.5 or kind == "lengths"
    assert abs(higher) < 1 or kind == "items"


def test_seeds_repeat():
    one, _ = make_sequences_of_sets("order", 3, random_state=5)
    two, _ = make_sequences_of_sets("order", 3, random_state=5)
    other, _ = make_sequences_of_sets("order", 3, random_state=6)
    assert one["sequence"].values.tolist() == two["sequence"].values.tolist()
    assert one["sequence"].values.tolist() != other["sequence"].values.tolist()


def test_how_far_classes_are_apart():
    wide, _ = make_sequences_of_sets("items", 30, item_gap=0.4, max_item=1000, random_state=0)
    items = [
        facts(part)[2] for part in (wide["sequence"].values[:30], wide["sequence"].values[30:])
    ]
    assert 350 < items[1].mean() - items[0].mean() < 450
    with pytest.raises(InvalidInput, match="Did you mean 'lengths'"):
        make_sequences_of_sets("length")
    with pytest.raises(InvalidInput, match="n_per_class=0"):
        make_sequences_of_sets(n_per_class=0)


def test_the_class_without_order_is_shuffled_or_level():
    spreads = {}
    for unordered in ("shuffled", "level"):
        table, _ = make_sequences_of_sets("order", 60, unordered=unordered, random_state=0)
        cells = table["sequence"].values
        rising, flat = facts(cells[:60]), facts(cells[60:])
        assert rising[3].mean() > 30
        assert abs(flat[3].mean()) < 5
        spreads[unordered] = rising[2].std() / flat[2].std()
    assert 0.95 < spreads["shuffled"] < 1.05
    assert spreads["level"] > 1.3
    with pytest.raises(InvalidInput, match="unordered='flat'"):
        make_sequences_of_sets("order", unordered="flat")


def test_sizes_of_sets_spread_as_asked():
    for spread in (0.05, 0.125):
        table, _ = make_sequences_of_sets("items", 30, size_spread=spread, random_state=0)
        sizes = facts(table["sequence"].values)[1]
        assert sizes.std() == pytest.approx(40 * spread, rel=0.1)


def test_the_published_setting_has_the_printed_means():
    lengths, sizes, items = [], [], []
    for kind in ("items", "lengths", "order"):
        table, _ = make_sequences_of_sets(kind, 40, **PUBLISHED_SEQUENCES, random_state=0)
        cells = table["sequence"].values
        lengths += [len(cell) for cell in cells]
        sizes += [len(one) for cell in cells for one in cell]
        items += [item for cell in cells for one in cell for item in one]
    # Sequences of 20 sets of 20 items, items around 250 of 500.
    assert np.mean(lengths) == pytest.approx(20, abs=1)
    assert (np.mean(sizes), np.std(sizes)) == pytest.approx((20, 4), abs=0.5)
    assert np.mean(items) == pytest.approx(250, abs=5)
