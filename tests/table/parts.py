"""Tables cut into Parquet files, and whether what comes back is the same."""

import itertools

import numpy as np
import pyarrow as pa
import pyarrow.parquet


def cut(rows, folder, at, group=None):
    """Write an Arrow table as one file per part, cut at these rows; return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    ends = [0, *sorted(min(end, len(rows)) for end in at), len(rows)]
    for number, (start, stop) in enumerate(itertools.pairwise(ends)):
        part = rows.slice(start, stop - start)
        path = folder / f"part-{number:03d}.parquet"
        pyarrow.parquet.write_table(part, path, row_group_size=group or max(1, len(rows)))
    return folder


def arrow(columns):
    """Return plain columns as Arrow would write them; sets become lists."""
    plain = {
        name: [sorted(c) if isinstance(c, frozenset | set) else c for c in cells]
        for name, cells in columns.items()
    }
    return pa.table(plain)


def same_values(one, other):
    """Whether cells are the same, to the last bit of a number but for which NaN it is."""
    if one.dtype != other.dtype or one.shape != other.shape:
        return False
    if one.dtype == object:
        pairs = zip(one, other, strict=True)
        return all(np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b for a, b in pairs)
    return np.array_equal(one, other, equal_nan=one.dtype.kind == "f")


def assert_same(lazy, whole):
    """Check that a table in files is what reading all of it gives."""
    assert lazy.schema == whole.schema
    read = lazy.read()
    for mine, theirs in zip(read.columns + read.aside, whole.columns + whole.aside, strict=True):
        assert (mine.name, mine.kind) == (theirs.name, theirs.kind)
        assert same_values(mine.values, theirs.values), mine.name
        assert lazy.n_missing[mine.name] == int(theirs.missing.sum()), mine.name
