"""Damaged files of every format: each is read, or refused in one sentence that names it; nothing hangs or grows."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

CHILD = Path(__file__).with_name("files.py")
AT_ONCE = 1500  # files for one process


def test_damaged_files_are_read_or_refused_in_one_sentence(tmp_path, sweep):
    total = sweep(230, 30_000)
    taken = 0
    for first in range(0, total, AT_ONCE):
        count = min(AT_ONCE, total - first)
        child = subprocess.run(
            [sys.executable, CHILD, "16", str(first), str(count), tmp_path],
            capture_output=True,
            text=True,
            timeout=3600,
        )
        logs = {path.read_text("utf-8") for path in tmp_path.glob("*/log")}
        assert child.returncode == 0, f"died after one of the files {logs}: {child.stderr[-2000:]}"
        found = json.loads(child.stdout)
        assert found["failures"] == []
        assert found["read"] > count / 10  # the damage is not so great that nothing is left to read
        assert found["refused"] > count / 10
        assert found["peak_mb"] < 1500
        taken += found["files"]
    assert taken == total
