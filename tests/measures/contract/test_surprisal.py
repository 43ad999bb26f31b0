"""Every measure knows which of its columns say something about a pair."""

import time

import numpy as np
import pytest

import lookalike as la
from lookalike.hubness import LocalScaling, MutualProximity
from lookalike.measures import Combined, ForestProximity, Gower, Ranked, StochasticForest, Vector
from lookalike.measures.contract.explanation import as_bits, by_owner
from lookalike.measures.forest.methods import METHODS
from lookalike.trees.thresholds.attribution import leaf_weights, parting_counts, parting_shares

N = 160
TREES = {"n_estimators": 40, "random_state": 0}
OF_NUMBERS = {
    **{f"vector {m}": Vector(m, scale="minmax") for m in ("euclidean", "cityblock", "chebyshev")},
    "ranked": Ranked(),
    "ranked euclidean": Ranked("euclidean", scale=True),
    "stochastic": StochasticForest(200, 4, on_fail="relax", random_state=0),
    "combined": Combined([(1.0, Vector(scale="minmax")), (1.0, Ranked())], how="zscore"),
    "mutual proximity": MutualProximity(Vector("cityblock", scale="minmax")),
    "local scaling": LocalScaling(Ranked()),
}
OF_WORDS = {
    **{f"forest {m}": ForestProximity(m, **TREES) for m in METHODS if m != "oob"},
    "forest oob": ForestProximity("oob", n_estimators=120, random_state=0),
    "similarity forest": ForestProximity("shi", "similarity", **TREES),
    "gower": Gower(),
    "combined forests": Combined([(1.0, Gower()), (2.0, ForestProximity("shi", **TREES))]),
    "wrapped forest": MutualProximity(ForestProximity("ratio", **TREES)),
}


def rows(seed, words):
    """Rows 0 and 1 share a rare level; all share a constant, most a frequent one."""
    rng = np.random.default_rng(seed)
    rare = (np.arange(N) < 6).astype(int)
    common = (rng.random(N) < 0.05).astype(int)
    common[:6] = 0
    table = {
        "constant": np.full(N, 7.0),
        "common": np.where(common, "b", "a") if words else common.astype(float),
        "rare": np.where(rare, "violet", "red") if words else rare.astype(float),
        "x": rng.normal(size=N),
        "y": rng.normal(size=N),
    }
    table["x"][:2] = table["y"][:2] = 0.0, 0.7  # neither near nor far
    kinds = {"constant": "number", "common": "category", "rare": "category"}
    kinds = kinds if words else dict.fromkeys(table, "number")
    return la.read_table(table, kinds=kinds)


CASES = [(name, measure, False) for name, measure in OF_NUMBERS.items()]
CASES += [(name, measure, True) for name, measure in OF_WORDS.items()]


@pytest.mark.parametrize(("measure", "words"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
@pytest.mark.parametrize("seed", range(4))  # of other tables x or y may be the better reason
def test_a_rare_level_in_common_is_the_first_reason(measure, words, seed):
    fitted = measure.fit(rows(seed, words))
    explained = fitted.explain(0, 1)
    plus, minus = explained.reasons(5)
    order = [name for name, _ in plus]
    if isinstance(measure, StochasticForest):  # it halves samples, so it hardly sees a rare level
        order = [name for name in order if name not in ("x", "y")]
    assert order[0] == "rare"
    assert explained.surprisal["rare"][0] > explained.surprisal["common"][0]
    assert "constant" not in dict(plus) | dict(minus)
    assert set(dict(plus)).isdisjoint(dict(minus))
    assert sum(explained.plus.values()) == pytest.approx(explained.similarity, abs=1e-9)
    assert sum(explained.minus.values()) == pytest.approx(1 - explained.similarity, abs=1e-9)
    for i, j in ((0, 50), (40, 90), (3, 4)):
        for_ = [name for name, _ in fitted.explain(i, j).reasons(5)[0]]
        assert "constant" not in for_
        assert for_[:1] != ["common"] or not {"x", "y"} & set(for_)


@pytest.mark.parametrize(("measure", "words"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_explanations_are_the_same_again_and_after_loading(measure, words, tmp_path):
    table = rows(1, words)
    one = measure.fit(table)
    explained = one.explain(3, 40)
    one.save(tmp_path / "model.lookalike")
    for again in (la.load(tmp_path / "model.lookalike"), measure.fit(table)):
        other = again.explain(3, 40)
        assert other.surprisal == explained.surprisal
        assert other.baseline == explained.baseline
        assert other.reasons(3) == explained.reasons(3)


@pytest.mark.parametrize("name", ["vector cityblock", "ranked", "stochastic"])
def test_bits_are_shares_of_the_rows_of_the_sample(name):
    measure = OF_NUMBERS[name].fit(rows(2, False)[: N - 40])  # all rows are in the sample
    n = N - 40
    explained = measure.explain(5, 30)
    own = measure.column_differences(measure.rows_[5:6], measure.rows_[30:31])
    others = np.delete(np.arange(n), [5, 30])
    for at, column in enumerate(own.names):
        differs = [
            measure.column_differences(measure.rows_[i : i + 1], measure.rows_[j : j + 1]).values[0]
            for i in (5, 30)
            for j in others
        ]
        values = np.array(differs)[:, at]
        shares = [((side).sum() + 1) / (len(values) + 1) for side in
                  (values <= own.values[0, at], values >= own.values[0, at])]  # fmt: skip
        assert explained.surprisal[column] == pytest.approx(tuple(-np.log2(shares)))


def test_a_shuffled_column_changes_what_it_says():
    """The bits follow the cells, not the place of the column."""
    frame = {column.name: [column.cell(i) for i in range(N)] for column in rows(3, True)}
    kinds = {"constant": "number", "common": "category", "rare": "category"}
    before = ForestProximity("shi", **TREES).fit(la.read_table(frame, kinds=kinds)).explain(0, 1)
    frame["rare"] = ["red", "violet", *frame["rare"][2:]]
    after = ForestProximity("shi", **TREES).fit(la.read_table(frame, kinds=kinds)).explain(0, 1)
    assert before.surprisal["rare"][0] > 3 > after.surprisal["rare"][0]
    assert after.surprisal["rare"][1] > 1
    assert after.reasons(1)[1][0][0] == "rare"


@pytest.mark.parametrize("method", ["shi", "zhu2", "ratio"])
def test_partings_are_counted_as_they_are_shared_out(method):
    measure = ForestProximity(method, **TREES).fit(rows(4, True))
    forest, codes = measure.forest_, measure.rows_.arrays["codes"]
    counts = parting_counts(forest, codes[:1], codes[10:14], len(measure.inputs_.owner))
    offsets = forest.nodes.leaf_offsets
    for row, found in zip(range(10, 14), counts, strict=True):
        pair = [leaf_weights(offsets, codes[i : i + 1]) for i in (0, row)]
        share = parting_shares(forest, *pair)
        inside = forest.feature >= 0
        column = forest.column[forest.feature[inside]]
        expected = np.bincount(column, share[inside], len(measure.inputs_.owner))
        np.testing.assert_allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize("measure", [OF_WORDS["forest shi"], OF_WORDS["forest ratio"],
                                     OF_NUMBERS["stochastic"]])  # fmt: skip
def test_a_gap_is_not_a_reason(measure):
    words = measure is not OF_NUMBERS["stochastic"]
    fitted = measure.fit(rows(5, words))
    row = {"constant": 7.0, "common": "a" if words else 0.0, "rare": None, "x": 0.0, "y": 0.0}
    explained = fitted.explain(row, 0)
    assert "rare" not in explained.surprisal
    assert "x" in explained.surprisal


def test_entries_of_one_column_are_one_difference():
    found = by_owner(("a", "b", "b", "c"), np.array([[1.0, 2.0, 3.0, 4.0], [0.0, 1.0, 0.0, 1.0]]))
    assert found.names == ("a", "b", "c")
    assert found.values.tolist() == [[1.0, 5.0, 4.0], [0.0, 1.0, 1.0]]


def test_nothing_to_compare_has_no_bits():
    differs = np.array([[np.nan, 1.0], [np.nan, 2.0], [np.nan, 3.0]])
    own = np.array([[1.0, 2.0], [1.0, np.nan]])
    assert as_bits(("a", "b"), differs[None], own) == [
        {"b": pytest.approx((-np.log2(3 / 4), -np.log2(3 / 4)))},
        {},
    ]


@pytest.mark.parametrize("n", [1, 2, 3])
def test_tiny_tables_are_explained(n):
    for measure in (Vector(), Ranked()):
        explained = measure.fit(np.arange(2.0 * n).reshape(n, 2)).explain(0, [[1.0, 5.0]])
        assert sum(explained.minus.values()) == pytest.approx(1 - explained.similarity)
        assert isinstance(explained.reasons()[1], list)


def test_fitting_does_not_draw_the_sample():
    x = np.random.default_rng(0).normal(size=(3000, 20))
    measure = ForestProximity("ratio", n_estimators=20, random_state=0).fit(x)
    assert "sample" not in measure.rows_.cache
    measure.explain(0, 1)
    began = time.perf_counter()
    measure.explain(0, 2)
    assert time.perf_counter() - began < 1.0
    assert "sample" in measure.rows_.cache
