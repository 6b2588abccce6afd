"""How large the house is, and how long its ways are: lines by kind and folder, functions entered by one call.

Run it as ``python tools/measure.py``. Calls are counted on the second call of each kind, on 60 rows of three columns,
in one thread: distinct Python functions of the library, the modules they live in, and the deepest stack of them.
"""

from __future__ import annotations

import ast
import io
import os
import sys
import tempfile
import threading
import tokenize
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

os.environ["CLUEWISE_THREADS"] = "1"

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "cluewise"


def lines_of(path: Path) -> Counter[str]:
    """Lines of one file by kind: code, docstring, comment, blank."""
    text = path.read_text(encoding="utf-8")
    kinds = dict.fromkeys(range(1, len(text.splitlines()) + 1), "blank")
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            kinds[token.start[0]] = "comment"
    skipped = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in skipped:
            kinds.update(dict.fromkeys(range(token.start[0], token.end[0] + 1), "code"))
    # Texts that stand alone are docstrings, those below a constant included.
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            kinds.update(dict.fromkeys(range(node.lineno, (node.end_lineno or node.lineno) + 1), "docstring"))
    return Counter(kinds.values())


def show_lines() -> None:
    """Lines by folder and kind, the largest folder first."""
    folders: dict[str, Counter[str]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        inside = path.relative_to(SOURCE).parts
        folder = inside[0] if len(inside) > 1 else "."
        folders.setdefault(folder, Counter()).update(lines_of(path), files=1)
    folders["all"] = sum(folders.values(), Counter())
    kinds = ("code", "docstring", "comment", "blank")
    print(f"{'folder':<18}{'files':>7}{'lines':>8}" + "".join(f"{kind:>11}" for kind in kinds))
    for name, found in sorted(folders.items(), key=lambda item: -sum(item[1][kind] for kind in kinds)):
        total = sum(found[kind] for kind in kinds)
        print(f"{name:<18}{found['files']:>7}{total:>8}" + "".join(f"{found[kind]:>11}" for kind in kinds))


def entered(call: Callable[[], Any], package: str) -> tuple[int, int, int]:
    """Distinct functions of a package that a call enters, their modules, and how deep they are stacked."""
    call()
    functions: set[tuple[str, int]] = set()
    deepest = depth = 0

    def watch(frame: FrameType, event: str, _: Any) -> None:
        nonlocal deepest, depth
        if package not in frame.f_code.co_filename or frame.f_code.co_name.startswith("<"):
            return
        if event == "call":
            functions.add((frame.f_code.co_filename, frame.f_code.co_firstlineno))
            depth += 1
            deepest = max(deepest, depth)
        elif event == "return":
            depth -= 1

    threading.setprofile(watch)
    sys.setprofile(watch)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return len(functions), len({file for file, _ in functions}), deepest


def show_calls() -> None:
    """What one call enters, beside scikit-learn's K-means."""
    import numpy as np
    from sklearn.cluster import KMeans
    from typer.testing import CliRunner

    import cluewise as cw
    from cluewise.cli._app import app

    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 20)
    X = rng.normal(size=(60, 3)) + 4 * y[:, None]
    labels, pairs = cw.Clues.sample(y, labels=0.2, random_state=0), cw.Clues.sample(y, pairs=30, random_state=0)
    scsc = cw.SCSC(3, n_partitions=20, random_state=0).fit(X)
    with tempfile.TemporaryDirectory() as folder:
        table, clues, out = (str(Path(folder) / name) for name in ("data.csv", "clues.csv", "out.csv"))
        np.savetxt(table, X, delimiter=",", header="a,b,c", comments="")
        pairs.write(clues)
        line = ["fit", table, "--clues", clues, "-k", "3", "--method", "PCCC", "--out", out]

        def fit() -> None:
            done = CliRunner().invoke(app, line, catch_exceptions=False)
            assert done.exit_code == 0, done.output

        def ask() -> None:
            project = Path(folder) / "answers.cluewise"
            project.unlink(missing_ok=True)
            line = ["ask", table, "-k", "3", "--project", str(project), "--budget", "3", "--out", clues]
            done = CliRunner().invoke(app, line, input="y\nn\ny\n", catch_exceptions=False)
            assert done.exit_code == 0, done.output

        calls: dict[str, tuple[Callable[[], Any], str]] = {
            "sklearn KMeans.fit": (lambda: KMeans(3, n_init=1, random_state=0).fit(X), "sklearn"),
            "SeededKMeans.fit": (lambda: cw.SeededKMeans(3, random_state=0).fit(X, clues=labels), "src/cluewise"),
            "PCKMeans.fit": (lambda: cw.PCKMeans(3, random_state=0).fit(X, clues=pairs), "src/cluewise"),
            "PCCC.fit": (lambda: cw.PCCC(3, random_state=0).fit(X, clues=pairs), "src/cluewise"),
            "SCSC.update": (lambda: scsc.update(pairs), "src/cluewise"),
            "cluewise fit": (fit, "src/cluewise"),
            "cluewise ask": (ask, "src/cluewise"),
        }
        print(f"{'call':<20}{'functions':>10}{'modules':>9}{'depth':>7}")
        for name, (call, package) in calls.items():
            print(f"{name:<20}{'{:>10}{:>9}{:>7}'.format(*entered(call, package))}")


if __name__ == "__main__":
    show_lines()
    print()
    show_calls()
