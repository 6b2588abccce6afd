"""P20: what does it cost to encode a table, against polars reading it, and a text, against scikit-learn's parts?

Memory is measured in a process of its own, which makes the table, loads all code and then watches its peak.
"""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from measuring import Figure, interleaved, one_thread
from memory import peak, reset_peak

import cluewise

FULL = {"n": 1_000_000, "texts": 20_000, "repeats": 3}
TINY = {"n": 2_000, "texts": 200, "repeats": 1}
WORDS = 3_000


def make_csv(n: int) -> bytes:
    """A table of 20 columns: ten of numbers (one skewed, one with gaps), six of categories, four of dates."""
    import polars as pl

    rng = np.random.default_rng(0)
    columns: dict[str, Any] = {f"number {j}": rng.normal(size=n).round(4) for j in range(8)}
    columns["spend"] = rng.lognormal(3, 2, n).round(2)
    columns["age"] = pl.Series(rng.integers(18, 90, n)).set(pl.Series(rng.random(n) < 0.1), None)
    for j, levels in enumerate((2, 3, 5, 8, 12, 20)):
        columns[f"category {j}"] = np.array([f"level {i}" for i in range(levels)])[rng.integers(levels, size=n)]
    for j in range(3):
        columns[f"date {j}"] = np.datetime64("2020-01-01") + rng.integers(1500, size=n)
    columns["time"] = np.datetime64("2024-01-01", "ms") + 1000 * rng.integers(30_000_000, size=n)
    return pl.DataFrame(columns, strict=False).write_csv().encode()


def make_texts(n: int) -> list[str]:
    """Texts of 5 to 25 words, of which some are much more frequent than others."""
    rng = np.random.default_rng(0)
    letters = rng.integers(97, 123, size=(WORDS, 8)).astype(np.uint8)
    words = np.array([row[: rng.integers(3, 9)].tobytes().decode() for row in letters])
    drawn = np.minimum(rng.zipf(1.3, size=(n, 25)) - 1, WORDS - 1)
    return [" ".join(words[row[: rng.integers(5, 26)]]) for row in drawn]


def measure(n: int, texts: int, repeats: int) -> list[Figure]:
    import polars as pl

    data = make_csv(n)
    frame = pl.read_csv(io.BytesIO(data), try_parse_dates=True)
    notes = make_texts(texts)
    rows = cluewise.Rows()
    text = cluewise.Rows(kinds={"note": "text"})
    contestants = {
        "table": lambda: rows.fit_transform(frame),
        "polars": lambda: pl.read_csv(io.BytesIO(data), try_parse_dates=True),
        "text": lambda: text.fit_transform({"note": notes}),
        "parts": lambda: _scikit_learn(notes),
    }
    with one_thread():
        contestants["text"]()
        contestants["parts"]()
        times = interleaved(contestants, repeats)
    figures = []
    for name, anchor, against, goal in (
        ("table", "polars", f"polars, reading the CSV of {n:,} rows × 20", 3),
        ("text", "parts", f"scikit-learn's tf-idf and SVD of {texts:,} texts", 1.2),
    ):
        ours, theirs = times[name], times[anchor]
        noise = max(ours.noise, theirs.noise)
        figures.append(Figure(name, 1e3 * ours.best, 1e3 * theirs.best, "ms", against, goal, None, noise))
    done = subprocess.run([sys.executable, str(Path(__file__)), str(n)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"the memory of Rows could not be measured:\n{done.stderr}")
    used, size = map(float, done.stdout.split())
    return [*figures, Figure("peak of the table", used, size, "MB", "the encoded matrix itself", 3)]


def peak_of(n: int) -> tuple[float, float]:
    """Megabytes that encoding adds to this process at its peak, the matrix among them, and those of the matrix."""
    import polars as pl

    with one_thread():
        cluewise.Rows().fit_transform(pl.read_csv(io.BytesIO(make_csv(500)), try_parse_dates=True))
        frame = pl.read_csv(io.BytesIO(make_csv(n)), try_parse_dates=True)
        before = reset_peak()
        X = cluewise.Rows().fit_transform(frame)
        return peak() - before, X.nbytes / 2**20


def _scikit_learn(notes: list[str]) -> Any:
    from scipy.sparse import hstack
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    words = TfidfVectorizer(sublinear_tf=True, token_pattern=r"(?u)\b\w+\b", min_df=2, max_features=10_000)
    grams = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 4), sublinear_tf=True, min_df=2, max_features=10_000)
    terms = hstack([words.fit_transform(notes), grams.fit_transform(notes)], format="csr")
    return TruncatedSVD(30, random_state=0).fit_transform(terms)


if __name__ == "__main__":
    print(*peak_of(int(sys.argv[1])))
