"""The report as a page: complete, well-formed, closed to the network, and harmless whatever the data hold."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from html import unescape
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pytest

import cluewise as cw
from cluewise import tables
from cluewise.workspace import _svg, again, clusters, page

EVIL = "<script>alert(1)</script>&\"'"


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch):
    monkeypatch.setattr(again, "RESAMPLES", 4)


@pytest.fixture
def shops(write):
    """Thirty shops of two kinds; names and columns try to break out of the page."""
    rng = np.random.default_rng(0)
    lines = [f'id,price,"se""ats {EVIL.replace(chr(34), "")}"']
    for i in range(30):
        small = i < 15
        lines.append(
            f"s{i}{'<b>' if i == 0 else ''},{rng.normal(2 if small else 9):.3f},{rng.normal(20 if small else 80):.2f}"
        )
    write("shops & <co>.csv", "\n".join(lines) + "\n")
    write("links.csv", "a,b,kind\ns1,s2,must\ns3,s20,must\ns1,s29,cannot\n")
    return "shops & <co>.csv"


def page_of(path):
    """The text of a page that holds nothing from elsewhere, and its elements."""
    text = path.read_text("utf-8")
    root = ElementTree.fromstring(text.removeprefix("<!DOCTYPE html>"))
    tags = {element.tag for element in root.iter()}
    assert not tags & {"script", "link", "iframe", "object", "embed", "img", "form", "base", "a"}
    attributes = {name for element in root.iter() for name in element.attrib}
    assert not [name for name in attributes if name.startswith("on") or name in ("href", "src", "action")]
    assert not re.search(r"https?:|//\w|url\(|@import|@font-face", text)
    assert "default-src 'none'" in text
    return text, root


def words_of(root):
    return " ".join(" ".join(root.itertext()).split())


def test_everything_is_on_the_page(run, folder, shops):
    answer = run("fit", shops, "--clues", "links.csv", "-k", 2, "--report", "r.html", "--seed", 3)
    assert answer.code == 0
    text, root = page_of(folder / "r.html")
    heads = [element.text for element in root.iter("h2")]
    assert heads[:4] == ["Map", "Sizes", "What makes each cluster", "Clues"]
    assert {"What to ask next", "How sure", "How it was made"} <= set(heads)
    words = words_of(root)
    assert f"Clusters of {shops}" in words
    assert "30 rows in 2 clusters, by 2 columns, with Cluewise." in words
    assert "must-link s3 – s20 (links.csv:3)" in words
    assert "The method clustered 4 random parts of 24 rows each." in words
    assert "Does s" in words
    assert "× the rest" in words
    assert re.search(r"Rule: .* covers \d+ %, precision \d+ %", words)
    assert text.count("<circle") == 30
    assert "<script>" not in text
    assert unescape("&lt;script&gt;") in words


def test_the_command_on_the_page_repeats_the_fit(run, folder, shops):
    words = [
        "fit",
        shops,
        "--clues",
        "links.csv",
        "-k",
        "2",
        "--seed",
        "3",
        "--report",
        "r.html",
        "--method",
        "PCKMeans",
    ]
    assert run(*words, "--raw").code == 0
    _, root = page_of(folder / "r.html")
    command = shlex.split(next(root.iter("pre")).text)
    assert command[:3] == ["cluewise", "fit", shops]
    labels = (folder / "shops & <co>-clusters.csv").read_text("utf-8")
    (folder / "shops & <co>-clusters.csv").unlink()
    assert run(*command[1:]).code == 0
    assert (folder / "shops & <co>-clusters.csv").read_text("utf-8") == labels


def test_the_data_have_profiles_too(run, folder, shops):
    assert run("fit", shops, "-k", 2, "-q", "--report", "r.json").code == 0
    told = json.loads((folder / "r.json").read_text("utf-8"))
    assert [profile["size"] for profile in told["profiles"]] == told["sizes"]
    assert told["profiles"][0]["differences"][0]["text"].startswith(("price", "se"))
    assert "stability" not in told
    assert told["clusters"] == 2
    assert told["command"].startswith("cluewise fit 'shops & <co>.csv'")


def test_a_page_without_clues_and_with_noise(run, folder, write):
    write("points.csv", "x,y\n" + "\n".join(f"{i // 10 * 9}.{i % 10},{i % 3}" for i in range(30)) + "\n400,400\n")
    assert run("fit", "points.csv", "--method", "ConstrainedDBSCAN", "--report", "r.htm").code == 0
    _, root = page_of(folder / "r.htm")
    words = words_of(root)
    assert "There were no clues about rows." in words
    assert "noise" in words


def test_a_page_of_noise_alone_and_of_one_cluster(run, folder, write):
    write("far.csv", "x,y\n0,0\n50,3\n1,90\n")
    assert run("fit", "far.csv", "--method", "ConstrainedDBSCAN", "--report", "noise.html").code == 0
    words = words_of(page_of(folder / "noise.html")[1])
    assert "What makes each cluster" not in words
    assert run("fit", "far.csv", "-k", 1, "--method", "PCKMeans", "--report", "one.html").code == 0
    words = words_of(page_of(folder / "one.html")[1])
    assert "No column distinguishes it from the rest." in words
    assert "Stability was not measured." in words
    assert "What to ask next" not in words


def test_known_labels_and_what_changed(run, folder, write):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(0, 1, (40, 2)), rng.normal(6, 1, (40, 2))])
    lines = [f"r{i},{a:.3f},{b:.3f},{'ab'[i // 40] if i % 8 == 0 else ''}" for i, (a, b) in enumerate(X)]
    write("rows.csv", "id,x,y,class\n" + "\n".join(lines) + "\n")
    links = [f"r{i},r{i + 1},must" for i in range(0, 38, 2)] + [f"r{i},r{i + 40},cannot" for i in range(20)]
    write("links.csv", "a,b,kind\n" + "\n".join([*links, "r39,r41,must"]) + "\n")
    words = ("fit", "rows.csv", "--clues", "links.csv", "--label-column", "class", "-k", 2, "--report", "r.html")
    assert run(*words).code == 0
    words = words_of(page_of(folder / "r.html")[1])
    assert "a: 5" in words
    assert "must-link r39 – r41 (links.csv:41)" in words
    assert "Because of the clues, 0 rows changed cluster." in words
    assert run(*("fit", "rows.csv", "--clues", "links.csv", "-k", 2, "--ignore", "class"), "--method", "COPKMeans",
               "--report", "hard.html").code == 0  # fmt: skip
    words = words_of(page_of(folder / "hard.html")[1])
    assert "Clues that decided (kept, but broken without clues): 1 must-link." in words
    assert "from the cluster that matches" in words


def test_words_samples_and_the_plan_of_columns_are_shown():
    notes = [f"please send invoice {i}" if i < 9 else f"order {i} came in time" for i in range(18)]
    table = tables.Table({"note": notes, "x": np.arange(18.0)})
    found = cw.describe(np.repeat([0, 1], 9), table)
    said = "".join(page._show_profile(found[0], SimpleNamespace(table=table), {"0": "<i>"}))
    assert "&lt;i&gt; (" in said
    assert "Words in note: invoice, please, send" in said
    facts = {"standardized": True, "parameters": {}, "choice": None, "cluewise": "1", "method": "M", "seed": 0}
    facts |= {"columns": ["x"], "seconds": 1.0, "command": "cluewise fit <x>"}
    plan = [{"name": "<age>", "kind": "number", "width": 1, "notes": ["3 missing.", "filled."]}]
    said = "".join(page._show_making(facts | {"column_plan": plan}))
    assert "<td>&lt;age&gt;</td><td>number</td><td>1</td><td>3 missing. filled.</td>" in said
    suspect = {"kind": "must", "rows": ["a<", "b"], "source": "ann.csv:3", "doubt": 0.999}
    said = "".join(page._show_suspects({"suspects": [suspect] * 31}))
    assert "<li>99.0 %: must-link a&lt; – b (ann.csv:3)</li>" in said
    assert "… and 1 more." in said
    failed = {"resamples": 2, "rows": 9, "failed": 1, "clusters": []}
    assert "1 part could not be clustered." in "".join(page._show_stability({"stability": failed, "unsure": []}))


def test_stability_is_not_measured_where_no_part_can_be_clustered(run, folder, write):
    lines = "\n".join(f"{x},{y}" for x in (0, 9) for y in (0, 9))
    write("square.csv", f"x,y\n{lines}\n")
    answer = run("fit", "square.csv", "-k", 4, "--method", "PCKMeans", "--report", "r.html")
    assert answer.code == 0
    assert "Stability was not measured." in words_of(page_of(folder / "r.html")[1])


def test_many_rows_are_drawn_as_a_sample(run, folder, write, monkeypatch):
    monkeypatch.setattr(_svg, "POINTS", 20)
    rng = np.random.default_rng(0)
    write("many.csv", "x,y\n" + "\n".join(f"{x:.3f},{y:.3f}" for x, y in rng.normal(size=(60, 2))) + "\n")
    write("links.csv", "a,b,kind\n0,1,must\n2,3,cannot\n")
    assert (
        run("fit", "many.csv", "--clues", "links.csv", "-k", 2, "--method", "PCKMeans", "--report", "r.html").code == 0
    )
    text, root = page_of(folder / "r.html")
    assert 20 <= text.count("<circle") <= 24
    assert "of 60 rows are drawn." in words_of(root)


def test_control_characters_do_not_reach_page_or_terminal(run, folder, write):
    cells = "\n".join(f"{'bell' + chr(27) + '[31m' + chr(7) if i < 3 else 'ok'}{i},{i // 3 * 10 + i}" for i in range(6))
    write("odd.csv", f"name,x{chr(27)}[1m\n{cells}\n")
    answer = run("fit", "odd.csv", "-k", 2, "--method", "PCKMeans", "--report", "r.html")
    assert answer.code == 0
    said = answer.out[answer.out.index("Cluster 0") :].splitlines()
    assert not any(chr(27) in line for line in said if line.startswith(("Cluster", "  rule")))
    assert chr(27) not in page_of(folder / "r.html")[0]


def test_letters_of_all_scripts_reach_the_page(run, folder, write):
    names = [
        "\u00e9t\u00e9\u00a01",
        "\u6771\u4eac\u30002",
        "\u0645\u06cc\u200c\u0631\u0648\u0645",
        "\U0001f469\u200d\U0001f4bb",
    ]
    write("names.csv", "id,x\n" + "\n".join(f"{name},{i // 2 * 9 + i}" for i, name in enumerate(names)) + "\n")
    assert run("fit", "names.csv", "-k", 2, "--method", "PCKMeans", "--report", "r.html").code == 0
    text, _ = page_of(folder / "r.html")
    assert all(name in text for name in names)
    assert "\N{REPLACEMENT CHARACTER}" not in text


def test_ids_and_names_are_those_of_the_table_everywhere(run, folder, write):
    """Ids 3 and 1 of an earlier model stand for clusters 0 and 1 or 1 and 0 of the fit."""
    write("shops.csv", "id,price\n" + "\n".join(f"s{i},{i % 2 * 90 + i}" for i in range(12)) + "\n")
    X = np.array([[i % 2 * 90.0 + i] for i in range(12)])
    earlier = cw.PCKMeans(2, random_state=0).fit(X)
    for ids in ([3, 1], [1, 3], [7, 12]):
        earlier.cluster_ids_, earlier._next_id = np.array(ids), 20
        cw.save(earlier, "old.cw")
        words = ("fit", "shops.csv", "-k", 2, "--method", "PCKMeans", "--keep-ids", "old.cw")
        answer = run(*words, "--report", "r.html")
        assert answer.code == 0
        cells = tables.read("shops-clusters.csv").columns
        dear = int(cells["cluster"][1])
        assert {dear, int(cells["cluster"][0])} == set(ids)
        assert f"Cluster {dear} (high price): price" in answer.out
        _, root = page_of(folder / "r.html")
        heads = [" ".join("".join(head.itertext()).split()) for head in root.iter("h3")]
        assert f"{dear} high price" in heads
        chips = {chip.text for chip in root.iter("span") if chip.get("class") == "chip"}
        assert chips == set(map(str, ids))
        assert {tag.text for tag in root.iter("text")} == set(map(str, ids))
        assert re.search(rf"\(cluster ({ids[0]}|{ids[1]})\)", words_of(root))
        assert run(*words, "--report", "r.json", "-q").code == 0
        told = json.loads((folder / "r.json").read_text("utf-8"))
        assert [profile["cluster"] for profile in told["profiles"]] == told["ids"]
        assert [profile["size"] for profile in told["profiles"]] == told["sizes"]


def test_names_are_in_the_summary_and_on_the_page(run, folder, write):
    cells = "\n".join(f"s{i},{i % 2 * 90 + i},{('low', 'dear')[i] if i < 2 else ''}" for i in range(12))
    write("shops.csv", f"id,price,kind\n{cells}\n")
    words = ("fit", "shops.csv", "-k", 2, "--label-column", "kind", "--method", "SeededKMeans")
    answer = run(*words, "--save", "m.cw", "--report", "r.html")
    assert re.search(r"Cluster \d dear \(high price\): price", answer.out)
    assert "dear (high price)" in words_of(page_of(folder / "r.html")[1])
    assert "dear: 1" in words_of(page_of(folder / "r.html")[1])


def test_rows_that_moved_are_told_by_ids():
    found = cw.describe([0, 0, 0, 1, 1], {"x": [1, 2, 3, 8, 9]}, clues=cw.Clues(5), without=[0, 0, 2, 1, 1])
    told = clusters._renumber(found, np.array([7, 4]))
    assert [profile.cluster for profile in told] == [7, 4]
    assert (told.changes.before.tolist(), told.changes.after.tolist()) == ([8], [7])
    assert {other for profile in told for other in profile.neighbors} == {4, 7}


def test_the_summary_describes_clusters_and_quiet_ones_do_not(run, folder, shops):
    answer = run("fit", shops, "-k", 2, "--method", "PCKMeans")
    lines = [line for line in answer.out.splitlines() if line.startswith(("Cluster ", "  rule: "))]
    assert [line.split(" (")[0] for line in lines[::2]] == ["Cluster 0", "Cluster 1"]
    assert "price" in lines[0]
    assert lines[1].startswith("  rule: ")
    assert run("fit", shops, "-k", 2, "--method", "PCKMeans", "-q").out == ""


def test_of_many_clusters_the_largest_are_told(run, write):
    write("many.csv", "x\n" + "\n".join(str(i * 100 + j) for i in range(12) for j in range(3 if i < 11 else 2)) + "\n")
    out = run("fit", "many.csv", "-k", 12, "--method", "PCKMeans").out
    assert sum(line.startswith("Cluster ") for line in out.splitlines()) == 10
    assert "… and 2 smaller clusters (--report FILE describes all)." in out


@pytest.mark.needs_chromium
def test_a_browser_opens_the_page_without_complaint(run, folder, shops):
    assert run("fit", shops, "--clues", "links.csv", "-k", 2, "--report", "r.html").code == 0
    page_of(folder / "r.html")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
    options += ["--disable-component-update", f"--user-data-dir={folder / 'profile'}", "--enable-logging=stderr"]
    options += ["--window-size=1000,3000", f"--screenshot={folder / 'page.png'}"]
    command = ["chromium", *options, (folder / "r.html").as_uri()]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120)
    # The policy of the page forbids every request, and the console tells of those that it stops.
    assert "CONSOLE" not in result.stderr, result.stderr
    from PIL import Image

    pixels = np.asarray(Image.open(folder / "page.png").convert("RGB")).reshape(-1, 3)
    assert len(np.unique(pixels, axis=0)) > 50  # colors of bars and points


@pytest.mark.needs_chromium
def test_the_browser_would_tell_of_a_request(folder):
    """The test above could fail: a page that asks for something is told of on the console."""
    policy = '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'"/>'
    (folder / "bad.html").write_text(
        f'<html><head>{policy}</head><body><img src="http://example.org/x.png"/></body></html>'
    )
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
    options += [f"--user-data-dir={folder / 'profile'}", "--enable-logging=stderr", "--dump-dom"]
    command = ["chromium", *options, (folder / "bad.html").as_uri()]
    assert "CONSOLE" in subprocess.run(command, capture_output=True, text=True, timeout=120).stderr
