"""Reasons are measured against what two random rows have in a column."""

import numpy as np
import pytest

import lookalike as la
from lookalike.hubness import MutualProximity
from lookalike.measures import Combined, Explanation, Gower, Vector

N = 300


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(8)
    return {
        "year": np.full(N, 2013.0),
        "here": np.full(N, True),
        "income": rng.lognormal(10, 1.5, N),
        "age": rng.normal(40, 10, N),
        "color": np.where(np.arange(N) < 4, "violet", rng.choice(["red", "blue"], N)),
        "words": [f"{a}{b}" for a, b in rng.choice(list("abcdefgh"), (N, 2))],
        "name": [f"person {i}" for i in range(N)],
    }


KINDS = {"year": "number", "here": "flag", "words": "text", "name": "category"}


@pytest.mark.parametrize("scale", ["range", "rank"])
def test_what_every_pair_shares_is_never_a_reason(rows, scale):
    index = la.Index(Gower(scale=scale), kinds=KINDS).fit(rows)
    for i in range(0, N, 20):
        for hit in index.search(i, k=5):
            plus, minus = hit.reasons(9)
            assert not {"year", "here", "name"} & {reason["column"] for reason in plus}
            assert hit.reasons(2)[1][0]["column"] != "name"
            assert not {r["column"] for r in plus} & {r["column"] for r in minus}


def test_a_rare_level_in_common_comes_before_a_frequent_one(rows):
    measure = Gower(KINDS).fit(rows)
    rare = measure.explain(0, 1)
    assert rare.reasons(1)[0][0][0] == "color"
    red = np.flatnonzero(rows["color"] == "red")
    frequent = measure.explain(int(red[0]), int(red[1]))
    assert rare.plus["color"] == frequent.plus["color"]
    assert rare.surprisal["color"][0] > 5 > 1.5 > frequent.surprisal["color"][0] > 0


def test_the_bits_are_those_of_all_other_rows(rows):
    """With no more than 512 rows the sample is all of them, so the shares are exact."""
    measure = Gower(KINDS, scale="range").fit(rows)
    age, span = rows["age"], np.ptp(rows["age"])
    explained = measure.explain(7, 30)
    own = abs(age[7] - age[30]) / span
    others = np.delete(np.arange(N), [7, 30])
    differs = np.abs(age[[7, 30]][:, None] - age[others]).ravel() / span
    for side, count in enumerate(((differs <= own).sum(), (differs >= own).sum())):
        expected = -np.log2((count + 1) / (len(differs) + 1))
        assert explained.surprisal["age"][side] == pytest.approx(expected, abs=1e-9)
    every = np.abs(age[:, None] - age)[~np.eye(N, dtype=bool)].mean() / span
    assert explained.baseline["age"][1] == pytest.approx(every / 7, rel=0.2)
    assert sum(explained.baseline["age"]) == pytest.approx(1 / 7)


def test_the_largest_difference_on_its_typical_scale_is_among_those_against():
    rng = np.random.default_rng(0)
    rows = {f"x{j}": rng.normal(size=200) for j in range(6)}
    rows["tail"] = rng.lognormal(0, 3, 200)
    rows["tail"][0] = rows["tail"].max() / 3  # a third of the range, the baseline is far less
    rows["tail"][1] = np.median(rows["tail"])
    for j in range(6):
        rows[f"x{j}"][:2] = -2.0, 2.0  # larger shares of their ranges
    explained = Gower().fit(rows).explain(0, 1)
    assert explained.minus["tail"] < min(explained.minus[f"x{j}"] for j in range(6))
    for n in (1, 2, 3):
        against = explained.reasons(n)[1]
        assert len(against) == n
        assert "tail" in dict(against)


def test_sums_and_wrappers_keep_what_is_known(rows):
    inner = Gower(KINDS).fit(rows)
    plain = inner.explain(3, 5)
    assert sum(plain.plus.values()) == pytest.approx(plain.similarity)
    numbers = {"income": rows["income"], "age": rows["age"]}
    both = Combined([(1.0, Gower()), (3.0, Gower(scale="rank"))]).fit(numbers).explain(3, 5)
    wrapped = MutualProximity(Gower(KINDS)).fit(rows).explain(3, 5)
    mixed = Combined([(1.0, Gower()), (1.0, Vector())], how="zscore").fit(numbers).explain(3, 5)
    assert wrapped.surprisal == plain.surprisal
    assert [name for name, _ in wrapped.reasons(3)[0]] == [name for name, _ in plain.reasons(3)[0]]
    for explained in (both, wrapped, mixed):
        assert set(explained.surprisal) >= {"income", "age"}
        assert sum(explained.minus.values()) == pytest.approx(1 - explained.similarity)
        for name, (_, minus) in explained.baseline.items():
            if name in explained.minus:
                assert (minus > 0) == (name not in ("year", "here"))
    assert sum(map(sum, both.baseline.values())) == pytest.approx(1)


def test_frames_have_both_the_contribution_and_what_is_typical(rows):
    explained = Gower(KINDS).fit(rows).explain(3, 5)
    frame = explained.to_frame()
    assert list(frame) == ["column", "plus", "minus", "baseline_plus", "baseline_minus"]
    assert frame["baseline_minus"].tolist() == [
        explained.baseline[name][1] for name in frame["column"]
    ]


def test_the_same_table_gives_the_same_reasons(rows):
    one, two = (Gower(KINDS).fit(rows).explain(3, 5) for _ in range(2))
    assert one.surprisal == two.surprisal
    assert one.baseline == two.baseline


@pytest.mark.parametrize("n", [1, 2, 3])
def test_tiny_tables_have_reasons(n):
    rows = {"x": [1.0, 2.0, 9.0][:n], "s": [{"a"}, {"a", "b"}, {"c"}][:n]}
    measure = Gower({"x": "number", "s": "set"}).fit(rows)
    explained = measure.explain(0, {"x": 1.0, "s": {"a"}})
    assert explained.similarity == 1
    assert measure.explain(0, {"x": 4.0, "s": {"c"}}).reasons()[1]


def test_without_any_knowledge_the_largest_contribution_leads():
    explained = Explanation(0.6, 0.4, {"a": 0.1, "b": 0.5}, {"a": 0.3, "b": 0.1})
    assert explained.reasons(1) == ([("b", 0.5)], [("a", 0.3)])


def test_what_could_not_be_compared_is_named():
    rows = {"x": [1.0, None, 3.0], "y": [1.0, 2.0, 5.0], "f": [False, False, True]}
    measure = Gower({"f": "flag"}).fit(rows)
    assert set(measure.explain(0, 1).not_compared) == {"x", "f"}
    assert measure.reweighted({"x": 0}).explain(0, 1).not_compared == ("f",)
    assert Gower({"f": "flag"}, missing="midpoint").fit(rows).explain(0, 1).not_compared == ("f",)
    explained = measure.explain({"x": None, "y": None, "f": None}, 0)
    assert set(explained.not_compared) == {"x", "y", "f"}
