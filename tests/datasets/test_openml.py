"""The way over the network, against a small HTTP server that answers as OpenML does."""

import hashlib
import json
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlparse

import numpy as np
import pytest

from cluewise.datasets import DatasetError, load
from cluewise.datasets._openml import OPENML

TRUTH = ("false", "true")


class Column:
    """A column of an ARFF file; words make it nominal."""

    def __init__(self, name, values, words=None, *, ignored=False):
        self.name, self.values, self.words, self.ignored = name, list(values), words, ignored

    def attribute(self):
        kind = "{" + ",".join(self.words) + "}" if self.words else "numeric"
        return f"@attribute '{self.name}' {kind}"

    def feature(self, index, is_target):
        return {
            "index": str(index),
            "name": self.name,
            "data_type": "nominal" if self.words else "numeric",
            "is_target": str(is_target).lower(),
            "is_ignore": str(self.ignored).lower(),
            "is_row_identifier": "false",
            "number_of_missing_values": str(self.values.count("?")),
        }


class StandIn:
    """The four answers of OpenML for one data set, and a list of what was asked."""

    def __init__(self):
        self.answers, self.asked = {}, []

    def publish(self, name, columns):
        """The last column is the class."""
        did = OPENML[name].data_id
        rows = zip(*(column.values for column in columns), strict=True)
        lines = ["@relation r", *(c.attribute() for c in columns), "@data"]
        arff = "\n".join([*lines, *(",".join(map(str, row)) for row in rows)]).encode()
        features = [c.feature(i, is_target=c is columns[-1]) for i, c in enumerate(columns)]
        description = {
            "id": str(did),
            "name": name,
            "version": "1",
            "description": name,
            "format": "ARFF",
            "status": "active",
            "url": f"https://www.openml.org/data/v1/download/{did}/{name}.arff",
            "file_id": str(did),
            "md5_checksum": hashlib.md5(arff, usedforsecurity=False).hexdigest(),
        }
        rows_quality = {"name": "NumberOfInstances", "value": str(float(len(columns[0].values)))}
        api = "/api/v1/json/data"
        self.answers = {
            f"{api}/{did}": json.dumps({"data_set_description": description}).encode(),
            f"{api}/features/{did}": json.dumps({"data_features": {"feature": features}}).encode(),
            f"{api}/qualities/{did}": json.dumps({"data_qualities": {"quality": [rows_quality]}}).encode(),
            f"/data/v1/download/{did}/{name}.arff": arff,
            f"/data/v1/download/{did}": arff,  # for scikit-learn 1.6
        }


@pytest.fixture
def openml(monkeypatch, tmp_path):
    stand_in = StandIn()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            stand_in.asked.append(self.path)
            answer = stand_in.answers.get(self.path)
            self.send_response(404 if answer is None else 200)
            self.end_headers()
            self.wfile.write(answer or b"")

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()

    def redirected(request, *args, **kwargs):
        path = urlparse(request.full_url).path
        return urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}{path}", *args, **kwargs)

    monkeypatch.setattr("sklearn.datasets._openml.urlopen", redirected)
    monkeypatch.setattr("sklearn.datasets._openml.time.sleep", lambda seconds: None)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "home"))
    monkeypatch.setenv("CLUEWISE_DATA", str(tmp_path))  # an empty folder
    yield stand_in
    server.shutdown()
    server.server_close()


def classes_like(name, words=None):
    """A class column with the right counts."""
    counts = OPENML[name].counts
    words = words or [f"c{i}" for i in range(len(counts))]
    return Column("class", np.repeat(words, counts), words)


def numbers(n, d, seed=0):
    values = np.random.default_rng(seed).normal(size=(n, d)).round(3)
    return [Column(f"f{j}", values[:, j]) for j in range(d)], values


def test_glass_comes_over_the_network_once(openml):
    columns, values = numbers(214, 9)
    openml.publish("glass", [*columns, classes_like("glass")])
    data = load("glass")
    assert np.array_equal(data.X, values)
    assert np.bincount(data.y).tolist() == [9, 13, 17, 29, 70, 76]
    assert data.class_names == ("c0", "c1", "c2", "c3", "c4", "c5")
    assert data.feature_names == tuple(f"f{j}" for j in range(9))
    assert data.source == "OpenML data set 41"
    assert len(openml.asked) == 4
    again = load("glass")  # from scikit-learn's data home
    assert len(openml.asked) == 4
    assert np.array_equal(again.X, data.X)


def test_missing_cells_of_breast(openml):
    columns, values = numbers(699, 9)
    columns[5].values[3] = "?"
    openml.publish("breast", [*columns, classes_like("breast", ["malignant", "benign"])])
    data = load("breast")
    assert data.X[3, 5] == 1.0
    assert data.X[4, 5] == values[4, 5]
    assert data.class_names == ("benign", "malignant")


def test_words_become_the_numbers_of_the_folder(openml):
    rng = np.random.default_rng(1)
    drawn = rng.choice(["b", "o", "x"], size=(958, 9))
    columns = [Column(f"s{j}", drawn[:, j], ("b", "o", "x")) for j in range(9)]
    openml.publish("tic_tac_toe", [*columns, classes_like("tic_tac_toe")])
    expected = np.select([drawn == "b", drawn == "x", drawn == "o"], [0, 1, 2])
    assert np.array_equal(load("tic_tac_toe").X, expected)


def test_zoo_leaves_out_the_name_and_reads_true_and_false(openml):
    rng = np.random.default_rng(2)
    truth = rng.integers(2, size=(101, 15))
    animals = Column("animal", [f"a{i}" for i in range(101)], [f"a{i}" for i in range(101)], ignored=True)
    worded = [Column(f"w{j}", np.array(TRUTH)[truth[:, j]], ("true", "false")) for j in range(15)]
    legs = Column("legs", rng.choice([0, 2, 4], size=101))
    openml.publish("zoo", [animals, *worded, legs, classes_like("zoo")])
    data = load("zoo")
    assert np.array_equal(data.X, np.column_stack([truth, legs.values]))
    assert "animal" not in data.feature_names


def test_vowel_leaves_out_speaker_and_sex(openml):
    columns, values = numbers(990, 10)
    sex = Column("Sex", ["Male", "Female"] * 495, ("Male", "Female"))
    openml.publish("vowel", [sex, *columns, classes_like("vowel")])
    data = load("vowel")
    assert np.array_equal(data.X, values)
    assert data.feature_names == tuple(f"f{j}" for j in range(10))


def test_classes_named_by_numbers_are_in_their_order(openml):
    columns, _ = numbers(990, 10)
    names = [str(i) for i in range(1, 12)]
    openml.publish("vowel", [*columns, classes_like("vowel", names)])
    assert load("vowel").class_names == tuple(names)


def test_numbers_given_as_words(openml):
    columns, _ = numbers(625, 3)
    weight = Column("weight", np.arange(625) % 2 * 5, ("5", "0"))
    openml.publish("balance", [*columns, weight, classes_like("balance")])
    assert load("balance").X[:4, 3].tolist() == [0, 5, 0, 5]


def test_unknown_words_are_refused(openml):
    columns, _ = numbers(625, 3)
    color = Column("color", ["red", "blue"] * 312 + ["red"], ("red", "blue"))
    openml.publish("balance", [*columns, color, classes_like("balance")])
    with pytest.raises(DatasetError, match=r"balance \(OpenML data set 11\): column 'color' has words"):
        load("balance")


def test_other_data_under_the_same_number(openml):
    columns, _ = numbers(214, 8)
    openml.publish("glass", [*columns, classes_like("glass")])
    message = r"glass \(OpenML data set 41\) is not the expected data set: it has shape \(214, 8\) and"
    with pytest.raises(DatasetError, match=message):
        load("glass")


def test_other_classes(openml):
    columns, _ = numbers(208, 60)
    openml.publish("sonar", [*columns, Column("class", ["R", "M"] * 104, ("R", "M"))])
    with pytest.raises(DatasetError, match=r"classes of \(104, 104\) rows, not \(208, 60\) and \(97, 111\)"):
        load("sonar")


def test_unexpected_missing_cells(openml):
    columns, _ = numbers(208, 60)
    columns[7].values[2] = "?"
    openml.publish("sonar", [*columns, classes_like("sonar")])
    with pytest.raises(DatasetError, match="X has nan in row 2, column 7"):
        load("sonar")


@pytest.mark.filterwarnings("ignore")
def test_a_file_that_was_changed_on_the_way(openml):
    columns, _ = numbers(208, 60)
    openml.publish("sonar", [*columns, classes_like("sonar")])
    for path in [path for path in openml.answers if "/download/" in path]:
        openml.answers[path] = openml.answers[path][:-200]
    with pytest.raises(DatasetError, match=r"sonar \(OpenML data set 40\) could not be fetched: (The )?md5 checksum"):
        load("sonar")


@pytest.mark.filterwarnings("ignore")
def test_no_answer(openml):
    with pytest.raises(DatasetError, match=r"glass \(OpenML data set 41\) could not be fetched: HTTP Error 404"):
        load("glass")
    assert set(openml.asked) == {"/api/v1/json/data/41"}
