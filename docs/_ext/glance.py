"""The directive ``glance``: a clusterer on one page, before its docstring. Card, leaderboard and a picture tell it.

All clusterers see the same rows: four groups, which without clues fall into left and right, and clues that ask for top
and bottom. One of the links is wrong.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import cache
from inspect import signature
from typing import TYPE_CHECKING, Any

import drawing
import numpy as np
from docutils import nodes
from docutils.statemachine import StringList
from evidence import LEADERBOARD, RIVAL, leaderboard
from sklearn.base import clone
from sphinx.util.docutils import SphinxDirective

if TYPE_CHECKING:
    from cluewise import Clues

SIZES = (40, 40, 20, 20)
MIDDLES = ((-1.15, 0.95), (-1.15, -0.95), (1.15, 0.95), (1.15, -0.95))
CAPTION = (
    "Every method gets these rows, and clues that ask for top and bottom, as far as it uses any. Must-links are solid, "
    "cannot-links dashed, broken clues red; hollow rows are noise or alone."
)
WRONG = (5, 12)  # a cannot-link within the group at the top left


@cache
def toy() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The rows; top or bottom, which the clues ask for; left or right."""
    rng = np.random.default_rng(1)
    X = np.concatenate([rng.normal(middle, (0.5, 0.4), size=(n, 2)) for middle, n in zip(MIDDLES, SIZES, strict=True)])
    return X - X.min(axis=0), np.repeat([0, 1, 0, 1], SIZES), np.repeat([0, 0, 1, 1], SIZES)


def toy_clues(accepts: frozenset[str]) -> tuple[Clues | None, str]:
    """Clues of a kind that a method uses, and what they are in words."""
    from cluewise import Clues

    _, level, side = toy()
    n = len(level)
    if "must" in accepts:
        links = Clues.sample(level, pairs=40, random_state=1) | Clues(n, cannot=[WRONG])
        return links, f"{len(links.must) + len(links.cannot)} links, one of them wrong"
    if "labels" in accepts:
        return Clues.sample(level, labels=10 / n, random_state=1), "10 labels"
    if "sizes" in accepts:
        return Clues(n, sizes=(n // 2 - 5, n // 2 + 5)), f"{n // 2 - 5} to {n // 2 + 5} rows each"
    if "avoid" in accepts:
        return Clues(n, avoid=[side]), "not left and right"
    return None, "it uses no clues"


def picture(cls: type) -> str:
    """What a clusterer does to the toy rows: without clues, after an iteration and at the end."""
    X, *_ = toy()
    clues, words = toy_clues(cls.card.accepts)
    steps = [("Rows and clues", words, None), *_steps(cls, X, clues)]
    places, height = drawing.grid(len(steps), 3 if len(steps) == 3 else 2, 165 if len(steps) == 4 else 150)
    parts = []
    for number, (place, (title, note, model)) in enumerate(zip(places, steps, strict=True)):
        frame = drawing.Frame.around(X, *place)
        parts.append(drawing.framed(frame, f"{number + 1}. {title}", note))
        if clues is not None and model is None:
            parts.append(drawing.links(frame, X, clues))
        elif clues is not None:  # what holds is not drawn again
            parts.append(drawing.links(frame, X, model.broken_, model.broken_))
        parts.append(drawing.rows(frame, X, None if model is None else drawing.colors(model.labels_)))
    return drawing.svg(drawing.WIDTH, height, parts, f"What {cls.__name__} does to {len(X)} rows, step by step.")


def _steps(cls: type, X: np.ndarray, clues: Clues | None) -> Iterator[tuple[str, str, Any]]:
    settings: dict[str, Any] = {"n_clusters": 2, "random_state": 0}
    model = cls(**{name: value for name, value in settings.items() if name in cls._get_param_names()})
    final = _fitted(model, X, clues)
    if clues is not None and cls.card.reads:
        plain = _fitted(model, X, None)
        yield "Without clues", _note(plain, None), plain
    if "max_iter" in cls._get_param_names():
        first = _fitted(clone(model).set_params(max_iter=1), X, clues)
        if (first.labels_ != final.labels_).any():
            yield "After one iteration", _note(first, clues), first
    yield "Result" if clues is None else "With the clues", _note(final, clues), final


def _fitted(model: Any, X: np.ndarray, clues: Clues | None) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one iteration does not converge
        return clone(model).fit(X, clues=clues)


def _note(model: Any, clues: Clues | None) -> str:
    n = model.n_clusters_
    noise = int((model.labels_ < 0).sum())
    found = f"{n} cluster{'s' if n != 1 else ''}{f', {noise} noise' if noise else ''}"
    if clues is None or not {"must", "labels"} & set(clues.kinds):
        return found
    broken = model.broken_
    count = len(broken.must) + len(broken.cannot) + int((broken.labels >= 0).sum())
    return f"{found}, {count or 'none'} broken"


def cautions(cls: type) -> Iterator[str]:
    """When not to use a clusterer, as its card and the leaderboard have it."""
    name, card = cls.__name__, cls.card
    if not card.accepts:
        yield "You have clues: it ignores them."
    if card.hard and "must" in card.accepts:
        yield "Some clues may be wrong: it keeps every one, and raises an error if they contradict each other."
    elif card.hard and "labels" in card.accepts:
        yield "Some labels may be wrong: it keeps every one."
    elif card.joins:
        yield "Some must-links may be wrong: it keeps every one, and raises an error if clues contradict each other."
    elif card.accepts & {"labels", "must"}:
        yield f"Every clue must hold: it may break {'those of finite weight' if card.mixes else 'some'}."
    count = signature(cls).parameters.get("n_clusters")
    if not card.finds and count is not None and count.default is not None:
        yield "You cannot say how many clusters there are."
    if card.time_rows == "square":
        what = "time and memory grow" if card.memory == "square" else "time grows"
        yield f"There are many rows: its {what} with their square. Let it work on :doc:`grains </guide/grains>`."
    if card.time_columns == "square":
        yield "There are many columns: its time grows with their square."
    if card.memory == "pairs" and card.reads:
        yield "Classes or groups have thousands of rows: it expands them into pairs."
    if not card.predicts:
        yield "You want to find the clusters of new rows: there is no ``predict``."
    if not card.sparse and card.reads:
        yield "X is sparse."
    tables = {setting: table for setting, table in leaderboard().items() if name in table.results}
    if worse := [setting for setting, table in tables.items() if table.results[name].ari < table.plain]:
        yield f"Your case is like one in which K-means without clues has the higher mean ARI: {'; '.join(worse)}."


def evidence(name: str) -> list[list[str]]:
    """The rows of a method on the leaderboard, the header first; nothing if it is not there."""
    found = []
    for setting, table in leaderboard().items():
        if name in table.results:
            own = table.results[name]
            place = f"{own.place} of {len(table.results)}{'*' if 1 < own.place <= table.close + 1 else ''}"
            entries = [setting, f"{own.ari:.2f}", f"{table.plain:.2f}", place, own.broken and f"{own.broken} %"]
            found.append([*entries, own.seconds, str(own.failed or "")])
    header = ["clues", "ARI", RIVAL, "place", "broken", "seconds", "failed"]
    return [header, *found] if found else []


def table(rows: list[list[str]]) -> Iterator[str]:
    """Rows of cells, the header first, in reStructuredText."""
    yield from (".. list-table::", "   :header-rows: 1", "   :class: cw-evidence", "")
    for cells in rows:
        yield from (f"   {'* -' if number == 0 else '  -'} {cell}" for number, cell in enumerate(cells))
    yield ""


def lines(cls: type) -> Iterator[str]:
    """All that is said about a clusterer, in reStructuredText, the picture aside."""
    name, card = cls.__name__, cls.card
    family = cls.__module__.split(".")[1]
    page = "cluewise" if family == "front" else family
    yield f":Clues it uses: {', '.join(sorted(card.accepts)) or 'none'}"
    yield ":Do not use it if:"
    yield from (f"   - {caution}" for caution in cautions(cls))
    often = "per iteration " if card.plain == "k-means" else ""
    yield f":Cost: {often}{card.cost}; n rows, d columns, k clusters"
    rows = evidence(name)
    if not rows:
        yield ":Evidence: It is not on the :doc:`leaderboard </guide/leaderboard>`."
    notes = ". The notes below list deviations from it." if "*Deviations" in (cls.__doc__ or "") else ""
    yield f":Paper: :ref:`{card.paper} <{card.paper.lower()}>`{notes}"
    yield f":More: :doc:`/guide/{page}`"
    yield ""
    if rows:
        yield "Its rows of the :doc:`leaderboard </guide/leaderboard>`, beside K-means without clues. A star means that"
        yield "it may be as good as the first."
        yield from ("", *table(rows))


class Glance(SphinxDirective):
    """A clusterer at a glance."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Draw the picture and let Sphinx read the lines."""
        import cluewise

        self.env.note_dependency(str(LEADERBOARD))
        self.env.note_dependency(__file__)
        cls = getattr(cluewise, self.arguments[0])
        box = nodes.container()
        self.state.nested_parse(StringList(list(lines(cls)), "glance"), self.content_offset, box)
        title = nodes.paragraph("", f"{cls.card.title}.", classes=["cw-title"])
        drawn = nodes.raw("", f'<div class="cw-wide">{picture(cls)}</div>', format="html")
        return [title, drawn, nodes.paragraph("", CAPTION, classes=["cw-caption"]), *box.children]


def name_clusterers(_: Any, config: Any) -> None:
    """Tell the template of classes which of them are clusterers."""
    from cluewise import clusterers

    config.autosummary_context["clusterers"] = ["Cluewise", *clusterers()]


def setup(app: Any) -> dict[str, bool]:
    """Tell Sphinx about the directive."""
    app.connect("config-inited", name_clusterers)
    app.add_directive("glance", Glance)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
