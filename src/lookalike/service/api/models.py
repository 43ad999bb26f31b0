"""What requests look like, with examples; answers are described beside the routes."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr

Id = Annotated[StrictStr, Field(max_length=1_000)] | StrictInt
Space = Literal["plain", "repaired"]
Record = dict[str, Any]
Number = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Strict(BaseModel):
    """A request in which a mistyped name is an error."""

    model_config = ConfigDict(extra="forbid")


class QueryIn(Strict):
    """What a search starts from: the id of a row, or a record, in which gaps are allowed."""

    id: Id | None = None
    record: Record | None = None


class CreateIn(
    Strict,
    json_schema_extra={
        "examples": [
            {
                "name": "pets",
                "rows": [
                    {"weight": 4, "animal": "cat"},
                    {"weight": 30, "animal": "dog"},
                    {"weight": 5, "animal": "cat"},
                ],
            }
        ]
    },
):
    """A new collection, from records or from a file under the allowed folder."""

    name: StrictStr | None = None
    title: StrictStr | None = Field(None, max_length=200)
    path: StrictStr | None = Field(None, max_length=1_000)
    rows: list[Record] | None = None
    kinds: dict[str, StrictStr | list[Any]] = Field(default_factory=dict)
    missing: list[StrictStr | float] = Field(default_factory=list, max_length=100)
    id_column: StrictStr | None = None
    label_column: StrictStr | None = None
    measure: StrictStr = Field("auto", max_length=1_000)


class RowsIn(
    Strict, json_schema_extra={"examples": [{"rows": [{"weight": 28, "animal": "wolf"}]}]}
):
    """Rows to add, all or none."""

    rows: list[Record] = Field(min_length=1)


class RowIn(Strict, json_schema_extra={"examples": [{"row": {"weight": 6, "animal": "cat"}}]}):
    """A row that takes the place of another."""

    row: Record


class QuestionIn(Strict):
    """What searches and sessions have in common."""

    k: StrictInt = Field(10, ge=1)
    gamma: float | None = Field(None, ge=0, le=100, allow_inf_nan=False)
    filter: dict[str, Any] | None = None
    weights: dict[str, Number] | None = None
    columns: list[StrictStr] | None = None
    explain: Annotated[StrictInt, Field(ge=0, le=1_000)] | Literal["all"] = 3
    space: Space = "plain"


class SearchIn(
    QuestionIn,
    json_schema_extra={
        "examples": [
            {"query": {"id": 0}, "k": 5},
            {
                "query": {"record": {"weight": 6}},
                "filter": {"animal": "cat"},
                "weights": {"weight": 3},
            },
        ]
    },
):
    """A search in the words of ``Index.search``."""

    query: QueryIn | list[QueryIn]
    like: list[Id] = Field(default_factory=list)
    unlike: list[Id] = Field(default_factory=list)
    at_least: StrictInt | None = None


class SessionIn(QuestionIn, json_schema_extra={"examples": [{"query": {"id": 0}, "k": 5}]}):
    """A search that will be refined by feedback."""

    query: QueryIn


class MarksIn(Strict, json_schema_extra={"examples": [{"like": [2], "unlike": [1]}]}):
    """Rows that are right, and rows that are not."""

    like: list[Id] = Field(default_factory=list)
    unlike: list[Id] = Field(default_factory=list)


class ProfileIn(Strict, json_schema_extra={"examples": [{"ids": [0, 2]}]}):
    """Rows whose difference from the rest is asked for."""

    ids: list[Id] = Field(min_length=1)


class MeasureIn(Strict, json_schema_extra={"examples": [{"measure": "gower:scale=rank"}]}):
    """How rows are to be compared from now on."""

    measure: StrictStr = Field("auto", max_length=1_000)
    kinds: dict[str, StrictStr | list[Any]] = Field(default_factory=dict)
    weights: dict[str, Number] = Field(default_factory=dict)


class ProblemOut(BaseModel):
    """What is sent instead of an answer (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    who: str
    needed: str
    found: str
    hint: str
    parameter: str | None = None
    value: Any = None
