"""How much one client may ask for, and how often.

The library and the shell have none of these limits: there the caller also pays for the work.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections import OrderedDict
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lookalike._runtime.options import read_option, split_options
from lookalike.errors import InvalidInput, Param, TooLarge
from lookalike.verbs.measures import SYNONYMS


@dataclass(frozen=True)
class RequestLimits:
    """How much one request may ask for; more is refused with a 4xx.

    Parameters
    ----------
    body : int
        Bytes of a JSON body.
    upload : int
        Bytes of a table that is uploaded.
    rows, columns : int
        Of one collection.
    unpacked : int or None
        Bytes that a small packed file (Parquet, Arrow, gzip, Excel) may hold, 8 at least for each
        cell; a larger file may hold 200 times its size. None: as much as fits in memory.
    batch : int
        Rows of one write.
    cell : int
        Characters of one text in a request.
    depth : int
        Nested brackets of a JSON body.
    k : int
        Hits of one search.
    pairs : int
        Rows times ``k`` or ``draws``, of a verb that has so many answers for each row. Matches
        without replacement count ``k`` times: they are chosen among lists of twice the length.
    queries : int
        Queries of one search.
    marks : int
        Rows that are liked, or are not, in one search; ids of one profile are ten times as many.
    values : int
        Values of one filter.
    measures : int
        Measures that are compared in one request.
    seconds : float
        Processor time of one request, of its busiest thread; long work is a job. Waiting is not
        counted, so that a busy machine refuses nothing, but after ten times as long it ends, too.
    headers : float
        Seconds until the headers of a request have arrived.
    wait : float
        Seconds that ``at_least`` waits.
    rate, burst : float
        Requests per second, and requests in a burst, that one token may make.
    nodes : int
        Nodes of one graph.
    """

    # All chosen by hand: far above what the page sends, far below what fills the memory.
    body: int = 16 * 2**20
    upload: int = 512 * 2**20
    rows: int = 2_000_000
    columns: int = 2_000
    unpacked: int | None = 16 * 2**20
    batch: int = 10_000
    cell: int = 100_000
    depth: int = 32
    k: int = 1_000
    pairs: int = 200_000
    queries: int = 100
    marks: int = 1_000
    values: int = 10_000
    measures: int = 50
    seconds: float = 60.0
    headers: float = 20.0
    wait: float = 2.0
    rate: float = 200.0
    burst: float = 400.0
    nodes: int = 200


# The most that a request may ask for of whatever multiplies the work or the memory: options of
# measures and of methods, and parameters of verbs. Chosen by hand, ten times what helps and more.
AT_MOST = {
    "n_estimators": 20_000,
    "height": 32,
    "max_depth": 1_000,
    "max_samples": 100_000,
    "synthetic": 100_000,
    "max_retries": 1_000,
    "max_iter": 1_000,
    "n_neighbors": 1_000,
    "min_neighbors": 1_000,
    "n_candidates": 10_000,
    "sample": 100_000,
    "landmarks": 10_000,
    "n_jobs": 64,
    "n_clusters": 1_000,
    "folds": 50,
    "n": 1_000,
    "draws": 100,
}


# Parameters that may be lists of records.
LISTED = ("predict", "other", "control", "synthetic", "holdout", "decisions")


def check_options(text: Any, who: str = "measure") -> None:
    """Refuse options of a measure or a method that ask for more than a server can give.

    Examples
    --------
    >>> check_options("ratio:n_trees=200")
    >>> check_options("nicdm:measure=ratio:n_trees=1000000000")
    Traceback (most recent call last):
    lookalike.errors.InvalidInput: measure: needs n_trees of at most 20,000, found 1,000,000,000. \
Use n_trees=20000.
    """
    for name, value in _options(text):
        most = AT_MOST.get(SYNONYMS.get(name, name))
        if most is not None and not value <= most:
            needed, hint = f"{name} of at most {most:,}", f"Use {name}={most}"
            raise InvalidInput(Param(who), needed, f"{value:,}", hint)


def _options(value: Any, name: str = "") -> Iterator[tuple[str, float]]:
    """Yield the numbers in a text of options, with the options that they belong to."""
    if isinstance(value, str):
        # The first option follows the name of the measure, which may be the value of another.
        for option, equals, word in (part.partition("=") for part in split_options(value)):
            if equals:
                yield from _options(read_option(word.strip()), option.rpartition(":")[2].strip())
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _options(inner, str(key))
    elif isinstance(value, list):
        for inner in value:
            yield from _options(inner, name)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield name, value


def check_verb(given: Mapping[str, Any], limits: RequestLimits, rows: int = 0) -> None:
    """Refuse a question to a verb that asks for more than a server can give.

    Parameters
    ----------
    given : mapping of parameters of the verb to their values
    limits : RequestLimits
    rows : int
        Of the table that is asked about.
    """
    most = AT_MOST | {"k": limits.k}
    for name, value in given.items():
        number = float(value) if isinstance(value, str) and value.isdecimal() else value
        if isinstance(number, int | float) and number > most.get(name, number):
            needed, hint = f"at most {most[name]:,}", ("Use ", Param(name, most[name]))
            raise InvalidInput(Param(name, value), needed, f"{number:,.0f}", hint)
    for name in ("measure", "method", "measures"):
        check_options(given.get(name), name)
    measures = given.get("measures")
    listed = split_options(measures) if isinstance(measures, str) else measures
    check_at_most("measures", len(listed or ()), limits.measures)
    marks = dict.fromkeys(("like", "unlike"), limits.marks)
    for name, count in (marks | dict.fromkeys(LISTED, limits.batch)).items():
        check_at_most(name, len(given[name]) if isinstance(given.get(name), list) else 0, count)
    check_filter(given.get("filter"), limits)
    _check_pairs(given, limits, rows)


def _check_pairs(given: Mapping[str, Any], limits: RequestLimits, rows: int) -> None:
    once = "control" in given and not given.get("replace")
    name = "k" if "other" in given or "control" in given else "draws"
    each = given.get(name) or 0
    most = int((limits.pairs / max(1, rows)) ** (0.5 if once else 1.0))
    if each > max(1, most):
        needed = f"at most {max(1, most):,} for {rows:,} rows"
        hint = "Ask about fewer rows, or less"
        raise InvalidInput(Param(name, each), needed, f"{each:,}", hint)


def check_at_most(what: str, count: int, most: int) -> None:
    """Refuse more of something than one request may have."""
    if count > most:
        raise TooLarge(what, f"at most {most:,}", f"{count:,}", "Send several requests")


def check_filter(filter: Any, limits: RequestLimits) -> None:
    """Refuse a filter of very many values."""
    values = list(leaves(filter))
    # A condition may be written as JSON in a text, with a comma between two values.
    texts = (value for value in values if isinstance(value, str) and value[:1] == "{")
    check_at_most("filter", len(values) + sum(value.count(",") for value in texts), limits.values)


def leaves(value: Any, keys: bool = False) -> Iterator[Any]:
    """Yield the values inside of nested lists and objects, with the keys of these on request."""
    # A stack of our own: recursion would need the depth limit to be far below Python's.
    stack = [value]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            stack.extend([*(value if keys else ()), *value.values()])
        elif isinstance(value, list | tuple):
            stack.extend(value)
        else:
            yield value


WAITING = 10  # times the processor time of a request: how long it may take in all

_here = threading.local()
_numbers = itertools.count()


class TimeLimit:
    """The processor time of one request, measured where its work looks whether it may go on.

    A request that waits for its turn, for a lock or for a core uses none: on a busy machine it is
    answered late, but it is answered.

    Parameters
    ----------
    seconds : float
        Of the busiest of its threads.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.end = time.monotonic() + WAITING * seconds
        self.gone = False  # whether the client has closed the connection
        self._number = next(_numbers)
        self._used: dict[int, float] = {}

    def passed(self) -> bool:
        """Whether the work is to end; called by every thread that works on the request."""
        now, thread = time.thread_time(), threading.get_ident()
        request, before = getattr(_here, "last", (None, now))
        # Between two looks of one request the thread has worked for this request alone.
        if request == self._number:
            self._used[thread] = self._used.get(thread, 0.0) + now - before
        _here.last = self._number, now
        used = self._used.get(thread, 0.0)
        return self.gone or used > self.seconds or time.monotonic() > self.end


MAX_CLIENTS = 10_000  # the longest silent are forgotten first, which gives them a full bucket


class RateLimiter:
    """Token buckets of requests, one per client.

    Parameters
    ----------
    rate : float
        Requests per second that a bucket refills by; 0: no limit.
    burst : float
        Requests that a full bucket holds.

    Examples
    --------
    >>> rates = RateLimiter(1.0, 2.0)
    >>> [rates.wait("me", now=0.0) for _ in range(3)]
    [0.0, 0.0, 1.0]
    """

    def __init__(self, rate: float, burst: float) -> None:
        self.rate, self.burst = rate, max(1.0, burst)
        self._lock = threading.Lock()
        self._left: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()

    def wait(self, client: Hashable, now: float | None = None) -> float:
        """Take one request out of a bucket; return 0, or the seconds until there is one."""
        # No bucket is kept where there is no limit.
        if self.rate <= 0:
            return 0.0
        now = time.monotonic() if now is None else now
        with self._lock:
            # Taken out and put back: the order is then that of the last request.
            left, last = self._left.pop(client, (self.burst, now))
            left = min(self.burst, left + (now - last) * self.rate)
            taken = left >= 1
            self._left[client] = (left - 1 if taken else left), now
            while len(self._left) > MAX_CLIENTS:
                self._left.popitem(last=False)
        return 0.0 if taken else (1 - left) / self.rate
