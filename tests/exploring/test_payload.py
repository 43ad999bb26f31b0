"""The arrays of a page without a server, compared by its script and by the library."""

import base64
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytest.importorskip("fastapi", reason="the service is not installed")

import lookalike
from lookalike import exploring
from lookalike.exploring import payload
from lookalike.exploring.payload import Arrays, write_baseline, write_columns
from lookalike.measures import Gower
from lookalike.testing import frames
from lookalike.testing.strategies import SIMPLE

SCRIPT = Path(exploring.__file__).parent / "web" / "compare.js"
OBJECTS = ("text", "set", "sequence", "histogram", "vector")
ASK = """([text, row, weights]) => {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const { similarity, sure } = compareRows(readRows(bytes.buffer), row, weights);
  return [Array.from(similarity, (s) => (s === s ? s : null)), Array.from(sure)];
}"""


@pytest.fixture(scope="module")
def page(browser):
    """A page with the script that compares rows, and nothing else."""
    page = browser.new_page()
    more = "\nwindow.readRows = readData; window.compareRows = compare;"
    page.add_script_tag(content=SCRIPT.read_text("utf-8") + more, type="module")
    page.wait_for_function("() => Boolean(window.compareRows)")
    yield page
    page.close()


def written(measure, table):
    """Return a table as the page reads it."""
    arrays = Arrays()
    head = {
        "rows": len(table),
        "weights": dict(measure.weights_),
        "midpoint": measure.missing == "midpoint",
        "exact": measure.traits.exact_self,
        "columns": write_columns(measure, table, arrays),
        "baseline": write_baseline(measure, arrays),
    }
    data = json.dumps(head, allow_nan=False).encode() + b"\n" + arrays.to_bytes()
    return base64.b64encode(data).decode()


def on_page(page, measure, table, row, weights=None):
    found, sure = page.evaluate(ASK, [written(measure, table), row, weights or {}])
    return np.array([np.nan if s is None else s for s in found]), np.array(sure, bool)


def by_library(measure, row, weights=None):
    measure = measure.reweighted(weights) if weights else measure
    rows = measure.rows_
    found = measure.compare(rows[np.array([row])], rows)[0]
    found[row] = 1.0  # a row with itself, whatever its missing cells
    return found


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    frame=frames(kinds=(*SIMPLE, *OBJECTS), min_rows=2),
    missing=st.sampled_from(["ignore", "midpoint"]),
    scale=st.sampled_from(["range", "robust", "rank"]),
    data=st.data(),
)
def test_the_page_compares_as_the_library_does(page, frame, missing, scale, data):
    columns, kinds = frame
    table = lookalike.read_table(columns, kinds=kinds)
    measure = Gower(missing=missing, scale=scale).fit(table)
    weights = {name: data.draw(st.sampled_from([0.0, 0.5, 1.0, 4.0])) for name in table.names}
    weights[table.names[0]] = 2.0  # something has to count
    row = data.draw(st.integers(0, len(table) - 1))
    found, sure = on_page(page, measure, table, row, weights)
    expected = by_library(measure, row, weights)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    assert sure.all()  # so few distinct cells are a table


def test_weights_that_were_given_to_the_measure_count_as_well(page):
    table = lookalike.read_table({"a": [0.0, 1.0, 4.0], "b": ["x", "y", "x"]})
    measure = Gower(weights={"a": 3.0}).fit(table)
    found, _ = on_page(page, measure, table, 0, {"b": 2.0})
    # (3 * |difference of a| / 4 + 2 * [b differs]) / 5
    np.testing.assert_allclose(found, [1.0, 1 - (0.75 + 2) / 5, 1 - 3 / 5])


def test_places_are_compared_as_one_column(page):
    rng = np.random.default_rng(0)
    table = lookalike.read_table(
        {"lat": rng.uniform(40, 50, 30), "lon": rng.uniform(5, 15, 30), "n": rng.normal(size=30)}
    )
    measure = Gower().fit(table)
    assert measure.plan_.joined
    found, _ = on_page(page, measure, table, 3, {"lat": 2.0})
    np.testing.assert_allclose(found, by_library(measure, 3, {"lat": 2.0}), atol=1e-12)


def many_texts(n):
    rng = np.random.default_rng(1)
    words = ["".join(rng.choice(list("abcdef"), 7)) for _ in range(60)]
    texts = [" ".join(rng.choice(words, 4)) for _ in range(n)]
    texts[5] = None
    size = rng.normal(size=n)
    return lookalike.read_table({"text": texts, "size": size}, kinds={"text": "text"})


@pytest.mark.parametrize("missing", ["ignore", "midpoint"])
def test_many_texts_have_lists_which_hold_the_nearest_rows(page, missing, monkeypatch):
    monkeypatch.setattr(payload, "MAX_DISTINCT", 20)
    monkeypatch.setattr(payload, "MAX_LISTED", 30)
    table = many_texts(120)
    measure = Gower(missing=missing).fit(table)
    for row in (0, 7, 5):
        found, sure = on_page(page, measure, table, row)
        expected = by_library(measure, row)
        assert sure.sum() >= 16
        np.testing.assert_allclose(found[sure], expected[sure], atol=1e-7)
        # The nearest by all columns are listed; what is guessed is the mean of the others.
        assert sure[np.argsort(-expected, kind="stable")[:15]].all()
        assert np.abs(found - expected)[~sure].max(initial=0.0) < 0.5
    assert not on_page(page, measure, table, 0)[1].all()
    assert on_page(page, measure, table, 0, {"text": 0.0})[1].all()


def test_codes_take_as_few_bytes_as_they_need():
    arrays = Arrays()
    assert arrays.codes(np.array([0, 255]))["type"] == "Uint8Array"
    assert arrays.codes(np.array([0, 256])) == {"type": "Uint16Array", "at": 8, "n": 2}
    assert arrays.codes(np.array([70_000]))["type"] == "Uint32Array"
    assert len(arrays.to_bytes()) == 24
