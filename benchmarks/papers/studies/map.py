"""Maps of four tables: ours beside umap-learn and principal components.

Every contender draws the same space. Ours and umap-learn are given the same lists of 15 neighbors;
principal components are those of the similarities to 120 landmark rows, where our map begins.
"""

import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

from lookalike.datasets import load_films
from lookalike.evaluate import continuity, loo_accuracy, spread, trustworthiness
from lookalike.measures import Gower, Measure, Vector
from lookalike.represent import layout
from lookalike.represent.map_start import principal_plane, similarity_features

TITLE = "Maps (Gower, 15 neighbors; trust and continuity of 10 neighbors, 1,000 rows looked at)"
FILMS = 4_200  # a sample, always the same rows
TABLES = {
    "letter": "letter_recognition",
    "segmentation": "image_segmentation",
    "penguins": "penguins",
}
GENRES = ("Short", "Documentary", "Animation", "Action", "Romance", "Comedy", "Drama")


def run(data: Path) -> list[dict]:
    """Return a row for each table and contender."""
    found = []
    for name, measure, labels in spaces(data):
        lists = measure.neighbors(None, 15)
        contenders = {
            "lookalike": lambda m=measure: layout(m),
            "umap-learn": lambda g=lists: umap_map(g),
            "principal components": lambda m=measure: landmark_plane(m),
        }
        for contender, draw in contenders.items():
            began = time.perf_counter()
            try:
                places = draw()
            except ImportError:
                found.append({"table": name, "map": contender, "trust": "not installed"})
                continue
            seconds = time.perf_counter() - began
            found.append(
                {
                    "table": name,
                    "rows": len(places),
                    "map": contender,
                    "trust": f"{trustworthiness(measure, places, sample=1000):.4f}",
                    "continuity": f"{continuity(measure, places, sample=1000):.4f}",
                    "spread": f"{spread(places):.3f}",
                    "label right, 10 nearest on the map": (
                        f"{loo_accuracy(Vector().fit(places), labels, 10):.3f}"
                    ),
                    "seconds": f"{seconds:.1f}",
                }
            )
    return found


def spaces(data: Path):
    """Yield name, fitted measure and labels."""
    films = load_films()
    films = films[np.sort(np.random.default_rng(0).choice(len(films), FILMS, replace=False))]
    yield f"films (sample of {FILMS:,})", Gower().fit(films), main_genres(films)
    for name, file in TABLES.items():
        frame = pd.read_parquet(data / f"{file}.parquet")
        labels = frame.pop("target").astype(str).to_numpy()
        yield name, Gower().fit(frame), labels


def main_genres(films) -> list[str]:
    """Return one genre for each film: the first of a fixed order that it has."""
    sets = films["genres"].values
    return [next((g for g in GENRES if g in cell), "none") for cell in sets]


def umap_map(lists) -> np.ndarray:
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
