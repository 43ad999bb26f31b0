"""Shards, replicas and stragglers: how long the slowest of many answers takes, event by event."""

import heapq

import numpy as np


def serve(
    shards, replicas, work, rate, *, questions=3000, slow=0.01, factor=10.0, hedge=None, seed=0
):
    """Return the seconds that questions take, each answered when its last shard has answered.

    Every shard is served by ``replicas`` machines with one queue each; a part goes to the shortest.
    A part takes ``work`` seconds, times a lognormal factor, and ``factor`` times as long with the
    probability ``slow``. After ``hedge`` seconds without an answer the part is asked of a second
    machine as well, and the first answer counts.

    Parameters
    ----------
    shards, replicas : int
    work : float, seconds of one part on one machine
    rate : float, questions per second
    """
    rng = np.random.default_rng(seed)
    arrive = np.cumsum(rng.exponential(1 / rate, questions))
    noise = np.exp(rng.normal(0, 0.15, (questions, shards, 2)))
    noise *= np.where(rng.random((questions, shards, 2)) < slow, factor, 1.0)
    done = np.zeros(questions)
    for shard in range(shards):
        free = np.zeros(replicas)  # when each machine of this shard has nothing left to do
        waiting = []  # parts to be asked again: (when, question)
        first = np.empty(questions)
        for question in range(questions):
            now = arrive[question]
            while waiting and waiting[0][0] <= now:
                again(waiting, free, first, noise[:, shard, 1], work)
            machine = int(free.argmin())
            free[machine] = max(now, free[machine]) + work * noise[question, shard, 0]
            first[question] = free[machine]
            if hedge is not None and replicas > 1:
                heapq.heappush(waiting, (now + hedge, question))
        while waiting:
            again(waiting, free, first, noise[:, shard, 1], work)
        done = np.maximum(done, first)
    return done - arrive


def again(waiting, free, first, noise, work):
    """Ask a part of a second machine, unless it is answered by now."""
    when, question = heapq.heappop(waiting)
    if first[question] <= when:
        return
    machine = int(free.argmin())
    free[machine] = max(when, free[machine]) + work * noise[question]
    first[question] = min(first[question], free[machine])


def latest(running, finish, now):
    """Return the unfinished task that will end last, or None."""
    late = [task for task, end in running.items() if end > now and finish[task] > now]
    return max(late, key=running.get, default=None)


def build(tasks, workers, work, *, slow=0.02, factor=8.0, lost=0.0, twice=False, seed=0):
    """Return the seconds until all shards are written.

    Workers take the next part when they are free; a part is slow with some probability. A fraction
    ``lost`` of the workers fails half way, and their current parts are repeated. With ``twice``
    idle workers start a second attempt of a running part (speculative execution), and the first
    result counts.
    """
    rng = np.random.default_rng(seed)
    times = iter(work * np.exp(rng.normal(0, 0.15, 4 * tasks + 4 * workers))
                 * np.where(rng.random(4 * tasks + 4 * workers) < slow, factor, 1.0))  # fmt: skip
    gone = set(rng.choice(workers, int(lost * workers), replace=False).tolist())
    ends = work * tasks / workers / 2  # when they fail
    free = [(0.0, worker) for worker in range(workers)]
    todo, running, finish = list(range(tasks))[::-1], {}, np.full(tasks, np.inf)
    while free:
        now, worker = heapq.heappop(free)
        if worker in gone and now >= ends:
            continue
        task = todo.pop() if todo else latest(running, finish, now) if twice else None
        if task is None:
            continue
        end = now + next(times)
        if worker in gone and end > ends:  # lost with its worker: another one repeats it
            if not np.isfinite(finish[task]):
                todo.append(task)
                if not free:
                    free.append((ends, next(w for w in range(workers) if w not in gone)))
            continue
        running[task] = min(running.get(task, np.inf), end)
        finish[task] = min(finish[task], end)
        heapq.heappush(free, (end, worker))
    return float(finish.max())
