"""Maps of four tables: ours beside umap-learn and principal components.

Every contender draws the same space. Ours and umap-learn are given the same lists of 15 neighbors;
principal components are those of the similarities to 120 landmark rows, where our map begins.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from lookalike.datasets import load_films
from lookalike.errors import MissingExtra
from lookalike.evaluate import continuity, loo_accuracy, spread, trustworthiness
from lookalike.measures import Gower, Measure, Vector
from lookalike.represent import layout
from lookalike.represent.map_layout import principal_plane, similarity_features
from studies.data import load_frame
from studies.paper import Paper, StudyPart
from studies.result import Finding, Result, Sheet, Value
from studies.work import Work

FILMS = 4_200  # a sample, always the same rows
TABLES = {
    "letter": "letter_recognition",
    "segmentation": "image_segmentation",
    "penguins": "penguins",
}
GENRES = ("Short", "Documentary", "Animation", "Action", "Romance", "Comedy", "Drama")
EVALUATED_ROWS = 1000
Space = tuple[str, Measure, Any]


def run(work: Work) -> Result:
    """Draw every table by every contender and say what the drawings are worth."""
    _check_extra()
    most = work.times(quick=1_000, default=20_000, full=20_000)
    rows: list[dict[str, Any]] = []
    found: dict[tuple[str, str], dict[str, float]] = {}
    for name, measure, labels in work.each("tables", _spaces(work, most)):
        lists = measure.neighbors(None, 15)
        contenders: dict[str, Callable[[], np.ndarray]] = {
            "lookalike": partial(layout, measure),
            "umap-learn": partial(umap_map, lists),
            "principal components": partial(landmark_plane, measure),
        }
        for contender, draw in contenders.items():
            kept = work.once(f"{name}/{contender}/{most}", partial(_judge, measure, labels, draw))
            found[name, contender] = kept
            rows.append(
                {"table and map": f"{name}: {contender}", "rows": len(labels)}
                | {
                    "trust": Value(kept["trust"], digits=4),
                    "continuity": Value(kept["continuity"], digits=4),
                    "fraction of the area used": Value(kept["spread"], digits=3),
                    "accuracy of 10 nearest on the map": Value(kept["labels"], digits=3),
                }
            )
    about = (
        f"Gower's similarity, lists of 15 neighbors; trustworthiness and continuity of 10 "
        f"neighbors, {EVALUATED_ROWS:,} rows evaluated; at most {most:,} rows of each table."
    )
    return Result([Sheet("maps", "Four tables, three maps", rows, about)], _findings(found))


def _judge(measure: Measure, labels: Any, draw: Callable[[], np.ndarray]) -> dict[str, float]:
    places = draw()
    some = min(EVALUATED_ROWS, len(places))
    return {
        "trust": trustworthiness(measure, places, sample=some),
        "continuity": continuity(measure, places, sample=some),
        "spread": spread(places),
        "labels": loo_accuracy(Vector().fit(places), labels, 10),
    }


def _findings(found: dict[tuple[str, str], dict[str, float]]) -> list[Finding]:
    names = list(dict.fromkeys(name for name, _ in found))

    def gap(what: str, rival: str) -> list[float]:
        return [found[name, "lookalike"][what] - found[name, rival][what] for name in names]

    trust, plane = gap("trust", "umap-learn"), gap("trust", "principal components")
    used = gap("spread", "umap-learn")
    differences = ", ".join(
        f"{name} {value:+.4f}" for name, value in zip(names, trust, strict=True)
    )
    return [
        Finding(
            "ours is as trustworthy as umap-learn's",
            min(trust) > -0.005,
            differences,
            "Worse on letters; with all 20,000 rows by 0.001 (decision 17)",
        ),
        Finding(
            "both are more trustworthy than principal components",
            min(plane) > 0,
            ", ".join(f"{name} {value:+.3f}" for name, value in zip(names, plane, strict=True)),
            headline=True,
        ),
        Finding(
            "ours uses more of the area than umap-learn's",
            min(used) > 0,
            ", ".join(f"{name} {value:+.2f}" for name, value in zip(names, used, strict=True)),
            headline=True,
        ),
    ]


def _spaces(work: Work, most: int) -> Iterator[Space]:
    """Yield name, fitted measure and labels."""
    films = load_films()
    drawn = np.random.default_rng(0).choice(len(films), min(FILMS, most), replace=False)
    films = films[np.sort(drawn)]
    yield "films", Gower().fit(films), main_genres(films)
    for name in work.available(TABLES):
        frame, labels = load_frame(work.data, TABLES[name])
        if len(labels) > most:
            at = np.sort(np.random.default_rng(0).choice(len(labels), most, replace=False))
            frame, labels = frame.take(at), labels[at]
        yield name, Gower().fit(frame), labels


def main_genres(films: Any) -> list[str]:
    """Return one genre for each film: the first of a fixed order that it has."""
    sets = films["genres"].values
    return [next((g for g in GENRES if g in cell), "none") for cell in sets]


def _check_extra() -> None:
    from importlib.util import find_spec

    if find_spec("umap") is None:
        do = "Run: pip install umap-learn"
        needed = "the package umap-learn, the rival"
        raise MissingExtra("studies map", needed, "it is not installed", do)


def umap_map(lists: Any) -> np.ndarray:
    """Return umap-learn's map of our lists, at its defaults."""
    n = len(lists)
    with warnings.catch_warnings():
        # It warns of things not asked for: other packages, new rows, several threads.
        warnings.simplefilter("ignore")
        from umap import UMAP

        indices = np.hstack([np.arange(n)[:, None], lists.indices]).astype(np.int32)
        distances = np.hstack([np.zeros((n, 1)), lists.distances]).astype(np.float32)
        indices[~np.isfinite(distances)] = -1  # umap's spelling of a neighbor that is missing
        model = UMAP(
            n_neighbors=lists.k + 1, precomputed_knn=(indices, distances), random_state=0, n_jobs=1
        )
        found = model.fit_transform(np.zeros((n, 2), dtype=np.float32))
    return np.asarray(found, dtype=np.float64)


def landmark_plane(measure: Measure) -> np.ndarray:
    """Return the first two principal components of similarities to landmarks."""
    return principal_plane(similarity_features(measure, measure.rows_, np.random.default_rng(0)))


PAPER = Paper(
    "map",
    "Maps compared with umap-learn",
    "A study of our own, not of a published paper.",
    "Quality of maps of a table: ours, umap-learn's and principal components, with the same "
    "neighbors ([how a map is computed](../decisions/0017-own-embedding-for-maps.md)).",
    [StudyPart("map", "Four tables", run)],
)
