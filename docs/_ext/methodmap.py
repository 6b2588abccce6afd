"""The directive ``method-map``: which method, drawn from the cards and the leaderboard. Every method is a link."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import drawing
from docutils import nodes
from evidence import LEADERBOARD, leaderboard
from generated import all_cards
from sphinx.util.docutils import SphinxDirective

if TYPE_CHECKING:
    from cluewise import Card

CHIP, GAP, TRUNK, LEFT = 28, 7, 14, 34  # heights, gaps and columns of the map, in pixels


class Lane(NamedTuple):
    """One answer to "What do you know?", and the methods that it leads to."""

    words: str
    then: str
    setting: str  # of the leaderboard, or empty
    suits: Callable[[Card], bool]


LANES = [
    Lane(
        "Labels, links or groups",
        "some of them may be wrong",
        "n/2 pairs, 10 % wrong",
        lambda card: "must" in card.accepts and card.reads and not card.hard and not card.joins,
    ),
    Lane(
        "Labels, links or groups",
        "all of them are right and must hold",
        "2n pairs",
        lambda card: "must" in card.accepts and card.reads and (card.hard or card.joins),
    ),
    Lane("Labels and nothing else", "", "10 % labels", lambda card: card.accepts == {"labels"}),
    Lane("Partitions", "others have grouped the rows", "10 % labels", lambda card: "partitions" in card.accepts),
    Lane("Sizes", "how large clusters may be", "sizes", lambda card: "sizes" in card.accepts),
    Lane("A clustering to avoid", "find another one", "avoid", lambda card: "avoid" in card.accepts),
    Lane("Scored pairs", "and no table of rows", "", lambda card: not card.reads),
    Lane("Nothing", "and nobody to ask", "no clues", lambda card: not card.accepts),
]


class Chip(NamedTuple):
    """A method on the map."""

    name: str
    family: str
    hint: str
    score: str = ""

    @property
    def width(self) -> float:
        """Wide enough for the name and the score, in pixels."""
        scored = 12 + drawing.width(self.score, 12.5) if self.score else 0
        return 16 + drawing.width(self.name) + scored + 9


def chips(lane: Lane) -> list[Chip]:
    """The methods of a lane, the best of the leaderboard first, then those that are not in it."""
    results = leaderboard()[lane.setting].results if lane.setting else {}
    suited = [entry for entry in all_cards(clusterers=True) if lane.suits(entry[2])]
    suited.sort(key=lambda entry: results[entry[1]].place if entry[1] in results else len(results) + 1)
    scores = {name: f"{results[name].ari:.2f}" for _, name, _ in suited if name in results}
    return [Chip(name, family, _hint(card), scores.get(name, "")) for family, name, card in suited]


def _hint(card: Card) -> str:
    remarks = [
        "finds the number of clusters" if card.finds else "",
        "sets noise aside" if card.noise else "",
        "time grows with the square of the rows" if card.time_rows == "square" else "",
    ]
    return "; ".join([card.title, *filter(None, remarks)]) + "."


def lanes() -> Iterator[tuple[str, str, str, list[Chip]]]:
    """Every lane from top to bottom: what you know, what else, the numbers' setting, and the methods."""
    from cluewise import Cluewise

    yield "Anything", "start here: it judges the clues itself", "", [Chip("Cluewise", "front", _hint(Cluewise.card))]
    for lane in LANES:
        yield lane.words, lane.then, lane.setting, chips(lane)
    learned = [Chip(name, family, _hint(card)) for family, name, card in all_cards(clusterers=False)]
    yield "A distance to learn", "from the clues, then any clusterer", "", learned


def draw(docname: str) -> str:
    """The whole map."""
    parts = [drawing.box(1, 1, 180, 32, "start"), drawing.text(14, 22, "What do you know?", "title")]
    y, ends = 50.0, 0.0
    for words, then, setting, methods in lanes():
        ends = y + 12
        parts += [drawing.line(TRUNK, ends, LEFT - 6, ends, "edge"), drawing.text(LEFT, y + 17, words, "title")]
        parts.append(drawing.text(LEFT + drawing.width(words, 14.5, "bold") + 10, y + 17, then, "note"))
        if setting:
            parts.append(drawing.text(drawing.WIDTH - 2, y + 17, f"ARI: {setting}", "note", "end"))
        x, y = float(LEFT), y + 27
        for chip in methods:
            if x + chip.width > drawing.WIDTH:
                x, y = float(LEFT), y + CHIP + GAP
            parts.append(_chip(chip, x, y, docname))
            x += chip.width + GAP
        y += CHIP + 16
    parts.insert(0, drawing.line(TRUNK, 33, TRUNK, ends, "edge"))
    signs, y = _legend(y + 4, docname)
    return drawing.svg(drawing.WIDTH, y, [*parts, signs], "Map: what you know about the rows, and methods that use it.")


def _legend(y: float, docname: str) -> tuple[str, float]:
    """The colors of the families, with links to their pages, and where they end."""
    from cluewise._homes import FAMILIES

    parts, x = [], float(LEFT)
    for family in FAMILIES:
        words = family.replace("_", " ")
        sign = drawing.box(x, y, 12, 12, f"family {family}", 3) + drawing.text(x + 18, y + 11, words)
        parts.append(drawing.link(drawing.relative(f"guide/{family}", docname), sign))
        x += 36 + drawing.width(words)
        if x > drawing.WIDTH - 130:
            x, y = float(LEFT), y + 24
    return "".join(parts), y + 26


def _chip(chip: Chip, x: float, y: float, docname: str) -> str:
    inside = drawing.box(x, y, chip.width, CHIP, "chip") + drawing.box(x, y, 8, CHIP, f"family {chip.family}", 3)
    inside += drawing.text(x + 16, y + 20, chip.name)
    if chip.score:
        inside += drawing.text(x + chip.width - 8, y + 20, chip.score, "note", "end")
    return drawing.link(drawing.method(chip.name, docname), inside, chip.hint)


class MethodMap(SphinxDirective):
    """The map."""

    def run(self) -> list[nodes.Node]:
        """Put the picture on the page."""
        self.env.note_dependency(str(LEADERBOARD))
        self.env.note_dependency(__file__)
        return [nodes.raw("", f'<div class="cw-wide">{draw(self.env.docname)}</div>', format="html")]


def setup(app: Any) -> dict[str, bool]:
    """Tell Sphinx about the directive."""
    app.add_directive("method-map", MethodMap)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
