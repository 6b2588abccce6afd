"""Good files, seeded damage, and a process that reads what comes of it: ``python files.py SEED FIRST COUNT``.

Each file is read by the readers and given to ``cluewise fit``, in one process whose memory is bounded. Prints counts
and the files that gave anything but a table or one sentence, as JSON; the last line of the log is the file at work.
"""

from __future__ import annotations

import contextlib
import functools
import io
import json
import os
import re
import resource
import signal
import sys
import tempfile
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["CLUEWISE_FILE_LIMIT"] = "64M"

import numpy as np
import polars as pl
from typer.main import get_command

from cluewise import Clues, tables
from cluewise.cli import app
from cluewise.exceptions import ClueError

COMMANDS = get_command(app)  # once: `main` builds it anew for each command, which takes longer than most files
IDS = ["a17", "b3", "c", "d", "e", "f", "g", "h"]
SECONDS = 20  # for one file; good ones take a few hundredths
MEMORY = 3 * 2**30  # bytes on top of what the libraries take when they are loaded
X = np.array([[0, 0.1], [0.2, 0], [0.1, 0.2], [0, 0.3], [9, 9.1], [9.2, 9], [9.1, 9.2], [9, 9.3]])
DATA = "id,x,y\n" + "".join(f"{name},{x},{y}\n" for name, (x, y) in zip(IDS, X.tolist()))
CLUES = """a,b,kind,weight,confidence,source
a17,b3,must,,0.9,ann
c,d,cannot,2,,
e,red,label,,,
f,g1,together,,,"x, y"
g,g1,together,,,
a17,g2,apart,,,
h,g2,apart,,,
a17,1,partition:one,,,
b3,2,partition:two,,,
*,1..7,size,,,
"""
BY_HAND = {
    "n": 8, "labels": {"a17": "red", "h": "blue"}, "must": [["a17", "b3"], ["c", "d", 0.5]],
    "cannot": [{"a": "a17", "b": "h", "confidence": 0.9}], "together": {"g": ["e", "f"]},
    "apart": [{"p": ["a17", "g"]}], "partitions": [[0, 0, 1, 1, 2, 2, -1, None]], "sizes": [1, 7],
}  # fmt: skip


class Hang(BaseException):
    """The alarm clock."""


def zipped(arrays: dict[str, Any], how: int = zipfile.ZIP_DEFLATED) -> bytes:
    """An NPZ file; bytes are members as they are."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", how) as archive:
        for key, value in arrays.items():
            archive.writestr(f"{key}.npy", value if isinstance(value, bytes) else saved(value))
    return buffer.getvalue()


def saved(array: Any) -> bytes:
    """An NPY file."""
    buffer = io.BytesIO()
    np.save(buffer, np.asarray(array))
    return buffer.getvalue()


def parquet(columns: dict[str, Any], **options: Any) -> bytes:
    """A Parquet file."""
    buffer = io.BytesIO()
    pl.DataFrame(columns).write_parquet(buffer, **options)
    return buffer.getvalue()


@functools.cache
def seeds() -> list[tuple[str, str, bytes]]:
    """Good files of every format: what they are for, their suffix, their content."""
    columns = {"id": IDS, "x": X[:, 0], "y": X[:, 1]}
    records = [{"id": name, "x": x, "y": y} for name, (x, y) in zip(IDS, X.tolist())]
    lines = [line.split(",")[:3] for line in CLUES.splitlines()[1:4]]
    clues = {key: [line[j] for line in lines] for j, key in enumerate(("a", "b", "kind"))}
    labels = {"id": IDS, "label": ["red", "", "blue", *[""] * 5]}
    quoted = DATA.replace("\nc,", '\n"c",').replace("0.3", '"0.3"')
    return [
        ("data", ".csv", DATA.encode()),
        ("data", ".csv", quoted.replace(",", ";").replace("\n", "\r\n").encode("utf-8-sig")),
        ("data", ".tsv", DATA.replace(",", "\t").encode()),
        ("data", ".csv", "\n".join(f"{x},{y}" for x, y in X.tolist()).encode()),
        ("data", ".json", json.dumps(records).encode()),
        ("data", ".json", json.dumps({"id": IDS, "x": X[:, 0].tolist(), "y": list(range(8))}).encode()),
        ("data", ".npy", saved(X)),
        ("data", ".npy", saved(np.asfortranarray(X.astype(">f4")))),
        ("data", ".npz", zipped({"X": X, "id": IDS, "feature_names": ["u", "v"]})),
        ("data", ".npz", zipped({"x": X[:, 0], "y": np.arange(8), "id": np.array(IDS, "S")}, zipfile.ZIP_STORED)),
        ("data", ".parquet", parquet(columns)),
        ("data", ".parquet", parquet(columns, compression="uncompressed", statistics=False)),
        ("data", ".parquet", parquet({"u": [True, None] * 4, "v": range(8)}, compression="snappy", row_group_size=3)),
        ("clues", ".csv", CLUES.encode()),
        ("clues", ".csv", "\n".join(",".join(line) for line in lines).encode()),
        ("clues", ".tsv", CLUES.replace(",", "\t").encode()),
        ("clues", ".csv", b"id,label\na17,red\nb3,\nh,blue\n"),
        ("clues", ".json", json.dumps(BY_HAND).encode()),
        ("clues", ".json", json.dumps([dict(zip(clues, line)) for line in lines]).encode()),
        ("clues", ".json", json.dumps(labels).encode()),
        ("clues", ".npz", zipped(clues)),
        ("clues", ".parquet", parquet(clues)),
        ("clues", ".parquet", parquet(labels, compression="gzip")),
    ]


NUMBERS = [
    b"9" * 400, b"-" + b"9" * 5000, b"1e400", b"-1e-400", b"nan", b"Infinity", b"-inf", b"1000000000000", b"1e308",
    b"-1", b"4294967296", b"9223372036854775808", b"0x1F", b"1_000", b"007", "٣".encode(), b"", b"1.5", b"null",
]  # fmt: skip
WORDS = [
    b"\0", b"\0\0\0\0", b"\r", b"\n", b"\r\n", b'"', b"'", b",", b";", b"\t", b"\xff\xfe", b"\xef\xbb\xbf", b"\xc3",
    b"\\ud800", "\u2028".encode(), b"=1+1", b"@x", b"{", b"[", b"}", b"]", b":", b"*", b"must:x",
    b"partition:9", b"rows",
    b"*,1000000000000,rows\n", b"0,1000000000000,must\n", b"together", b"size", b"avoid", b"label", b"a17", b"true",
    b'{"n": 1e999}', b"[" * 5000, b'{"a":' * 2000, b"(" * 300, b"-" * 3000, b"\x1b[2J", b"x" * 140_000, b"," * 3000,
]  # fmt: skip
HEADERS = [
    b"(0, 1000000000)", b"(1000000000, 0)", b"(99999999999999999999,)", b"(-8, 2)", b"(8, 2.0)", b"()", b"(8, 2, 1)",
    b"[8, 2]", b"(True, 16)", b"(8,", b"((((((((((8", b"'8'", b"(2, 8)", b"(16,)",
]  # fmt: skip
TYPES = [
    b"|O", b"<U0", b"|V0", b"|S0", b"<U1000000000", b"<f9", b"<M8[ns]", b"<m8[zz]", b"<c16", b"|V8", b">i8", b"|b1",
    b"[('a','<f8'),('b','<f8')]", b"<f2", b"", b"\\", b"<U4", b"|S16",
]  # fmt: skip
Rng = np.random.Generator


def flip(data: bytes, rng: Rng, _: bytes) -> bytes:
    changed = bytearray(data)
    for place in rng.integers(0, max(len(data), 1), rng.integers(1, 9)):
        if data:
            changed[place] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def cut(data: bytes, rng: Rng, _: bytes) -> bytes:
    return data[: int(rng.integers(0, len(data) + 1))]


def repeat(data: bytes, rng: Rng, _: bytes) -> bytes:
    start, end = sorted(rng.integers(0, len(data) + 1, 2).tolist())
    return data[:end] + data[start:end] * int(rng.integers(1, 30)) + data[end:]


def drop(data: bytes, rng: Rng, _: bytes) -> bytes:
    start = int(rng.integers(0, len(data) + 1))
    return data[:start] + data[start + int(rng.integers(1, 40)) :]


def splice(data: bytes, rng: Rng, other: bytes) -> bytes:
    start, end = sorted(rng.integers(0, len(other) + 1, 2).tolist())
    place = int(rng.integers(0, len(data) + 1))
    return data[:place] + other[start:end] + data[place + int(rng.integers(0, 2)) * (end - start) :]


def insert(data: bytes, rng: Rng, _: bytes) -> bytes:
    place = int(rng.integers(0, len(data) + 1))
    return data[:place] + WORDS[rng.integers(len(WORDS))] + data[place:]


def number(data: bytes, rng: Rng, _: bytes) -> bytes:
    found = list(re.finditer(rb"-?\d+(\.\d+)?", data))
    if not found:
        return insert(data, rng, b"")
    spot = found[rng.integers(len(found))]
    return data[: spot.start()] + NUMBERS[rng.integers(len(NUMBERS))] + data[spot.end() :]


def edge(data: bytes, rng: Rng, _: bytes) -> bytes:
    """Random bytes near the beginning or the end, where formats keep what they declare."""
    changed = bytearray(data)
    for _step in range(int(rng.integers(1, 5))):
        if data:
            near = min(int(rng.integers(0, 120)), len(data) - 1)
            changed[near if rng.random() < 0.5 else -1 - near] = int(
                rng.choice([0, 1, 127, 128, 255, rng.integers(256)])
            )
    return bytes(changed)


def encode(data: bytes, rng: Rng, _: bytes) -> bytes:
    text = data.decode("latin-1")
    return text.encode(str(rng.choice(["utf-16", "utf-32", "utf-8", "utf-7", "utf-8-sig"])))


def line_ends(data: bytes, rng: Rng, _: bytes) -> bytes:
    return re.sub(rb"\r\n|\n", rng.choice([b"\r", b"\r\n", b"\n\r", b"\n\n", b"\v", b""]), data)


def array_header(data: bytes, rng: Rng, _: bytes) -> bytes:
    """Another shape, type or order in the header of an array, which keeps its length."""
    key, values = (b"shape", HEADERS) if rng.random() < 0.6 else (b"descr", TYPES)
    value = values[rng.integers(len(values))]
    old = rb"'shape': *\([^)]*\)" if key == b"shape" else rb"'descr': *'[^']*'"
    quoted = value if key == b"shape" or value.startswith(b"[") else b"'" + value + b"'"
    changed = re.sub(old, lambda _: b"'" + key + b"': " + quoted, data, count=1)
    over = len(changed) - len(data)
    if over > 0:  # take it from the padding, so that the rest of the file is sound
        changed = changed.replace(b" " * over, b"", 1) if b" " * over in changed else changed
    elif over < 0:
        changed = changed.replace(b"}", b"}" + b" " * -over, 1)
    return changed


def member(data: bytes, rng: Rng, other: bytes) -> bytes:
    """Damage inside a member of an archive, which is sound itself; or another member, or a flag."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            arrays: dict[str, Any] = {
                info.filename.removesuffix(".npy"): archive.read(info) for info in archive.infolist()
            }
    except Exception:
        return flip(data, rng, other)
    key = str(rng.choice(list(arrays))) if arrays else "X"
    choice = rng.random()
    if choice < 0.6:
        change = [array_header, flip, cut, edge, number][rng.integers(5)]
        arrays[key] = change(arrays.get(key, b""), rng, other)
    elif choice < 0.7:
        arrays[key] = [b"no array", b"", b"\x93NUMPY\x09\x00", saved(np.zeros(20_000_000, bool))][rng.integers(4)]
    elif choice < 0.8:
        arrays[str(rng.choice(["", "../x", "a/b", "y", "id", "X", "kind", "label"]))] = saved(rng.integers(0, 2, 8))
    else:
        place = data.rfind(b"PK\x01\x02") + 8  # flags of the last member in the directory: encrypted
        return data[:place] + b"\x01" + data[place + 1 :]
    how = [zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED, zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2][rng.integers(4)]
    return zipped(arrays, how)


ANY: list[Callable[[bytes, Rng, bytes], bytes]] = [
    flip,
    cut,
    repeat,
    drop,
    splice,
    insert,
    number,
    edge,
    encode,
    line_ends,
]
SPECIAL = {".npy": [array_header], ".npz": [member, member]}


def damaged(seed: int, number: int) -> tuple[str, str, bytes]:
    """The file of a number: what it is for, its suffix, its content."""
    rng = np.random.default_rng([seed, number])
    good = seeds()
    kind, suffix, data = good[number % len(good)]
    other = good[rng.integers(len(good))][2]
    changes = ANY + 4 * SPECIAL.get(suffix, [])
    for _ in range(int(rng.integers(1, 4))):
        data = changes[rng.integers(len(changes))](data, rng, other)
    return kind, suffix, data


def library(kind: str, path: Path) -> None:
    """Read a file as programs do."""
    if kind == "data":
        tables.features(tables.read(path))
    else:
        Clues.read(path, ids=IDS)


def without_names(kind: str, path: Path) -> None:
    """Read a file of clues that must say itself how many rows there are."""
    if kind == "clues":
        Clues.read(path)


def command(kind: str, path: Path) -> None:
    """Read a file as users do; raises unless it works or ends with code 2 and one sentence."""
    words = ["fit", str(path)] if kind == "data" else ["fit", "good.csv", "--clues", str(path)]
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            COMMANDS.main([*words, "-k", "2", "-q", "--out", "out.csv"], prog_name="cluewise")
    except SystemExit as end:
        lines = said.getvalue().splitlines()
        sentences = [line for line in lines if not line.startswith("cluewise: warning: ")]
        if end.code == 2 and (len(sentences) != 1 or not sentences[0].startswith("cluewise: ")):
            raise AssertionError(f"said {said.getvalue()[-500:]!r}") from None
        if end.code not in (0, 2, None):
            raise AssertionError(f"exit code {end.code}: {said.getvalue()[-500:]!r}") from None


def attempt(reader: Callable[[str, Path], None], kind: str, path: Path) -> str:
    """How a reader took a file: read, refused, or what went wrong."""
    noise = os.fstat(2).st_size
    signal.alarm(SECONDS)
    try:
        reader(kind, path)
        found = "read"
    except (tables.TableError, ClueError) as error:
        said = str(error)
        found = "refused" if path.name in said and "\n" not in said else f"unclear: {said[:300]!r}"
    except Hang:
        found = "hang"
    except MemoryError:
        found = "memory"
    except BaseException as error:
        found = f"raw: {type(error).__name__}: {str(error)[:300]}"
    finally:
        signal.alarm(0)
    return f"noise: {found}" if os.fstat(2).st_size > noise else found


def run(seed: int, first: int, count: int) -> dict[str, Any]:
    """Read ``count`` damaged files; counts of what became of them, and all that went wrong."""
    Path("good.csv").write_text(DATA, "utf-8")
    counts: Counter[str] = Counter()
    wrong: list[list[Any]] = []
    for number in range(first, first + count):
        kind, suffix, data = damaged(seed, number)
        path = Path(f"bad{suffix}")
        path.write_bytes(data)
        Path("log").write_text(str(number), "utf-8")
        for reader in (library, without_names, command):
            found = attempt(reader, kind, path)
            counts[found if found in ("read", "refused") else "wrong"] += 1
            if found not in ("read", "refused"):
                wrong.append([number, kind + suffix, reader.__name__, found])
    return {"files": count, **counts, "peak_mb": read_peak() // 1024, "failures": wrong}


def read_peak():
    """Most memory of this process so far, in kB; `getrusage` also counts what its parent had when it began."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM"))


def _wake(*_: object) -> None:
    raise Hang


if __name__ == "__main__":
    seed, first, count = map(int, sys.argv[1:4])
    os.chdir(tempfile.mkdtemp(dir=sys.argv[4] if len(sys.argv) > 4 else None))
    signal.signal(signal.SIGALRM, _wake)
    for reader, suffix in ((library, ".csv"), (command, ".csv"), (library, ".parquet")):  # load everything once
        Path(f"good{suffix}").write_bytes(next(d for k, s, d in seeds() if k == "data" and s == suffix))
        with contextlib.suppress(SystemExit):
            reader("data", Path(f"good{suffix}"))
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MEMORY,) * 2)
    found = run(seed, first, count)
    sys.stdout.write(json.dumps(found) + "\n")
