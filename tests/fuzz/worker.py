"""A process that loads damaged files and asks what came out of them; it may die.

Reads lines ``kind TAB rows TAB path`` and writes one line each: ``ok``, ``clean`` or ``FOREIGN``.
"""

import os
import resource
import signal
import sys
import time
import traceback
import warnings

MEMORY = 3 * 2**30


def use(value, rows):
    """Ask a loaded object whatever it can answer."""
    import numpy as np

    for question in (repr, str):
        question(value)
    name = type(value).__name__
    if name == "Table":
        value.summary()
        value.record(0)
        return value[[0, 1]].record(1)
    if name == "NeighborGraph":
        return value.merge(value).to_csr(), value[:2].finish("last")
    if name == "Index":
        ids = value.ids
        value.search(ids[0], k=3)
        value.search(value.get(ids[1]), k=2, like=[ids[0]], unlike=[ids[2]])
        value.explain(ids[0], ids[1])
        value.drift()
        value.records()
        value.delete(ids[:1])
        return len(value), value.table
    if name == "ReFeat":
        return value.search(0, 3, like=[1]), value.relevance({"a": 0.1, "b": 0.2, "c": 0.3})
    if rows is None:
        return None
    for verb in ("predict", "predict_proba", "transform", "score_samples", "decision_path"):
        if hasattr(value, verb):
            getattr(value, verb)(rows)
    if hasattr(value, "similarity"):
        value.kneighbors(n_neighbors=2)
        value.similarity()
        value.distance(rows)
        value.kneighbors(rows, n_neighbors=2)
        value.explain(0, 1)
    elif hasattr(value, "explain") and hasattr(value, "rows_"):
        value.explain(0)
    return np.zeros(1)


def use_folder(index):
    """Ask an index in a folder, without changing it: its files are others' too."""
    ids = index.ids
    index.search(ids[0], k=3)
    index.search({**index.get(ids[-1]), "size": 0.5}, k=2, like=[ids[1]], unlike=[ids[2]])
    index.search(ids[1], k=3, filter={"size": (">", 0.5)})
    index.explain(ids[0], ids[-1])
    index.drift()
    index.count({"size": (">", 0.5)})
    index.records(ids[:3])
    if "title" not in index.sample.names:  # texts take a while
        index.neighbors(2)


def answer(kind, rows, path):
    """Return the outcome of one file."""
    from sklearn.exceptions import NotFittedError

    from fuzz.corpus import ROWS
    from lookalike.errors import LookalikeError
    from lookalike.index import Index
    from lookalike.saving.decode import read

    try:
        if kind == "table":
            import lookalike as la

            table = la.read_table(path)
            table.summary()
            outcome = f"ok {table.shape}"
        elif kind == "folder":
            index = Index.open(path)
            faults = index.check()
            if faults:
                return f"clean {len(faults)} faults"
            outcome = "ok"
            use_folder(index)
        else:
            value = read(path)
            outcome = "ok"
            rows = ROWS[rows]()
            if len(getattr(getattr(value, "schema_", None), "kinds", ())) == 1 and kind == "one":
                rows = rows.compare_by(list(value.schema_.kinds))
            use(value, rows)
    except (LookalikeError, NotFittedError) as error:
        return f"clean {type(error).__name__}"
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        last = traceback.extract_tb(error.__traceback__)[-1]
        first = [f for f in traceback.extract_tb(error.__traceback__) if "lookalike" in f.filename]
        where = first[-1] if first else last
        place = f"{where.filename.rpartition('lookalike/')[2]}:{where.lineno}"
        return f"FOREIGN {type(error).__name__} at {place}: {str(error)[:100]!r}"
    return outcome


def main():
    """Answer until there is nothing more to read."""
    warnings.simplefilter("ignore")
    import pyarrow

    from lookalike.saving.load import import_packages

    import_packages()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    print("ready", flush=True)
    for line in sys.stdin:
        kind, rows, path = line.rstrip("\n").split("\t")
        if kind == "crash":  # what the tests of the driver ask for
            os.kill(os.getpid(), signal.SIGSEGV)
        elif kind == "hang":
            time.sleep(600.0)
        print(answer(kind, rows, path).replace("\n", " "), flush=True)
        pyarrow.default_memory_pool().release_unused()  # or one file leaves no room for the next


if __name__ == "__main__":
    main()
