"""The page about the format of saved files, made of what the classes declare.

``PYTHONPATH=src python tests/format_page.py`` writes it again; a test compares.
"""

from pathlib import Path

from lookalike.saving.encode import FORMAT, SAVEABLE
from lookalike.saving.fields import fields_of, parameters_of
from lookalike.saving.load import import_packages

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "format.md"

TOP = f"""\
# Saved files

`save` writes one zip file, by custom ending in `.lookalike`, of format {FORMAT}: a page
`measure.json`, then arrays `arrays/0.npy`, `arrays/1.npy`, ... as numpy writes them, all stored
uncompressed. This page is made of the declarations that loading checks.

**The page** is `{{"format": {FORMAT}, "root": ...}}`. What JSON has no word for is an object with
the key `$`:

| `$` | holds |
|---|---|
| `estimator` | `class`, `params` and `learned` attributes |
| `record` | `class` and `fields` |
| `array` | `at`, the number of an array |
| `cells` | an array of Python values: its `shape` and what it `is` |
| `callable` | the `name` of a function, which the caller of `load` hands back |
| `again` | the `id` of an object that stands earlier in the page |
| `tuple`, `set`, `frozenset`, `dict` | the items (of a dict: pairs) it `is` |
| `float` | `nan`, `inf` or `-inf` |
| `date`, `datetime`, `time`, `timedelta`, `slice`, `generator` | what it `is` |

**What loading refuses** before memory is taken: members of other names, compressed or overlapping
ones, arrays whose shape and size do not agree, pages nested more than 256 deep. Then: unknown
classes and fields, an `id` twice, objects that hold one another over and over, and whatever is not
as declared below. Dimensions of one name have one size within an object. Objects that belong
together are compared as well: rows with the measure that encoded them, leaves with their trees,
numbers of rows with the rows there are.
"""


def table_of(cls):
    """Return the rows of one class's table: parameters, then fields."""
    shapes, params = fields_of(cls), parameters_of(cls)
    rules = fields_of(cls)
    rows = []
    for name in params:
        shape = shapes.get(name, rules.get(name))
        rows.append((f"{name} (parameter)", shape.describe() if shape else "any value"))
    rows += [(name, shape.describe()) for name, shape in shapes.items() if name not in params]
    return rows


def make_page():
    """Return the text of the page."""
    import_packages()
    lines = [TOP]
    for name, cls in sorted(SAVEABLE.items()):
        if not cls.__module__.startswith("lookalike."):
            continue
        lines.append(f"## {name}\n")
        rows = table_of(cls)
        if not rows:
            lines.append("No parameters, and nothing learned.\n")
            continue
        lines.append("| field | what it must be |\n|---|---|")
        lines += [f"| `{field}` | {text.replace('|', '/')} |" for field, text in rows]
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(make_page())
