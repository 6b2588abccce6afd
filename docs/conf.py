"""Settings for Sphinx: ``make docs``. Nothing is fetched from the network."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from cluewise import __version__

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "_ext"))

project = "cluewise"
author = "The cluewise developers"
copyright = "the cluewise developers, BSD-3-Clause"
version = release = __version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
    "bibliography",
    "checked",
    "evidence",
    "generated",
    "glance",
    "mathml",
    "methodmap",
    "pictures",
    "reference",
    "speed",
]
exclude_patterns = [
    "_build",
    "auto_examples/**/*.ipynb",
    "auto_examples/**/*.py",
    "sg_execution_times.rst",
    "auto_examples/sg_execution_times.rst",
]
templates_path = ["_templates"]
default_role = "py:obj"
html_math_renderer = "mathml"
smartquotes = False  # --clues must stay --clues

# --- pages ----------------------------------------------------------------------------------------------------

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
myst_links_external_new_tab = False

# --- reference ------------------------------------------------------------------------------------------------

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings say it in words
autodoc_member_order = "bysource"
add_module_names = False
toc_object_entries_show_parents = "hide"  # fit(), not PCKMeans.fit(): the sidebar is narrow
numpydoc_show_class_members = False  # the template lists them
numpydoc_xref_param_type = False

# --- gallery --------------------------------------------------------------------------------------------------

sphinx_gallery_conf = {
    "examples_dirs": str(HERE.parent / "examples"),
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"plot_",
    "within_subsection_order": "figures.reading_order",
    "image_scrapers": ("matplotlib", "figures.held_figures"),
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "min_reported_time": 1,
    "write_computation_times": False,  # a page that loads scripts from the network
    "remove_config_comments": True,
}

# --- look -----------------------------------------------------------------------------------------------------

html_theme = "pydata_sphinx_theme"
html_title = "cluewise"
html_static_path = ["_static"]
html_css_files = ["cluewise.css"]
html_js_files = ["copy.js"]
html_extra_path = ["llms.txt"]  # for language models: what there is, and where
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "cluewise"},
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "header_links_before_dropdown": 6,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "default",
}
html_sidebars = {"changelog": [], "references": [], "getting_started": [], "glossary": []}

# --- search ---------------------------------------------------------------------------------------------------


def setup(app: Any) -> None:
    """Leave pages for developers out of the search."""

    def mute(app: Any, _: Any) -> None:
        if app.env.docname.startswith("decisions/"):
            app.env.metadata[app.env.docname]["nosearch"] = ""

    app.connect("doctree-read", mute)
