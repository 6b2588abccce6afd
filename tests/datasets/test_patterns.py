"""The 2-D patterns: sizes and shapes as the specification of experiment E1.5 gives them."""

import numpy as np
import pytest

from cluewise.datasets import PATTERNS, DatasetError, load, make_pattern

SIZES = {
    "gaussians": [200, 200],
    "two_spirals": [250, 250],
    "cluster_in_cluster": [250, 256],
    "corners": [138] * 4,
    "half_kernel": [250, 250],
    "crescent_full_moon": [75, 225],
    "outlier": [138, 12, 12, 138],
}


def classes(name, n=None, seed=0):
    X, y = make_pattern(name, n_samples=n, random_state=seed)
    return [X[y == c] for c in range(y.max() + 1)]


def radius(points, center=(0, 0)):
    return np.hypot(*(points - np.array(center)).T)


@pytest.mark.parametrize("name", PATTERNS)
def test_sizes_and_seeds(name):
    X, y = make_pattern(name, random_state=3)
    assert np.bincount(y).tolist() == SIZES[name]
    assert X.shape == (sum(SIZES[name]), 2)
    assert X.dtype == np.float64
    same, labels = make_pattern(name, random_state=np.random.default_rng(3))
    assert np.array_equal(X, same)
    assert np.array_equal(y, labels)
    other, _ = make_pattern(name, random_state=4)
    assert not np.array_equal(X, other)
    assert np.any(np.diff(y) < 0)  # shuffled


@pytest.mark.parametrize("name", PATTERNS)
@pytest.mark.parametrize("n", [4, 37, 1000])
def test_other_sizes_keep_the_shares(name, n):
    X, y = make_pattern(name, n_samples=n, random_state=0)
    assert X.shape == (n, 2)
    exact = np.array(SIZES[name]) * n / sum(SIZES[name])
    assert np.all(np.abs(np.bincount(y, minlength=len(exact)) - exact) < 1)


def test_gaussians():
    for points, mean, covariance in zip(classes("gaussians", 20000), [(2, -1), (8, 3)], [0.1, 0.2], strict=True):
        assert points.mean(axis=0) == pytest.approx(mean, abs=0.05)
        assert np.cov(points.T) == pytest.approx(np.array([[1, covariance], [covariance, 1]]), abs=0.05)


def test_two_spirals():
    for sign, points in zip((-1, 1), classes("two_spirals"), strict=True):
        # Some angle between 90 and 660 degrees puts the point on its arm, but for noise in [0, 0.2].
        angle = np.radians(np.linspace(90, 660, 20000))
        arm = sign * np.column_stack([angle * np.cos(angle), -angle * np.sin(angle)]) + 0.1
        gap = np.array([radius(arm, point).min() for point in points])
        assert gap.max() < 0.1 * np.sqrt(2) + 1e-3
    lengths = radius(classes("two_spirals", 40000)[1])
    share = np.mean(lengths < np.radians(90 + 285))  # t uniform in t squared: half the turn has a quarter
    assert share == pytest.approx(0.25, abs=0.02)


def test_cluster_in_cluster():
    inner, outer = classes("cluster_in_cluster")
    assert np.unique(radius(inner).round(6)) == pytest.approx([1, 1 + 0.8 / 3, 1 + 1.6 / 3], abs=1e-5)
    radii, counts = np.unique(radius(outer).round(6), return_counts=True)
    assert radii == pytest.approx([4.1667, 4.5833, 5, 5.4167], abs=1e-4)
    assert counts.tolist() == [64] * 4
    angles = np.sort(np.arctan2(outer[:, 1], outer[:, 0]) % (2 * np.pi - 1e-9))
    assert angles.reshape(64, 4).std(axis=1).max() < 1e-6
    assert np.diff(angles[::4]) == pytest.approx(2 * np.pi / 64)


def test_corners():
    quadrants = [(1, 1), (-1, -1), (1, -1), (-1, 1)]
    for points, quadrant in zip(classes("corners"), quadrants, strict=True):
        x, y = (points * quadrant).T
        flat, tall = (y <= 4), (x <= 4)
        assert np.all(flat | tall)
        assert min(x.min(), y.min()) >= 2
        assert 11 < x[flat].max() <= 12
        assert 11 < y[tall].max() <= 12
        assert np.count_nonzero(flat) == pytest.approx(69 * 1.2, abs=12)


def test_half_kernel():
    for points, size in zip(classes("half_kernel"), (20, 35), strict=True):
        x, y = points.T
        assert -22 <= x.min() < -15
        assert size - 20 - 1 < x.max() <= size - 20 + 2
        assert 0.6 * size - 1 < np.abs(y).max() <= 0.6 * size + 2
        # Some angle puts the point on its half ellipse, but for noise of at most 2 in each direction.
        angle = np.linspace(-np.pi / 2, np.pi / 2, 2000)
        arc = np.column_stack([size * np.cos(angle) - 20, 0.6 * size * np.sin(angle)])
        away = np.abs(points[:, None] - arc).max(axis=2).min(axis=1)
        assert away.max() <= 2.05


def test_crescent_and_full_moon():
    moon, crescent = classes("crescent_full_moon", 20000)
    assert 4.9 < radius(moon).max() <= 5
    assert np.mean(radius(moon) < 2.5) == pytest.approx(0.25, abs=0.02)  # evenly over the disc
    assert 10 <= radius(crescent).min() < 10.3
    assert 14.9 < radius(crescent).max() <= 15
    assert crescent[:, 1].max() <= 0
    assert crescent[:, 0].min() < -14
    assert crescent[:, 0].max() > 14


def test_outlier():
    left, low, high, right = classes("outlier", 5000)
    for half, side in ((left, -1), (right, 1)):
        assert 19.8 < radius(half, (30 * side, 0)).max() <= 20
        assert 10 <= (half[:, 0] * side).min() < 11
        assert 29 < (half[:, 0] * side).max() <= 30
    for square, bottom in ((low, -30), (high, 30)):
        assert np.all((square >= [0, bottom]) & (square <= [5, bottom + 5]))


@pytest.mark.needs_data
@pytest.mark.parametrize("name", PATTERNS)
def test_like_the_stored_samples(name):
    stored = load("synth_" + name.replace("_", ""))
    X, y = make_pattern(name, random_state=0)
    assert np.bincount(y).tolist() == np.bincount(stored.y).tolist()
    for c in range(y.max() + 1):
        ours, theirs = X[y == c], stored.X[stored.y == c]
        spread = np.ptp(theirs, axis=0) * (1 if len(ours) > 20 else 2)  # few points say little of the range
        assert np.all(np.abs(ours.min(axis=0) - theirs.min(axis=0)) < 0.3 * spread)
        assert np.all(np.abs(ours.max(axis=0) - theirs.max(axis=0)) < 0.3 * spread)
        assert np.all(np.abs(ours.mean(axis=0) - theirs.mean(axis=0)) < 0.2 * spread)


@pytest.mark.parametrize(
    ("name", "hint"), [("two_spiral", "did you mean 'two_spirals'"), ("zzz", "'gaussians' or 'two_spirals'")]
)
def test_unknown_patterns(name, hint):
    with pytest.raises(DatasetError, match=f"there is no pattern '{name}'.*{hint}"):
        make_pattern(name)


def test_too_few_points():
    with pytest.raises(DatasetError, match="n_samples is 3, but the pattern has 4 classes"):
        make_pattern("corners", n_samples=3)
