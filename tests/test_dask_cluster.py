"""Dask arrays on a real cluster of processes: the same labels on any number of workers, and whatever goes wrong.

Rows are made where they are needed, by a function that may fail or end its worker. A file for each reading of a chunk
tells which pass it belongs to.
"""

from __future__ import annotations

import asyncio
import os
import signal
import time
import warnings
from contextlib import ExitStack
from threading import Thread, Timer
from typing import NamedTuple

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pytest
from distributed import Client, LocalCluster
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

import cluewise as cw
from cluewise import Clues, _dask
from cluewise.exceptions import WorkersLost

N, K, CHUNKS = 6000, 4, 6


@pytest.fixture(scope="module")
def cluster():
    """A function that returns the cluster."""
    with ExitStack() as stack:
        found = []

        def find():
            # A nanny does not always replace a worker that was killed; it never does if the worker was starting.
            if not found or not has_workers(found[-1]):
                settings = {"threads_per_worker": 1, "dashboard_address": ":0", "memory_limit": "1GiB"}
                found.append(stack.enter_context(LocalCluster(n_workers=2, processes=True, **settings)))
            return found[-1]

        yield find


def has_workers(cluster):
    for _ in range(100):
        if len(cluster.scheduler.workers) == 2:
            return True
        time.sleep(0.1)
    return False


@pytest.fixture
def client(cluster):
    with Client(cluster()) as client:
        yield client


def make_rows(first, count):
    """Rows of three columns that depend on their numbers alone."""
    rng = np.random.default_rng(first)
    return 3 * np.random.default_rng(9).normal(size=(K, 3))[rng.integers(K, size=count)] + rng.normal(size=(count, 3))


def read(block, folder=None, act=None, at=(), block_id=None):
    """Rows of a chunk; ``act`` happens at these readings of chunk 1."""
    size = N // CHUNKS
    if folder is not None and block_id[0] == 1:
        number = len(os.listdir(folder))
        (folder / f"{number}-{os.getpid()}-{time.time_ns()}").touch()
        if number in at:
            act()
    return make_rows(block_id[0] * size, size)


def end_worker():
    os.kill(os.getpid(), signal.SIGKILL)


def break_down():
    raise OSError("disk on fire")


def use_up_memory():
    held = []
    while True:  # until the nanny of this worker ends it
        held.append(np.ones(2**22))
        time.sleep(0.005)


def wait():
    time.sleep(0.5)


def sleep_long():
    time.sleep(20)


def make_array(**options):
    empty = da.empty((N, 3), chunks=(N // CHUNKS, 3))
    return empty.map_blocks(read, **options, dtype=float, meta=np.empty((0, 0)), name=False)


X = np.concatenate([make_rows(start, N // CHUNKS) for start in range(0, N, N // CHUNKS)])
CLUES = Clues(N, must=np.arange(40).reshape(-1, 2), cannot=np.arange(2000, 2040).reshape(-1, 2))


def fit(chunked, **options):
    return cw.PCKMeans(K, random_state=0, n_init=1, **options).fit(chunked, clues=CLUES)


def count_left(client):
    """Tasks that the cluster still knows, and those whose results workers hold, once it had a moment to forget."""
    for _ in range(100):
        scheduler = client.cluster.scheduler
        left = len(scheduler.tasks), sum(len(worker.has_what) for worker in scheduler.workers.values())
        if left == (0, 0):
            break
        time.sleep(0.05)
    return left


class Expected(NamedTuple):
    labels: np.ndarray
    passes: int  # readings of a chunk in a fit


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """What one thread without a cluster finds."""
    folder = tmp_path_factory.mktemp("readings")
    with dask.config.set(scheduler="synchronous"):
        model = fit(make_array(folder=folder))
        return Expected(model.labels_.compute(), len(os.listdir(folder)) - 1)


def check_that_all_is_well(client, expected):
    """The cluster has nothing left of an earlier fit, and the next one is right."""
    assert count_left(client) == (0, 0)
    assert_array_equal(fit(make_array()).labels_.compute(), expected.labels)


# --- as it should be --------------------------------------------------------------------------------------------


def test_one_two_or_no_workers_give_the_same_labels(client, expected):
    assert_array_equal(fit(make_array()).labels_.compute(), expected.labels)
    address = next(iter(client.scheduler_info()["workers"]))
    with dask.annotate(workers=[address]), dask.config.set({"optimization.fuse.active": False}):
        assert_array_equal(fit(make_array()).labels_.compute(), expected.labels)
    with dask.config.set(scheduler="threads"):
        assert_array_equal(fit(make_array()).labels_.compute(), expected.labels)
    assert count_left(client) == (0, 0)


def test_from_the_same_centers_a_cluster_gives_what_memory_gives(client):
    own, other = (fit(one, init=X[:K]) for one in (X, make_array()))
    assert_array_equal(other.labels_.compute(), own.labels_)


def test_labels_of_cluewise_travel_light(client, monkeypatch):
    """Dask warns of graphs beyond 10 MB: features of 60,000 references take 36 MB, and rows do not need them."""
    monkeypatch.setattr("cluewise.front._references.MOST", 3000)
    model = cw.Cluewise(K, random_state=0).fit(make_array(), clues=CLUES)
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1MB"}), warnings.catch_warnings():
        warnings.simplefilter("error")
        labels, margin, _ = dask.compute(model.labels_, model.margin_, model.label_doubt_)
        again = model.predict(make_array()).compute()
    assert np.mean(again == labels) > 0.999  # rows with clues may differ
    assert (margin >= 0).all()
    assert count_left(client) == (0, 0)  # while the model is there


# --- as it should not be ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("phase", ["scan", "rows with clues", "start", "iteration", "labels"])
def test_a_worker_that_is_killed_in_any_phase_is_replaced(client, expected, tmp_path, phase):
    place = {"scan": 0, "rows with clues": 1, "start": 3, "iteration": expected.passes - 2, "labels": expected.passes}
    model = fit(make_array(folder=tmp_path, act=end_worker, at=(place[phase],)))
    assert_array_equal(model.labels_.compute(), expected.labels)
    assert len(os.listdir(tmp_path)) == expected.passes + 2  # one was in vain
    assert count_left(client) == (0, 0)


SKETCHES = {
    "Cluewise": cw.Cluewise(K, random_state=0),
    "GrainsThen": cw.Grains(50, random_state=0).then(cw.COPKMeans(K, random_state=0)),
    "SCSC": cw.SCSC(K, n_partitions=20, random_state=0),
}


@pytest.mark.parametrize("late", [False, True], ids=["fit", "labels"])
@pytest.mark.parametrize("name", SKETCHES)
def test_other_methods_do_not_mind_a_killed_worker(client, tmp_path, name, late):
    """In the middle of the fit, or when labels are computed."""

    def find_labels(place, **what):
        folder = tmp_path / place
        folder.mkdir()
        return clone(SKETCHES[name]).fit(make_array(folder=folder, **what), clues=CLUES).labels_.compute()

    with dask.config.set(scheduler="synchronous"):
        expected = find_labels("alone")
    passes = len(os.listdir(tmp_path / "alone"))
    found = find_labels("cluster", act=end_worker, at=(passes - 1 if late else passes // 2,))
    assert_array_equal(found, expected)
    assert len(os.listdir(tmp_path / "cluster")) > passes  # one was in vain
    assert count_left(client) == (0, 0)


def test_ctrl_c_leaves_no_half_of_a_cluewise(client, expected, tmp_path):
    def press():
        while len(os.listdir(tmp_path)) < 3:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    model = cw.Cluewise(K, random_state=0)
    Thread(target=press, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        model.fit(make_array(folder=tmp_path, act=wait, at=range(2, 99)), clues=CLUES)
    assert not hasattr(model, "labels_")
    check_that_all_is_well(client, expected)


def test_a_chunk_that_ends_every_worker_ends_the_fit_with_one_sentence(client, expected, tmp_path):
    client.cluster.scheduler.allowed_failures = 1
    with pytest.raises(WorkersLost, match=r"several workers in a row ended .* out of memory: make the ch") as caught:
        fit(make_array(folder=tmp_path, act=use_up_memory, at=range(100)))
    assert type(caught.value.__cause__).__name__ == "KilledWorker"
    check_that_all_is_well(client, expected)


def test_a_chunk_that_cannot_be_read_ends_the_fit(client, expected, tmp_path):
    with pytest.raises(OSError, match="disk on fire"):
        fit(make_array(folder=tmp_path, act=break_down, at=(5,)))
    check_that_all_is_well(client, expected)


def test_ctrl_c_ends_the_fit(client, expected, tmp_path):
    def press():
        while len(os.listdir(tmp_path)) < expected.passes - 1:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    model = cw.PCKMeans(K, random_state=0, n_init=1)
    Thread(target=press, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        model.fit(make_array(folder=tmp_path, act=wait, at=range(expected.passes - 2, 99)), clues=CLUES)
    assert model.n_iter_ > 0
    assert model.labels_.shape == (N,)
    check_that_all_is_well(client, expected)


def cancel(client):
    for state in list(client.futures.values()):
        state.cancel()


@pytest.mark.parametrize(
    ("lose", "cause"),
    [(Client.close, "CancelledError"), (Client.restart, "FutureCancelledError"), (cancel, "FutureCancelledError")],
    ids=["closed", "restarted", "cancelled"],
)
def test_a_cluster_that_drops_the_work_ends_the_fit_with_one_sentence(tmp_path, lose, cause):
    """What dask says is the cause, whatever the attempt to clean up says."""

    def act():
        while not len(os.listdir(tmp_path)):
            time.sleep(0.01)
        lose(client)

    settings = {"threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(n_workers=1, processes=True, **settings) as cluster, Client(cluster) as client:
        loser = Thread(target=act)
        loser.start()
        with pytest.raises(WorkersLost, match="the dask cluster has dropped the work: its sched") as caught:
            fit(make_array(folder=tmp_path, act=sleep_long, at=(0,)))
        loser.join()
    assert cause in [kind.__name__ for kind in type(caught.value.__cause__).__mro__]


def test_a_scheduler_that_is_gone_is_one_sentence(monkeypatch):
    """Between two passes, or while the wait asks for workers."""
    monkeypatch.setattr(_dask, "GLANCE", 0.1)
    with LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as cluster:
        with Client(cluster) as client:
            monkeypatch.setattr(client, "nthreads", break_down)
            with pytest.raises(WorkersLost, match="dropped the work") as caught:
                fit(make_array())
            assert "disk on fire" in str(caught.value.__cause__)
        with (
            client.as_current(),
            dask.config.set(scheduler="dask.distributed"),
            pytest.raises(WorkersLost, match="dropped the work"),
        ):
            fit(make_array())
    assert dask.config.get("scheduler", None) is None  # as other tests find it


def test_results_that_take_long_to_come_are_waited_for(client, monkeypatch):
    gather = client._gather

    async def gather_slowly(*arguments, **options):
        await asyncio.sleep(0.5)
        return await gather(*arguments, **options)

    monkeypatch.setattr(client, "_gather", gather_slowly)
    monkeypatch.setattr(_dask, "GLANCE", 0.1)
    assert _dask.compute(da.ones(4).sum()) == [4.0]


def learn_columns(rows):
    return cw.Rows().fit(rows)


def learn_columns_of_unknown_rows(rows):
    return cw.Rows().fit(rows[rows[:, 0] < 99])


def learn_columns_of_a_frame(rows):
    return cw.Rows().fit(dd.from_dask_array(rows, columns=["a", "b", "c"]))


@pytest.mark.parametrize("use", [fit, learn_columns, learn_columns_of_unknown_rows, learn_columns_of_a_frame])
def test_a_cluster_without_workers_ends_the_wait(monkeypatch, use):
    """Dask would wait forever, and say nothing."""
    monkeypatch.setattr(_dask, "GLANCE", 0.1)
    monkeypatch.setattr(_dask, "PATIENCE", 0.5)
    with (
        LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as empty,
        Client(empty) as client,
        pytest.raises(WorkersLost, match=r"the dask cluster has had no workers for 0\.5 seconds; start some"),
    ):
        use(make_array())
    assert client.status == "closed"


def test_columns_are_learned_where_the_rows_are(client):
    """From a part of the rows, in chunks whose sizes are known or not, and as a frame."""
    chunked = make_array()
    expected = cw.Rows().fit(X).transform(X)
    for rows in (chunked, chunked[chunked[:, 0] < 99], dd.from_dask_array(chunked, columns=["x0", "x1", "x2"])):
        assert_allclose(cw.Rows().fit_transform(rows).compute(), expected)


def test_a_late_worker_is_waited_for(monkeypatch, expected):
    monkeypatch.setattr(_dask, "GLANCE", 0.1)
    with LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as cluster, Client(cluster):
        Timer(1, cluster.scale, [1]).start()
        assert_array_equal(fit(make_array()).labels_.compute(), expected.labels)
