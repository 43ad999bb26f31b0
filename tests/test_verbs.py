"""One definition per question: Python, shell and HTTP take the same and answer the same."""

import inspect
import itertools
import json
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
import typer

import lookalike as la
from cli.run import run
from lookalike import verbs
from lookalike.cli.app import VERBS as HELP_ORDER
from lookalike.cli.app import app
from lookalike.cli.build import EXTRA_OPTIONS, CommonOptions
from lookalike.cli.reading import ReadOptions
from lookalike.show.result import Result
from lookalike.verbs import VERBS, get_verb
from lookalike.verbs.annotations import describe_parameters, flag_of, spelling_of

COMMANDS = typer.main.get_command(app).commands
# Options of the shell that are no part of a question: how a table is read, an answer is written.
SHELL_ONLY = {
    "file",
    "output",
    *ReadOptions.__dataclass_fields__,
    *CommonOptions.__dataclass_fields__,
}


def parameters(verb):
    """The parameters of a verb, but for its table."""
    return dict([*inspect.signature(get_verb(verb)).parameters.items()][1:])


# -- parameters and defaults -----------------------------------------------------------------------


@pytest.mark.parametrize("verb", VERBS)
def test_the_public_name_is_the_function(verb):
    assert getattr(la, verb) is get_verb(verb)
    assert len(inspect.signature(get_verb(verb)).parameters) <= 10
    assert next(iter(inspect.signature(get_verb(verb)).parameters)) == "table"


@pytest.mark.parametrize("verb", VERBS)
def test_every_parameter_is_described(verb):
    texts = describe_parameters(get_verb(verb))
    for name, one in parameters(verb).items():
        assert texts.get(name) or spelling_of(one).help, f"{verb}: {name}"
    assert set(texts) == {"table", *parameters(verb)}


@pytest.mark.parametrize("verb", VERBS)
def test_the_shell_has_the_same_parameters_and_defaults(verb):
    options = {option.name: option for option in COMMANDS[verb].params}
    own = set(options) - SHELL_ONLY - set(EXTRA_OPTIONS.get(verb, ()))
    assert own == set(parameters(verb))
    for name, one in parameters(verb).items():
        assert flag_of(one) in options[name].opts
        assert options[name].required == (one.default is one.empty)
        if one.default is not one.empty:
            assert options[name].default == one.default, f"{verb}: {name}"


@pytest.fixture(scope="module")
def http():
    pytest.importorskip("fastapi", reason="the service is not installed")
    pytest.importorskip("httpx", reason="the test client is not installed")
    with warnings.catch_warnings():  # starlette warns about its own test client when imported
        warnings.simplefilter("ignore")
        from fastapi.testclient import TestClient
    from lookalike.service.server import create_app
    from lookalike.service.service import Service

    with tempfile.TemporaryDirectory() as folder:
        service = create_app(Service(f"{folder}/rows.sqlite"))
        with TestClient(service, base_url="http://127.0.0.1") as client:
            yield client


@pytest.mark.parametrize("verb", VERBS)
def test_a_request_has_the_same_parameters_and_defaults(http, verb):
    document = http.get("/openapi.json").json()
    route = document["paths"][f"/api/v1/collections/{{c}}/ask/{verb}"]["post"]
    place = route["requestBody"]["content"]["application/json"]["schema"]["$ref"]
    schema = document["components"]["schemas"][place.rpartition("/")[2]]
    assert set(schema["properties"]) == set(parameters(verb))
    required = {n for n, one in parameters(verb).items() if one.default is one.empty}
    assert set(schema.get("required", ())) == required
    assert schema["additionalProperties"] is False
    for name, one in parameters(verb).items():
        if one.default is not one.empty:
            assert schema["properties"][name].get("default") == one.default, f"{verb}: {name}"


# -- answers ---------------------------------------------------------------------------------------


def mixed():
    random = np.random.default_rng(0)
    return [
        {
            "size": None if i % 11 == 5 else round(float(random.normal(5 + 5 * (i % 2))), 3),
            "color": ["red", "blue", "green"][i % 3] if i % 7 else None,
            "weight": round(float(random.random()), 3) + (i % 2),
            "kind": "ab"[i % 2],
        }
        for i in range(36)
    ]


def numbers():
    random = np.random.default_rng(1)
    rows = [dict(zip("abc", row, strict=True)) for row in random.normal(size=(30, 3)).round(4)]
    return [
        {n: float(x) for n, x in row.items()} | {"size": float(i * 7 % 29), "kind": "xyz"[i % 3]}
        for i, row in enumerate(rows)
    ]


def sets():
    return [
        {
            "size": float(i * 7 % 13),
            "tags": [f"t{i % 3}", f"t{i % 4}"],
            "kind": "uv"[i % 5 > 1],
            "words": f"the {['cat', 'dog'][i % 2]} number {i} walks and sleeps",
        }
        for i in range(32)
    ]


TABLES = {"mixed": mixed, "numbers": numbers, "sets": sets}
FOREST = {"method": "forest:trees=24", "folds": 2}  # of few, a row is out of no bag
ASKED = {
    "inspect": [{}, {"filter": ["size>=4"]}],
    "search": [
        {"row": 3, "k": 4, "why": True},
        {"like": [4, 7], "unlike": [9], "k": 3, "weights": {"size": 2.0}},
        {"row": {"size": 6.0}, "k": 3, "filter": ["size<9"]},
        {"row": 2, "columns": "size"},
    ],
    "explain": [
        {"row": 0, "other": 5},
        {"row": 1, "other": {"size": 6.0}, "weights": {"size": 2.0}},
    ],
    "cluster": [{"n_clusters": 2, "label": "kind"}, {"method": "hdbscan:min_neighbors=3"}],
    "classify": [{"label": "kind", **FOREST}, {"label": "kind", "method": "neighbors:k=3"}],
    "regress": [{"label": "size", **FOREST, "seed": 3}],
    "outliers": [{"n": 4, "method": "isolation:trees=9"}, {"method": "neighbors", "n": 3}],
    "hubs": [{"k": 3, "label": "kind", "reduce": "nicdm"}, {"columns": "size"}],
    "audit": [{"synthetic": "mixed", "n": 3}, {"synthetic": "sets", "holdout": "numbers"}],
    "dedupe": [
        {"n": 3, "on": "size,kind"},
        {"on": "size", "by": "kind", "threshold": 0.9, "seed": 2},
    ],
    "link": [
        {"other": "mixed", "threshold": 0.5},
        {"other": "numbers", "on": "size", "by": "kind", "many": True, "n": 3},
    ],
    "compare": [{"measures": "gower,gower:scale=rank", "label": "kind", "k": 3}],
    "match": [
        {"control": "sets"},
        {"control": "mixed", "by": "kind", "max_distance": {"size": 3.0}},
        {"control": "numbers", "on": "size", "replace": True, "k": 2},
    ],
    "join": [
        {"other": "sets", "k": 2, "why": True},
        {"other": "mixed", "by": "kind", "max_distance": {"size": 3.0}, "mutual": True},
        {"other": "numbers", "on": "size", "max_distance": 0.2},
    ],
    "impute": [
        {"why": True},
        {"columns": "size", "k": 3, "draws": 2, "seed": 1},
        {"equal_weights": True},
    ],
    "report": [{"k": 3, "label": "kind"}],
}
CASES = [(verb, i, table) for verb in VERBS for i in range(len(ASKED[verb])) for table in TABLES]
LASTING = ("fit_seconds", "search_seconds", "kept_bytes", "peak_bytes")


def test_every_verb_is_asked():
    assert set(ASKED) == set(VERBS)


def test_every_file_but_the_helpers_is_a_verb():
    """Its heading and rank say where the help shows it: no two have the same rank."""
    files = {path.stem for path in Path(verbs.__file__).parent.glob("*.py")}
    assert {*VERBS, *verbs.HELPERS, "__init__"} == files
    assert list(VERBS) == sorted(VERBS)
    shown = list(HELP_ORDER)
    assert shown[0] == "demo"
    ranks = [verbs.module_of(verb).RANK for verb in shown if verb in VERBS]
    assert ranks == sorted(set(ranks))
    headings = [verbs.module_of(verb).HEADING for verb in shown if verb in VERBS]
    assert list(dict.fromkeys(headings)) == [one for one, _ in itertools.groupby(headings)]
    assert COMMANDS["cluster"].rich_help_panel == "Learn from it"


@pytest.fixture(scope="module")
def places(tmp_path_factory, http):
    """The same rows as a file, and as a collection; nothing is said of a measure."""
    found = {}
    for name, make in TABLES.items():
        path = tmp_path_factory.mktemp("rows") / f"{name}.jsonl"
        path.write_text("\n".join(map(json.dumps, make())))
        body = {"name": name, "rows": make()}
        assert http.post("/api/collections", json=body).status_code == 201
        found[name] = path
    return found


def with_paths(verb, given, places):
    """A question whose other tables are files, where a request names collections."""
    tables = [name for name in given if spelling_of(parameters(verb)[name]).table]
    return given | {name: str(places[given[name]]) for name in tables}


def by_shell(verb, path, given):
    tables, words = [], []
    for name, value in given.items():
        one = parameters(verb)[name]
        if spelling_of(one).table:
            tables.append(value)
            continue
        for word in value if isinstance(value, list) else [value]:
            if isinstance(word, dict) and name in ("weights", "max_distance"):
                words += [x for pair in word.items() for x in (flag_of(one), "{}={}".format(*pair))]
            elif isinstance(word, dict):
                words += [flag_of(one), json.dumps(word)]
            else:
                words += [flag_of(one)] if word is True else [flag_of(one), word]
    done = run(verb, path, *tables, *words, "--output", "json", "--quiet")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def by_http(http, verb, collection, given):
    reply = http.post(f"/api/collections/{collection}/ask/{verb}", json=given)
    if reply.status_code == 202:
        job = reply.json()["job"]
        while job["state"] not in ("done", "failed"):
            time.sleep(0.02)
            job = http.get(f"/api/jobs/{job['id']}").json()
        assert job["state"] == "done", job
        return job["result"]
    assert reply.status_code == 200, reply.text
    return reply.json()


def same(answer, name):
    """An answer without what depends on the clock, and without what names the place of the rows."""
    answer = json.loads(json.dumps(answer).replace(name, "rows"))
    for one in answer.get("measures", ()):
        for figure in LASTING:
            one.pop(figure, None)
    for away in ("generation", "notes", "reason", "lead", "parts", "file", "title"):
        answer.pop(away, None)
    return answer


@pytest.mark.filterwarnings("ignore::lookalike.errors.LookalikeWarning")
@pytest.mark.parametrize(("verb", "case", "table"), CASES)
def test_the_answer_is_the_same_everywhere(http, places, verb, case, table):
    given, path = ASKED[verb][case], places[table]
    files = with_paths(verb, given, places)
    result = get_verb(verb)(str(path), **files)
    assert isinstance(result, Result)
    python = json.loads(json.dumps(result.to_dict()))
    shell = by_shell(verb, path, files)
    web = by_http(http, verb, table, given)
    assert same(python, str(path)) == same(shell, str(path)) == same(web, table)
    if verb == "report":
        assert set(python["parts"]) == set(shell["parts"]) == set(web["parts"])


# -- forms of an answer ----------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::lookalike.errors.LookalikeWarning")
@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb != "report"])
def test_every_answer_has_four_forms(verb, places):
    result = get_verb(verb)(places["mixed"], **with_paths(verb, ASKED[verb][0], places))
    frame = result.to_frame()
    assert list(frame.columns) == list(result.cells())
    assert len(frame) == len(next(iter(result.cells().values()))) > 0
    assert len(result.to_frame("pyarrow")) == len(frame)
    json.dumps(result.to_dict(), allow_nan=False)
    for width in (60, 100):
        assert max(map(len, result.text(width).splitlines()[1:])) <= width
    assert "<" in result._repr_html_()
    assert type(result._repr_html_()) is str  # marimo shows no subclass of it
    assert "</html>" in result.to_html()


def test_a_verb_takes_a_path_a_frame_a_table_and_an_index(places):
    pd = pytest.importorskip("pandas")
    path, frame = places["mixed"], pd.DataFrame(mixed())
    table, index = la.read_table(path), la.Index("gower").fit(path)
    expected = la.search(path, 3, k=4, measure="gower")
    for given in (frame, table, {name: list(frame[name]) for name in frame}):
        assert la.search(given, 3, k=4, measure="gower").ids == expected.ids
    assert la.search(index, 3, k=4).ids == expected.ids
    assert la.outliers(index, 3).to_dict() == la.outliers(table, 3).to_dict()


def test_the_labels_of_a_frame_are_its_ids():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(mixed(), index=[f"row-{i}" for i in range(36)])
    plain = la.search(pd.DataFrame(mixed()), 3, k=4)
    assert la.search(frame, "row-3", k=4).ids == [f"row-{id}" for id in plain.ids]
    found = la.outliers(frame, 5)
    assert found.to_frame()["id"].str.startswith("row-").all()
    assert [id in frame.index for id in la.cluster(frame, 2).to_dict()["ids"]] == [True] * 36
