"""Rows as torch tensors: the goals for cards, each beside what the device itself can do, measured in the same run.

``python benchmarks/tensors.py`` uses a card if there is one and rows of the goals' size; ``--rows 1e5`` makes fewer.
Every figure is the median of ``--repeats`` runs. P9: the vote of 300 partitions against one read of their labels. P11:
one step of k-means with ten clusters against one read of the rows. P17: rows on the device to labels with 2,000 links.
P18: the rate at which rows find the nearest of 2,048 centers against that of the plain product of the same matrices.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
import torch

import cluewise as cw
from cluewise.core._on_device import sum_chunk
from cluewise.core.crowd import _Part
from cluewise.gpu.rows import DeviceRows

PARTITIONS, CLUSTERS, CENTERS, GRAINS, PAIRS = 300, 10, 2048, 2000, 2000


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--rows", type=float, default=8.1e6)
    parser.add_argument("--columns", type=int, default=784)
    parser.add_argument("--repeats", type=int, default=10)
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

    labels = make_partitions(y)
    show("P9", "vote of 300 partitions", measure(Vote(labels)), measure(lambda: read(labels)), "one read")
    part, shift = _Part(n, 0, np.arange(0)), np.zeros(given.columns)
    ten, many = (X[torch.arange(k, device=device)].double().cpu().numpy() for k in (CLUSTERS, CENTERS))
    step = measure(lambda: sum_chunk(X, shift, ten, part))
    show("P11", "step of k-means, 10 clusters", step, measure(lambda: read(X)), "one read")
    clues = cw.Clues.sample(y.cpu().numpy(), pairs=PAIRS, random_state=0)
    grains = cw.Grains(GRAINS, random_state=0)
    for title, model in (
        ("Grains then PCKMeans", grains.then(cw.PCKMeans(CLUSTERS, n_init=1, random_state=0))),
        ("Cluewise", cw.Cluewise(CLUSTERS, random_state=0)),
    ):
        found = time_once(lambda model=model: model.fit(X, clues=clues), device)  # once: it takes long
        show("P17", f"{title}, to labels", found, 0.1, "the goal")
        print(f"     ARI {cw.metrics.ari(y.cpu().numpy(), model.labels_.cpu().numpy()):.2f}")
    rows, table = DeviceRows(X, shift), torch.tensor(many.T, device=device).to(X.dtype)
    found, floor = measure(lambda: rows.find_nearest(many)), measure(lambda: multiply(X, table))
    show("P18", "nearest of 2,048 centers", found, floor, "the product")
    some = DeviceRows(X[:100_000].float(), shift)
    same = (some.find_nearest(many) == rows.find_nearest(many)[:100_000]).float().mean()
    work = 2 * n * given.columns * CENTERS / 1e12
    print(f"     {work / found:.3g} of {work / floor:.3g} TFLOP/s; labels equal to float32's: {float(same):.4%}")


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
