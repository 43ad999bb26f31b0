"""Latitude and longitude compared as one place, whichever way rows are stored or asked for."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lookalike as la
from columns import reference
from columns.make import few
from lookalike.columns import GreatCircle
from lookalike.index import build_index
from lookalike.measures import Gower, choose_measure, least_squares_weights
from lookalike.measures.default import default_measure

degrees = st.tuples(
    st.one_of(st.none(), st.integers(-360, 360).map(lambda x: x / 4)),
    st.one_of(st.none(), st.integers(-720, 720).map(lambda x: x / 4)),
)


def world(n, seed=0):
    draw = np.random.default_rng(seed)
    latitude, longitude = draw.uniform(-80, 80, n), draw.uniform(-180, 180, n)
    latitude[::17], longitude[5::31] = np.nan, np.nan
    color = draw.choice(list("abcd"), n)
    return pd.DataFrame(
        {"lat": latitude, "lon": longitude, "size": draw.normal(size=n), "c": color}
    )


def apart(u, v):
    gone = any(x is None for x in (*u, *v))
    return None if gone else reference.great_circle(u, v)


@few
@given(st.lists(degrees, min_size=3, max_size=9), st.floats(0.1, 5.0))
def test_a_place_is_one_column_with_one_weight(places, weight):
    size = np.arange(len(places)) / 4
    latitude, longitude = zip(*places, strict=True)
    cells = {"lat": list(latitude), "lon": list(longitude), "size": size}
    kinds = {("lat", "lon"): "place"}
    measure = Gower(kinds, {"lat": weight, "lon": weight}, "midpoint").fit(cells)
    between = [[apart(u, v) for v in places] for u in places]
    known = [x for row in between for x in row if x is not None]
    scale = max(known, default=0.0)
    found = measure.similarity()
    for i, row in enumerate(between):
        for j, x in enumerate(row):
            if i == j:
                continue
            # Antipodes: the arc sine is steep, so chords round to about a meter.
            differs = 0.5 if x is None else x / scale if scale else float(x > 0)
            expected = (1 - abs(size[i] - size[j]) / size.max()) + weight * (1 - differs)
            assert found[i, j] == pytest.approx(expected / (1 + weight), abs=1e-6)


def test_only_names_and_degrees_together_make_a_place():
    numbers = {"lat": [52.5, 48.1, 40.7], "lon": [13.4, 11.6, -74.0]}

    def joined(cells):
        return la.read_table(cells).joined

    assert joined(numbers) == {"lat, lon": ("lat", "lon")}
    assert joined({"b_longitude": numbers["lon"], "b_latitude": numbers["lat"]}) == {
        "b_latitude, b_longitude": ("b_latitude", "b_longitude")
    }
    assert joined({"startLat": numbers["lat"], "startLng": numbers["lon"]})
    assert joined({"lat": ["52.5", "48.1", "40.7"], "lon": ["13.4", "11.6", "-74"]})
    assert not joined({"lat": [52.5, 48.1, 90.5], "lon": numbers["lon"]})
    assert not joined({"lat": numbers["lat"], "lon": [1.0, 2.0, 361.0]})
    assert not joined({"from_lat": numbers["lat"], "to_lon": numbers["lon"]})
    assert not joined({"delta_lat": numbers["lat"], "delta_long": numbers["lon"]})
    assert not joined({"lat": numbers["lat"], "width": numbers["lon"]})
    assert not joined({"lat": ["low", "high", "low"], "lon": numbers["lon"]})
    assert not joined({**numbers, "lat, lon": ["a", "b", "a"]})  # the joint name is taken


def test_what_the_caller_says_of_one_column_parts_the_two():
    rows = world(60)
    assert not la.read_table(rows, kinds={"lat": "number"}).joined
    assert not la.read_table(rows, kinds={"lon": "aside"}).joined
    for option in ({"scale": {"lat": "rank"}}, {"ranges": {"lon": 360.0}}):
        assert Gower(**option).fit(rows).plan_.joined == ()
    table = la.read_table(rows)
    assert Gower(distances={"lat": "rank"}).fit(table).plan_.names[:2] == ("lat", "lon")
    near = Gower(distances={"lat, lon": GreatCircle(scale=50.0)}).fit(table)
    assert near.plan_.distances["lat, lon"].scale_ == 50.0
    assert not table.drop("lon").joined
    assert Gower().fit(table.drop("lon")).plan_.names[0] == "lat"


def test_cells_come_back_as_written():
    rows = world(40)
    table = la.read_table(rows)
    pd.testing.assert_frame_equal(table.to_frame(), rows)
    assert table.record(0) == {"lat": None, **rows.iloc[0].drop("lat").to_dict()}
    assert la.search(rows, row=3, k=30, filter="lat>0")[0].row["lat"] > 0
    assert table["lat, lon"].missing.sum() == rows[["lat", "lon"]].isna().any(axis=1).sum()


def test_one_column_may_hold_both():
    cells = ["52.5, 13.4", "(48.1, 11.6)", None, "[40.7, -74]", "1.5 2.5"]
    table = la.read_table({"where": cells, "x": range(5)}, kinds={"where": "place"})
    assert [table["where"].cell(row) for row in range(3)] == [[52.5, 13.4], [48.1, 11.6], None]
    measure = Gower().fit(table)
    assert isinstance(measure.plan_.distances["where"], GreatCircle)
    again = measure.similarity({"where": ["48.1,11.6"], "x": [1]})
    np.testing.assert_array_equal(again[0], measure.similarity()[1])
    lists = la.read_table({"where": [[52.5, 13.4], [48.1, None]]}, kinds={"where": "place"})
    assert lists["where"].cell(1)[0] == 48.1
    assert np.isnan(GreatCircle().fit(lists["where"]).encode(lists["where"])[1]).all()
    assert isinstance(choose_measure(lists)[0], Gower)  # the cosine is for embeddings


@pytest.mark.parametrize(
    ("kinds", "words"),
    [
        ({"x": "place"}, "join two columns"),
        ({("x", "q"): "place"}, "columns of the table, found 'q'"),
        ({("x", "y"): "number"}, "two columns and the kind 'place'"),
        ({("x", "y", "z"): "place"}, "two columns and the kind 'place'"),
        ({"x,q": "place"}, "columns of the table, found 'q'"),
        ({"q": "place"}, "columns of the table, found 'q'"),
    ],
)
def test_a_kind_that_cannot_be_is_refused(kinds, words):
    with pytest.raises(la.errors.LookalikeError, match=words):
        la.read_table({"x": [1.0, 2.0], "y": [3.0, 4.0], "z": [1.0, 2.0]}, kinds=kinds)


def test_degrees_beyond_the_earth_are_refused_with_their_row():
    cells = {"x": [1.0, 91.0], "y": [3.0, 4.0], "z": [1, 2]}
    table = la.read_table(cells, kinds={"x, y": "place"})
    with pytest.raises(la.errors.InvalidInput, match=r"row 1.*latitude from -90 to 90.*91"):
        default_measure().fit(table)


def test_every_way_to_search_finds_the_same_rows(tmp_path):
    rows = world(2500)
    measure = default_measure().fit(rows)
    distances = measure.distance()
    index = la.Index().fit(rows)
    rows.to_parquet(tmp_path / "rows.parquet")
    lazy = la.read_table(tmp_path / "rows.parquet", lazy=True)
    folder = build_index(lazy, tmp_path / "folder")
    index.save(tmp_path / "saved.lookalike")
    loaded = la.load(tmp_path / "saved.lookalike")
    for query in (1, 5, 17, 400):
        order = np.argsort(distances[query], kind="stable")
        expected = order[order != query][:6].tolist()
        for one in (index, loaded, folder):
            hits = one.search(query, k=6)
            assert [hit.id for hit in hits] == expected
            assert [hit.distance for hit in hits] == distances[query, expected].tolist()
    weights = {"lat": 4.0, "lon": 2.0}
    heavy = measure.reweighted(weights).distance()[1]
    order = np.argsort(heavy, kind="stable")
    found = index.search(1, k=5, weights=weights)
    assert [hit.id for hit in found] == order[order != 1][:5].tolist()
    assert measure.reweighted(weights)._weights_in_order().tolist() == [1.0, 1.0, 3.0]


def test_a_place_is_one_reason_in_kilometers():
    index = la.Index().fit(world(300))
    for hit in index.search(3, k=20):
        why = hit.explanation
        assert set(why.columns) == {"lat, lon", "size", "c"}
        assert sum(why.plus.values()) == pytest.approx(hit.similarity)
        assert sum(why.minus.values()) == pytest.approx(1 - hit.similarity)
    rows = {"lat": [0.0, 0.0, 0.09], "lon": [179.9, -179.9, 179.9], "x": [1, 1, 1]}
    hits = la.Index(Gower()).fit({**rows, "y": [1, 2, 3]}).search(0, k=2)
    told = {hit.id: {r["text"] for side in hit.reasons(9) for r in side} for hit in hits}
    assert "lat, lon 22 km apart" in told[1]  # across the 180th meridian
    assert "lat, lon 10 km apart" in told[2]


def test_learned_weights_are_given_to_both_columns():
    rows = world(80)
    north = rows["lat"].fillna(0) > 0
    found = Gower(weights="relieff").fit(rows, north).weights_
    assert found["lat"] == found["lon"] > found["size"]
    least = least_squares_weights(rows, north)
    assert len(least) == 4
    assert least[0] == least[1]
