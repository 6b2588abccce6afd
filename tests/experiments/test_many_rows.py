"""The experiment about many rows: it resumes, and its report says what was run."""

import many_rows
import pytest


@pytest.mark.needs_data
def test_what_was_run_is_not_run_again_and_is_in_the_report(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(many_rows, "SETTINGS", [(50, 0)])
    words = ["--csv", str(tmp_path / "runs.csv"), "--rows", "300", "--draws", "1"]
    many_rows.main(["run", *words])
    first = (tmp_path / "runs.csv").read_text()
    assert len(first.splitlines()) == 1 + len(many_rows.METHODS)
    many_rows.main(["run", *words])
    assert (tmp_path / "runs.csv").read_text() == first
    capsys.readouterr()
    many_rows.main(["report", *words])
    ari = next(line.split(",")[4] for line in first.splitlines() if line.startswith("Cluewise"))
    assert f"{float(ari):.3f} (" in capsys.readouterr().out
