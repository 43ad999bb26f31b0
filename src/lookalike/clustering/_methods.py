"""The methods of clustering by name, and what each can be asked for."""

from __future__ import annotations

from lookalike.clustering._space import Space
from lookalike.errors import InPython, InvalidInput, Param, TooFewRows

AUTO = "auto"
BY_NUMBER = ("spectral", "affinity", "complete", "ward", "medoids")
BY_DENSITY = ("density", "hdbscan")
METHODS = BY_NUMBER + BY_DENSITY
DIRECTED = ("affinity",)  # methods that make sense of distances that differ by direction


def check_request(
    space: Space, who: str, method: str, n_clusters: int | str, landmarks: int | None
) -> None:
    """Refuse what a method cannot do, before anything is computed.

    Parameters
    ----------
    space : Space
    who : str
        The estimator with its method.
    method : str
    n_clusters : int or "auto"
    landmarks : int, optional
        None: all rows are compared with each other.
    """
    n, name = len(space), who.partition("(")[0]
    if not space.measure.traits.symmetric and method not in DIRECTED:
        raise InvalidInput(
            who,
            "distances that are the same in both directions",
            f"{type(space.measure).__name__}, whose distances are directed",
            (
                "Use ",
                Param("method", "affinity"),
                ", or average the two directions",
                InPython(" into Precomputed()"),
            ),
        )
    if method in BY_DENSITY and n_clusters != AUTO:
        raise InvalidInput(
            Param("n_clusters", n_clusters, of=name),
            (Param("n_clusters", "auto"), ": this method finds the number itself"),
            repr(n_clusters),
            "Leave it out, or use another method",
        )
    known = n if landmarks is None else landmarks
    if known > n:
        raise TooFewRows(
            Param("landmarks", known, of=name),
            f"at least {known} rows",
            Param("n_samples", n),
            ("Use ", Param("landmarks", n), ", or leave it out"),
        )
    if n_clusters != AUTO and int(n_clusters) > known:
        what = "rows" if known == n else "landmarks"
        raise TooFewRows(
            Param("n_clusters", n_clusters, of=name),
            f"at least {n_clusters} {what}",
            Param("n_samples", n) if known == n else f"{known}",
            ("Use ", Param("n_clusters", known), f" or add {what}"),
        )
