"""Cells that hold escape sequences or are very long, and cells that name files elsewhere.

No command writes a cell to the terminal so that it would obey it, no error quotes one as a whole, and a page of
questions embeds no picture from outside the folder of the data.
"""

from __future__ import annotations

import base64
import csv
import io
import json
import re
import sys
from itertools import product

import numpy as np
import pytest

from cluewise import Clues, tables
from cluewise.cli import main
from cluewise.exceptions import ClueError
from cluewise.workspace import projects
from cluewise.workspace.offline import write_page

OBEYED = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
NASTY = {
    "colors": "\x1b[31mred\x1b[0m", "title": "\x1b]0;title\x07", "screen": "\x1b[2J\x1b[H", "back": "a\x08\x08b",
    "one byte": "\x9b31mx", "reply": "\x1bP+q\x1b\\", "direction": "\u202eevil", "bell": "\a", "delete": "a\x7fb",
    "line": "a\u2028b", "link": "\x1b]8;;http://x\x1b\\y\x1b]8;;\x1b\\",
}  # fmt: skip


def write_csv(path, rows):
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    path.write_text(text.getvalue(), "utf-8")


@pytest.fixture
def say(tmp_path, monkeypatch, capsys):
    """``say(*words, typed="")``: the exit code of a command and everything that it wrote."""
    monkeypatch.chdir(tmp_path)

    def call(*words, typed=""):
        monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        with pytest.raises(SystemExit) as end:
            main([str(word) for word in words])
        out, err = capsys.readouterr()
        return end.value.code or 0, out + err

    return call


def write_files(folder, nasty):
    """Data and clues with a nasty text in every place."""
    names = [f"{nasty}{i}" for i in range(8)]
    rows = [[name, i // 4 * 10 + i / 10, i % 3, f"{nasty} note", nasty] for i, name in enumerate(names)]
    write_csv(folder / "data.csv", [["id", "x", f"y{nasty}", f"t{nasty}", "kind"], *rows])
    good = [
        [names[0], names[1], "must", nasty], [names[0], names[4], "cannot", nasty],
        [names[2], f"{nasty}g", "label", nasty],
        [names[3], f"{nasty}g", "together", nasty], [names[2], f"{nasty}g", "together", nasty],
    ]  # fmt: skip
    header = ["a", "b", "kind", "source"]
    write_csv(folder / "clues.csv", [header, *good])
    write_csv(folder / "clash.csv", [header, *good, [names[1], names[4], "must", nasty]])
    bad = {
        "row": [nasty, names[1], "must"], "kind": [names[0], names[1], nasty], "self": [names[0], names[0], "cannot"],
        "bounds": ["*", nasty, "size"], "rows": ["*", nasty, "rows"],
    }  # fmt: skip
    for name, line in bad.items():
        write_csv(folder / f"bad-{name}.csv", [header, [*line, nasty]])
    write_csv(folder / "bad-twice.csv", [header, *([names[0], f"{nasty}{i}", "label", nasty] for i in range(2))])
    write_csv(folder / "bad-columns.csv", [["a", "b", "kind", f"c{nasty}"], [names[0], names[1], "must", 1]])
    (folder / "bad.json").write_text(json.dumps({nasty: 1}))
    return ["--clues", "clues.csv", "--ignore", f"t{nasty}"], [f"bad-{name}.csv" for name in (*bad, "twice", "columns")]


def commands(good, bad):
    """Words of commands and what is typed."""
    label = ["--strategy", "SecondLook"]
    yield (
        ["ask", "data.csv", "-k", "2", *good, "--budget", "4", "--explain-columns"],
        "y\nu\nn\nnonsense\x1b[2J\n?\nq\n",
    )
    yield (
        ["ask", "data.csv", "-k", "2", *good, "--budget", "4", "--project", "b", "--questions", "label"],
        ("a\x1b[31m\nb\nu\n?\nq\n"),
    )
    yield ["ask", "data.csv", *label, *good, "--project", "c"], "y\nq\n"
    for clues in ("clues.csv", "clash.csv"):
        rest = ["data.csv", "--clues", clues, "-k", "2", *good[2:]]
        yield ["check", *rest], ""
        yield ["check", *rest, "--json"], ""
        yield ["check", *rest, "--explain-columns"], ""
        yield ["compare", *rest, "--splits", "2", "--explain-columns"], ""
        yield ["compare", *rest, "--splits", "2", "--json", "--label-column", "kind"], ""
        yield ["fit", *rest, "--out", "out.csv", "--describe"], ""
        yield ["fit", *rest, "--out", "out.csv", "--json"], ""
    for file in (*bad, "bad.json"):
        yield ["check", "data.csv", "--clues", file, "-k", "2"], ""
    yield ["list"], ""
    yield ["list", "--accepts", "must\x1b[31m"], ""
    yield ["fit", "no\x1b[31msuch.csv"], ""
    yield ["fit", "data.csv", "--columns", "x\x1b[31m,q"], ""
    yield ["check", "data.csv", "--method", "\x1b[31m"], ""


@pytest.mark.filterwarnings("ignore")
def test_no_command_writes_what_a_terminal_obeys(tmp_path, say, sweep, record_property):
    run = 0
    for nasty in list(NASTY.values())[: sweep(1, len(NASTY))]:
        good, bad = write_files(tmp_path, nasty)
        for words, typed in commands(good, bad):
            code, said = say(*words, typed=typed)
            assert not OBEYED.search(said), (words, OBEYED.findall(said), said[:2000])
            assert "Traceback" not in said
            assert code in (0, 1, 2), words
            run += 1
        for left in tmp_path.iterdir():
            left.unlink()
    record_property("commands", run)


def long_files(folder, long):
    """Files with a long cell, and in each something wrong that has to do with it."""
    write_csv(folder / "ids.csv", [["id", "x"], [long, 1], [long, 2]])
    write_csv(folder / "number.csv", [["x"], *([i] for i in range(9)), [long]])
    write_csv(folder / "name.csv", [[long, f"1.5{'0' * 500}"], [1, 2]])
    write_csv(folder / "twice.csv", [[long, long], [1, 2]])
    (folder / "columns.json").write_text(json.dumps({long: [1], "b": [1, 2]}))
    (folder / "nested.json").write_text(json.dumps({long: [{"a": 1}]}))
    np.savez(folder / "dims.npz", **{long: np.zeros((2, 2, 2)), "b": [1]})
    np.savez(folder / "names.npz", X=np.zeros((2, 2)), feature_names=[long, long])
    write_csv(folder / "clues-row.csv", [["a", "b", "kind"], ["r0", long, "must"]])
    write_csv(folder / "clues-kind.csv", [["a", "b", "kind"], ["r0", "r1", long]])
    write_csv(folder / "clues-self.csv", [["a", "b", "kind"], [long, long, "cannot"]])
    write_csv(folder / "clues-label.csv", [["a", "b", "kind"], ["r0", long, "label"], ["r0", f"{long}2", "label"]])
    write_csv(folder / "clues-weight.csv", [["a", "b", "kind", "weight"], ["r0", "r1", "must", long]])
    write_csv(folder / "clues-size.csv", [["a", "b", "kind"], ["*", long, "size"]])
    write_csv(folder / "clues-size2.csv", [["a", "b", "kind"], [long, "1..2", "size"], [long, "1..2", "size"]])
    write_csv(folder / "clues-rows.csv", [["a", "b", "kind"], ["*", long, "rows"]])
    write_csv(folder / "clues-column.csv", [["a", "b", "kind", long], ["r0", "r1", "must", 1]])
    for name, content in {
        "key": {long: 1}, "n": {"n": long}, "value": {"labels": {"r0": [long]}}, "sizes": {"sizes": [long, 1]},
        "unit": {"sizes": [1, 2], "size_unit": long}, "row": {"must": [["r0", long]]}, "names": {"labels": {long: "a"}},
    }.items():  # fmt: skip
        (folder / f"clues-{name}.json").write_text(json.dumps(content))
    return sorted(folder.iterdir())


def errors(path, ids):
    """What each reader says about a file, if it refuses it."""
    readers = (lambda: tables.features(tables.read(path)), lambda: Clues.read(path, ids=ids), lambda: Clues.read(path))
    for read in readers:
        try:
            read()
        except (tables.TableError, ClueError) as error:
            yield str(error)


@pytest.mark.filterwarnings("ignore")
def test_errors_cut_cells(tmp_path, sweep, record_property):
    refused = 0
    for letter, length in list(product("xé'🙂", (81, 5000)))[: sweep(3, 8)]:
        long = letter * length
        for path in long_files(tmp_path, long):
            for said in errors(path, ["r0", "r1", f"{long}9"]):
                assert len(said) < 500, path.name
                assert letter * 81 not in said, path.name
                refused += 1
    assert refused > 60
    record_property("errors about long cells", refused)


def draw(path, color):
    from PIL import Image

    Image.new("RGB", (4, 4), color).save(path)


def test_pages_embed_pictures_from_the_folder_of_the_data_only(tmp_path):
    folder = tmp_path / "data"
    (folder / "inner").mkdir(parents=True)
    draw(folder / "good.png", (0, 255, 0))
    draw(folder / "inner" / "good.png", (0, 250, 0))
    draw(tmp_path / "secret.png", (255, 0, 0))
    (folder / "link.png").symlink_to(tmp_path / "secret.png")
    (folder / "out").symlink_to(tmp_path)
    (folder / "kept").symlink_to(folder / "inner")
    (folder / "loop.png").symlink_to(folder / "loop.png")
    (folder / "page.eps").write_text("%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\nshowpage\n")
    cells = [
        "good.png", "inner/good.png", "kept/good.png", " good.png ", "../secret.png", str(tmp_path / "secret.png"),
        "link.png", "out/secret.png", "inner/../../secret.png", "loop.png", "page.eps", "good.png\0", "~/secret.png",
        "file:///etc/passwd", "..", "inner",
    ]  # fmt: skip
    write_csv(folder / "rows.csv", [["id", "x", "picture"], *([f"r{i}", i, cell] for i, cell in enumerate(cells[:11]))])
    names = ("strategy", "clusters", "questions", "seed", "id", "columns", "ignore", "label_column", "as", "sheet")
    options = dict.fromkeys((*names, "clues")) | {"raw": False, "as": "picture:image", "strategy": "RandomPairs"}
    talk, data, rows = projects.begin(folder / "p.cluewise", folder / "rows.csv", options, budget=5)
    with talk:
        from cluewise.workspace.offline.pictures import Pictures

        found = Pictures(data, rows)
        placed = [found._add(cell) for cell in cells]
        page, _ = write_page(talk, data, rows, talk.ask())
    assert placed == [0, 1, 2, 3, *[-1] * 12]
    assert found.unread == 12
    for uri in found.uris:
        from PIL import Image

        image = Image.open(io.BytesIO(base64.b64decode(uri.partition(",")[2])))
        assert image.getpixel((0, 0))[0] < 100  # not the secret
    assert page
