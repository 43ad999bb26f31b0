"""The verb ``dedupe``: its options on the surfaces, decisions that come back, and wrong input."""

import json

import pandas as pd
import pytest

import lookalike as la
from cli.run import run
from linkage.people import people
from lookalike.errors import InvalidInput


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("people") / "people.csv"
    people(200, 50)[0].to_csv(path, index=False)
    return path


def test_a_review_goes_to_a_file_and_comes_back_decided(path):
    """As in the shell: write the doubtful pairs, decide them, and hand the file back."""
    words = ("dedupe", path, "--on", "name,street", "--threshold", 0.6, "-q")
    done = run(*words, "--show", "review", "-n", 6, "--output", "csv")
    assert done.exit_code == 0, done.output
    review = path.parent / "review.csv"
    review.write_text(done.stdout)
    frame = pd.read_csv(review)
    assert len(frame) == 6
    frame["same"] = ["yes", "no", "skip", "", "no", "yes"]
    frame.to_csv(review, index=False)
    done = run(*words, "--decisions", review, "--output", "json")
    assert done.exit_code == 0, done.output
    groups = json.loads(done.stdout)["groups"]
    together = [any({a, b} <= set(g) for g in groups) for a, b in frame[["left", "right"]].values]
    assert [together[k] for k in (0, 1, 4, 5)] == [True, False, False, True]
    left = [one["pair"] for one in json.loads(done.stdout)["review"]]
    assert frame[["left", "right"]].values[0].tolist() not in left


def test_shapes_of_the_answer(path):
    found = la.dedupe(path)
    for show, columns in (
        ("groups", ["id", "group"]),
        ("pairs", ["left", "right", "probability"]),
        ("golden", ["id", "rows"]),
    ):
        frame = la.dedupe(path, show=show).to_frame()
        assert list(frame.columns[: len(columns)]) == columns
        assert "name" in frame.columns
    done = run("dedupe", path, "--show", "golden", "--output", "csv", "-q")
    assert len(done.stdout.splitlines()) - 1 == len(found.golden())
    assert "in several rows" in " ".join(run("dedupe", path).stdout.split())


def test_rows_are_named_by_their_labels():
    frame, _ = people(100, 30)
    frame.index = [f"r{i}" for i in range(130)]
    found = la.dedupe(frame)
    assert all(id.startswith("r") for group in found.groups for id in group)
    assert la.dedupe(frame, decisions=[{"pair": ["r0", "r1"], "same": True}]).pairs[0][:2] == (
        "r0",
        "r1",
    )


def test_the_service_takes_decisions(tmp_path):
    pytest.importorskip("fastapi")
    from service.running import running

    frame, route = people(60, 20)[0], "/api/collections/people/ask/dedupe"
    with running(tmp_path / "rows.sqlite") as (_, client):
        client.create("people", rows=frame.to_dict("records"))
        ids = client.post(route, {"threshold": 0.5})["groups"][0]
        decided = {"pair": ids[:2], "same": False}
        answer = client.post(route, {"decisions": [decided]})
    assert not any(set(ids[:2]) <= set(group) for group in answer["groups"])
    assert {"review", "threshold", "expected", "groups"} <= set(answer)


def test_an_agent_has_the_tools():
    server = pytest.importorskip("lookalike.mcp.server")
    assert {"dedupe", "link"} <= set(server.TOOLS)
    tool = server.describe_tool("dedupe")
    assert "same record" in tool.description
    assert "decisions" in tool.input_schema["properties"]


def test_wrong_input_is_refused_with_the_way_out(path):
    for options, match in (
        ({"on": "nam"}, "Did you mean"),
        ({"show": "group"}, "groups"),
        ({"threshold": 1.5}, "threshold"),
        ({"decisions": [{"pair": [0, 9999], "same": True}]}, "ids of rows"),
        ({"decisions": str(path)}, "left, right and same"),
    ):
        with pytest.raises(InvalidInput, match=match):
            la.dedupe(path, **options)
    with pytest.raises(InvalidInput, match="at least 2 rows"):
        la.dedupe({"name": ["ann"]})
    with pytest.raises(InvalidInput, match="labels of the rows that differ"):
        la.dedupe(people(5)[0].set_index(pd.Index([1, 1, 2, 3, 4])))
    done = run("dedupe", path, "--show", "grops")
    assert done.exit_code == 1
    assert "Did you mean 'groups'" in done.output
