"""Files that are no models, or not as they were saved, or made to do harm: each is refused in one sentence."""

from __future__ import annotations

import io
import json
import pickle
import tracemalloc
import warnings
import zipfile
from hashlib import sha256

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import cluewise as cw
from cluewise.models._files import INDEX
from cluewise.tables import FileError

NOT_OURS = "is not a model that cluewise has saved"
X = [[0.0], [1.0], [8.0], [9.0]]


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "model.cw"
    cw.save(cw.PCKMeans(2, random_state=0).fit(X), path)
    return path.read_bytes()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.cw"


def refuse(path, content, words):
    path.write_bytes(content)
    with pytest.raises(FileError) as caught:
        cw.load(path)
    sentence = str(caught.value)
    assert words in sentence
    assert str(path) in sentence
    assert "\n" not in sentence


def rebuild(saved, change=None, entries=None, compression=zipfile.ZIP_STORED):
    """The archive with another index or other entries, and with a right checksum: as a hostile person makes it."""
    with zipfile.ZipFile(io.BytesIO(saved)) as archive:
        found = {name: archive.read(name) for name in archive.namelist()}
    index = json.loads(found[INDEX])
    if change is not None:
        change(index)
    found[INDEX] = json.dumps(index).encode()
    found |= entries or {}
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as archive:
        for name, content in found.items():
            if content is not None:
                archive.writestr(name, content)
        archive.comment = b"0" * 64
    return seal(stream.getvalue())


def seal(content):
    return content[:-64] + sha256(content[:-64]).hexdigest().encode()


def npy(array, **more):
    stream = io.BytesIO()
    np.save(stream, array, **more)
    return stream.getvalue()


def test_a_rebuilt_archive_is_fine_if_nothing_is_changed(saved, path):
    path.write_bytes(rebuild(saved))
    assert type(cw.load(path)) is cw.PCKMeans


@pytest.mark.parametrize(
    "content",
    [b"", b"PK", b"a,b\n1,2\n", pickle.dumps({"a": 1}), b"PK\x03\x04" + bytes(100), npy(np.arange(3))],
    ids=["empty", "short", "csv", "pickle", "zip", "npy"],
)
def test_other_files_are_refused(path, content):
    refuse(path, content, "is not a saved model; `cluewise fit --save` and `cluewise.save` write them.")


def test_other_archives_are_refused(path):
    stream = io.BytesIO()
    np.savez(stream, a=np.arange(3))
    refuse(path, stream.getvalue(), "is not a saved model")


def test_there_must_be_a_file(tmp_path):
    with pytest.raises(FileError, match="there is no file"):
        cw.load(tmp_path / "none.cw")
    with pytest.raises(FileError, match="is a folder, not a file"):
        cw.load(tmp_path)


def test_a_file_that_was_cut_off_is_refused(saved, path):
    for length in range(60, len(saved), 97):
        refuse(path, saved[:length], "is damaged: it was cut off or changed after it was saved; save the model again.")
    refuse(path, saved + b" ", "is damaged")


def test_a_changed_byte_is_found_by_the_checksum(saved, path):
    for place in [*range(50, len(saved), 61), len(saved) - 1]:
        edited = bytearray(saved)
        edited[place] ^= 1
        refuse(path, bytes(edited), "is damaged: it was cut off or changed after it was saved")


def test_a_newer_version_is_refused(saved, path):
    refuse(path, rebuild(saved, lambda index: index.update(version=2)), "is of version 2, and this cluewise (")
    for version in (0, -1, "1", None, True, 1.5):
        refuse(path, rebuild(saved, lambda index, v=version: index.update(version=v)), NOT_OURS)


def test_an_older_cluewise_is_named(saved, path):
    path.write_bytes(rebuild(saved, lambda index: index.update(cluewise="0.0.1")))
    with pytest.warns(UserWarning, match=r"was saved by cluewise 0.0.1 and is used by .*fit the model again"):
        cw.load(path)


@pytest.mark.parametrize("compression", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_bombs_are_not_unpacked(saved, path, compression):
    bomb = rebuild(saved, entries={"arrays/0.npy": npy(np.zeros(10**7, np.uint8))}, compression=compression)
    assert len(bomb) < 10**6
    refuse(path, bomb, "an entry is compressed or encrypted")


def test_entries_that_overlap_are_refused(saved, path):
    # All entries of the directory point to the same bytes, of which there is much more after unpacking.
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(saved)) as old, zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(INDEX, old.read(INDEX))
        archive.writestr("arrays/0.npy", npy(np.zeros(10**4)))
        first = archive.filelist[-1]
        for number in range(1, 100):
            again = zipfile.ZipInfo(f"arrays/{number}.npy")
            for field in ("header_offset", "CRC", "compress_size", "file_size"):
                setattr(again, field, getattr(first, field))
            archive.filelist.append(again)
        archive._didModify = True
        archive.comment = b"0" * 64
    refuse(path, seal(stream.getvalue()), "its entries are larger than the file")


def test_an_array_may_not_claim_more_than_it_has(saved, path):
    def claim(shape):
        stream = io.BytesIO()
        np.lib.format.write_array_header_1_0(stream, {"descr": "<f8", "fortran_order": False, "shape": shape})
        return stream.getvalue() + bytes(80)

    for shape in ((10**15,), (11,), (9,), (-10,), (-2, -5), (2**40, 2**40)):
        refuse(path, rebuild(saved, entries={"arrays/0.npy": claim(shape)}), NOT_OURS)
    for content in (b"", b"\x93NUMPY", npy(np.arange(3))[:-1], npy(np.zeros(3, "V0"))):
        refuse(path, rebuild(saved, entries={"arrays/0.npy": content}), NOT_OURS)


def test_arrays_of_objects_are_never_unpickled(saved, path):
    class Evil:
        def __reduce__(self):
            return print, ("evil code ran",)

    evil = npy(np.array([Evil()], dtype=object), allow_pickle=True)
    refuse(path, rebuild(saved, entries={"arrays/0.npy": evil}), "an array holds objects")


@pytest.mark.parametrize("name", ["../evil.npy", "/etc/evil.npy", "arrays/../../evil.npy", "arrays\\0.npy", "more.py"])
def test_no_other_entries_are_accepted(saved, path, name):
    refuse(path, rebuild(saved, entries={name: b"evil"}), "it has other entries than its index says")
    assert [file.name for file in path.parent.iterdir()] == ["model.cw"]


def test_no_entry_may_be_missing(saved, path):
    refuse(path, rebuild(saved, entries={"arrays/0.npy": None}), "it has other entries than its index says")


@pytest.mark.parametrize(
    "name",
    [
        "os.system", "builtins.eval", "subprocess.Popen", "sklearn.FunctionTransformer", "sklearn.pipeline.Pipeline",
        "cluewise.cli.__main__.run", "cluewise.store._store.Store", "cluewise.centroid._pck.nobody", "check",
        "cluewise.exceptions.ClueError", "Contradiction", "cluewise.models._values.Decoder", "sys.modules", "", ".",
        "cluewise.nowhere.Model", "PCKmeans", "..",
    ],
)  # fmt: skip
def test_unknown_classes_are_refused(saved, path, name):
    def change(index):
        index["model"]["object"] = name

    words = f"holds a {name}, which is not a class that a model of cluewise consists of."
    refuse(path, rebuild(saved, change), words)

    def nest(index):
        index["model"]["state"]["broken_"] = {"object": name, "state": {}}

    refuse(path, rebuild(saved, nest), words)


@pytest.mark.parametrize(
    "value",
    [
        {"object": "Clues", "state": {}},
        {"object": "PCKMeans", "state": {}},
        {"object": "PCKMeans", "state": {"predict": 1, "labels_": 2}},
        {"object": "PCKMeans", "state": {"__class__": 1, "labels_": 2}},
        {"object": "PCKMeans"},
        {"array": 0},
        {"lambda": 1},
        [],
        None,
        "PCKMeans",
        {},
    ],
)
def test_models_that_are_none_are_refused(saved, path, value):
    refuse(path, rebuild(saved, lambda index: index.update(model=value)), NOT_OURS)


@pytest.mark.parametrize(
    "value",
    [
        {"array": -1}, {"array": 10**9}, {"array": "0"}, {"array": True}, {"float": "1e9"}, {"range": ["a"]},
        {"scalar": "O", "bytes": "00" * 8}, {"scalar": "<f8", "bytes": "00"}, {"scalar": "<f8", "bytes": "00" * 16},
        {"objects": [1, 2], "shape": [10**9]}, {"objects": [1, 2], "shape": [-2]}, {"dtype": "O"}, {"number": "load"},
        {"generator": {"dict": [["bit_generator", "os"]]}}, {"sparse": "eval", "shape": [1, 1], "parts": [0, 0, 0]},
        {"sparse": "csr_array", "shape": [10**6, 3], "parts": [0, 0, 0]}, {"dict": [[[], 1]]},
        {"sparse": "csr_array", "shape": [2, 2], "parts": [0, 0]},
        {"sparse": "coo_array", "shape": [2, 2], "parts": [0]},
    ],
)  # fmt: skip
def test_values_that_are_none_are_refused(saved, path, value):
    def change(index):
        index["model"]["state"]["more_"] = value

    refuse(path, rebuild(saved, change), NOT_OURS)


@pytest.mark.parametrize("columns", [10**8, 10**12])
def test_a_sparse_matrix_takes_no_more_memory_than_its_file(path, columns):
    model = cw.PCKMeans(2, random_state=0).fit(X)
    model.more_ = sparse.csc_array(np.eye(1))
    cw.save(model, path)

    def change(index):
        index["model"]["state"]["more_"]["shape"] = [1, columns]

    tracemalloc.start()
    try:
        refuse(path, rebuild(path.read_bytes(), change), NOT_OURS)
        assert tracemalloc.get_traced_memory()[1] < 10**7
    finally:
        tracemalloc.stop()


@pytest.fixture(scope="module")
def grained(tmp_path_factory):
    """Models of few rows, which are grains, and of many, with references."""
    rng = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("models") / "model.cw"
    found = {}
    for n in (20, 1600):
        model = cw.Cluewise(2, random_state=0).fit(rng.normal(size=(n, 2)))
        cw.save(model, path)
        found[n] = path.read_bytes()
    return found


def spoil(content, change):
    """A hostile archive: ``change`` gets the ground, as a person could write it."""
    stream = io.BytesIO(content)
    with zipfile.ZipFile(stream) as archive:
        index = json.loads(archive.read(INDEX))
        ground = index["model"]["state"]["_data"]["fields"][0]["state"]
        name, array = change(ground, lambda value: np.load(io.BytesIO(archive.read(f"arrays/{value['array']}.npy"))))
    return rebuild(content, entries={f"arrays/{name['array']}.npy": npy(array)})


@pytest.mark.parametrize("name", ["_listed", "_number", "centers"])
@pytest.mark.parametrize("n", [20, 1600])
def test_grains_that_lead_compiled_loops_astray_are_refused(grained, path, n, name):
    def enlarge(ground, get):
        found = get(ground[name]).copy()
        found.flat[-1] = 2**30
        return ground[name], found

    def cut(ground, get):
        return ground[name], get(ground[name])[:-1]

    if name != "centers":  # whose numbers may be large
        refuse(path, spoil(grained[n], enlarge), "its grains are not in its arrays")
    if name != "_number":  # of which fewer are found out by an index
        refuse(path, spoil(grained[n], cut), "are not in its arrays")


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("_listed", lambda found: found + 2**30),
        ("_listed", lambda found: found - 1),
        ("_listed", lambda found: found[:-1]),
        ("_first", lambda found: found + 1),
        ("_first", lambda found: found[::-1]),
        ("_first", lambda found: found[:-1]),
        ("grain", lambda found: found[:-1]),
        ("_columns", lambda found: found[:-1]),
        ("_columns", lambda found: found[:, :-1]),
        ("_scale", lambda found: found[:-1]),
    ],
)
def test_references_that_lead_compiled_loops_astray_are_refused(grained, path, name, change):
    def spoiled(ground, get):
        references = ground["_references"]["state"]
        return references[name], change(get(references[name]))

    refuse(path, spoil(grained[1600], spoiled), "its references are not in its arrays")


def test_json_that_is_none_is_refused(saved, path):
    for content in (b"", b"{", b"[]", b"nan", b"\xff", b"[" * 10**5 + b"]" * 10**5, b'{"format": "other"}'):
        refuse(path, rebuild(saved, entries={INDEX: content}), NOT_OURS)
    deep = rebuild(saved, lambda index: index["model"]["state"].update(more_=json.loads("[" * 900 + "]" * 900)))
    refuse(path, deep, NOT_OURS)


def test_a_file_larger_than_the_limit_is_not_read(saved, path, monkeypatch):
    path.write_bytes(saved)
    monkeypatch.setenv("CLUEWISE_FILE_LIMIT", "1K")
    with pytest.raises(ValueError, match="the limit for one file"):
        cw.load(path)


KEYS = ["object", "state", "array", "dict", "objects", "shape", "x_"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 10**6) | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inside, max_size=3),
    max_leaves=5,
)


def list_places(tree, place=()):
    yield place
    for key in tree if isinstance(tree, dict) else range(len(tree)) if isinstance(tree, list) else ():
        yield from list_places(tree[key], (*place, key))


@given(st.randoms(use_true_random=False), JSON)
def test_whatever_the_index_says_the_answer_is_a_model_or_a_sentence(saved, tmp_path_factory, random, value):
    def change(index):
        *way, last = random.choice([place for place in list_places(index) if place])
        for key in way:
            index = index[key]
        index[last] = value

    path = tmp_path_factory.getbasetemp() / "fuzz.cw"
    path.write_bytes(rebuild(saved, change))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of another version
        try:
            found = repr(cw.load(path))
        except FileError as error:
            found = str(error)
    assert found.startswith((f"'{path}' ", "PCKMeans("))
