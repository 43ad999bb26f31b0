"""The files that the fuzzer damages: saved estimators, and a table in every format."""

import gzip
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet

from fuzz.corpus import build
from lookalike.saving.encode import write

ROWS = [
    {
        "size": None if i == 3 else i * 1.5,
        "count": i,
        "color": "red green blue".split()[i % 3],
        "day": f"2024-01-{i + 1:02d}",
        "title": f"a longer text, with {i} 'quotes'",
        "new": i % 2 == 0,
        "tags": ["a", "b", "c"][: i % 4],
    }
    for i in range(12)
]


def write_corpus(folder, only=""):
    """Save everything that can be saved; return (name, name of its rows, path)."""
    files = []
    for name, value, rows in build():
        if only in name:
            path = folder / f"{name}.lookalike"
            write(path, value)
            files.append((name, rows, path))
    return files


def write_tables(folder):
    """Write one table in every format; return the paths."""
    flat = [{name: cell for name, cell in row.items() if name != "tags"} for row in ROWS]
    frame, table = pd.DataFrame(flat), pa.Table.from_pylist(ROWS)
    coded = table.set_column(2, "color", table["color"].dictionary_encode())
    frame.to_csv(folder / "rows.csv", index=False)
    frame.to_csv(folder / "rows.tsv", index=False, sep="\t")
    (folder / "rows.json").write_text(json.dumps(ROWS))
    (folder / "columns.json").write_text(json.dumps(frame.astype(object).to_dict("list")))
    (folder / "rows.jsonl").write_text("\n".join(map(json.dumps, ROWS)))
    pyarrow.parquet.write_table(coded, folder / "rows.parquet")
    pyarrow.parquet.write_table(table, folder / "plain.parquet", compression="none")
    pyarrow.feather.write_feather(coded, folder / "rows.feather", compression="lz4")
    pyarrow.feather.write_feather(coded, folder / "plain.feather", compression="uncompressed")
    with pyarrow.ipc.new_stream(folder / "rows.arrow", coded.schema) as stream:
        stream.write_table(coded)
    frame.to_excel(folder / "rows.xlsx", index=False)
    np.save(folder / "rows.npy", np.arange(36.0).reshape(12, 3))
    for name in ("rows.csv", "rows.jsonl", "rows.npy", "rows.parquet"):
        (folder / f"{name}.gz").write_bytes(gzip.compress((folder / name).read_bytes()))
    return sorted(path for path in folder.iterdir() if path.suffix != ".lookalike")
