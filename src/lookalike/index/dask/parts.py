"""Parts of work handed to workers one by one, until all are done, whoever goes away meanwhile."""

from __future__ import annotations

import contextlib
import itertools
import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from lookalike import errors
from lookalike._runtime.progress import Progress
from lookalike.errors import LookalikeError, NoAnswer
from lookalike.index.dask.summary import Summary

AHEAD = 4  # parts per worker thread that the scheduler knows of at a time
RETRIES = 5  # times that a part is handed out again


@dataclass(frozen=True)
class Part:
    """One piece of work.

    Parameters
    ----------
    args : what the task is called with: names of files and numbers, never arrays of rows
    there : bool, whether its answer is there already
    """

    args: tuple[Any, ...]
    there: bool = False


@dataclass(frozen=True)
class Failure:
    """An error of lookalike's own as a task sends it: its class by name, and its message."""

    kind: str
    text: str

    @classmethod
    def of(cls, error: LookalikeError) -> Failure:
        """Return what is to be sent of an error."""
        return cls(type(error).__name__, str(error))

    def error(self) -> LookalikeError:
        """Return the error as it was raised."""
        kind = getattr(errors, self.kind, LookalikeError)
        made: LookalikeError = kind(self.text)
        return made


@dataclass
class _Tally:
    rows: int = 0
    bytes: int = 0
    retries: int = 0
    seen: set[str] = field(default_factory=set)
    here: dict[str, set[str]] = field(default_factory=dict)

    def look(self, client: Any, pending: Iterable[str] = ()) -> None:
        """Note who is there, and with which parts.

        A worker that was away for a moment comes back under its name. The parts of one that is
        lost, which the scheduler hands to others, count as handed out again.
        """
        now = {worker: set(keys) for worker, keys in client.processing().items()}
        for worker in self.here.keys() - now.keys():
            self.retries += len(self.here[worker].intersection(pending))
        self.here = now
        self.seen |= now.keys()

    @property
    def lost(self) -> int:
        """How many workers have gone and not come back."""
        return len(self.seen - self.here.keys())


def run_parts(
    client: Any,
    task: Callable[..., tuple[int, int, Any]],
    parts: Sequence[Part],
    what: str,
    done: Callable[[Any], None] = lambda answer: None,
) -> Summary:
    """Call a task for every part that is not there, and return a summary.

    A worker that is lost costs what it was doing: the scheduler hands it to another, and a part
    whose workers are lost again and again is handed out anew from here. An error of lookalike's own
    says what is wrong with the work, so it ends the work at once; any other is tried again. Where
    no worker is left, the work waits for one to join; a scheduler that is gone is an error.

    Parameters
    ----------
    client : distributed.Client
    task : callable that returns (rows, bytes written, answer)
    parts : sequence of Part
    what : str, for the bar and the summary
    done : callable, told every answer in the order in which they come
    """
    from distributed import as_completed

    began, tally = time.monotonic(), _Tally()
    todo: Iterable[Part] = iter([part for part in parts if not part.there])
    found = sum(part.there for part in parts)
    run, number = uuid.uuid4().hex[:8], itertools.count()
    tally.look(client)
    tries: dict[str, tuple[Part, int]] = {}

    def submit(part: Part, attempt: int = 0) -> Any:
        key = f"{task.__name__}-{run}-{next(number)}"
        tries[key] = part, attempt
        return client.submit(task, *part.args, key=key, pure=False)

    threads = sum(client.nthreads().values()) or 1
    first = [submit(part) for part in itertools.islice(todo, AHEAD * threads)]
    answers = as_completed(first, loop=client.loop)
    with Progress(what, len(parts) - found) as bar:
        try:
            for future in answers:
                part, attempt = tries.pop(future.key)
                if future.status == "finished":
                    rows, size, answer = future.result()
                    if isinstance(answer, Failure):
                        raise answer.error()
                    tally.rows, tally.bytes = tally.rows + rows, tally.bytes + size
                    done(answer)
                    bar.advance()
                    following = next(iter(todo), None)
                    if following is not None:
                        answers.add(submit(following))
                else:
                    _give_up(future, part, attempt)
                    tally.retries += 1
                    answers.add(submit(part, attempt + 1))
                tally.look(client, tries)
        except BaseException as error:
            with contextlib.suppress(OSError):
                client.cancel(list(answers.futures), force=True)
            if isinstance(error, OSError) and not isinstance(error, LookalikeError):
                needed = "a scheduler until all is done"
                hint = "Start it again, then run the same: what is finished is not repeated"
                reason = f"none any more ({type(error).__name__})"
                raise NoAnswer("scale", needed, reason, hint) from error
            raise
    seconds = time.monotonic() - began
    summary = Summary(what, len(parts), found, seconds=seconds)
    return replace(
        summary, rows=tally.rows, bytes=tally.bytes, retries=tally.retries, lost=tally.lost
    )


def _give_up(future: Any, part: Part, attempt: int) -> None:
    """Raise the error of a part that another try would not help."""
    if attempt >= RETRIES:
        error = future.exception() if future.status == "error" else None
        needed = f"an answer for the part {part.args!r}"
        hint = "Look into the log of the workers; what is finished is kept, so run it again then"
        cause = type(error).__name__ if error is not None else future.status
        raise LookalikeError("scale", needed, f"{cause} in {attempt + 1} tries", hint) from error
