"""Twenty messy tables through the commands: nobody is refused, and nobody sees a traceback."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from cluewise import tables
from cluewise.cli import main
from rows.messy import make


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)

    def call(*words, typed=""):
        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main([str(word) for word in words])
        out, err = capsys.readouterr()
        assert not end.value.code, err
        assert "Traceback" not in out + err
        return out, err

    return call


@pytest.mark.parametrize("seed", range(20))
def test_a_messy_table_goes_through_every_command(run, tmp_path, seed):
    path, y = make(seed, tmp_path)
    sheet = ["--sheet", "Data"] if path.suffix == ".xlsx" else []
    same = [i for i in range(len(y)) if y[i] == y[0]][:2]
    other = next(i for i in range(len(y)) if y[i] != y[0])
    Path("clues.csv").write_text(f"{same[0]},{same[1]},must\n{same[0]},{other},cannot\n", "utf-8")
    words = [path.name, *sheet, "--clues", "clues.csv"]
    report = f"report{seed}.json"
    run("fit", *words, "-k", 3, "--method", "PCKMeans", "--report", report, "--out", "out.csv", "--save", "model.cw")
    facts = json.loads(Path(report).read_text("utf-8"))
    assert facts["rows"] == len(y)
    assert len(facts["columns"]) >= 1
    assert sum(facts["sizes"]) == len(y)
    run("predict", "model.cw", path.name, *sheet, "--out", "again.csv")
    assert tables.read("again.csv").columns["cluster"].tolist() == tables.read("out.csv").columns["cluster"].tolist()
    run("check", *words, "--explain-columns")
    project = f"project{seed}.cluewise"
    run("ask", path.name, *sheet, "--budget", 2, "--project", project, "--strategy", "RandomPairs", typed="y\nn\n")
    state = ["update", f"state{seed}", "--clues", "clues.csv"]
    run(*state, "--data", path.name, *sheet, "-k", 3, "--method", "SCSC", "--partitions", 5, "--quiet")
