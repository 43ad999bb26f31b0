"""Sphinx configuration: Markdown pages, and a reference generated from the docstrings."""

import re
import sys
from pathlib import Path

import lookalike

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs"))

from _generate import fill_in_names, write_pages  # noqa: E402

write_pages(ROOT / "docs" / "reference")

project = "lookalike"
author = "The lookalike developers"
copyright = "2026, The lookalike developers"
version = release = lookalike.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_design",
]
exclude_patterns = ["_build", "gallery/*.ipynb", "gallery/*.py", "gallery/*.md5"]
html_theme = "pydata_sphinx_theme"
html_title = "lookalike"
html_theme_options = {
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_end": [],
    "header_links_before_dropdown": 5,  # the four cards of the front page and the gallery
    "navbar_align": "left",
}
html_show_sourcelink = False
# These pages have no section, so no sidebar.
html_sidebars = {"index": [], "tutorial": [], "changelog": []}
html_static_path = ["_static"]
html_css_files = ["site.css"]

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

# Pages list the names of their packages (fill_in_names); nothing is written into the source folder.
autosummary_generate = False
autodoc_typehints = "none"  # the docstrings describe the types in words
autodoc_default_options = {"members": True, "inherited-members": False}
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True  # an attribute that is also a property is described once
# Words in type positions ("mapping of columns", scikit-learn's own terms) are not links.
suppress_warnings = ["ref.python", "ref.ref", "ref.term"]

# Without any examples there is no gallery.
if any((ROOT / "examples").glob("plot_*.py")):
    extensions.append("sphinx_gallery.gen_gallery")
    sphinx_gallery_conf = {
        "examples_dirs": str(ROOT / "examples"),
        "gallery_dirs": "gallery",
        "filename_pattern": r"plot_",
        "show_memory": False,
        "min_reported_time": 10**9,  # times differ between machines: none are printed
        "download_all_examples": False,
        "within_subsection_order": "FileNameSortKey",
        "remove_config_comments": True,
    }


def plain_references(app, what, name, obj, options, lines):
    """Print ``[1]_`` as text: every docstring counts from 1, so labels on a page would clash."""
    text = re.sub(r"\[(\d+)\]_", r"[\1]", "\n".join(lines))
    lines[:] = re.sub(r"^\.\. (\[\d+\] )", r"| \1", text, flags=re.MULTILINE).split("\n")


def list_public_names(app, docname, source):
    source[0] = fill_in_names(source[0])


def setup(app):
    app.connect("source-read", list_public_names)
    app.connect("autodoc-process-docstring", plain_references)
