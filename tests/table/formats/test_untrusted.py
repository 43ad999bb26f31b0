"""Untrusted files: whatever is in them, reading ends in a table or in our error."""

import gzip
import json
import subprocess
import sys

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

import lookalike as la
from lookalike.errors import UnreadableFile


@pytest.mark.parametrize("name", ["deep.json", "deep.jsonl", "deep.jsonl.gz"])
def test_deep_nesting_is_refused(tmp_path, name):
    text = b'{"a": 1, "b": ' + b"[" * 20_000 + b"]" * 20_000 + b"}"
    text = text if "jsonl" in name else b"[" + text + b"]"
    (tmp_path / name).write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    with pytest.raises(UnreadableFile, match=r"nested less than 256 deep, found brackets 20,00"):
        la.read_table(tmp_path / name)


def test_a_stray_quote_does_not_hide_deep_nesting(tmp_path):
    path = tmp_path / "deep.jsonl"
    path.write_bytes(b'{"a": "}\n{"a": ' + b"[" * 20_000 + b"]" * 20_000 + b"}\n")
    with pytest.raises(UnreadableFile, match="nested"):
        la.read_table(path)


def test_nesting_of_usual_depth_is_read(tmp_path):
    path = tmp_path / "lists.json"
    path.write_text(json.dumps([{"a": [[1, 2], [3]], "b": i} for i in range(3)]))
    assert la.read_table(path).shape[0] == 3


@pytest.mark.parametrize("name", ["zeros.csv.gz", "zeros.json.gz"])
def test_a_file_that_unpacks_to_very_much_more_is_refused(tmp_path, name):
    (tmp_path / name).write_bytes(gzip.compress(b"a,b\n" + b"0,0\n" * 25_000_000, 9))
    with pytest.raises(UnreadableFile, match=r"content of at most .*Read it in parts"):
        la.read_table(tmp_path / name)


def test_unpacked_content_obeys_the_memory_limit(tmp_path):
    path = tmp_path / "rows.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 400_000))
    assert la.read_table(path).shape == (400_000, 2)
    with la.config(memory_limit="1MB"), pytest.raises(UnreadableFile, match="at most"):
        la.read_table(path)


@pytest.mark.parametrize("name", ["rows.parquet", "rows.feather"])
def test_batches_obey_the_memory_limit(tmp_path, name):
    table = pa.table({"a": ["the same words again and again"] * 200_000, "b": range(200_000)})
    write = pyarrow.parquet.write_table if "parquet" in name else pyarrow.feather.write_feather
    write(table, tmp_path / name)
    with la.config(memory_limit="1MB"), pytest.raises(UnreadableFile, match="at most"):
        la.read_table(tmp_path / name)


def test_indices_of_a_dictionary_are_validated(tmp_path):
    codes = pa.array([0, 1, 2, 1], pa.int32())
    cells = pa.DictionaryArray.from_arrays(codes, pa.array(["x", "y", "z"]))
    table = pa.table({"a": cells, "b": [1.0, 2.0, 3.0, 4.0]})
    path = tmp_path / "rows.feather"
    pyarrow.feather.write_feather(table, path, compression="uncompressed")
    whole = path.read_bytes()
    raw = codes.buffers()[1].to_pybytes()
    assert whole.count(raw) == 1
    path.write_bytes(whole.replace(raw, b"\xff\xff\xff\x7f" + raw[4:]))
    with pytest.raises(UnreadableFile, match="a complete arrow file"):
        la.read_table(path)


def test_a_line_with_a_long_field_too_many_is_named(tmp_path):
    path = tmp_path / "long.csv"
    path.write_text('a,b\n1,2\n1,"' + "x" * 200_000 + '",3\n')
    with pytest.raises(UnreadableFile, match="Expected 2 columns, got 3"):
        la.read_table(path)


FLIPS = """
import sys
from pathlib import Path
import lookalike as la
from lookalike.errors import LookalikeError

path = Path(sys.argv[1])
whole = path.read_bytes()
start = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
for at in range(start, len(whole)):
    for bit in (1, 2, 4):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ bit]) + whole[at + 1 :])
        try:
            la.read_table(path)
        except LookalikeError:
            pass
print("no crash")
"""


def test_no_bit_of_a_footer_ends_the_process(tmp_path):
    """A flag of the schema that statistics do not fit ended it: in a process of its own."""
    path = tmp_path / "rows.parquet"
    table = pa.table({"a": ["x", None, "y"], "b": [1.0, 2.0, None]})
    pyarrow.parquet.write_table(table, path, store_schema=False)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FLIPS, str(path)], capture_output=True, text=True
    )
    assert (done.stdout, done.returncode) == ("no crash\n", 0), done.stderr
