"""Quasi-Newton descent (limited-memory BFGS) that takes only steps which lower the function."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from cluewise._typing import Floats

__all__ = ["Point", "advance", "begin"]

REMEMBERED = 10
"""Steps whose curvature is remembered; more hardly help."""

ENOUGH = 1e-4
"""Share of the promised fall that a step must keep (Armijo's rule)."""

SHORTEST = 2.0**-30
"""Share of a step below which it is given up."""

FIRST = 0.1
"""Length of the first step, when nothing is known about the curvature, as a share of the length of the point."""

Function = Callable[[Floats], tuple[float, Callable[[], Floats]]]
"""Value at a point, and what computes the gradient there."""


class Point(NamedTuple):
    """Where we are, and what was learned on the way."""

    x: Floats
    value: float
    gradient: Floats
    steps: tuple[Floats, ...] = ()  # of the last iterations
    turns: tuple[Floats, ...] = ()  # by which the gradient changed in them


def begin(x: Floats, function: Function) -> Point:
    """A point without a past."""
    value, gradient = function(x)
    return Point(x, value, gradient())


def advance(point: Point, function: Function) -> Point:
    """One step downhill; the same point when there is none, neither with nor without what was learned."""
    for known in (point, point._replace(steps=(), turns=())) if point.steps else (point,):
        way = _direction(known)
        fall = float((way * point.gradient).sum())
        share = 1.0
        while fall < 0 and share >= SHORTEST:
            x = point.x + share * way
            value, gradient = function(x)
            if value <= point.value + ENOUGH * share * fall:
                return _arrived(known, x, value, gradient())
            share /= 2
    return point


def _direction(point: Point) -> Floats:
    """Minus the gradient times an estimate of the inverse Hessian, by the two loops of L-BFGS."""
    way = -point.gradient
    if not point.steps:
        length = np.sqrt((way**2).sum())
        return way * (FIRST * max(float(np.sqrt((point.x**2).sum())), 1e-300) / length) if length else way
    past = [(s, t, 1 / float((s * t).sum())) for s, t in zip(point.steps, point.turns)]
    pulled = []
    for s, t, rho in reversed(past):
        alpha = rho * float((s * way).sum())
        pulled.append(alpha)
        way = way - alpha * t
    s, t, rho = past[-1]
    way = way / (rho * float((t * t).sum()))
    for (s, t, rho), alpha in zip(past, reversed(pulled)):
        way = way + (alpha - rho * float((t * way).sum())) * s
    return way


def _arrived(point: Point, x: Floats, value: float, gradient: Floats) -> Point:
    """The new point, with the memory of the step if the function curves upwards along it."""
    s, t = x - point.x, gradient - point.gradient
    steps, turns = point.steps, point.turns
    if float((s * t).sum()) > 1e-10 * np.sqrt(float((s * s).sum()) * float((t * t).sum())):
        steps, turns = (*steps, s)[-REMEMBERED:], (*turns, t)[-REMEMBERED:]
    return Point(x, value, gradient, steps, turns)
