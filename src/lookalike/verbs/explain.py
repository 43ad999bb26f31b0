"""Why two rows are alike, column by column."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lookalike._runtime.keywords import forgiving
from lookalike._runtime.text import plain, short
from lookalike.measures.contract.explanation import Explanation
from lookalike.show import layout
from lookalike.show.result import Result, Spell
from lookalike.verbs import annotations as args
from lookalike.verbs.measures import name_measure
from lookalike.verbs.search import find_row, get_index
from lookalike.verbs.source import as_source

if TYPE_CHECKING:
    from rich.console import Console

HEADING, RANK = "Look at a table", 25
EXAMPLES = (
    "lookalike explain films.csv --row 17 --other 42",
    "lookalike explain films.csv --row 'Toy Story' --other 17 --weight genres=3",
)


@dataclass(frozen=True, eq=False)
class PairExplanation(Result):
    """How alike two rows are, and what each column contributes.

    Parameters
    ----------
    name : str, of the table
    rows : pair of id or record
    measure : str, how they were compared
    explanation : Explanation
        The contributions, which add up to the similarity.
    """

    name: str
    rows: tuple[Any, Any]
    measure: str
    explanation: Explanation

    def cells(self) -> dict[str, list[Any]]:
        """Return a line per column, the strongest contribution first."""
        found = self.explanation
        names = found.strongest
        pairs = [found.cells.get(name, (None, None)) if name else (None, None) for name in names]
        return {
            "column": names,
            "row": [plain(pair[0]) for pair in pairs],
            "other": [plain(pair[1]) for pair in pairs],
            "for": [float(found.plus.get(name, 0.0)) for name in names],
            "against": [float(found.minus.get(name, 0.0)) for name in names],
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the two rows, their similarity and the contributions of the columns."""
        columns = self.cells()
        found = self.explanation
        return {
            "row": plain(self.rows[0]),
            "other": plain(self.rows[1]),
            "measure": self.measure,
            "similarity": float(found.similarity),
            "distance": float(found.distance),
            "not_compared": list(found.not_compared),
            "columns": [
                dict(zip(columns, line, strict=True))
                for line in zip(*columns.values(), strict=True)
            ],
        }

    def render(self, console: "Console", spell: Spell = str) -> None:
        """Print the similarity, then a line per column."""
        layout.headline(console, f"{self.name}: {self._pair()}, by {self.measure}")
        for line in str(self.explanation).splitlines():
            console.print(layout.cut(line, console.width), markup=False)
        if self.explanation.not_compared:
            layout.say(console, f"not compared: {', '.join(self.explanation.not_compared)}")

    def _pair(self) -> str:
        ids = ("a record" if isinstance(one, Mapping) else short(one) for one in self.rows)
        return f"why {' and '.join(ids)} are alike"

    def html_body(self) -> str:
        """Return the table of contributions, with bars."""
        return self.explanation.to_html()


@forgiving
def explain(
    table: args.TableLike,
    row: args.RowRef,
    other: args.RowRef,
    *,
    measure: args.MeasureLike = None,
    weights: args.Weights = None,
    columns: args.Columns = None,
) -> PairExplanation:
    """Say why two rows are alike: what each column adds to their similarity, and takes from it.

    Parameters
    ----------
    table : path, frame, dict of columns, Table or Index
    row, other : id, name or record
        The two rows, as in ``search``.
    measure : str or Measure, optional
        How rows are compared; see ``search``.
    weights : mapping of column to number, optional
        How much columns matter: 3 counts three times, 0 not at all.
    columns : names, optional
        Compare by these columns only.

    Returns
    -------
    PairExplanation

    Examples
    --------
    >>> import lookalike as la
    >>> pets = {"weight": [4.0, 30.0, 5.0, 28.0], "animal": ["cat", "dog", "cat", "wolf"]}
    >>> la.explain(pets, 0, 2).explanation.plus
    {'weight': 0.375, 'animal': 0.5}
    """
    source = as_source(table)
    index, _, names = get_index(source, measure, weights, columns, row)
    a, b = (find_row(index, mark, name) for mark, name in ((row, "row"), (other, "other")))
    explanation = index.explain(a, b, weights=weights, columns=names)
    return PairExplanation(source.name, (a, b), name_measure(index.measure_), explanation)
