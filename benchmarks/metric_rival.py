"""What metric-learn makes of the tasks that `metric.py` sets; run by a Python that has it, with an older scikit-learn.

``python metric_rival.py tasks.npz answers.npz``: every task has rows ``X/…``, labels ``y/…`` (-1 = unknown) and a name
``method|set|seed``; an answer has ``components`` and ``seconds``. A method that fails leaves its message instead; after
``budget`` processor seconds the remaining tasks are left out.
"""

from __future__ import annotations

import sys
import warnings
from time import process_time

import numpy as np
from metric_learn import ITML, LMNN, RCA, ITML_Supervised, MMC_Supervised


def learn(method, X, y, seed):
    """A fitted metric of metric-learn, as its documentation would have it used with labels."""
    known = y >= 0
    if method == "RCA":
        return RCA().fit(X, y)  # classes as chunks
    if method == "ITML":
        return ITML_Supervised(random_state=seed).fit(X[known], y[known])
    if method == "Xing":
        return MMC_Supervised(random_state=seed).fit(X[known], y[known])
    return LMNN(random_state=seed).fit(X[known], y[known])


def visits(task):
    """Seconds of exactly ``sweeps`` sweeps of ITML over given pairs."""
    model = ITML(max_iter=int(task["sweeps"]), tol=0.0)
    pairs = task["X"][task["pairs"]]
    begin = process_time()
    model.fit(pairs, task["sign"].astype(int), bounds=task["bounds"])
    return process_time() - begin


def main(given, out):
    warnings.simplefilter("ignore")
    tasks = dict(np.load(given))
    answers = {}
    for name in tasks.get("names", ()):
        if process_time() > float(tasks["budget"]):
            break
        method, data, seed = str(name).split("|")
        X, y = tasks[f"X/{data}"], tasks[f"y/{data}|{seed}"]
        begin = process_time()
        try:
            model = learn(method, X, y, int(seed))
        except Exception as error:
            answers[f"error/{name}"] = np.array(f"{type(error).__name__}: {error}")
            continue
        answers[f"seconds/{name}"] = np.array(process_time() - begin)
        answers[f"components/{name}"] = model.components_
    if "pairs" in tasks:
        answers["seconds"] = np.array([visits(tasks) for _ in range(int(tasks["repeats"]))])
    np.savez(out, **answers)


if __name__ == "__main__":
    main(*sys.argv[1:])
