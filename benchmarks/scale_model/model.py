"""What n rows cost on machines of a certain size, by the measured constants."""

from dataclasses import dataclass

from benchmarks.scale_model.constants import COLUMNS

K = 10
LIST = 16 * K  # bytes of one list of neighbors on the network


@dataclass(frozen=True)
class Machine:
    """A machine as one rents them."""

    cores: int = 16
    memory: float = 64e9
    disk: float = 1e9  # bytes per second of a local disk
    network: float = 1.25e9  # bytes per second, each way


@dataclass(frozen=True)
class Cost:
    """Cost of n rows on some machines."""

    rows: float
    machines: int
    folder: float  # bytes of the index
    codes: float  # bytes of codes per machine: what a question reads
    learn: float  # seconds, all machines
    encode: float  # seconds, all machines
    question: float  # seconds, all cores of all machines on one question
    per_second: float  # questions all machines can answer
    sent: float  # bytes on the network per question
    graph: float  # seconds, the neighbors of all rows


def cost(n, constants, machine, machines):
    """Return what n rows cost.

    Looking through the files, encoding and searching share the rows out; counting values shares the
    columns out, so that more cores than columns do not help. One question reads the codes of every
    row once, from memory where they fit, else from the disk.
    """
    c, cores = constants, machine.cores * machines
    codes = c.codes * n / machines
    slow = 1.0 if codes <= 0.8 * machine.memory else max(1.0, _from_disk(c, machine))
    question = c.ask * n / cores * slow + c.merge * machines
    return Cost(
        n,
        machines,
        (c.codes + c.exact + c.cells) * n,
        codes,
        max(c.look * n / cores, c.source * n / machines / machine.network)
        + c.count * n / min(cores, COLUMNS),
        max(c.encode * n / cores, (c.source + c.exact + c.codes + c.cells) * n
            / machines / min(machine.disk, machine.network)),
        question,
        cores / (c.ask * n * slow),
        machines * LIST,
        c.join * n * n / cores,
    )  # fmt: skip


def _from_disk(c, machine):
    """How many times longer a question takes when the codes come from the disk."""
    return (c.codes / machine.disk) / (c.ask / machine.cores)
