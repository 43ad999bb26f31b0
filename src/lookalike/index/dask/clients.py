"""Connect to workers: an open client, a scheduler by its address, or a local cluster."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from lookalike.errors import MissingExtra, NoAnswer, Param, Phrase, WrongType

ADDRESS = re.compile(r"((tcp|tls|ws|wss|ucx)://)?[^\s/]+:\d+/?|inproc://\S+")
LOCAL_DASHBOARD = "127.0.0.1:0"
SCHEDULER_TIMEOUT = 10.0  # seconds
# Times as long for the first worker, which starts later (chosen by hand).
WORKER_TIMEOUTS = 6


@contextmanager
def connect(
    client: Any = None, *, n_workers: int | None = None, timeout: float = SCHEDULER_TIMEOUT
) -> Iterator[Any]:
    """Return a Dask client for a block; a client or cluster started here is closed at its end.

    Workers are processes that have lookalike installed, in this version, and see the same folders
    under the same paths. Dask runs whatever its clients send: a scheduler belongs into a trusted
    network.

    Parameters
    ----------
    client : distributed.Client, address, or None
        A client is used as it is and left open. An address such as ``"tcp://scheduler:8786"`` is
        connected to. None: as many worker processes on this machine as it has cores.
    n_workers : int, optional
        Worker processes of a local cluster.
    timeout : float
        Seconds that a scheduler has to answer; its first worker has six times as long.

    Examples
    --------
    >>> from lookalike.index.dask import connect
    >>> with connect(n_workers=1) as client:  # doctest: +SKIP
    ...     client.submit(sum, [1, 2]).result()
    3
    """
    distributed = _load_distributed()
    if isinstance(client, distributed.Client):
        _wait_for_worker(client, timeout, "the client's scheduler")
        yield client
    elif isinstance(client, str):
        made = _open(distributed, client, timeout)
        try:
            _wait_for_worker(made, timeout, client)
            yield made
        finally:
            made.close()
    elif client is None:
        workers = n_workers or os.cpu_count() or 1
        # A free port: the usual one may be taken. On loopback: None would bind all interfaces.
        options: dict[str, Any] = {
            "dashboard_address": LOCAL_DASHBOARD,
            "silence_logs": logging.CRITICAL,
        }
        with (
            distributed.LocalCluster(workers, threads_per_worker=1, **options) as cluster,
            distributed.Client(cluster, set_as_default=False) as made,
        ):
            yield made
    else:
        needed = "a distributed.Client, the address of a scheduler, or None"
        hint = Phrase("Pass for example ", Param("scheduler", "tcp://scheduler:8786"))
        raise WrongType("scale", needed, type(client).__name__, hint)


def _load_distributed() -> Any:
    try:
        import distributed
    except ImportError as error:
        hint = 'Install it with: pip install "lookalike[dask]"'
        raise MissingExtra("scale", "distributed", "it is not installed", hint) from error
    return distributed


def _open(distributed: Any, address: str, timeout: float) -> Any:
    needed = f"an answer from the scheduler at {address}"
    hint = (
        "Start one with: dask scheduler; check the address, which is written as "
        "tcp://scheduler:8786, and that no firewall is between; or leave it out to use this machine"
    )
    # Dask's client would wait for it, then raise an error of its own.
    if not ADDRESS.fullmatch(address):
        raise NoAnswer("scale", needed, "that this is not an address", hint)
    try:
        return distributed.Client(address, timeout=timeout, set_as_default=False)
    except (OSError, ValueError) as error:
        found = f"none within {timeout:g} seconds ({type(error).__name__})"
        raise NoAnswer("scale", needed, found, hint) from error


def _wait_for_worker(client: Any, timeout: float, name: str) -> None:
    timeout *= WORKER_TIMEOUTS
    try:
        client.wait_for_workers(1, timeout=timeout)
    except TimeoutError as error:
        hint = "Start workers on machines that see the same folders: dask worker ADDRESS"
        found = f"none within {timeout:g} seconds"
        raise NoAnswer("scale", f"a worker at {name}", found, hint) from error
