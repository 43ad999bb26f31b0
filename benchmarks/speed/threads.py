"""The same number of threads for everybody."""

from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import threadpool_limits

import lookalike as la


@contextmanager
def limited(threads: int | None) -> Iterator[None]:
    """Hold our own threads, BLAS and OpenMP to one number; None leaves all cores to each."""
    if threads is None:
        yield
        return
    with la.config(n_jobs=threads), threadpool_limits(threads):
        yield
