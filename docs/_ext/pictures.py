"""The directive ``picture``: ideas of the library on toy data, drawn by the library itself when pages are built."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import drawing
import numpy as np
from docutils import nodes
from evidence import front_door
from sphinx.util.docutils import SphinxDirective

if TYPE_CHECKING:
    from cluewise import Clues


def clues() -> str:
    """The kinds of clues, each on the same ten rows."""
    from cluewise.clues import KINDS

    X = np.array([[8, 62], [26, 80], [30, 52], [14, 34], [40, 26], [62, 74], [82, 82], [90, 58], [70, 44], [86, 24]])
    places, height = drawing.grid(len(KINDS), 4, 90)
    parts = []
    for place, kind in zip(places, KINDS, strict=True):
        frame = drawing.Frame(*place, np.zeros(2), np.full(2, 100.0))
        colors, marks, note = _marks(kind, frame.at(X))
        parts += [drawing.framed(frame, kind, note), marks, drawing.rows(frame, X, colors, 4.5)]
    return drawing.svg(drawing.WIDTH, height, parts, "The kinds of clues.")


def _marks(kind: str, P: np.ndarray) -> tuple[list[str], str, str]:
    """What makes one kind of clue visible: the colors of the rows, lines or outlines, and words."""
    plain = ["c-plain"] * len(P)

    def colored(groups: dict[str, tuple[int, ...]]) -> list[str]:
        return [next((color for color, rows in groups.items() if row in rows), "c-plain") for row in range(len(P))]

    def around(row: int, color: str) -> str:
        return drawing.dot(*P[row], f"rim {color}", 9)

    match kind:
        case "labels":
            known = {"c0": (0, 3), "c1": (6,)}
            return colored(known), around(0, "rim0") + around(3, "rim0") + around(6, "rim1"), "two blue, one orange"
        case "must":
            return plain, drawing.line(*P[1], *P[5], "link must"), "they belong together"
        case "cannot":
            return plain, drawing.line(*P[2], *P[3], "link cannot"), "they do not"
        case "together":
            return plain, drawing.path(P[[0, 1, 2, 3, 0]], "group"), "all belong together"
        case "apart":
            pairs = [(5, 7), (7, 9), (9, 5)]
            return plain, "".join(drawing.line(*P[a], *P[b], "link cannot") for a, b in pairs), "no two of them do"
        case "partitions":
            known = {"c2": (0, 1, 5), "c3": (3, 4, 9)}
            return colored(known), "", "somebody's piles"
        case "sizes":
            outline = drawing.path(P[[0, 1, 2, 4, 3, 0]], "group") + drawing.path(P[[5, 6, 7, 9, 8, 5]], "group")
            return plain, outline, "four to six rows each"
        case "avoid":
            known = {"c4": (0, 1, 2, 3, 4), "c6": (5, 6, 7, 8, 9)}
            middle, reach = P.mean(axis=0), np.array([60, 34])
            crossed = drawing.line(*(middle - reach), *(middle + reach), "crossed")
            return colored(known), crossed, "known: find another"
    raise ValueError(f"there is no picture of {kind}.")


def closure() -> str:
    """What follows from links, and a contradiction."""
    from cluewise import Clues

    X = np.array([[10, 70], [32, 84], [44, 58], [24, 36], [64, 30], [86, 50], [74, 80]])
    said = Clues(7, must=[(0, 1), (1, 2), (4, 5)], cannot=[(2, 4)])
    wrong = Clues(7, must=[(0, 1), (1, 2), (4, 5), (0, 3), (3, 4)], cannot=[(2, 4)])
    conflict = wrong.contradictions[0]
    proof = Clues(7, must=[(a, b) for a, b, _ in conflict.chain], cannot=[(conflict.first, conflict.second)])
    panels: list[tuple[str, Clues, Clues | None, str]] = [
        ("1. What you say", said, None, "three must-links and a cannot-link"),
        ("2. What follows", said.closed(), None, "two components, apart as a whole"),
        ("3. A contradiction", wrong, proof, "the red chain proves it"),
    ]
    places, height = drawing.grid(3, 3, 140)
    parts = []
    for place, (title, known, broken, note) in zip(places, panels, strict=True):
        frame = drawing.Frame(*place, np.zeros(2), np.full(2, 100.0))
        kinds = drawing.colors(known.components)
        parts += [drawing.framed(frame, title, note), drawing.links(frame, X, known, broken)]
        parts.append(drawing.rows(frame, X, kinds, 6))
    return drawing.svg(drawing.WIDTH, height, parts, "Links, what follows, a contradiction.")


def grains() -> str:
    """From rows to grains, to clusters of grains, to clusters of rows."""
    from sklearn.datasets import make_moons

    from cluewise import E2CP, Clues, Grains

    X, y = make_moons(360, noise=0.06, random_state=0)
    given = Clues.sample(y, pairs=30, random_state=1)
    model = Grains(60, random_state=0).then(E2CP(2, random_state=0)).fit(X, clues=given)
    lifted, labels = model.part_clues_, drawing.colors(model.clusterer_.labels_)
    places, height = drawing.grid(4, 2, 150)
    frames = [drawing.Frame.around(X, *place) for place in places]
    notes = (
        f"{len(X)} rows, {len(given.must) + len(given.cannot)} links",
        f"{len(model.part_sizes_)} grains, links between them",
        "any method clusters grains",
        "a row has the cluster of its grain",
    )
    titles = ("1. Rows and clues", "2. Grains", "3. Clusters of grains", "4. Clusters of rows")
    parts = [drawing.framed(*panel) for panel in zip(frames, titles, notes, strict=True)]
    parts += [drawing.links(frames[0], X, given), drawing.rows(frames[0], X, radius=1.8)]
    parts += [drawing.links(frames[1], model.part_centers_, lifted)]
    for frame, kinds in ((frames[1], ["c-plain"] * len(labels)), (frames[2], labels)):
        radii = 1.4 * np.sqrt(model.part_sizes_)
        shown = zip(frame.at(model.part_centers_), kinds, radii, strict=True)
        parts += [drawing.dot(*at, kind, round(radius, 1)) for at, kind, radius in shown]
    parts.append(drawing.rows(frames[3], X, drawing.colors(model.labels_), 1.8))
    return drawing.svg(drawing.WIDTH, height, parts, "Rows, grains, clusters of grains, rows.")


@cache
def _judged(noise: float) -> tuple[Any, np.ndarray]:
    """A fit of wine with links of which some are wrong, and which of them are."""
    from cluewise import Clues, Cluewise, datasets

    wine = datasets.load("wine", standardize=True)
    given = Clues.sample(wine.y, pairs=len(wine.y), noise=noise, random_state=0)
    wrong = [wine.y[a] != wine.y[b] for a, b in given.must] + [wine.y[a] == wine.y[b] for a, b in given.cannot]
    return Cluewise(3, random_state=0).fit(wine.X, clues=given), np.array(wrong)


def doubt() -> str:
    """How likely each link is wrong, the most doubtful first; those that are wrong are known here."""
    model, wrong = _judged(0.2)
    order = np.argsort(-model.doubt_, kind="stable")
    width, height, top, left = 612, 150, 14, 74
    frame = drawing.Frame(left, top, width, height, np.zeros(2), np.array([len(order), 1.0]))
    parts = [drawing.box(frame.x, frame.y, frame.width, frame.height, "frame")]
    for place, link in enumerate(order):
        x, y = frame.at([place + 0.5, model.doubt_[link]])
        parts.append(drawing.line(x, top + height, x, y, "stem wrong" if wrong[link] else "stem"))
        parts.append(drawing.dot(x, y, "dot wrong" if wrong[link] else "dot", 3))
    parts += [drawing.text(left - 8, frame.at([0, v])[1] + 5, f"{v:g}", "note", "end") for v in (0, 0.5, 1)]
    parts.append(drawing.text(left - 66, top + 42, "doubt_", "title"))
    parts.append(drawing.text(left, top + height + 18, f"{len(order)} links, the most doubtful first", "note"))
    for x, words, kind in ((380, "a wrong link", "dot wrong"), (505, "a right link", "dot")):
        parts += [
            drawing.dot(left + x, top + height + 14, kind, 4),
            drawing.text(left + x + 9, top + height + 18, words),
        ]
    return drawing.svg(left + width + 4, top + height + 28, parts, "The doubt of each link; wrong links come first.")


def trust() -> str:
    """The share of right clues as Cluewise estimates it, beside the true one."""
    noises = (0.0, 0.1, 0.2, 0.3, 0.4)
    found = [(1 - wrong.mean(), model.trust_["sampled"]["all"]) for model, wrong in map(_judged, noises)]
    frame = drawing.Frame(74, 14, 300, 190, np.full(2, 0.5), np.full(2, 1.02))
    parts = [drawing.box(frame.x, frame.y, frame.width, frame.height, "frame")]
    parts.append(drawing.line(*frame.at([0.5, 0.5]), *frame.at([1, 1]), "plain"))
    parts += [drawing.dot(*frame.at(point), "dot", 5) for point in found]
    for value in (0.5, 0.6, 0.7, 0.8, 0.9, 1):
        parts.append(drawing.text(frame.x - 8, frame.at([0.5, value])[1] + 5, f"{value:g}", "note", "end"))
        parts.append(
            drawing.text(frame.at([value, 0.5])[0], frame.y + frame.height + 18, f"{value:g}", "note", "middle")
        )
    parts.append(drawing.text(4, frame.y + 12, "trust_", "title"))
    parts.append(drawing.text(frame.x + frame.width + 12, frame.y + frame.height + 18, "share of right links", "note"))
    parts.append(drawing.text(frame.x + frame.width + 12, frame.at([0.5, 1])[1] + 5, "dashed: as it should be", "note"))
    return drawing.svg(560, 230, parts, "Estimated against true share of right links.")


def no_harm() -> str:
    """What wrong links cost: Cluewise, without clues too, and methods that believe more, on twelve real data sets."""
    means = front_door()
    shares = (0, 10, 20, 30)
    shown = ("Cluewise", "Cluewise, no clues", "E2CP", "PCKMeans", "MaxMarginClusterer")
    parts = []
    for x, amount, words in ((40, "50", "50 pairs"), (320, "2n", "Two pairs per row")):
        frame = drawing.Frame(x, 28, 226, 210, np.array([0, 0.35]), np.array([30, 0.9]))
        parts.append(drawing.framed(frame, words))
        ends = []
        for number, name in enumerate(shown):
            found = [(share, means[f"{amount} pairs, {share} % wrong"][name]) for share in shares]
            points = frame.at(found)
            parts.append(drawing.path(points, "line plain" if number == 1 else f"line l{number}"))
            parts += [drawing.dot(*at, f"end l{number}", 3.5) for at in points if number != 1]
            ends.append((points[-1][1], number, name))
        parts += [drawing.text(x - 6, frame.at([0, v])[1] + 5, f"{v:g}", "note", "end") for v in (0.4, 0.6, 0.8)]
        parts += [drawing.text(frame.at([s, 0])[0], 256, f"{s} %", "note", "middle") for s in shares]
    height = -np.inf
    for y, number, name in sorted(ends):  # names do not cover each other
        height = max(y + 5, height + 17)
        parts.append(drawing.text(frame.x + frame.width + 10, height, name, f"name l{number}"))
    parts.append(drawing.text(frame.x + frame.width + 24, 256, "of the pairs wrong", "note"))
    return drawing.svg(drawing.WIDTH + 20, 264, parts, "Mean ARI of five methods with 0 to 30 % wrong pairs.")


PICTURES: dict[str, Callable[[], str]] = {
    "clues": clues,
    "closure": closure,
    "grains": grains,
    "doubt": doubt,
    "trust": trust,
    "no-harm": no_harm,
}


class Picture(SphinxDirective):
    """A picture by name; the content is its caption."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Put the picture on the page."""
        self.env.note_dependency(__file__)
        drawn = nodes.raw("", f'<div class="cw-wide">{PICTURES[self.arguments[0]]()}</div>', format="html")
        caption = nodes.container(classes=["cw-caption"])
        self.state.nested_parse(self.content, self.content_offset, caption)
        return [drawn, caption]


def setup(app: Any) -> dict[str, bool]:
    """Tell Sphinx about the directive."""
    app.add_directive("picture", Picture)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
