"""How answers look: reasons as phrases, pieces of HTML, the report."""
