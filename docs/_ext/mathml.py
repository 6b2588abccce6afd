"""Formulas as MathML, which browsers draw by themselves: MathJax would be fetched from the network."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml

# Commands that docutils does not know, as ones that it does.
SPELLINGS = {r"\lVert": r"\|", r"\rVert": r"\|", r"\tfrac": r"\frac", r"\dots": r"\ldots", "…": r"\ldots "}
SPELLINGS |= {r"\iff": r"\Leftrightarrow", r"\Big": r"\Bigl", r"\big": r"\bigl"}


def convert(formula: str, *, block: bool) -> str:
    """A formula of LaTeX in MathML."""
    for command, meaning in SPELLINGS.items():
        formula = re.sub(re.escape(command) + r"(?![A-Za-z])", lambda _, to=meaning: to, formula)
    formula = re.sub(r"\\frac(\d)(\d)", r"\\frac{\1}{\2}", formula)  # docutils would read a number of two digits
    formula = re.sub(r"\\(bar|hat|tilde) (\w)", r"{\\\1 \2{}}", formula)  # an index of it would come to stand below it
    return tex2mathml(formula, as_block=block)


def inline(translator: Any, node: nodes.math) -> None:
    """Write a formula within a line."""
    translator.body.append(convert(node.astext(), block=False))
    raise nodes.SkipNode


def displayed(translator: Any, node: nodes.math_block) -> None:
    """Write a formula on a line of its own."""
    translator.body.append(f'<div class="cw-formula">{convert(node.astext(), block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Tell Sphinx about the renderer."""
    app.add_html_math_renderer("mathml", inline_renderers=(inline, None), block_renderers=(displayed, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
