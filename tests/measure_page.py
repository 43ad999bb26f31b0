"""The table of measures in the documentation, made of what they say about themselves.

``PYTHONPATH=src python tests/measure_page.py`` writes it again; a test compares.
"""

from pathlib import Path

from lookalike.measures import MEASURES
from lookalike.saving.load import import_packages

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "measure-table.md"

TOP = """\
# All measures in one table

Made of the traits that each measure states (see `Traits` in [measures](measures.md)). Facts that
depend on parameters are those of the default; a measure around another one has what that one has.

| measure | what it is | compares | gaps | two new rows | all pairs | weights when asked |
|---|---|---|---|---|---|---|
"""


def columns_of(traits):
    """Return in words what a measure compares."""
    return "a square matrix" if traits.pairwise else ", ".join(traits.kinds) or "every kind"


def make_page():
    """Return the text of the page."""
    import_packages()
    lines = []
    for name, cls in sorted(MEASURES.items()):
        if not cls.__module__.startswith("lookalike."):
            continue
        example = cls.examples()[0]
        traits = example.traits
        around = {"measure", "measures", "parts"} & set(example.get_params(deep=False))
        first = cls.__doc__.strip().splitlines()[0].rstrip(".").replace("|", "/")
        room = cls.__module__.split(".")[1]
        cells = [
            f"[`{name}`]({room}.md)",
            first,
            "what the inner one compares" if around else columns_of(traits),
            *(
                "yes" if fact else "as inside" if around and inner else "no"
                for fact, inner in (
                    (traits.missing, True),
                    (traits.unseen_pairs, False),
                    (traits.needs_all, False),
                    (traits.weighs_columns, False),
                )
            ),
        ]
        lines.append(f"| {' | '.join(cells)} |\n")
    return TOP + "".join(lines)


if __name__ == "__main__":
    PAGE.write_text(make_page())
