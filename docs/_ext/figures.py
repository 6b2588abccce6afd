"""The gallery: its order, and figures that an example holds in a variable, beside those of pyplot."""

from __future__ import annotations

from typing import Any


def reading_order(file: str) -> tuple[bool, bool, str]:
    """A key to sort scripts by: the simplest one first, the stories together at the end."""
    return file.startswith("plot_story"), file != "plot_why_clues.py", file


def held_figures(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Save every matplotlib figure among the variables of an example that pyplot does not know, once."""
    from matplotlib.figure import Figure
    from sphinx_gallery.scrapers import figure_rst

    paths = []
    for value in list(block_vars["example_globals"].values()):
        ours = isinstance(value, Figure) and not hasattr(value, "number")  # pyplot numbers its figures
        if ours and not hasattr(value, "_in_gallery"):
            path = next(block_vars["image_path_iterator"])
            value.savefig(path)
            value._in_gallery = True
            paths.append(path)
    return figure_rst(paths, gallery_conf["src_dir"])
