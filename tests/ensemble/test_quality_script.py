"""The script that compares updates prints a line for every rule, each from the same starting point."""

import sys
from importlib import import_module
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def script(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    module = import_module("scsc_quality")
    monkeypatch.setattr(module, "PARTITIONS", 20)
    monkeypatch.setattr(module, "TIERS", 2)
    yield module
    del sys.modules["scsc_quality"]


def test_a_line_for_every_rule(script, capsys):
    script.main(["iris", "nowhere", "--ensembles", "1", "--draws", "2"])
    title, head, *lines, seconds = capsys.readouterr().out.split("\n")[:-2]
    assert title == "iris: mean NMI ± standard deviation over 2 draws"
    assert head.split() == ["t0", "t1", "t2", "gain", ">", "0"]
    assert [line[:26].strip() for line in lines] == list(script.RULES)
    assert len({line[26:43] for line in lines if "kmeans" not in line}) == 1
    assert seconds.endswith("s)")


def test_no_set_is_an_error(script, capsys):
    with pytest.raises(SystemExit):
        script.main(["nowhere"])
    assert "none of the data sets is on this machine" in capsys.readouterr().err
