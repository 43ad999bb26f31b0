"""k-medoids of a matrix of distances; the only place that calls the ``kmedoids`` library."""

from __future__ import annotations

import numpy as np

__all__ = ["fasterpam"]


def fasterpam(
    distances: np.ndarray, k_or_start: int | np.ndarray, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Choose k rows such that all rows are near to one of them (k-medoids by FasterPAM).

    Parameters
    ----------
    distances : float64 array of shape (n, n)
    k_or_start : int, or int array of positions
        How many medoids, started by BUILD, or the medoids to start from.
    seed : int
        The order in which exchanges are tried.

    Returns
    -------
    medoids : int64 array of positions
    labels : int64 array of n
        Which of the medoids is nearest to each row.

    References
    ----------
    .. [1] E. Schubert, P. J. Rousseeuw (2021). Fast and eager k-medoids clustering. Information
       Systems 101, 101804. doi:10.1016/j.is.2021.101804
    """
    import kmedoids

    found = kmedoids.fasterpam(distances, k_or_start, init="build", random_state=seed, n_cpu=1)
    return np.asarray(found.medoids, dtype=np.int64), np.asarray(found.labels, dtype=np.int64)
