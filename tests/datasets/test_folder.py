"""A folder of .npz sets: reading, checking against the manifest, and everything that can be wrong with it."""

import hashlib
import json

import numpy as np
import pytest

from cluewise.datasets import Dataset, DatasetError, Listing, available, load
from cluewise.datasets._folder import beside_checkout, data_folder

X = np.array([[1, 200], [3, 4], [250, 6]], dtype=np.uint8)
Y = np.array([1, 0, 1])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("CLUEWISE_DATA", str(tmp_path))
    return tmp_path


def save(folder, name="toy", **arrays):
    np.savez_compressed(folder / f"{name}.npz", **({"X": X, "y": Y} | arrays))


def describe(folder, name="toy", **changes):
    digest = hashlib.sha256((folder / f"{name}.npz").read_bytes()).hexdigest()
    entry = {"name": name, "n": 3, "d": 2, "class_counts": [1, 2], "sha256": digest} | changes
    (folder / "manifest.json").write_text(json.dumps({"datasets": [entry]}))


def test_reads_everything_in_the_file(folder):
    save(folder, class_names=["no", "yes"], feature_names=["a", "b"], split=[0, 0, 1])
    describe(folder)
    data = load("toy")
    assert isinstance(data, Dataset)
    assert data.name == "toy"
    assert data.X.dtype == np.float64  # whole numbers would overflow when squared
    assert (data.X**2).max() == 62500
    assert data.y.tolist() == [1, 0, 1]
    assert data.class_names == ("no", "yes")
    assert data.feature_names == ("a", "b")
    assert data.source == str(folder / "toy.npz")
    assert list(data.extra) == ["split"]
    assert repr(data) == "Dataset('toy', 3 × 2, 2 classes)"


def test_a_file_of_ones_own_needs_only_X_and_y(folder):
    save(folder, X=X.astype(np.float32), y=np.array(["10", "9", "10"]))
    data = load("toy")
    assert data.X.dtype == np.float32
    assert data.class_names == ("9", "10")  # by number, not by letter
    assert data.y.tolist() == [1, 0, 1]
    assert data.feature_names == ()
    save(folder, y=np.array(["b", "a", "b"]))
    assert load("toy").class_names == ("a", "b")


def test_standardize(folder):
    save(folder, X=np.array([[1.0, 0.1], [2.0, 0.1], [6.0, 0.1]]))
    scaled = load("toy", standardize=True).X
    assert scaled[:, 0] == pytest.approx((np.array([1, 2, 6]) - 3) / np.sqrt(14 / 3))
    assert scaled[:, 1].tolist() == [0, 0, 0]  # 0.1 * 3 / 3 is not exactly 0.1
    assert load("toy").X[0, 0] == 1.0


def test_available_lists_the_folder_first(folder):
    save(folder, "iris")
    save(folder, "own")
    describe(folder, "iris", n=150, d=4, class_counts=[50, 50, 50])
    listed = available()
    assert listed["iris"] == Listing(150, 4, 3, "folder")
    assert listed["own"] == Listing(3, 2, 2, "folder")
    assert listed["wine"].origin == "scikit-learn"
    assert listed["glass"] == Listing(214, 9, 6, "OpenML")
    assert list(listed) == sorted(listed)


def test_a_folder_wins_over_scikit_learn(folder):
    save(folder, "wine")
    assert load("wine").X.shape == (3, 2)
    assert load("iris").source == "scikit-learn"


def test_names_are_not_paths(folder):
    save(folder)
    (folder / "inner").mkdir()
    with pytest.raises(DatasetError, match="there is no data set"):
        load("inner/../toy")


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"X": np.array([1.0, 2.0, 3.0])}, r"X must be a matrix of numbers, not float64 in shape \(3,\)"),
        ({"X": np.array([["a", "b"]] * 3)}, "X must be a matrix of numbers, not <U1"),
        ({"X": np.array([[1.0, 2], [3, np.nan], [5, 6]])}, "X has nan in row 1, column 1"),
        ({"y": np.array([0, 1])}, r"y has shape \(2,\), but X has 3 rows"),
        ({"class_names": ["only"]}, r"row 0 has class 1, but class_names has 1 \(0 to 0\)"),
        ({"y": np.array([0.5, 1, 1]), "class_names": ["a", "b"]}, "row 0 has class 0.5"),
    ],
)
def test_bad_arrays(folder, arrays, message):
    save(folder, **arrays)
    with pytest.raises(DatasetError, match=r"toy\.npz: " + message):
        load("toy")


def test_an_array_is_missing(folder):
    np.savez(folder / "toy.npz", data=X, y=Y)
    with pytest.raises(DatasetError, match=r"toy\.npz has no array 'X' \(it has \['data', 'y'\]\)"):
        load("toy")


def test_a_file_that_ends_in_the_middle(folder):
    save(folder, X=np.random.default_rng(0).normal(size=(3, 500)))
    whole = (folder / "toy.npz").read_bytes()
    (folder / "toy.npz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DatasetError, match=r"toy\.npz cannot be read as an \.npz file: "):
        load("toy")


@pytest.mark.parametrize("content", [b"", b"x,y\n1,2\n"])
def test_a_file_that_is_something_else(folder, content):
    (folder / "toy.npz").write_bytes(content)
    with pytest.raises(DatasetError, match=r"toy\.npz cannot be read as an \.npz file: "):
        load("toy")


def test_a_plain_array_under_the_name_of_an_archive(folder):
    with (folder / "toy.npz").open("wb") as file:
        np.save(file, X)
    with pytest.raises(DatasetError, match=r"toy\.npz cannot be read as an \.npz file: "):
        load("toy")


def test_a_damaged_byte(folder):
    save(folder)
    content = bytearray((folder / "toy.npz").read_bytes())
    content[60] ^= 255
    (folder / "toy.npz").write_bytes(content)
    with pytest.raises(DatasetError, match=r"toy\.npz cannot be read as an \.npz file: "):
        load("toy")


def test_pickles_are_refused(folder):
    save(folder, y=np.array([{}, {}, {}], dtype=object))
    with pytest.raises(DatasetError, match=r"cannot be read as an \.npz file: Object arrays cannot be loaded"):
        load("toy")


def test_a_folder_for_a_file(folder):
    (folder / "toy.npz").mkdir()
    with pytest.raises(DatasetError, match=r"toy\.npz is a folder, not a file"):
        load("toy")


def test_another_file_than_the_manifest_describes(folder):
    save(folder)
    describe(folder, sha256="0" * 64)
    with pytest.raises(DatasetError, match=r"is not the file that manifest\.json describes"):
        load("toy")


@pytest.mark.parametrize("change", [{"n": 4}, {"d": 3}, {"class_counts": [2, 1]}])
def test_another_set_than_the_manifest_describes(folder, change):
    save(folder)
    describe(folder, **change)
    message = r"toy\.npz is not the set that manifest.json describes: it has shape \(3, 2\) and classes of \[1, 2\]"
    with pytest.raises(DatasetError, match=message):
        load("toy")


def test_a_manifest_without_hashes_still_checks_sizes(folder):
    save(folder)
    entry = {"name": "toy", "n": 3, "d": 2, "class_counts": [1, 2]}
    (folder / "manifest.json").write_text(json.dumps({"datasets": [entry]}))
    assert load("toy").X.shape == (3, 2)


@pytest.mark.parametrize("text", ["{", "[]", '{"datasets": [{}]}', '{"datasets": 3}'])
def test_a_broken_manifest(folder, text):
    save(folder)
    (folder / "manifest.json").write_text(text)
    with pytest.raises(DatasetError, match=r"manifest\.json is not a manifest of data sets: "):
        load("toy")


@pytest.mark.parametrize("call", [available, lambda: load("iris")])
def test_the_folder_is_not_there(tmp_path, monkeypatch, call):
    monkeypatch.setenv("CLUEWISE_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(DatasetError, match=r"CLUEWISE_DATA is '.*nowhere', which is not a folder"):
        call()


def test_the_folder_beside_a_checkout(tmp_path):
    package = tmp_path / "checkout" / "src" / "cluewise"
    package.mkdir(parents=True)
    assert beside_checkout(package) is None
    (tmp_path / "shared" / "data").mkdir(parents=True)
    assert beside_checkout(package) is None  # without a project file it is no checkout
    (tmp_path / "checkout" / "pyproject.toml").touch()
    assert beside_checkout(package) == tmp_path / "shared" / "data"
    installed = tmp_path / "checkout" / "lib" / "cluewise"
    assert beside_checkout(installed) is None


def test_no_variable_means_the_default_place(monkeypatch):
    monkeypatch.setenv("CLUEWISE_DATA", "")
    monkeypatch.setattr("cluewise.datasets._folder.beside_checkout", lambda package: package)
    found = data_folder()
    assert found is not None
    assert found.name == "cluewise"
    assert (found / "datasets").is_dir()
