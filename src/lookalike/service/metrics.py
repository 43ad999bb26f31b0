"""Figures for those who run the server, in the text form that Prometheus reads."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Mapping

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """Counts of requests by route and status, and how long they took.

    Examples
    --------
    >>> metrics = Metrics()
    >>> metrics.count("GET", "/healthz", 200, 0.003)
    >>> print(metrics.text({"lookalike_rows": {"films": 3}}).splitlines()[-1])
    lookalike_rows{collection="films"} 3
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._buckets: Counter[tuple[str, float]] = Counter()
        self._seconds: Counter[str] = Counter()
        self._times: Counter[str] = Counter()

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one request.

        Parameters
        ----------
        method : str
        route : str
            As it is declared, not as it was called: ids are not for metrics.
        status : int
        seconds : float
        """
        with self._lock:
            self._requests[method, route, status] += 1
            self._times[route] += 1
            self._seconds[route] += seconds  # type: ignore[assignment]
            for edge in BUCKETS:
                if seconds <= edge:
                    self._buckets[route, edge] += 1

    def text(self, gauges: Mapping[str, Mapping[str, float]]) -> str:
        """Return all figures.

        Parameters
        ----------
        gauges : mapping of name to mapping of label to number
        """
        lines = ["# TYPE lookalike_requests_total counter"]
        with self._lock:
            for (method, route, status), count in sorted(self._requests.items()):
                labels = _labels(("method", method), ("route", route), ("status", str(status)))
                lines.append(f"lookalike_requests_total{labels} {count}")
            lines.append("# TYPE lookalike_request_seconds histogram")
            for route, count in sorted(self._times.items()):
                name = "lookalike_request_seconds"
                for edge in BUCKETS:
                    labels = _labels(("route", route), ("le", str(edge)))
                    lines.append(f"{name}_bucket{labels} {self._buckets[route, edge]}")
                lines.append(f"{name}_bucket{_labels(('route', route), ('le', '+Inf'))} {count}")
                lines.append(f"{name}_sum{_labels(('route', route))} {self._seconds[route]:.6f}")
                lines.append(f"{name}_count{_labels(('route', route))} {count}")
        for name, values in gauges.items():
            lines.append(f"# TYPE {name} gauge")
            key = "state" if name.endswith("jobs") else "collection"
            lines += [f"{name}{_labels((key, label))} {value}" for label, value in values.items()]
        return "\n".join(lines) + "\n"


def _labels(*pairs: tuple[str, str] | Iterable[str]) -> str:
    def safe(value: str) -> str:
        return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")

    return "{" + ",".join(f'{name}="{safe(value)}"' for name, value in pairs) + "}"
