"""Quasi-Newton descent (limited-memory BFGS) in which every step lowers the function."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from cluewise._typing import Floats

__all__ = ["Point", "advance", "begin"]

REMEMBERED = 10
"""Number of last steps that estimate the curvature; more hardly help."""

ENOUGH = 1e-4
"""Share of the predicted decrease that a step must reach (Armijo's rule)."""

SHORTEST = 2.0**-30
"""Share of a step below which the line search gives up."""

FIRST = 0.1
"""Length of the first step, without curvature information, as a share of the norm of the point."""

Function = Callable[[Floats], tuple[float, Callable[[], Floats]]]
"""Value at a point, and a function that computes the gradient there, because most trial points do not need it."""


class Point(NamedTuple):
    """A point with its value, gradient and curvature information."""

    x: Floats
    value: float
    gradient: Floats
    steps: tuple[Floats, ...] = ()  # of the last iterations
    turns: tuple[Floats, ...] = ()  # changes of the gradient in these steps


def begin(x: Floats, function: Function) -> Point:
    """A point without curvature information."""
    value, gradient = function(x)
    return Point(x, value, gradient())


def advance(point: Point, function: Function) -> Point:
    """One step downhill; the same point if no step lowers the function."""
    # If the quasi-Newton direction fails, its curvature is out of date: forget it and try the gradient.
    for known in (point, point._replace(steps=(), turns=())) if point.steps else (point,):
        way = _direction(known)
        fall = float((way * point.gradient).sum())
        share = 1.0
        while fall < 0 and share >= SHORTEST:
            x = point.x + share * way
            value, gradient = function(x)
            if value <= point.value + ENOUGH * share * fall:
                return _update(known, x, value, gradient())
            share /= 2
    return point


def _direction(point: Point) -> Floats:
    """Minus the estimated inverse Hessian times the gradient, by the two-loop recursion of L-BFGS."""
    way = -point.gradient
    if not point.steps:
        length = np.sqrt((way**2).sum())
        return way * (FIRST * max(float(np.sqrt((point.x**2).sum())), 1e-300) / length) if length else way
    past = [(s, t, 1 / float((s * t).sum())) for s, t in zip(point.steps, point.turns)]
    alphas = []
    for s, t, rho in reversed(past):
        alpha = rho * float((s * way).sum())
        alphas.append(alpha)
        way = way - alpha * t
    s, t, rho = past[-1]
    way = way / (rho * float((t * t).sum()))
    for (s, t, rho), alpha in zip(past, reversed(alphas)):
        way = way + (alpha - rho * float((t * way).sum())) * s
    return way


def _update(point: Point, x: Floats, value: float, gradient: Floats) -> Point:
    """The new point; the step is remembered only if curvature along it is positive, as the inverse Hessian must be."""
    s, t = x - point.x, gradient - point.gradient
    steps, turns = point.steps, point.turns
    if float((s * t).sum()) > 1e-10 * np.sqrt(float((s * s).sum()) * float((t * t).sum())):
        steps, turns = (*steps, s)[-REMEMBERED:], (*turns, t)[-REMEMBERED:]
    return Point(x, value, gradient, steps, turns)
