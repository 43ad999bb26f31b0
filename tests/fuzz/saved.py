"""The files that the fuzzer damages."""

from corpus import build

from lookalike._save import write


def write_corpus(folder, only=""):
    """Save everything that can be saved; return (name, name of its rows, path)."""
    files = []
    for name, value, rows in build():
        if only in name:
            path = folder / f"{name}.lookalike"
            write(path, value)
            files.append((name, rows, path))
    return files
