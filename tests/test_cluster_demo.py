"""`make cluster-demo` in a small size: a real cluster of processes, one of which is killed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

TOOL = Path(__file__).resolve().parents[1] / "tools" / "cluster_demo.py"


def test_a_killed_worker_changes_nothing():
    sizes = ["--rows", "2e4", "--columns", "12", "--clusters", "3", "--clues", "60", "--chunk", "2e3"]
    done = subprocess.run([sys.executable, str(TOOL), *sizes], capture_output=True, text=True, check=True, timeout=500)
    said = done.stdout
    assert "2e+04 rows × 12 in 10 chunks" in said
    assert re.search(r"killed worker tcp://\S+ after 15 chunks were read", said)
    found = re.search(r"ARI (\S+), 3 clusters, clues broken: (\d+)", said)
    assert found, said
    assert float(found[1]) > 0.9
    assert re.search(r"^\d+ s from rows to labels$", said, re.MULTILINE)
    assert 100 < int(re.search(r"peak memory of the workers, with all code: (\d+) MB", said)[1]) < 2000
