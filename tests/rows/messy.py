"""Tables as people send them: a seeded generator, with the kinds of mess that a reader has to bear."""

from __future__ import annotations

import csv
import gzip
import io
import zipfile
from pathlib import Path

import numpy as np

TEXTS = (
    "the parcel came late and the box was broken",
    "great service, thank you, will order again",
    "wrong size sent, please send the money back",
)
CITIES = ("Paris", "Lyon", "Nice", "Zürich", "Orléans")


def gaps(rng, cells, share=0.1, signs=("", "NA", "n/a", "-", "?", " ")):
    return [str(rng.choice(signs)) if rng.random() < share else cell for cell in cells]


def numbers(rng, y):
    return [f"{v:.2f}" for v in 3.0 * y + rng.normal(size=len(y))]


def decimal_commas(rng, y):
    return [cell.replace(".", ",") for cell in numbers(rng, y)]


def thousands(rng, y):
    return [f"{1000 * (y[i] + 1) + rng.integers(900):,}" for i in range(len(y))]


def money(rng, y):
    return [f"€ {v:,.2f}" for v in rng.lognormal(4 + y, 2)]


def weights(rng, y):
    return [f"{v:.1f} kg" for v in 50 + 20 * y + rng.normal(size=len(y))]


def huge(rng, y):
    return [
        "1e308" if i == 3 else "-1e308" if i == 5 else f"{v:.3g}" for i, v in enumerate(y + rng.normal(size=len(y)))
    ]


def endless(rng, y):
    return ["inf" if i % 17 == 0 else cell for i, cell in enumerate(numbers(rng, y))]


def mixed(rng, y):
    return ["unknown" if i % 19 == 0 else cell for i, cell in enumerate(numbers(rng, y))]


def halves(rng, y):
    """Half numbers, half words."""
    return [str(rng.choice(["none", "some", "many"])) if i % 2 else str(rng.integers(9)) for i in range(len(y))]


def cities(rng, y):
    return [str(CITIES[c] if rng.random() < 0.8 else rng.choice(CITIES)) for c in y]


def sizes(rng, y):
    return [("small", "medium", "large")[c] for c in y]


def ages(rng, y):
    return [("<18", "18-35", "65+")[c] for c in y]


def truth(rng, y):
    return ["yes" if c else "no" for c in y]


def codes(rng, y):
    return [f"0{rng.integers(100, 999)}{c}" for c in y]


def streets(rng, y):
    names = [
        f"{a}{b}" for a in ("Oak", "Elm", "Pine", "Lake", "Hill", "Main") for b in (" Street", " Road", " Lane", " Way")
    ]
    return [str(rng.choice(names)) for _ in y]


def dates(rng, y):
    return [f"{2020 + c}-{rng.integers(1, 13):02}-{rng.integers(1, 29):02}" for c in y]


def german_dates(rng, y):
    found = [f"{rng.integers(1, 29)}.{rng.integers(1, 13)}.{2020 + c}" for c in y]
    return ["31.2.2021" if i == 2 else cell for i, cell in enumerate(found)]  # there is no such day


def stamps(rng, y):
    return [f"{rng.integers(1, 13)}/{rng.integers(13, 29)}/2024 {8 + 5 * c}:{rng.integers(60):02}" for c in y]


def clocks(rng, y):
    return [f"{8 + 5 * c}:{rng.integers(60):02}" for c in y]


def notes(rng, y):
    return [f"{TEXTS[c]} no. {rng.integers(900)}" for c in y]


def long_notes(rng, y):
    return [" ".join([TEXTS[c]] * 8) + f" {i}" for i, c in enumerate(y)]


def vectors(rng, y):
    return [str(list((2.0 * c + rng.normal(size=3)).round(3).tolist())) for c in y]


def ids(rng, y):
    return [f"C{i:05}" for i in rng.permutation(len(y))]


def counts(rng, y):
    return [str(i + 1) for i in range(len(y))]


def constant(rng, y):
    return ["EUR"] * len(y)


def nothing(rng, y):
    return [""] * len(y)


def flags(rng, y):
    """A mark, or nothing."""
    return ["x" if c else "" for c in y]


def formulas(rng, y):
    return [f"=SUM(A{c}:B{c})" for c in y]


KINDS = (
    numbers, decimal_commas, thousands, money, weights, huge, endless, mixed, halves, cities, sizes, ages, truth, codes,
    streets, dates, german_dates, stamps, clocks, notes, long_notes, vectors, ids, counts, constant, nothing, flags,
    formulas,
)  # fmt: skip
FORMS = ("csv", "semicolons", "tsv", "bom", "latin-1", "gz", "zip", "xlsx")


def make(seed: int, folder: Path) -> tuple[Path, np.ndarray]:
    """A messy table of three classes; the path of its file, and the classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=int(rng.integers(40, 70)))
    chosen = [KINDS[j] for j in rng.choice(len(KINDS), size=int(rng.integers(4, 9)), replace=False)]
    columns = [gaps(rng, kind(rng, y)) if rng.random() < 0.5 else kind(rng, y) for kind in [numbers, *chosen]]
    names = [kind.__name__ for kind in [numbers, *chosen]]
    if seed % 4 == 0:
        names[2] = names[1]  # twice
    if seed % 5 == 0:
        names[3] = ""
    form = FORMS[seed % len(FORMS)]
    return write(folder, f"table{seed}", names, columns, form), y


def write(folder: Path, name: str, names: list[str], columns: list[list[str]], form: str) -> Path:
    if form == "xlsx":
        return write_book(folder / f"{name}.xlsx", {"Notes": [["about"], ["this"]], "Data": [names, *zip(*columns)]})
    text = io.StringIO()
    mark = {"semicolons": ";", "tsv": "\t"}.get(form, ",")
    csv.writer(text, delimiter=mark).writerows([names, *zip(*columns)])
    content = text.getvalue().encode("latin-1" if form == "latin-1" else "utf-8", errors="replace")
    if form == "bom":
        content = b"\xef\xbb\xbf" + content
    path = folder / f"{name}.{'tsv' if form == 'tsv' else 'csv'}"
    if form == "gz":
        path = folder / f"{name}.csv.gz"
        content = gzip.compress(content)
    if form == "zip":
        path = folder / f"{name}.zip"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(f"{name}.csv", content)
        return path
    path.write_bytes(content)
    return path


def write_book(path: Path, sheets: dict[str, list]) -> Path:
    import openpyxl

    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, lines in sheets.items():
        page = book.create_sheet(title)
        for line in lines:
            page.append(list(line))
    book.save(path)
    return path
