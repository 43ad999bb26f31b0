"""How much one client may ask for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """How much a request may ask for; what is beyond is refused with a 4xx.

    Parameters
    ----------
    body : int
        Bytes of a JSON body.
    upload : int
        Bytes of a table that is uploaded.
    rows, columns : int
        Of one collection.
    batch : int
        Rows of one write.
    cell : int
        Characters of one text in a request.
    depth : int
        Brackets inside of brackets.
    k : int
        Hits of one search.
    queries : int
        Queries of one search.
    marks : int
        Rows that are liked, or are not, in one search; ids of one profile are ten times as many.
    seconds : float
        Time that one request may take; long work is a job.
    wait : float
        Seconds that ``at_least`` waits.
    rate, burst : float
        Requests per second and at once that one token may make.
    nodes : int
        Nodes of one graph.
    """

    body: int = 16 * 2**20
    upload: int = 512 * 2**20
    rows: int = 2_000_000
    columns: int = 2_000
    batch: int = 10_000
    cell: int = 100_000
    depth: int = 32
    k: int = 1_000
    queries: int = 100
    marks: int = 1_000
    seconds: float = 60.0
    wait: float = 2.0
    rate: float = 200.0
    burst: float = 400.0
    nodes: int = 200
