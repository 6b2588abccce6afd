"""Ctrl-C during a long fit is answered within the iteration, and leaves the last complete state."""

import json
import os
import subprocess
import sys

import pytest

# Presses Ctrl-C after a few iterations of a fit that would go on for minutes, and says what it is left with.
SCRIPT = """
import json, os, signal, sys, threading, time
import numpy as np
import cluewise as cw

name = sys.argv[1]
rng = np.random.default_rng(0)
X = rng.normal(size=(2_000_000, 8)).astype(np.float32)
n = len(X)
pairs = rng.integers(n, size=(100_000, 2))
pairs = pairs[pairs[:, 0] != pairs[:, 1]]
labels = np.full(n, -1)
labels[:64] = np.arange(64) % 16
kinds = cw.clusterers()[name].card.accepts
clues = cw.Clues(n, must=pairs[:1000], cannot=pairs[1000:]) if "must" in kinds else cw.Clues(n, labels=labels)


class Ready:
    def setup(self, estimator, context): ...
    def on_fit_task_begin(self, estimator, context): ...
    def teardown(self, estimator, context): ...

    def on_fit_task_end(self, estimator, context):
        if context.task_name == "iteration":
            state["complete"] = context.task_id + 1
            if context.task_id == 1:
                begun.set()


def press():
    begun.wait()
    time.sleep(0.1)  # somewhere within an iteration
    state["pressed"] = state["complete"]
    os.kill(os.getpid(), signal.SIGINT)


state, begun = {}, threading.Event()
threading.Thread(target=press).start()
model = cw.clusterers()[name](16, init=X[:16], tol=0, max_iter=10_000).set_callbacks(Ready())
try:
    model.fit(X, clues=clues)
except KeyboardInterrupt:
    state["stopped"] = True
state |= {
    "labels": len(model.labels_),
    "range": [int(model.labels_.min()), int(model.labels_.max())],
    "iterations": [model.n_iter_, len(model.trace_)],
    "mixed": hasattr(model, "margin_"),
    "predicts": len(model.predict(X[:5])),
}
free = np.setdiff1d(np.arange(5000), clues.tied)
state["free"], state["off"] = len(free), int((model.predict(X[free]) != model.labels_[free]).sum())
print(json.dumps(state), flush=True)
"""


@pytest.mark.parametrize("name", ["PCKMeans", "COPKMeans", "SeededKMeans"])
def test_ctrl_c(name):
    environment = {**os.environ, "CLUEWISE_THREADS": "2"}
    command = [sys.executable, "-c", SCRIPT, name]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    state = json.loads(done.stdout)
    assert state["stopped"]
    # Not in seconds, which a busy machine stretches. The thread that presses may lose its turn between two lines.
    assert state["iterations"][0] <= state["pressed"] + 2
    assert state["labels"] == 2_000_000
    assert state["range"] == [0, 15]
    assert state["iterations"][0] == state["iterations"][1] >= 2
    assert not state["mixed"]
    assert state["predicts"] == 5
    assert state["free"] > 1000
    assert state["off"] == 0  # labels and centers belong together
