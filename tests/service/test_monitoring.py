"""Logs and metrics: complete, and without cells of rows."""

import json
import logging

from prometheus_client.parser import text_string_to_metric_families

from lookalike.service.monitoring import JsonLines


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
