"""Learning from rows in files, part by part: what columns hold, and which numbers they have.

What is learned of parts merges to what is learned of the whole, so parts may be read by this
process (``Learner``) or by others (``lookalike.index.dask``), with the same outcome.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lookalike._runtime.progress import Progress
from lookalike.table.formats.files import arrow_to_raw
from lookalike.table.formats.neutral import neutralise
from lookalike.table.formats.parquet import BATCH, ParquetParts
from lookalike.table.formats.raw import Raw
from lookalike.table.formats.sources import name_unnamed
from lookalike.table.infer.facts import Facts, facts_of
from lookalike.table.model.kind import Kind
from lookalike.table.model.tally import Tally

if TYPE_CHECKING:
    from lookalike.table.formats.lazy import LazyTable

LEVELLED = ("category", "order")  # kinds whose every value becomes a level


class Learner:
    """Who reads rows to learn from them: this process, one part after another."""

    def facts(
        self, parts: ParquetParts, chosen: Mapping[str, Kind | None], tokens: tuple[Any, ...]
    ) -> dict[str, Facts]:
        """Count what decides about the columns, in all rows; see ``learn_facts``."""
        return learn_facts(parts, chosen, tokens)

    def tally(self, table: LazyTable, name: str) -> Tally:
        """Count the distinct values of a column of numbers or codes."""
        return Tally.of(np.asarray(part.values, np.float64) for part in table.column(name))


def learn_facts(
    parts: ParquetParts,
    chosen: Mapping[str, Kind | None],
    tokens: tuple[Any, ...],
    start: int = 0,
    stop: int | None = None,
) -> dict[str, Facts]:
    """Count what decides about the columns, in some of the rows; such facts merge.

    Parameters
    ----------
    parts : ParquetParts
    chosen : mapping of column to the kind that the caller said
    tokens : values that are read as gaps
    start, stop : int
        Which rows; all of them by default.
    """
    found: dict[str, Facts] = {}
    stop = len(parts) if stop is None else stop
    progress = Progress("reading columns", -(-(stop - start) // BATCH))
    for rows in parts.batches(start, stop):
        for raw in neutral_columns(rows, tokens):
            if raw.name not in found:
                kind = chosen.get(raw.name)
                levelled = kind is not None and kind.name in LEVELLED and not kind.levels
                found[raw.name] = facts_of(raw, levelled)
            found[raw.name].add(raw)
        progress.advance()
    return found


def neutral_columns(rows: Any, tokens: Sequence[Any]) -> list[Raw]:
    """Return the columns of an Arrow table as ``read_table`` looks at them."""
    return [neutralise(raw).without(tokens) for raw in name_unnamed(arrow_to_raw(rows))]
