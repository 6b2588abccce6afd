"""Run the scripts of docs/adapters, each in an environment of its own with the program that it is about.

``python tools/adapters.py [NAME …]`` makes the environments, runs the scripts and writes the versions that it saw to
docs/adapters/tested.csv. It needs uv and the package index, so it is not part of `make test`.
"""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SCRIPTS = ROOT / "docs" / "adapters"
TABLE = SCRIPTS / "tested.csv"
ENVIRONMENTS = ROOT / ".venv-adapters"

# Program, its package, and what is installed; "=" before a package: without what it asks for, which is torch here.
PROGRAMS = {
    "bertopic": ("BERTopic", "bertopic", ["=bertopic", "hdbscan", "umap-learn", "plotly", "tqdm", "pyyaml", "pandas"]),
    "scanpy": ("scanpy", "scanpy", ["scanpy"]),
    "splink": ("Splink", "splink", ["splink", "pandas"]),
    "label_studio": ("Label Studio (SDK)", "label-studio-sdk", ["label-studio-sdk"]),
    "embedding_atlas": (
        "Embedding Atlas",
        "embedding-atlas",
        ["=embedding-atlas", "click", "cryptography", "duckdb", "fastapi", "inquirer", "pandas", "platformdirs",
         "pyarrow", "tqdm", "uvicorn", "websockets"],
    ),
}  # fmt: skip


def main(names: list[str]) -> None:
    """Try the programs of these names, or all."""
    unknown = set(names) - PROGRAMS.keys()
    if unknown:
        sys.exit(f"there is no script {sorted(unknown)[0]!r}; there are {', '.join(PROGRAMS)}.")
    seen = {row["program"]: row for row in csv.DictReader(TABLE.open(newline=""))} if TABLE.exists() else {}
    for name in names or list(PROGRAMS):
        program, package, wanted = PROGRAMS[name]
        python = _prepare(name, wanted)
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([python, SCRIPTS / f"with_{name}.py"], cwd=folder, check=True)
        version, of_python = _ask(python, package)
        seen[program] = {"program": program, "version": version, "Python": of_python}
        print(f"{program} {version}: right")
    with TABLE.open("w", newline="") as file:
        writer = csv.DictWriter(file, ["program", "version", "Python"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(seen[program] for program, *_ in PROGRAMS.values() if program in seen)


def _prepare(name: str, wanted: list[str]) -> Path:
    folder = ENVIRONMENTS / name
    python = folder / "bin" / "python"
    uv = shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if uv is None:
        sys.exit("uv is needed: pip install uv")
    install = [uv, "pip", "install", "--quiet", "--python", str(python)]
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    alone = [one[1:] for one in wanted if one.startswith("=")]
    if alone:
        subprocess.run([*install, "--no-deps", *alone], check=True)
    others = [one for one in wanted if not one.startswith("=")]
    subprocess.run([*install, "--editable", f"{ROOT}[io]", *others], check=True)
    return python


def _ask(python: Path, package: str) -> tuple[str, str]:
    code = f"import platform, importlib.metadata as m; print(m.version({package!r}), platform.python_version())"
    found = subprocess.run([python, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    return found[0], found[1]


if __name__ == "__main__":
    main(sys.argv[1:])
