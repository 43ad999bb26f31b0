"""Tables behind an HTTP API: durable rows, searches, feedback, and a page to explore them."""

from lookalike.service.client import Client, ServiceError

__all__ = ["Client", "ServiceError"]
