"""Indexes in folders, and damage that no hash notices: the hashes are made anew.

A folder is opened, then checked, then asked, as the documentation says of an untrusted one.
"""

import io
import json
import os
import shutil

import numpy as np

from fuzz.mutants import change_array, change_page, change_value, damage, mutate
from lookalike.index import build_index
from lookalike.measures import Combined, ForestProximity, Gower, StochasticForest, Vector
from lookalike.neighbors.shards import hash_file
from lookalike.table import read_table

ROWS = 4096 + 512  # codes are kept from 4,096 rows on
NAMES = (
    "../index.lookalike",
    "/etc/passwd",
    "..",
    ".",
    "",
    "a/b",
    "0.npy\0",
    "shard.json",
    "x" * 300,
)


def rows_of(n, start=0):
    """Return columns that are encoded in different ways, with gaps."""
    rng = np.random.default_rng(start)
    words = ["red", "green", "blue", None]
    return {
        "size": rng.random(n).round(3),
        "weight": np.where(rng.random(n) < 0.1, np.nan, rng.random(n).round(2)),
        "color": [words[i % 4] for i in range(n)],
        "tags": [frozenset("abcdef"[i % 4 : i % 4 + 1 + i % 2]) for i in range(n)],
        "title": [f"alpha {i % 7} beta {i % 3}" for i in range(n)],
        "name": [f"r{start + i}" for i in range(n)],
    }


KINDS = {"tags": "set", "title": "text", "color": "category"}


def write_folders(source):
    """Build some folders; return their paths."""
    table = read_table(rows_of(ROWS), kinds=KINDS)
    numbers = read_table({name: rows_of(ROWS)[name] for name in ("size",)} | {"b": np.arange(ROWS)})
    halves = [(0.5, Vector(), ["size"]), (0.5, Gower(), ["b"])]
    measures = {
        "mixed": (table, Gower(undefined=0.5)),
        "numbers": (numbers, Vector(scale="minmax")),
        "forest": (numbers, ForestProximity("shi", n_estimators=4, random_state=0)),
        "codes": (numbers, StochasticForest(n_estimators=8, random_state=0)),
        "halves": (numbers, Combined(halves)),
    }
    folders = []
    for name, (rows, measure) in measures.items():
        ids = {"id_column": "name"} if name == "mixed" else {}
        index = build_index(rows, source / name, measure, shard_rows=5120, **ids)
        index.delete(index.ids[:2])
        more = rows_of(3, ROWS) if ids else {"size": [0.1, 0.2, 0.3], "b": [1.0, 2.0, 3.0]}
        index.add(more)
        folders.append(source / name)
    return folders


def damage_folder(folder, target, rng):
    """Write a damaged copy of a folder; return what was done in words."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(folder, target, copy_function=os.link)
    shards = sorted((target / "shards").iterdir())
    shard = shards[int(rng.integers(len(shards)))]
    how = str(rng.choice(["manifest", "page", "array", "array", "array", "head", "gone", "raw"]))
    if how == "manifest":
        return change_json(target / "manifest.json", rng)
    if how == "page":
        return change_json(shard / "shard.json", rng)
    if how == "head":
        path = target / "index.lookalike"
        done = mutate(path, target / "draft", rng)
        os.replace(target / "draft", path)
        sign(target / "manifest.json", lambda page: page["head"], path)
        return f"head: {done}"
    if how == "gone":
        name = json.loads((target / "manifest.json").read_bytes())["deleted"]
        path = target / "shards" / name / "0.npy"
        done = change_npy(path, rng)
        sign(path.parent / "shard.json", lambda page: entry_of(page, path.name), path)
        return f"deleted rows: {done}"
    files = sorted(path for path in shard.iterdir() if path.suffix == ".npy")
    if how == "array" and files:
        path = files[int(rng.integers(len(files)))]
        done = change_npy(path, rng)
    else:
        files = [*shard.iterdir(), target / "manifest.json", target / "plan.json"]
        path = files[int(rng.integers(len(files)))]
        replace(path, damage(path.read_bytes(), rng))
        done = "raw"
    if rng.random() < 0.9 and path.parent == shard and path.name != "shard.json":
        sign(shard / "shard.json", lambda page: entry_of(page, path.name), path)
    return f"{shard.name}/{path.name}: {done}"


def entry_of(page, name):
    """Return what a page says of a file."""
    return next(entry for entry in page["files"] if entry[0] == name)


def sign(page_path, entry_of, path):
    """Write size and hash of a file into the page that names it."""
    page = json.loads(page_path.read_bytes())
    entry_of(page)[-2:] = path.stat().st_size, hash_file(path)
    replace(page_path, json.dumps(page).encode())


def replace(path, content):
    """Write a file anew; the one it was linked to stays as it is."""
    path.unlink()
    path.write_bytes(content)


def change_json(path, rng):
    """Change a page, now and then to names that lead elsewhere."""
    page = json.loads(path.read_bytes())
    if rng.random() < 0.4:
        name = NAMES[int(rng.integers(len(NAMES)))]
        if "shards" in page:
            page |= {"shards": [name]} if rng.random() < 0.5 else {"deleted": name}
        else:
            at = int(rng.integers(len(page["files"])))
            page["files"][at][0] = name
            if at < len(page["members"]):
                page["members"][at][1] = name
        done = f"the name {name[:20]!r}"
    else:
        done = change_page(page, [], rng)
    replace(path, json.dumps(page).encode())
    return f"{path.name}: {done}"


def change_npy(path, rng):
    """Change the values, the shape or the type of an array in a file."""
    arrays = [np.load(path)]
    done = (change_value if rng.random() < 0.5 else change_array)(None, arrays, rng)
    text = io.BytesIO()
    np.lib.format.write_array(text, np.asarray(arrays[0]), allow_pickle=False)
    replace(path, text.getvalue())
    return done
