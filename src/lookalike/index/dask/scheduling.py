"""Tasks scheduled on workers until all are done, also when workers are lost; what it took.

Workers are those of an open client, of a scheduler by its address, or of a local cluster.
"""

import contextlib
import itertools
import logging
import os
import re
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from lookalike._runtime.config import show_bytes
from lookalike._runtime.extras import needing
from lookalike._runtime.progress import Progress
from lookalike._version import __version__
from lookalike.errors import LookalikeError, NoAnswer, Param, Phrase, WrongType

# Enough that no worker thread waits for the driver, few enough that a scheduler with many workers
# holds thousands of tasks, not millions (chosen by hand).
TASKS_PER_THREAD = 4
Folder = str | os.PathLike[str]
MAX_RETRIES = 5  # a task that fails more often is at fault itself, not its workers


class Failure(NamedTuple):
    """An error of a task in parts.

    Errors derive from two families of exceptions, which Dask cannot return as they are.
    """

    kind: type[LookalikeError]
    parts: tuple[Any, ...]

    def error(self) -> LookalikeError:
        """Return the error, to be raised where the work began."""
        return self.kind(*self.parts[:4], problem=self.parts[4])


@dataclass(frozen=True)
class Summary:
    """Statistics of a distributed computation.

    Parameters
    ----------
    what : str, what was done
    tasks : int, tasks in all
    found : int, tasks whose result was there already, from an earlier run
    rows : int, rows of the tasks that were run
    bytes : int, bytes written for them
    seconds : float
    retries : int, tasks that failed and were submitted again

    Examples
    --------
    >>> print(Summary("encoded", 4, 1, 3_000_000, 630_000_000, 12.5, 1))
    encoded 3,000,000 rows in 12.5 s (240,000 rows/s), 630 MB (210 bytes/row); 4 tasks, 1 of them
    done before; 1 submitted again
    """

    what: str
    tasks: int
    found: int = 0
    rows: int = 0
    bytes: int = 0
    seconds: float = 0.0
    retries: int = 0

    def __str__(self) -> str:
        speed = self.rows / self.seconds if self.seconds else 0.0
        each = f" ({self.bytes / self.rows:,.0f} bytes/row)" if self.rows else ""
        text = (
            f"{self.what} {self.rows:,} rows in {self.seconds:.1f} s "
            f"({speed:,.0f} rows/s), {show_bytes(self.bytes)}{each}; "
            f"{self.tasks:,} task{'' if self.tasks == 1 else 's'}"
        )
        if self.found:
            text += f", {self.found:,} of them done before"
        return text + (f"; {self.retries:,} submitted again" if self.retries else "")


Tell = Callable[[Summary], None]


def run_items(
    client: Any,
    task: Callable[..., tuple[int, int, Any]],
    folder: Folder,
    items: Sequence[tuple[Any, ...]],
    what: str,
    found: int = 0,
) -> tuple[list[Any], Summary]:
    """Run a task for every item; return the answers in the order of the items, and a summary.

    A lost worker costs the tasks it was running: the scheduler passes them to another one, and a
    task whose workers are lost repeatedly is submitted again from here. An error of lookalike
    means that the work itself is wrong, so it ends the run; any other error is retried. Where no
    worker is left, the run waits for one to join; a scheduler that is gone is an error.

    Parameters
    ----------
    client : distributed.Client
    task : callable that returns (rows, bytes written, answer)
        Called with folder, version and an item; its answer may be an error of lookalike.
    folder : path, of what all tasks work on
    items : sequence of tuples
        Names of files, numbers and queries, never arrays of rows that are searched.
    what : str, for the progress bar and the summary
    found : int, tasks whose result was there already
    """
    from distributed import as_completed

    began, todo = time.monotonic(), enumerate(items)
    rows = size = retries = 0
    answers: list[Any] = [None] * len(items)
    # Keys are unique per run: a scheduler may still hold the results of an earlier one.
    run, number = uuid.uuid4().hex[:8], itertools.count()
    attempts: dict[str, tuple[int, tuple[Any, ...], int]] = {}

    def submit(place: int, item: tuple[Any, ...], attempt: int = 0) -> Any:
        key = f"{task.__name__}-{run}-{next(number)}"
        attempts[key] = place, item, attempt
        return client.submit(task, str(folder), __version__, *item, key=key, pure=False)

    threads = sum(client.nthreads().values()) or 1
    first = [submit(*item) for item in itertools.islice(todo, TASKS_PER_THREAD * threads)]
    futures = as_completed(first, loop=client.loop)
    with Progress(what, len(items)) as bar, _cancelling(client, futures):
        for future in futures:
            place, item, attempt = attempts.pop(future.key)
            if future.status != "finished":
                if attempt >= MAX_RETRIES:
                    raise _given_up(future, item)
                retries += 1
                futures.add(submit(place, item, attempt + 1))
                continue
            n, written, answers[place] = future.result()
            if isinstance(answers[place], Failure):
                raise answers[place].error()
            rows, size = rows + n, size + written
            bar.advance()
            for following in itertools.islice(todo, 1):
                futures.add(submit(*following))
    seconds = time.monotonic() - began
    return answers, Summary(what, found + len(items), found, rows, size, seconds, retries)


def _given_up(future: Any, item: tuple[Any, ...]) -> LookalikeError:
    error = future.exception() if future.status == "error" else None
    cause = future.status if error is None else type(error).__name__
    hint = "Look into the log of the workers; finished tasks are kept, so run it again then"
    needed, found = f"a result for the task {item!r:.200}", f"{cause} in {MAX_RETRIES + 1} tries"
    made = LookalikeError("scale", needed, found, hint)
    made.__cause__ = error
    return made


@contextlib.contextmanager
def _cancelling(client: Any, answers: Any) -> Any:
    """Cancel what is under way if the block fails; a lost scheduler becomes a ``NoAnswer``."""
    try:
        yield
    except BaseException as error:
        # Ctrl-C included: workers must not go on with tasks that no client waits for.
        with contextlib.suppress(OSError):
            client.cancel(list(answers.futures), force=True)
        if isinstance(error, OSError) and not isinstance(error, LookalikeError):
            needed = "a scheduler until all is done"
            hint = "Start it again, then run the same: finished tasks are not repeated"
            reason = f"none any more ({type(error).__name__})"
            raise NoAnswer("scale", needed, reason, hint) from error
        raise


ADDRESS = re.compile(r"((tcp|tls|ws|wss|ucx)://)?[^\s/]+:\d+/?|inproc://\S+")
LOCAL_DASHBOARD = "127.0.0.1:0"
SCHEDULER_TIMEOUT = 10.0  # seconds
# Times as long for the first worker, which starts later (chosen by hand).
WORKER_TIMEOUTS = 6


@contextlib.contextmanager
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
    with needing("dask", "scale"):
        import distributed
    name = client if isinstance(client, str) else "the client's scheduler"
    with contextlib.ExitStack() as stack:
        if client is None:
            workers = n_workers or os.cpu_count() or 1
            # A free port: the usual one may be taken. On loopback: None would bind all interfaces.
            options = {"dashboard_address": LOCAL_DASHBOARD, "silence_logs": logging.CRITICAL}
            cluster = distributed.LocalCluster(workers, threads_per_worker=1, **options)
            stack.enter_context(cluster)
            client = stack.enter_context(distributed.Client(cluster, set_as_default=False))
        elif isinstance(client, str):
            client = stack.enter_context(_open(distributed, client, timeout))
        elif not isinstance(client, distributed.Client):
            needed = "a distributed.Client, the address of a scheduler, or None"
            hint = Phrase("Pass for example ", Param("scheduler", "tcp://scheduler:8786"))
            raise WrongType("scale", needed, type(client).__name__, hint)
        timeout *= WORKER_TIMEOUTS
        try:
            client.wait_for_workers(1, timeout=timeout)
        except TimeoutError as error:
            advice = "Start workers on machines that see the same folders: dask worker ADDRESS"
            found = f"none within {timeout:g} seconds"
            raise NoAnswer("scale", f"a worker at {name}", found, advice) from error
        yield client


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
