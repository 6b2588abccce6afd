"""Rows as torch tensors: the goals for cards, each beside what the device itself can do, measured in the same run.

``python benchmarks/tensors.py`` uses a card if there is one and rows of the goals' size; ``--rows 1e5`` makes fewer.
Every figure is the median of ``--repeats`` runs, with the kernels of `gpu.fused` and in plain torch. P9: the vote of
300 partitions against one read of their labels. P11: one step of k-means with ten clusters against one read of the
rows. P17: rows on the device to labels with 2,000 links, and other links with the same grains. P18: the rate at which
rows find the nearest of 2,048 centers against that of the plain product of the same matrices, and flash-kmeans if it is
installed. Last, the labels of rows on the device beside those of the same rows in memory.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
import torch
from sklearn.base import clone

import cluewise as cw
from cluewise.core._on_device import sum_chunk
from cluewise.core.crowd import _Part
from cluewise.gpu import fused
from cluewise.gpu.rows import DeviceRows

PARTITIONS, CLUSTERS, CENTERS, GRAINS, PAIRS = 300, 10, 2048, 2000, 2000


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--rows", type=float, default=8.1e6)
    parser.add_argument("--columns", type=int, default=784)
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--cluewise", action="store_true", help="measure Cluewise, too, which takes long")
    given = parser.parse_args(arguments)
    device, n = torch.device(given.device), int(given.rows)
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else "the processor, which no goal is about"
    print(f"{n:,} rows of {given.columns} columns, bfloat16, on {name}; median of {given.repeats}")
    X, y = make_rows(n, given.columns, device)

    def measure(call: Callable[[], Any]) -> float:
        call()  # once to warm up
        return median(time_once(call, device) for _ in range(given.repeats))

    def show(goal: str, what: str, found: float, floor: float, of: str) -> None:
        print(f"{goal:4} {what:34} {1e3 * found:10.2f} ms {found / floor:8.2f} times {of} ({1e3 * floor:.2f} ms)")

    def compare(goal: str, what: str, call: Callable[[], Any], floor: float, of: str) -> None:
        show(goal, what, measure(call), floor, of)
        with plain():
            show("", "in plain torch", measure(call), floor, of)

    votes = make_partitions(y)
    compare("P9", "vote of 300 partitions", Vote(votes), measure(lambda: read(votes)), "one read")
    part, shift = _Part(n, 0, np.arange(0)), np.zeros(given.columns)
    ten, many = (X[torch.arange(k, device=device)].double().cpu().numpy() for k in (CLUSTERS, CENTERS))
    ten += np.random.default_rng(0).normal(scale=0.01, size=ten.shape)  # means are not of half precision
    compare(
        "P11",
        "step of k-means, 10 clusters",
        lambda: sum_chunk(X, shift, ten, part),
        measure(lambda: read(X)),
        "one read",
    )
    rows, table = DeviceRows(X, shift), torch.tensor(many.T, device=device).to(X.dtype)
    found, floor = measure(lambda: rows.find_nearest(many)), measure(lambda: multiply(X, table))
    show("P18", "nearest of 2,048 centers", found, floor, "the product")
    some = DeviceRows(X[:100_000].float(), shift)
    same = (some.find_nearest(many) == rows.find_nearest(many)[:100_000]).float().mean()
    work = 2 * n * given.columns * CENTERS / 1e12
    print(f"     {work / found:.3g} of {work / floor:.3g} TFLOP/s; labels equal to float32's: {float(same):.4%}")
    with plain():
        show("", "in plain torch", measure(lambda: rows.find_nearest(many)), floor, "the product")
    rival = import_rival()
    if rival is not None:
        squares = torch.cat([(x.float() ** 2).sum(dim=1) for x in X.split(2**17)])
        near = [torch.tensor(points, device=device).to(X.dtype)[None] for points in (ten, many)]
        assign, update = rival
        show("", "flash-kmeans", measure(lambda: assign(X[None], near[1], squares[None])), floor, "the product")
        theirs = measure(lambda: update(X[None], assign(X[None], near[0], squares[None]), near[0]))
        show("", "flash-kmeans, step, 10 clusters", theirs, measure(lambda: read(X)), "one read")
    truth = y.cpu().numpy()
    batches = [cw.Clues.sample(truth, pairs=PAIRS, random_state=seed) for seed in (0, 1)]
    grains = cw.Grains(GRAINS, random_state=0)
    show("", "2,000 grains", measure(lambda: grains.fit(X)), 0.1, "the goal for all")
    for clusterer in (cw.PCKMeans(CLUSTERS, n_init=1, random_state=0), cw.E2CP(CLUSTERS, random_state=0)):
        fit = partial(grains.then(clusterer).fit, X, clues=batches[0])
        show("P17", f"grains, {type(clusterer).__name__}, to labels", measure(fit), 0.1, "the goal")
        model = fit()
        show("", "other links", measure(partial(model.refit, X, clues=batches[1])), 0.02, "the goal")
        print(f"     ARI {cw.metrics.ari(truth, model.labels_.cpu().numpy()):.2f}")
    if given.cluewise:
        model = cw.Cluewise(CLUSTERS, random_state=0)
        found = time_once(lambda: model.fit(X, clues=batches[0]), device)  # once: it takes long
        show("", "Cluewise, to labels", found, 0.1, "the goal of P17")
        print(f"     ARI {cw.metrics.ari(truth, model.labels_.cpu().numpy()):.2f}")
    compare_labels(device)


def import_rival() -> tuple[Callable[..., Any], Callable[..., Any]] | None:
    """Assignment and update of flash-kmeans; None, after a sentence, where it is not installed."""
    try:
        from flash_kmeans.assign_euclid_triton import euclid_assign_triton
        from flash_kmeans.centroid_update_triton import triton_centroid_update_sorted_euclid
    except ImportError:
        print("     flash-kmeans is not installed here")
        return None
    return euclid_assign_triton, triton_centroid_update_sorted_euclid


@contextmanager
def plain() -> Iterator[None]:
    """Without the kernels."""
    kinds, fused.KINDS = fused.KINDS, ()
    try:
        yield
    finally:
        fused.KINDS = kinds


def compare_labels(device: torch.device) -> None:
    """Labels of the same rows on the device, and in memory."""
    rng = np.random.default_rng(0)
    y = rng.integers(CLUSTERS, size=100_000)
    X = (1.5 * rng.normal(size=(CLUSTERS, 32))[y] + rng.normal(size=(len(y), 32))).astype(np.float32)
    clues = cw.Clues.sample(y, pairs=PAIRS, noise=0.1, random_state=0)
    for model in (
        cw.PCKMeans(CLUSTERS, init=X[:CLUSTERS]),
        cw.Grains(GRAINS, random_state=0).then(cw.E2CP(CLUSTERS, random_state=0)),
        cw.SCSC(CLUSTERS, random_state=0),
        cw.Cluewise(CLUSTERS, random_state=0),
    ):
        name = type(getattr(model, "clusterer", model)).__name__
        one = clone(model).fit(X, clues=clues).labels_
        two = clone(model).fit(torch.from_numpy(X).to(device), clues=clues).labels_.cpu().numpy()
        print(f"     {name:10} on the device and in memory: {np.mean(one == two):.4%} of 100,000 labels are equal")


def make_rows(n: int, d: int, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    """Blobs, made block by block, so that no copy in single precision is needed."""
    make = torch.Generator(device).manual_seed(0)
    centers = torch.randn((CLUSTERS, d), generator=make, device=device) * 0.2
    y = torch.randint(CLUSTERS, (n,), generator=make, device=device)
    X = torch.empty((n, d), dtype=torch.bfloat16, device=device)
    for start in range(0, n, 2**17):
        own = centers[y[start : start + 2**17]]
        X[start : start + 2**17] = own + torch.randn(own.shape, generator=make, device=device)
    return X, y


def make_partitions(y: torch.Tensor) -> torch.Tensor:
    """The classes, a third of the rows at random."""
    make = torch.Generator(y.device).manual_seed(1)
    labels = torch.empty((PARTITIONS, len(y)), dtype=torch.uint8, device=y.device)
    for line in labels:
        noise = torch.randint(CLUSTERS, y.shape, generator=make, device=y.device)
        line[:] = torch.where(torch.rand(y.shape, generator=make, device=y.device) < 1 / 3, noise, y)
    return labels


class Vote:
    """Counts all votes anew each time."""

    def __init__(self, labels: torch.Tensor) -> None:
        self._election = cw.SCSC.from_partitions(labels)._election

    def __call__(self) -> Any:
        return self._election.reweigh(self._election.gamma, "rounding").labels


def read(x: torch.Tensor) -> torch.Tensor:
    """The sum of all bytes: the memory decides how long this takes."""
    return x.view(torch.uint8).view(-1)[: x.nbytes // 8 * 8].view(torch.int64).sum()


def multiply(X: torch.Tensor, table: torch.Tensor) -> None:
    for start in range(0, len(X), 2**17):
        X[start : start + 2**17] @ table


def time_once(call: Callable[[], Any], device: torch.device) -> float:
    wait(device)
    start = perf_counter()
    call()
    wait(device)
    return perf_counter() - start


def wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


if __name__ == "__main__":
    main()
