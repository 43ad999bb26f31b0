"""Tasks scheduled on workers until all are done, also when workers are lost; what it took."""

from __future__ import annotations

import contextlib
import itertools
import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from lookalike import errors
from lookalike._runtime.config import show_bytes
from lookalike._runtime.progress import Progress
from lookalike.errors import LookalikeError, NoAnswer

# Enough that no worker thread waits for the driver, few enough that a scheduler with many workers
# holds thousands of tasks, not millions (chosen by hand).
TASKS_PER_THREAD = 4
MAX_RETRIES = 5  # a task that fails more often is at fault itself, not its workers


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
    retries : int, tasks that were submitted again, because they failed or their worker was lost
    lost : int, workers that were lost meanwhile

    Examples
    --------
    >>> print(Summary("encoded", 4, 1, 3_000_000, 630_000_000, 12.5, 1, 1))
    encoded 3,000,000 rows in 12.5 s (240,000 rows/s), 630 MB (210 bytes/row); 4 tasks, 1 of them
    done before; 1 submitted again, 1 worker lost
    """

    what: str
    tasks: int
    found: int = 0
    rows: int = 0
    bytes: int = 0
    seconds: float = 0.0
    retries: int = 0
    lost: int = 0

    @property
    def rows_per_second(self) -> float:
        """Rows done per second."""
        return self.rows / self.seconds if self.seconds else 0.0

    def __str__(self) -> str:
        each = f" ({self.bytes / self.rows:,.0f} bytes/row)" if self.rows else ""
        text = (
            f"{self.what} {self.rows:,} rows in {self.seconds:.1f} s "
            f"({self.rows_per_second:,.0f} rows/s), {show_bytes(self.bytes)}{each}; "
            f"{self.tasks:,} task{'' if self.tasks == 1 else 's'}"
        )
        if self.found:
            text += f", {self.found:,} of them done before"
        if self.retries or self.lost:
            workers = f"{self.lost:,} worker{'' if self.lost == 1 else 's'} lost"
            text += f"; {self.retries:,} submitted again, {workers}"
        return text


@dataclass(frozen=True)
class WorkItem:
    """The arguments of one task.

    Parameters
    ----------
    args : names of files and numbers, never arrays of rows
    done : bool, whether its result was found, from an earlier run
    """

    args: tuple[Any, ...]
    done: bool = False


@dataclass(frozen=True)
class Failure:
    """An error of lookalike as a task returns it: the name of its class, and its message."""

    kind: str
    text: str

    def error(self) -> LookalikeError:
        """Return the error as it was raised."""
        made: LookalikeError = getattr(errors, self.kind, LookalikeError)(self.text)
        return made


@dataclass
class _Workers:
    """Which workers were seen, which are there, and how many tasks were submitted again."""

    retries: int = 0
    seen: set[str] = field(default_factory=set)
    present: dict[str, set[str]] = field(default_factory=dict)

    def update(self, client: Any, pending: Iterable[str] = ()) -> None:
        """Ask the scheduler which workers it has, and with which tasks.

        A worker that was away for a moment returns under its name. The tasks of a lost one, which
        the scheduler passes to others, count as submitted again.
        """
        now = {worker: set(keys) for worker, keys in client.processing().items()}
        for worker in self.present.keys() - now.keys():
            self.retries += len(self.present[worker].intersection(pending))
        self.present = now
        self.seen |= now.keys()

    @property
    def lost(self) -> int:
        """How many workers are lost and have not returned."""
        return len(self.seen - self.present.keys())


def run_items(
    client: Any,
    task: Callable[..., tuple[int, int, Any]],
    items: Sequence[WorkItem],
    what: str,
    done: Callable[[Any], None] = lambda answer: None,
) -> Summary:
    """Run a task for every item that is not done, and return a summary.

    A lost worker costs the tasks it was running: the scheduler passes them to another one, and a
    task whose workers are lost repeatedly is submitted again from here. An error of lookalike
    means that the work itself is wrong, so it ends the run; any other error is retried. Where no
    worker is left, the run waits for one to join; a scheduler that is gone is an error.

    Parameters
    ----------
    client : distributed.Client
    task : callable that returns (rows, bytes written, answer)
    items : sequence of WorkItem
    what : str, for the progress bar and the summary
    done : callable, called with every answer in order of completion
    """
    from distributed import as_completed

    began, workers = time.monotonic(), _Workers()
    todo = iter([item for item in items if not item.done])
    found = sum(item.done for item in items)
    rows = size = 0
    # Keys are unique per run: a scheduler may still hold the results of an earlier one.
    run, number = uuid.uuid4().hex[:8], itertools.count()
    workers.update(client)
    attempts: dict[str, tuple[WorkItem, int]] = {}

    def submit(item: WorkItem, attempt: int = 0) -> Any:
        key = f"{task.__name__}-{run}-{next(number)}"
        attempts[key] = item, attempt
        return client.submit(task, *item.args, key=key, pure=False)

    threads = sum(client.nthreads().values()) or 1
    first = [submit(item) for item in itertools.islice(todo, TASKS_PER_THREAD * threads)]
    answers = as_completed(first, loop=client.loop)
    with Progress(what, len(items) - found) as bar, _cancelling(client, answers):
        for future in answers:
            item, attempt = attempts.pop(future.key)
            if future.status == "finished":
                n, written, answer = future.result()
                if isinstance(answer, Failure):
                    raise answer.error()
                rows, size = rows + n, size + written
                done(answer)
                bar.advance()
                for following in itertools.islice(todo, 1):
                    answers.add(submit(following))
            else:
                _check_attempts(future, item, attempt)
                workers.retries += 1
                answers.add(submit(item, attempt + 1))
            workers.update(client, attempts)
    seconds = time.monotonic() - began
    return Summary(what, len(items), found, rows, size, seconds, workers.retries, workers.lost)


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


def _check_attempts(future: Any, item: WorkItem, attempt: int) -> None:
    """Raise the error of a task that was retried often enough."""
    if attempt >= MAX_RETRIES:
        error = future.exception() if future.status == "error" else None
        cause = type(error).__name__ if error is not None else future.status
        hint = "Look into the log of the workers; finished tasks are kept, so run it again then"
        needed, found = f"a result for the task {item.args!r}", f"{cause} in {attempt + 1} tries"
        raise LookalikeError("scale", needed, found, hint) from error
