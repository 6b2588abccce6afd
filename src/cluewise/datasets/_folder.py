"""A folder of data sets: one .npz file each, and optionally a manifest.json to check them against.

A file has ``X`` (n × d) and ``y`` (n classes), and optionally ``class_names``, ``feature_names`` and more.
"""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from cluewise._typing import Array
from cluewise.datasets._dataset import Dataset, DatasetError, Listing, as_floats, number_classes

__all__ = ["beside_checkout", "data_folder", "listings", "names", "read"]

VARIABLE = "CLUEWISE_DATA"


def data_folder() -> Path | None:
    """The folder named by CLUEWISE_DATA, else shared/data beside the checkout that cluewise runs from."""
    folder = os.environ.get(VARIABLE)
    if not folder:
        return beside_checkout(Path(__file__).resolve().parents[1])
    if not Path(folder).is_dir():
        raise DatasetError(f"{VARIABLE} is {folder!r}, which is not a folder.")
    return Path(folder)


def beside_checkout(package: Path) -> Path | None:
    """The data folder beside the checkout that contains a package, if there is one."""
    root = package.parent.parent  # root/src/cluewise
    folder = root.parent / "shared" / "data"
    is_checkout = package.parent.name == "src" and (root / "pyproject.toml").is_file()
    return folder if is_checkout and folder.is_dir() else None


def names(folder: Path) -> list[str]:
    """Names of the sets in a folder."""
    return sorted(path.stem for path in folder.glob("*.npz"))


def listings(folder: Path) -> dict[str, Listing]:
    """The data sets of a folder, by its manifest; files that are not in the manifest are read."""
    manifest = _manifest(folder)
    found = {}
    for name in names(folder):
        if (entry := manifest.get(name)) is not None:
            found[name] = Listing(entry["n"], entry["d"], len(entry["class_counts"]), "folder")
        else:
            data = read(folder, name)
            n, d = data.X.shape
            found[name] = Listing(n, d, len(data.class_names), "folder")
    return found


def read(folder: Path, name: str) -> Dataset:
    """Read one set and check it against the manifest."""
    path = folder / f"{name}.npz"
    entry = _manifest(folder).get(name)
    if path.is_dir():
        raise DatasetError(f"{path} is a folder, not a file.")
    if entry is not None:
        _check_bytes(path, entry)
    arrays = _arrays(path)
    X = as_floats(_take(arrays, "X", path), str(path))
    y = _take(arrays, "y", path)
    if y.shape != (len(X),):
        raise DatasetError(f"{path}: y has shape {y.shape}, but X has {len(X)} rows.")
    codes, class_names = number_classes(y)
    if "class_names" in arrays:
        class_names = tuple(str(label) for label in arrays.pop("class_names"))
        codes = _checked_codes(y, len(class_names), path)
    feature_names = tuple(str(column) for column in arrays.pop("feature_names", ()))
    if entry is not None:
        _check_counts(path, entry, X.shape, np.bincount(codes, minlength=len(class_names)).tolist())
    return Dataset(name, X, codes, class_names, feature_names, str(path), arrays)


def _arrays(path: Path) -> dict[str, Array]:
    try:
        with np.load(path) as file:
            return dict(file)
    except (OSError, ValueError, TypeError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise DatasetError(f"{path} cannot be read as an .npz file: {_first_line(error)}") from error


def _take(arrays: dict[str, Array], key: str, path: Path) -> Array:
    if key not in arrays:
        raise DatasetError(f"{path} has no array {key!r} (it has {sorted(arrays)}).")
    return arrays.pop(key)


def _checked_codes(y: Array, k: int, path: Path) -> Array:
    outside = (y < 0) | (y >= k) if y.dtype.kind in "iu" else np.ones(len(y), dtype=bool)
    if outside.any():
        row = int(np.argmax(outside))
        raise DatasetError(f"{path}: row {row} has class {y[row]}, but class_names has {k} (0 to {k - 1}).")
    return y.astype(np.int64)


def _manifest(folder: Path) -> dict[str, dict[str, Any]]:
    path = folder / "manifest.json"
    if not path.is_file():
        return {}
    try:
        return {entry["name"]: entry for entry in json.loads(path.read_text("utf-8"))["datasets"]}
    except (ValueError, KeyError, TypeError) as error:
        raise DatasetError(f"{path} is not a manifest of data sets: {_first_line(error)}") from error


def _check_bytes(path: Path, entry: dict[str, Any]) -> None:
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != entry.get("sha256", found):
        raise DatasetError(f"{path} is not the file that manifest.json describes (its sha256 differs).")


def _check_counts(path: Path, entry: dict[str, Any], shape: tuple[int, ...], counts: list[int]) -> None:
    if shape != (entry["n"], entry["d"]) or counts != entry["class_counts"]:
        raise DatasetError(
            f"{path} is not the set that manifest.json describes: it has shape {shape} and classes of "
            f"{counts} rows, not {(entry['n'], entry['d'])} and {entry['class_counts']}."
        )


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
