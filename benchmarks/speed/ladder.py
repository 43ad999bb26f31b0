"""From ten thousand rows to ten million: build an index in a folder and ask it, size by size.

Each size is made, built and asked in processes of their own, so that the peak of one is not that of
another. The rows are mixed: numbers, counts, categories, flags, grades, dates and gaps, twenty
columns in all, in groups, so that rows have neighbors to find.
"""

import multiprocessing
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.speed.growth import slope
from benchmarks.speed.memory import peak

PER_FILE = 1_000_000
QUESTIONS = 200
K = 10


@dataclass
class Step:
    """What was measured at one size."""

    rows: int
    source_mb: float
    learn_seconds: float
    build_seconds: float
    folder_mb: float
    question_ms: list[float]
    question_cpu_ms: list[float]
    peak_mb: float

    @property
    def rows_per_second(self) -> float:
        """Rows that are learned from, encoded and written in a second of processor time."""
        return self.rows / self.build_seconds

    @property
    def bytes_per_row(self) -> float:
        """What a row takes in the folder."""
        return self.folder_mb * 1e6 / self.rows

    def to_json(self) -> dict[str, Any]:
        """Everything measured, as plain values."""
        return asdict(self)


def make_rows(folder: Path, n: int) -> None:
    """Write n mixed rows as Parquet, up to a million in a file."""
    import pyarrow as pa
    import pyarrow.parquet

    folder.mkdir(parents=True, exist_ok=True)
    for start in range(0, n, PER_FILE):
        m, random = min(PER_FILE, n - start), np.random.default_rng([7, start])
        group = random.integers(0, 40, m)

        def words(codes, names):
            cells = pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), names)
            return cells.cast(pa.string())

        columns: dict[str, Any] = {}
        for j in range(6):
            spread = random.normal(0.3 * group * (j + 1), 1 + 0.2 * j, m)
            columns[f"number_{j}"] = np.round(spread, 3)
        for j in range(3):
            columns[f"count_{j}"] = random.poisson(3 + group % 7 + j, m)
        columns["income"] = np.round(np.exp(random.normal(10, 1, m)))
        for j, k in enumerate((5, 12, 40, 200)):
            codes = (group + random.integers(0, max(2, k // 3), m)) % k
            columns[f"category_{j}"] = words(codes, [f"{'abcd'[j]}{at}" for at in range(k)])
        for j in range(2):
            columns[f"flag_{j}"] = random.random(m) < 0.1 + 0.02 * (group % 10)
        for j in range(2):
            codes = np.clip(group // 10 + random.integers(0, 2, m), 0, 4)
            columns[f"grade_{j}"] = words(codes, ["very low", "low", "medium", "high", "very high"])
        days = np.datetime64("2015-01-01") + random.integers(0, 3650, m).astype("timedelta64[D]")
        columns["day"] = pa.array(days)
        size = np.where(random.random(m) < 0.07, np.nan, np.round(random.normal(50, 20, m), 2))
        columns["size"] = pa.array(size, from_pandas=True)
        name = folder / f"part-{start // PER_FILE:04d}.parquet"
        pyarrow.parquet.write_table(pa.table(columns), name, row_group_size=2**17)


def take_step(source: Path, folder: Path) -> Step:
    """Learn, build, open and ask; in a process that has done nothing else."""
    import lookalike as la
    from lookalike.index import build_index
    from lookalike.measures import Gower

    began = time.process_time()
    table = la.read_table(source, lazy=True)
    learned = time.process_time()
    build_index(table, folder, Gower(scale="rank"))
    built = time.process_time()
    del table
    index = la.Index.open(folder)
    asked = np.random.default_rng(0).integers(0, len(index), QUESTIONS + 5).tolist()
    wall, cpu = [], []
    for at, row in enumerate(asked):
        start, work = time.perf_counter(), time.process_time()
        hits = index.search(row, k=K)
        assert len(hits) == K
        if at >= 5:  # the first ones compile, and map what later ones find mapped
            wall.append(1000 * (time.perf_counter() - start))
            cpu.append(1000 * (time.process_time() - work))
    sizes = [sum(f.stat().st_size for f in p.rglob("*") if f.is_file()) for p in (source, folder)]
    return Step(
        len(index),
        sizes[0] / 1e6,
        learned - began,
        built - began,
        sizes[1] / 1e6,
        wall,
        cpu,
        peak() / 1e6,
    )


def climb(largest: int, console: Any, place: Path | None = None) -> list[Step]:
    """Take a step at every power of ten from ten thousand rows up; print a line for each."""
    steps = []
    n = min(10_000, largest)
    while n <= largest:
        with tempfile.TemporaryDirectory(prefix="lookalike-scale-", dir=place) as scratch:
            source, folder = Path(scratch) / "rows", Path(scratch) / "index"
            _apart(make_rows, source, n)
            steps.append(_apart(take_step, source, folder))
        show(steps[-1], console)
        n *= 10
    if len(steps) > 2:
        sizes = [step.rows for step in steps]
        for what, values in (
            ("building, processor time", [step.build_seconds for step in steps]),
            ("a question, processor time", [np.median(s.question_cpu_ms) for s in steps]),
            ("bytes in the folder", [step.folder_mb for step in steps]),
            ("peak of memory", [step.peak_mb for step in steps]),
        ):
            console.print(f"{what}: n^{slope(sizes, values):.2f} over the last three sizes")
    return steps


def show(step: Step, console: Any) -> None:
    """Print one size."""
    middle, slow = np.percentile(step.question_ms, [50, 99])
    cpu = np.median(step.question_cpu_ms)
    console.print(
        f"{step.rows:>12,} rows: {step.rows_per_second:>9,.0f} rows/s built "
        f"({step.learn_seconds:.1f} of {step.build_seconds:.1f} s to learn kinds), "
        f"{step.bytes_per_row:.0f} bytes/row (source {step.source_mb * 1e6 / step.rows:.0f}), "
        f"question p50 {middle:.1f} ms, p99 {slow:.1f} ms, {cpu:.1f} ms of processor, "
        f"peak {step.peak_mb:,.0f} MB",
        soft_wrap=True,
    )


def _apart(function: Any, *arguments: Any) -> Any:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(function, *arguments).result()
