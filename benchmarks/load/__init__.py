"""How the service holds up: mixed requests by several clients, beside simpler ways to search."""
