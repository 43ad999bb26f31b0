"""What requests look like; the shapes of answers, and examples of both, are in ``openapi.json``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr

OPENAPI = json.loads(Path(__file__).with_name("openapi.json").read_text(encoding="utf-8"))
SCHEMAS, EXAMPLES = OPENAPI["schemas"], OPENAPI["examples"]

# Strict: in JSON "7" is another id than 7, and true is none.
Id = Annotated[StrictStr, Field(max_length=1_000)] | StrictInt
Space = Literal["plain", "repaired"]
Record = dict[str, Any]
Weight = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Strict(BaseModel):
    """A request in which a mistyped name is an error."""

    model_config = ConfigDict(extra="forbid")


class QueryIn(Strict):
    """What a search starts from: the id of a row, or a record, in which columns may be missing."""

    id: Id | None = None
    record: Record | None = None


# A text is the name of a row, or its id: "Toy Story", "title=Toy Story".
Query = QueryIn | Id


class ReadIn(Strict):
    """How rows are read and compared."""

    kinds: dict[str, StrictStr | list[Any]] = Field(default_factory=dict)
    missing: list[StrictStr | float] = Field(default_factory=list, max_length=100)
    label_column: StrictStr | None = None
    measure: StrictStr = Field("auto", max_length=1_000)


class CreateIn(ReadIn):
    """A new collection, from records, a file under the allowed folder, or an example."""

    name: StrictStr | None = None
    title: StrictStr | None = Field(None, max_length=200)
    path: StrictStr | None = Field(None, max_length=1_000)
    rows: list[Record] | None = None
    example: StrictStr | None = Field(None, max_length=100)
    id_column: StrictStr | None = None


class RowsIn(Strict):
    """Rows to add, all or none."""

    rows: list[Record] = Field(min_length=1)


class RowIn(Strict):
    """A row that replaces another."""

    row: Record


class QuestionIn(Strict):
    """The fields that searches and sessions have in common."""

    k: StrictInt = Field(10, ge=1)
    gamma: float | None = Field(None, ge=0, le=100, allow_inf_nan=False)
    filter: StrictStr | list[StrictStr] | dict[str, Any] | None = None
    weights: dict[str, Weight] | None = None
    columns: list[StrictStr] | None = None
    explain: Annotated[StrictInt, Field(ge=0, le=1_000)] | Literal["all"] = 3
    space: Space = "plain"


class SearchIn(QuestionIn):
    """A search in the words of ``Index.search``."""

    query: Query | list[Query]
    like: list[Id] = Field(default_factory=list)
    unlike: list[Id] = Field(default_factory=list)
    among: StrictInt | None = Field(None, ge=1, description="Draw the k rows from so many nearest.")
    at_least: StrictInt | None = None
    measure: StrictStr | None = Field(None, max_length=1_000)


class SessionIn(QuestionIn):
    """A search that will be refined by feedback."""

    query: Query


class MarksIn(Strict):
    """Rows that are liked, and rows that are not."""

    like: list[Id] = Field(default_factory=list)
    unlike: list[Id] = Field(default_factory=list)


class ProfileIn(Strict):
    """Rows whose difference from the rest is asked for."""

    ids: list[Id] = Field(min_length=1)


class MeasureIn(ReadIn):
    """How rows are to be compared from now on."""

    weights: dict[str, Weight] = Field(default_factory=dict)


class ColumnIn(Strict):
    """A column that is to be read as another kind, on trial."""

    column: StrictStr
    kind: StrictStr | list[Any]
