"""Logs and metrics: complete, and without cells of rows."""

import json
import logging
from types import SimpleNamespace

from prometheus_client.parser import text_string_to_metric_families

from lookalike.service import monitoring
from lookalike.service.monitoring import JsonLines, Recorder
from service.running import run_alone


def test_logs_have_no_rows_in_them(server, caplog):
    with caplog.at_level(logging.INFO, logger="lookalike.service"):
        server.add("pets", [{"name": "Geheimnis", "weight": 7}])
        server.row("pets", 0)
        server.search("pets", {"name": "Geheimnis", "weight": 7})
        server.get("/api/collections/pets/rows", {"text": "Geheimnis"})
        server.delete("pets", 6)
    lines = [JsonLines().format(record) for record in caplog.records]
    found = [json.loads(line) for line in lines]
    assert [one["route"] for one in found[:2]] == [
        "/api/collections/{c}/rows",
        "/api/collections/{c}/rows/{id:row_id}",
    ]
    assert found[0]["status"] == 201
    assert found[0]["collection"] == "pets"
    assert found[0]["ms"] > 0
    assert not any("Geheimnis" in line for line in lines)


def test_an_error_is_logged_by_its_place_not_by_its_words():
    try:
        raise RuntimeError("a cell: Geheimnis")
    except RuntimeError as error:
        record = logging.LogRecord(
            "x", 40, "f", 1, "failed", (), (RuntimeError, error, error.__traceback__)
        )
    line = json.loads(JsonLines().format(record))
    assert line["error"] == "RuntimeError"
    assert line["where"][0].endswith("test_an_error_is_logged_by_its_place_not_by_its_words")
    assert "Geheimnis" not in json.dumps(line)


def test_metrics(server):
    server.search("pets", 0)
    text = server.request("GET", "/metrics").decode()
    families = text_string_to_metric_families(text)
    found = {(s.name, frozenset(s.labels.items())): s.value for f in families for s in f.samples}
    route = ("route", "/api/collections/{c}/search")
    searches = found["lookalike_request_seconds_count", frozenset([route])]
    assert searches >= 1
    by_status = frozenset([route, ("method", "POST"), ("status", "200")])
    assert found["lookalike_requests_total", by_status] == searches
    assert found["lookalike_request_seconds_bucket", frozenset([route, ("le", "+Inf")])] == searches
    assert 0 < found["lookalike_request_seconds_sum", frozenset([route])]
    pets = frozenset([("collection", "pets")])
    assert found["lookalike_rows", pets] == 6
    assert found["lookalike_generation", pets] >= 1
    assert found.get(("lookalike_lag_generations", pets), 0) == 0
    assert "# TYPE lookalike_jobs gauge" in text
    assert "_created" not in text
    assert server.get("/readyz")["collections"]["pets"] == "ready"


def record(**values):
    """Send one request through a recorder; return the answer's events and the logged values."""
    scope = {"type": "http", "method": "GET"} | values
    sent, counted, lines = [], [], []

    async def app(scope, receive, send):
        if scope["type"] == "http":
            await send({"type": "http.response.start", "status": 201, "headers": []})
            await send({"type": "http.response.body", "body": b"abc"})
            await send({"type": "http.response.body", "body": b"de"})
            await send({"type": "http.response.body"})
        else:
            await send({"type": "other"})

    async def send(event):
        sent.append(event)

    class Handler(logging.Handler):
        def emit(self, record):
            lines.append(json.loads(JsonLines().format(record)))

    handler = Handler()
    before = monitoring.log.level
    monitoring.log.addHandler(handler)
    monitoring.log.setLevel(logging.INFO)
    try:
        metrics = SimpleNamespace(count=lambda *given: counted.append(given))
        run_alone(Recorder(app, metrics)(scope, None, send))
    finally:
        monitoring.log.removeHandler(handler)
        monitoring.log.setLevel(before)
    return sent, counted, lines


def test_a_request_is_recorded_by_its_route():
    route = SimpleNamespace(path="/a/{c}")
    sent, counted, (line,) = record(
        route=route, path_params={"c": "pets"}, lookalike_client="token7"
    )
    ((method, path, status, seconds),) = counted
    assert (method, path, status) == ("GET", "/a/{c}", 201)
    assert 0 < seconds < 60
    assert abs(line.pop("ms") - 1000 * seconds) <= 0.051
    assert dict(sent[0]["headers"]) == {b"x-request-id": line["request"].encode()}
    assert len(line.pop("request")) == 12
    assert len(line.pop("at")) == len("2026-01-01T00:00:00.000+00:00")
    assert line == {
        "level": "info", "event": "request", "method": "GET", "route": "/a/{c}",
        "collection": "pets", "status": 201, "bytes": 5, "token": "token7",
    }  # fmt: skip
    _, counted, (line,) = record(method="POST")
    assert counted[0][:3] == ("POST", "other", 201)
    assert (line["collection"], line["token"]) == (None, None)
    assert record(type="lifespan") == ([{"type": "other"}], [], [])


def test_lines_of_a_log():
    plain = logging.LogRecord("x", 30, "f", 1, "%s of %s", (1, 2), None)
    plain.job = {"set": {1}}
    line = json.loads(JsonLines().format(plain))
    assert (line["level"], line["event"], line["job"]) == ("warning", "1 of 2", {"set": "{1}"})
    assert "error" not in line
    empty = logging.LogRecord("x", 30, "f", 1, "text", (), (None, None, None))
    assert "error" not in json.loads(JsonLines().format(empty))


def test_logs_are_set_up():
    names = ("lookalike.service", "uvicorn.error")
    loggers = [logging.getLogger(name) for name in names]
    before = [(one.handlers, one.propagate, one.level) for one in loggers]
    try:
        for requests, level in ((True, logging.INFO), (False, logging.WARNING)):
            monitoring.set_up(requests)
            assert [one.level for one in loggers] == [level, logging.WARNING]
            for one in loggers:
                (handler,) = one.handlers
                assert isinstance(handler.formatter, JsonLines)
                assert one.propagate is False
    finally:
        for one, (one.handlers, one.propagate, level) in zip(loggers, before, strict=True):
            one.setLevel(level)


def test_metrics_by_hand():
    metrics = monitoring.Metrics()
    metrics.count("GET", "/a", 200, 0.02)
    metrics.count("GET", "/a", 404, 3.0)
    lines = metrics.text({"lookalike_jobs": {"done": 2}}).decode().splitlines()
    for line in (
        'lookalike_requests_total{method="GET",route="/a",status="404"} 1.0',
        'lookalike_request_seconds_bucket{le="0.01",route="/a"} 0.0',
        'lookalike_request_seconds_bucket{le="0.025",route="/a"} 1.0',
        'lookalike_request_seconds_bucket{le="2.5",route="/a"} 1.0',
        'lookalike_request_seconds_bucket{le="5.0",route="/a"} 2.0',
        'lookalike_request_seconds_sum{route="/a"} 3.02',
        'lookalike_jobs{state="done"} 2.0',
    ):
        assert line in lines, line
    edges = "0.005 0.01 0.025 0.05 0.1 0.25 0.5 1.0 2.5 5.0 10.0".split()
    assert monitoring.BUCKETS == tuple(map(float, edges))
    assert not any("_created" in line for line in lines)
