"""The rival: the same search in the plainest server, scikit-learn behind FastAPI.

Numbers are scaled, categories and sets one-hot encoded, gaps filled with the median; neighbors are
found by brute force. No reasons, no filters, no rows that come or go, nothing on disk.
"""

import argparse

import numpy as np
import uvicorn
from fastapi import FastAPI
from sklearn.neighbors import NearestNeighbors

from lookalike.datasets import load_films

app = FastAPI()


def encode(table):
    """Return all columns as one matrix of numbers."""
    parts = []
    for column in table.columns:
        if column.kind.name == "number":
            values = np.asarray(column.values, dtype=np.float64)
            known = values[np.isfinite(values)]
            filled = np.where(np.isfinite(values), values, np.median(known))
            parts.append(((filled - known.min()) / (np.ptp(known) or 1))[:, None])
        elif column.kind.name == "category":
            parts.append((column.values[:, None] == np.arange(len(column.kind.levels))) * 1.0)
        elif column.kind.name == "histogram":
            parts.append(np.nan_to_num(column.values))
        elif column.kind.name == "set":
            items = sorted({item for cell in column.values for item in cell or ()})
            held = [[item in (cell or ()) for item in items] for cell in column.values]
            parts.append(np.array(held, dtype=float))
    return np.hstack(parts)


@app.get("/search/{row}")
def search(row: int, k: int = 10):
    distances, found = app.state.nearest.kneighbors(app.state.rows[row : row + 1], k + 1)
    hits = zip(found[0].tolist(), distances[0].tolist(), strict=True)
    records = app.state.records
    return {"hits": [{"id": i, "distance": d, "row": records[i]} for i, d in hits if i != row][:k]}


@app.get("/healthz")
def healthz():
    return {"ok": True}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--rows", type=int, required=True)
    asked = parser.parse_args()
    from lookalike._runtime.text import plain

    films = load_films()[: asked.rows]
    app.state.rows = encode(films)
    app.state.nearest = NearestNeighbors(algorithm="brute").fit(app.state.rows)
    app.state.records = [
        {name: plain(cell) for name, cell in films.record(row).items()} for row in range(len(films))
    ]
    uvicorn.run(app, port=asked.port, log_config=None, access_log=False)


if __name__ == "__main__":
    main()
