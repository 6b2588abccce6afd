# ruff: noqa: D103, T201
"""Eight million images, partitioned 300 times and weighted by clues: ``python experiments/scsc_8m.py FOLDER``.

The images are those of MNIST under small random deformations, made block by block and never kept. Partitions are
learned by approximate kernel k-means from a few of them; all images are labelled, block by block, in a file. A run that
was stopped goes on where it was: start it again with the same arguments.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from cluewise import SCSC, ApproxKernelKMeans, Clues
from cluewise.datasets import load
from cluewise.metrics import nmi

PIECE = 1024  # images that one thread labels at once
WAVES = 4  # a deformation has WAVES × WAVES slow waves in each direction
STRENGTH = 0.7  # pixels, root mean square


class Model(NamedTuple):
    """One partition of everything: a center is a combination of landmarks."""

    columns: np.ndarray  # (d̃,)
    landmarks: np.ndarray  # (l, d̃)
    coefficients: np.ndarray  # (k, l)
    gamma: float
    half: np.ndarray  # (k,) half the squared length of each center


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="SCSC on deformed images, as many as there is time for.")
    parser.add_argument("folder", type=Path, help="where models and labels are kept")
    parser.add_argument("--data", default="mnist", help="labelled square images (default: mnist)")
    for name, value in {
        "rows": 8_100_000,
        "partitions": 300,
        "learn": 20_000,
        "landmarks": 100,
        "block": 2**14,
        "tiers": 5,
        "pairs": 500,
        "seed": 0,
    }.items():
        parser.add_argument(f"--{name}", type=int, default=value, help=f"default: {value}")
    given = parser.parse_args(arguments)
    setup = {name: value for name, value in vars(given).items() if name not in ("folder", "tiers", "pairs")}
    given.folder.mkdir(parents=True, exist_ok=True)
    if (given.folder / "setup.json").exists():
        if json.loads((given.folder / "setup.json").read_text("utf-8")) != setup:
            parser.error(f"{given.folder} was begun with other arguments; give the same ones or another folder.")
    else:
        replace(given.folder / "setup.json", json.dumps(setup).encode())
    data = load(given.data)
    images = np.asarray(data.X, dtype=np.float32)
    images /= images.max()
    with threadpool_limits(1):
        models = learn(images, len(np.unique(data.y)), given)
        labels = assign(images, models, given)
    del images
    follow(labels, data.y[np.arange(given.rows) % len(data.y)], given)


def replace(path: Path, content: bytes) -> None:
    """Write a file at once: a kill leaves the old one or the new one."""
    new = path.with_suffix(".new")
    new.write_bytes(content)
    os.replace(new, path)


def deformed(images: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Images moved along smooth random fields, to first order: x − f · ∇x."""
    side = int(np.sqrt(images.shape[1]))
    at = np.cos(np.pi * np.outer(np.arange(WAVES), (np.arange(side) + 0.5) / side))
    waves = np.einsum("ai,bj->abij", at, at).reshape(WAVES**2, -1).astype(np.float32)
    scale = STRENGTH / np.sqrt((waves**2).mean(axis=1).sum())
    result = images.copy()
    grid = images.reshape(-1, side, side)
    for axis in (1, 2):
        field = (scale * rng.standard_normal((len(images), WAVES**2), dtype=np.float32)) @ waves
        result -= field * np.gradient(grid, axis=axis).reshape(field.shape)
    return np.clip(result, 0, 1, out=result)


def learn(images: np.ndarray, k: int, given: argparse.Namespace) -> list[Model]:
    """Models, read from the folder where they are there already."""
    begin = perf_counter()
    rng = np.random.default_rng([given.seed, 1])
    some = deformed(images[rng.integers(len(images), size=given.learn)], rng)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        models = list(pool.map(lambda p: model(some, k, p, given), range(given.partitions)))
    print(f"learned {len(models)} partitions from {given.learn} rows: {perf_counter() - begin:.1f} s", flush=True)
    return models


def model(some: np.ndarray, k: int, p: int, given: argparse.Namespace) -> Model:
    path = given.folder / f"model_{p:03}.npz"
    if not path.exists():
        rng = np.random.default_rng([given.seed, 2, p])
        columns = np.sort(rng.choice(some.shape[1], size=-(-some.shape[1] // 20), replace=False))
        own = np.ascontiguousarray(some[:, columns])
        found = ApproxKernelKMeans(k, landmarks=given.landmarks, n_init=1, max_iter=30, random_state=p).fit(own)
        new = path.with_suffix(".new.npz")
        np.savez(new, columns=columns, landmarks=found.landmarks_, coefficients=found.coefficients_, gamma=found.gamma_)
        os.replace(new, path)
    with np.load(path) as kept:
        points, centers, gamma = kept["landmarks"].astype(np.float64), kept["coefficients"], float(kept["gamma"])
        apart = (points**2).sum(axis=1)[:, None] + (points**2).sum(axis=1) - 2 * points @ points.T
        half = 0.5 * ((centers @ np.exp(-gamma * apart)) * centers).sum(axis=1)
        single = np.float32
        return Model(kept["columns"], points.astype(single), centers.astype(single), gamma, half.astype(single))


def nearest(turned: np.ndarray, model: Model) -> np.ndarray:
    """Cluster of each image (a column of ``turned``) in one partition."""
    x = turned[model.columns]
    kernel = model.landmarks @ x
    kernel *= 2 * model.gamma
    kernel -= np.float32(model.gamma) * (model.landmarks**2).sum(axis=1)[:, None]
    kernel -= np.float32(model.gamma) * (x**2).sum(axis=0)
    np.exp(kernel, out=kernel)
    return (model.coefficients @ kernel - model.half[:, None]).argmax(axis=0)


def assign(images: np.ndarray, models: list[Model], given: argparse.Namespace) -> np.ndarray:
    """Labels of all images in a file mapped into memory; blocks that are there already are left alone."""
    path, mark = given.folder / "labels.npy", given.folder / "blocks"
    shape = (len(models), given.rows)
    done = int(mark.read_text("utf-8")) if mark.exists() else 0
    if not done:
        np.lib.format.open_memmap(path, mode="w+", dtype=np.uint8, shape=shape)
    labels = np.lib.format.open_memmap(path, mode="r+")
    begin, first = perf_counter(), done

    def work(part: tuple[int, np.ndarray]) -> None:
        turned = np.ascontiguousarray(part[1].T)
        for p, own in enumerate(models):
            labels[p, part[0] : part[0] + turned.shape[1]] = nearest(turned, own)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for start in range(done * given.block, given.rows, given.block):
            stop = min(start + given.block, given.rows)
            x = deformed(images[np.arange(start, stop) % len(images)], np.random.default_rng([given.seed, 3, done]))
            list(pool.map(work, [(start + i, x[i : i + PIECE]) for i in range(0, len(x), PIECE)]))
            labels.flush()  # labels first, then the mark: a block that counts as done is done
            done += 1
            note(mark, done)
    seconds, rows = perf_counter() - begin, given.rows - min(first * given.block, given.rows)
    each = f", {1e6 * seconds / rows:.1f} µs each" if rows else ""
    print(f"labelled {rows} of {given.rows} rows in this run: {seconds:.1f} s{each}", flush=True)
    return labels


def note(mark: Path, done: int) -> None:
    replace(mark, str(done).encode())


def follow(labels: np.ndarray, truth: Any, given: argparse.Namespace) -> None:
    """Tiers of new pairs: time of the weights, time of the labels, agreement with the truth."""
    words = labels.reshape(-1)[: labels.size // 8 * 8].view(np.uint64)
    reads = [timed(words.sum)[1] for _ in range(3)]
    size, once = labels.nbytes / 1e9, min(reads)
    print(f"one read of {size:.2f} GB of labels: {once:.3f} s, {size / once:.1f} GB/s")
    model, seconds = timed(lambda: SCSC.from_partitions(labels, len(np.unique(truth))))
    found, vote = timed(lambda: model.labels_)
    print(f"alignment {seconds:.2f} s, first vote {vote:.2f} s, NMI {nmi(truth, found):.4f}", flush=True)
    for tier in range(given.tiers):
        clues = Clues.sample(truth, pairs=given.pairs, random_state=[given.seed, 4, tier])
        weights = timed(lambda clues=clues: model.update(clues))[1]
        found, vote = timed(lambda: model.labels_)
        changed = len(model.changed_)
        print(
            f"tier {tier + 1}: {given.pairs} pairs, weights {1e3 * weights:.1f} ms, labels {vote:.2f} s "
            f"({vote / once:.1f} reads), {changed} changed, NMI {nmi(truth, found):.4f}",
            flush=True,
        )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    print(f"peak memory {peak / 2**30:.1f} GiB, the mapped labels among it")


def timed(call: Any) -> tuple[Any, float]:
    begin = perf_counter()
    return call(), perf_counter() - begin


if __name__ == "__main__":
    main()
