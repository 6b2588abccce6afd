# ruff: noqa: D103, T201
"""Is `Cluewise` better than every single method, whatever the clues? ``python experiments/front_door.py [PART]``

``run``     At most 600 rows of each set, columns standardized (texts: tf-idf, unit length). Clues are drawn: 50, 200,
            n/2 and 2n random pairs, of which 0 to 30 % say the opposite of the truth; labels of 1, 5 and 20 % of the
            rows (at least one per class), of which 0 or 20 % name another class; none. All methods see the same clues
            and are told the number of classes. The score is the adjusted Rand index of all rows, with labels of the
            rows without one.
``report``  Tables of what was run on the sets given: means, paired differences, the best rival chosen by the truth,
            harm, trust, doubt, time. A method that fails or needs more than 60 CPU seconds has an ARI of 0.
``noise``   n/2 pairs about the rows in another order, which say nothing: how often the result stays that without clues
            (ARI of at least .95), on the sets given and for so many seeds.
``updates`` Ten updates with 100 pairs each, none or 20 % of them wrong, after a fit to 500: mean ARI of the updates and
            of fresh fits to the same clues, on the sets given and for so many seeds.
``drop``    Forget the runs of the methods, settings and sets given, after a method was changed; while nothing runs.

Everything in `Cluewise` is chosen on ``--sets development``, the default; ``--sets report`` is for the final report.
``--sets wide --rows 2000``, with a ``--csv`` of its own, are texts, pictures and voices of hundreds of columns as a
whole; some of them are development sets. A run is a line in ``experiments/results/front_door.csv``; what is there is
not run again, and several processes may run at once on different sets. ``--settings`` takes patterns: ``"*pairs, 20 *"
"no clues"``. `cw.suggest` is slow and only run if it is named: ``--methods suggest``. Set OMP_NUM_THREADS=1: seconds
are those of all threads.
"""

from __future__ import annotations

import argparse
import csv
import signal
import time
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import partial
from itertools import chain, pairwise, product
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import normalize, scale
from sklearn.semi_supervised import LabelSpreading

import cluewise as cw
from cluewise.metrics import ari

SETS = {
    "development": [
        "iris", "glass", "balance", "zoo", "ecoli6", "ionosphere", "shape_aggregation", "shape_spiral", "vowel",
        "sonar", "usps", "satimage", "coil20", "surfbow_webcam", "shape_r15", "letter", "text_tr11", "synth_halfkernel",
    ],
    "report": [
        "wine", "breast", "soybean_small", "heart", "shape_compound", "shape_jain", "pendigits", "protein", "pima",
        "isolet1560", "mnist", "text_tr45",
    ],
    "wide": [
        "text_basehock", "text_pcmac", "text_tr11", "text_tr45", "surfbow_amazon", "surfbow_caltech10", "surfbow_dslr",
        "surfbow_webcam", "isolet1560", "coil20",
    ],
}  # fmt: skip
QUICK = {"sets": ["iris", "zoo"], "settings": ["n/2 pairs, 20 % wrong"], "methods": ["KMeans", "E2CP", "Cluewise"]}
TFIDF = {"text_tr45"}  # has these weights already
ROWS, SEED, LIMIT, SMALL, SURE = 600, 2026, 60.0, 0.02, 0.9
SAME = 0.95
UPDATES, FIRST, MORE, SHARES = 10, 500, 100, (0, 20)  # pairs, and percent of them that are wrong
RESULTS = Path(__file__).parent / "results"


# --- data and clues


class Setting(NamedTuple):
    """How clues are drawn."""

    kind: str  # "pairs", "labels", or "" for no clues
    amount: str  # a count or a multiple of n; for labels percent of the rows
    wrong: int  # percent

    def __str__(self) -> str:
        unit = " %" if self.kind == "labels" else ""
        return f"{self.amount}{unit} {self.kind}, {self.wrong} % wrong" if self.kind else "no clues"


SETTINGS = {
    str(setting): setting
    for setting in [
        *(Setting("pairs", amount, wrong) for amount in ("50", "200", "n/2", "2n") for wrong in (0, 10, 20, 30)),
        *(Setting("labels", amount, wrong) for amount in ("1", "5", "20") for wrong in (0, 20)),
        Setting("", "", 0),
    ]
}


class Draw(NamedTuple):
    """Clues, and what is wrong with them."""

    clues: cw.Clues | None
    judged: np.ndarray  # rows whose clusters are compared with the truth
    wrong: np.ndarray  # which must-links, then which cannot-links
    right: float  # share of the clues


def load(name: str, most: int = ROWS) -> tuple[Any, np.ndarray]:
    data = cw.datasets.load(name)
    some = np.random.default_rng(SEED).permutation(len(data.y))[:most]
    X, y = data.X[some], np.unique(np.asarray(data.y)[some], return_inverse=True)[1]
    if not name.startswith("text_"):
        return scale(np.asarray(X, dtype=float)), y
    X = sparse.csr_array(X, dtype=float)
    return normalize(X if name in TFIDF else TfidfTransformer().fit_transform(X)), y


def draw(name: str, y: np.ndarray, setting: Setting, seed: int) -> Draw:
    n, rng = len(y), np.random.default_rng([SEED, zlib.crc32(f"{name} {setting}".encode()), seed])
    everything, nothing = np.ones(n, dtype=bool), np.zeros(0, dtype=bool)
    if not setting.kind:
        return Draw(None, everything, nothing, 1.0)
    if setting.kind == "pairs":
        count = {"n/2": n // 2, "2n": 2 * n}.get(setting.amount) or int(setting.amount)
        clues = cw.Clues.sample(y, pairs=count, noise=setting.wrong / 100, random_state=rng)
        is_same = [y[pairs[:, 0]] == y[pairs[:, 1]] for pairs in (clues.must, clues.cannot)]
        wrong = np.concatenate([~is_same[0], is_same[1]])
        return Draw(clues, everything, wrong, 1 - wrong.mean())
    order = rng.permutation(n)
    firsts = np.unique(y[order], return_index=True)[1]  # a row of each class
    order = np.concatenate([order[firsts], np.delete(order, firsts)])
    rows = order[: max(round(int(setting.amount) / 100 * n), len(firsts))]
    labels, bad = np.full(n, -1), rng.choice(rows, round(setting.wrong / 100 * len(rows)), replace=False)
    labels[rows] = y[rows]
    labels[bad] = (y[bad] + rng.integers(1, len(firsts), size=len(bad))) % len(firsts)
    return Draw(cw.Clues(n, labels=labels), labels < 0, nothing, 1 - len(bad) / len(rows))


# --- methods


class Problem(NamedTuple):
    """What a method sees."""

    X: Any
    k: int
    clues: cw.Clues | None
    seed: int


def densify(X: Any) -> np.ndarray:
    return X.toarray() if sparse.issparse(X) else X


def fit(cls: type[Any], p: Problem, **options: Any) -> Any:
    return cls(p.k, random_state=p.seed, **options).fit(p.X, clues=p.clues)


def fit_dense(cls: type[Any], p: Problem, **options: Any) -> Any:
    return fit(cls, p._replace(X=densify(p.X)), **options)


def fit_narrow(cls: type[Any], p: Problem) -> Any:
    """Of 50 principal components where there are more columns.

    Full covariances need it. `MaxMarginClusterer` becomes nine times faster and on the whole better: mean ARI .45
    instead of .43 on four development sets (2n pairs, a fifth wrong; 5 % labels).
    """
    if p.X.shape[1] > 50:
        p = p._replace(X=TruncatedSVD(50, random_state=0).fit_transform(p.X))
    return fit(cls, p)


def fit_k_means(p: Problem) -> Any:
    return KMeans(p.k, n_init=10, random_state=p.seed).fit(p.X)


def classify(model: Any, p: Problem) -> Any:
    assert p.clues is not None
    labeled = p.clues.labels >= 0
    return SimpleNamespace(labels_=model.fit(p.X[labeled], p.clues.labels[labeled]).predict(p.X))


def spread(p: Problem) -> Any:
    assert p.clues is not None
    model = LabelSpreading(kernel="knn", max_iter=1000).fit(densify(p.X), p.clues.labels)
    return SimpleNamespace(labels_=model.transduction_)


def search(p: Problem) -> Any:
    return cw.suggest(p.X, p.clues, p.k, random_state=p.seed).best


METHODS: dict[str, Callable[[Problem], Any]] = {
    "Cluewise": partial(fit, cw.Cluewise, n_jobs=1),
    "Cluewise, no clues": partial(fit, cw.Cluewise, n_jobs=1),
    "KMeans": fit_k_means,
    "E2CP": partial(fit_dense, cw.E2CP),
    "E2CP, published": partial(fit_dense, cw.E2CP, profile="published", spread=0.8),
    "FlexibleSpectral": partial(fit_dense, cw.FlexibleSpectral),
    "PCKMeans": partial(fit, cw.PCKMeans),
    "MPCKMeans": partial(fit, cw.MPCKMeans),
    "PCCC": partial(fit, cw.PCCC, hard="infinite"),
    # Of the others these have the largest mean ARI over the nine settings of the leaderboard.
    "PenalizedGMM": partial(fit_narrow, cw.PenalizedGMM),
    "MaxMarginClusterer": partial(fit_narrow, cw.MaxMarginClusterer),
    "SpectralKernelKMeans": partial(fit_dense, cw.SpectralKernelKMeans),
    "LabelSpreading": spread,
    "1-NN": partial(classify, KNeighborsClassifier(1)),
    "LogisticRegression": partial(classify, LogisticRegression(max_iter=1000)),
    "suggest": search,
}
OURS, PLAIN, BASE = "Cluewise", "Cluewise, no clues", "KMeans"
CLASSIFIERS = ("LabelSpreading", "1-NN", "LogisticRegression")
RIVALS = [method for method in METHODS if method not in (OURS, PLAIN)]


def takes(method: str, setting: Setting) -> bool:
    if method == "suggest":
        return bool(setting.kind)
    return method not in CLASSIFIERS or setting.kind == "labels"


# --- runs

KEY = ("set", "setting", "method", "seed")
COLUMNS = (*KEY, "ari", "seconds", "trust", "right", "sure", "sure_wrong", "harm", "failed")
Run = dict[str, str]


class Fit(NamedTuple):
    """A fitted model, or why there is none."""

    model: Any
    seconds: float
    failed: str = ""


def stop(*_: Any) -> None:
    raise TimeoutError(f"more than {LIMIT:g} CPU seconds")


def try_method(method: str, p: Problem) -> Fit:
    signal.signal(signal.SIGPROF, stop)
    start = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, LIMIT)
    try:
        model = METHODS[method](p)
    except (ValueError, TimeoutError) as error:
        return Fit(None, time.process_time() - start, " ".join(str(error).split()))
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return Fit(model, time.process_time() - start)


def judge(found: Fit, y: np.ndarray, given: Draw) -> Run:
    """What the columns after the key say."""
    if found.failed:
        return {"seconds": f"{found.seconds:.3f}", "failed": found.failed}
    model = found.model
    row = {"ari": f"{ari(y[given.judged], model.labels_[given.judged]):.5f}", "seconds": f"{found.seconds:.3f}"}
    doubt = getattr(model, "doubt_", np.zeros(0))
    if len(given.wrong) and len(doubt) == len(given.wrong):
        sure = doubt >= SURE
        row |= {"sure": str(sure.sum()), "sure_wrong": str(given.wrong[sure].sum())}
    if isinstance(model, cw.Cluewise) and model.trust_:
        trust = np.mean([each["all"] for each in model.trust_.values()])
        row |= {"trust": f"{trust:.4f}", "right": f"{given.right:.4f}", "harm": f"{model.harm_:.4f}"}
    return row


def run(
    path: Path, sets: Iterable[str], settings: Iterable[str], methods: Sequence[str], seeds: int, most: int
) -> None:
    done = {tuple(row[name] for name in KEY) for row in read(path)}
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        path.write_text(",".join(COLUMNS) + "\n", encoding="utf-8")
    # Seeds outermost: stopped at any time, all sets have been used about equally often.
    for seed, name in ((seed, name) for seed in range(seeds) for name in sets):
        keys = [(name, setting, method, str(seed)) for setting in settings for method in methods]
        left = [key for key in keys if takes(key[2], SETTINGS[key[1]]) and key not in done]
        if left:
            for key, row in run_set(left, most):
                with path.open("a", encoding="utf-8", newline="") as file:
                    csv.DictWriter(file, COLUMNS, lineterminator="\n").writerow(dict(zip(KEY, key)) | row)
                print(*key, row.get("ari", row.get("failed")), row["seconds"], sep=" | ", flush=True)


def run_set(keys: Sequence[tuple[str, str, str, str]], most: int) -> Iterator[tuple[tuple[str, str, str, str], Run]]:
    """Runs on one set with one seed; a method that sees no clues is fitted once."""
    X, y = load(keys[0][0], most)
    k, plain = int(y.max()) + 1, dict[str, Fit]()
    for key in keys:
        name, setting, method, seed = key
        given = draw(name, y, SETTINGS[setting], int(seed))
        told = None if method in (BASE, PLAIN) else given.clues
        fitted = OURS if method == PLAIN else method
        found = plain.get(fitted) if told is None else None
        if found is None:
            found = try_method(fitted, Problem(X, k, told, int(seed)))
        if told is None:
            plain[fitted] = found
        yield key, judge(found, y, given)


def read(path: Path) -> list[Run]:
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def drop(path: Path, sets: Sequence[str], settings: Sequence[str], methods: Sequence[str]) -> None:
    rows = read(path)
    kept = [r for r in rows if not (r["set"] in sets and r["setting"] in settings and r["method"] in methods)]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(kept)
    print(f"{len(rows) - len(kept)} of {len(rows)} runs dropped")


# --- report


class Scores(NamedTuple):
    """ARI by method, setting, set and seed; nan where nothing was run."""

    ari: np.ndarray
    methods: list[str]
    settings: list[str]
    sets: list[str]

    def of(self, method: str) -> np.ndarray:
        """ARI of a method by setting, set and seed."""
        if method not in self.methods:
            return np.full(self.ari.shape[1:], np.nan)
        return self.ari[self.methods.index(method)]


def tabulate(rows: list[Run]) -> Scores:
    def seen(column: str, order: Iterable[str]) -> list[str]:
        return [name for name in order if name in {row[column] for row in rows}]

    methods, settings = seen("method", METHODS), seen("setting", SETTINGS)
    sets = seen("set", dict.fromkeys(chain(*SETS.values())))
    seeds = 1 + max((int(row["seed"]) for row in rows), default=0)
    values = np.full((len(methods), len(settings), len(sets), seeds), np.nan)
    for row in rows:
        at = methods.index(row["method"]), settings.index(row["setting"]), sets.index(row["set"]), int(row["seed"])
        values[at] = float(row["ari"] or 0)
    return Scores(values, methods, settings, sets)


def table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    yield from (f"| {' | '.join(line)} |" for line in lines)


def mean_of(values: np.ndarray, whole: int) -> str:
    """Mean over sets of what has one value per set; how many sets if not all."""
    here = values[~np.isnan(values)]
    return f"{here.mean():.3f}{f' ({len(here)})' if len(here) < whole else ''}" if len(here) else ""


def difference(ours: np.ndarray, other: np.ndarray) -> str:
    """Mean paired difference ± its standard error over sets; arguments by set and seed."""
    change = np.nanmean(ours - other, axis=1)
    change = change[~np.isnan(change)]
    if not len(change):
        return ""
    error = change.std(ddof=1) / len(change) ** 0.5 if len(change) > 1 else np.nan
    return f"{change.mean():+.3f} ± {error:.3f}"


def find_best(scores: Scores) -> np.ndarray:
    """Best rival by setting and set, mean over the seeds that Cluewise was run with (all where it was not)."""
    rivals = np.stack([scores.of(method) for method in RIVALS])
    ours = scores.of(OURS)
    unmatched = np.isnan(ours) & ~np.isnan(ours).all(axis=2, keepdims=True)
    return np.nanmax(np.nanmean(np.where(unmatched, np.nan, rivals), axis=3), axis=0)


def losses(values: np.ndarray, base: np.ndarray) -> tuple[str, str]:
    """Percent of the runs that are worse than the base by more than .02, and the mean loss in them."""
    change = (values - base)[~np.isnan(values - base)]
    worse = change[change < -SMALL]
    if not len(change):
        return "", ""
    return f"{100 * len(worse) / len(change):.1f}", f"{-worse.mean():.3f}" if len(worse) else "–"


def measure_luck(scores: Scores) -> str:
    """How often K-means is worse than itself with another seed, which no method that falls back to it can prevent."""
    if "no clues" not in scores.settings:
        return ""
    own = scores.of(BASE)[scores.settings.index("no clues")]
    count = own.shape[1]
    later = [np.roll(own, shift, axis=1) for shift in range(1, count)]
    share, loss = losses(np.tile(own, count - 1), np.hstack(later)) if later else ("", "")
    return f"KMeans without clues is as far below itself with another seed in {share} %, by {loss}." if share else ""


def by_setting(scores: Scores) -> Iterator[str]:
    best, whole = find_best(scores), len(scores.sets)
    ours, plain, base = scores.of(OURS), scores.of(PLAIN), scores.of(BASE)
    lines = []
    for i, setting in enumerate(scores.settings):
        own = {method: np.nanmean(scores.of(method)[i], axis=1) for method in (OURS, PLAIN, *RIVALS)}
        # Only rivals that were run on the same sets can be compared by their means.
        most = max(np.isfinite(own[method]).sum() for method in RIVALS)
        alone = {m: own[m][np.isfinite(own[m])].mean() for m in RIVALS if np.isfinite(own[m]).sum() == most > 0}
        name = max(alone, key=alone.__getitem__, default="")
        single = f"{name} {alone[name]:.3f}" if name else ""
        means = [mean_of(own[OURS], whole), mean_of(own[PLAIN], whole), single, mean_of(best[i], whole)]
        distance = difference(ours[i], best[i][:, None])
        lines.append([setting, *means, distance, *losses(ours[i], base[i]), losses(ours[i], plain[i])[0]])
    told = [i for i, setting in enumerate(scores.settings) if SETTINGS[setting].kind]
    everything = losses(ours, base), losses(ours[told], plain[told])[0]
    lines.append(["all", *[""] * 5, *everything[0], everything[1]])
    head = ["setting", OURS, "without clues", "best single rival", "best afterwards", "distance to that"]
    yield from table([*head, "harm, %", "mean loss", "worse than without clues, %"], lines)


def by_method(scores: Scores, rows: list[Run]) -> Iterator[str]:
    base, lines = scores.of(BASE), []
    for method in scores.methods:
        own = [row for row in rows if row["method"] == method]
        seconds = [float(row["seconds"]) for row in own]
        time_of = [f"{np.median(seconds):.2f}", f"{np.quantile(seconds, 0.95):.2f}", f"{sum(seconds):.0f}"]
        failed = sum(bool(row["failed"]) for row in own)
        lines.append([method, str(len(own)), *losses(scores.of(method), base), *time_of, str(failed)])
    head = ["method", "runs", "harm, %", "mean loss", "median s", "95 % within s", "sum s", "failed"]
    yield from table(head, lines)


def by_trust(rows: list[Run]) -> Iterator[str]:
    lines = []
    for setting in SETTINGS:
        some = [row for row in rows if (row["method"], row["setting"]) == (OURS, setting) and row["trust"]]
        if some and SETTINGS[setting].kind:
            error = np.array([float(row["trust"]) - float(row["right"]) for row in some])
            within = f"{100 * np.mean(np.abs(error) <= 0.05):.0f}"
            lines.append([setting, f"{np.abs(error).mean():.3f}", f"{error.mean():+.3f}", within])
    yield from table(["setting", "mean error", "mean signed error", "within .05, %"], lines)


def by_doubt(rows: list[Run]) -> Iterator[str]:
    lines = []
    for method in METHODS:
        for wrong in sorted({setting.wrong for setting in SETTINGS.values()}):
            some = [r for r in rows if r["method"] == method and r["sure"] and SETTINGS[r["setting"]].wrong == wrong]
            sure, bad = (sum(int(row[name]) for row in some) for name in ("sure", "sure_wrong"))
            if some:
                lines.append([method, f"{wrong} %", str(sure), f"{100 * bad / sure:.1f}" if sure else "–"])
    yield from table(["method", "links wrong", f"links with doubt ≥ {SURE}", "of these wrong, %"], lines)


def by_harm(scores: Scores, rows: list[Run]) -> Iterator[str]:
    plain, found = scores.of(PLAIN), []
    for row in rows:
        if row["method"] == OURS and row["harm"] and SETTINGS[row["setting"]].kind:
            at = scores.settings.index(row["setting"]), scores.sets.index(row["set"]), int(row["seed"])
            found.append((float(row["harm"]), float(row["ari"]) - plain[at]))
    kept = np.array([pair for pair in found if not np.isnan(pair).any()]).reshape(-1, 2)
    lines, edges = [], (0, 0.01, 0.05, 0.1, 0.2, 0.5, 1.01)
    for low, high in pairwise(edges):
        here = kept[(kept[:, 0] >= low) & (kept[:, 0] < high)]
        if len(here):
            words = f"{100 * here[:, 0].mean():.1f}", f"{100 * np.mean(here[:, 1] < 0):.1f}"
            lines.append([f"{low:g} to {min(high, 1):g}", str(len(here)), *words, losses(here[:, 1], np.zeros(1))[0]])
    head = ["harm_", "runs", "mean, %", "worse than without clues, %", "by more than .02, %"]
    yield from table(head, lines)


def report(rows: list[Run], most: int = ROWS) -> Iterator[str]:
    scores = tabulate(rows)
    sets, means, ours = len(scores.sets), np.nanmean(scores.ari, axis=3), scores.of(OURS)
    others = [method for method in scores.methods if method != OURS]
    yield "# Is `Cluewise` better than every single method?\n"
    yield f"Made by `experiments/front_door.py`: {len(rows)} runs, at most {most} rows of each set, true k."
    yield f"{sets} sets: {', '.join(scores.sets)}."
    yield "A number in brackets says of how many sets a mean is, if not of all."
    yield "\n## Mean ARI\n"
    lines = ([s, *(mean_of(row, sets) for row in means[:, i])] for i, s in enumerate(scores.settings))
    yield from table(["setting", *scores.methods], lines)
    if OURS in scores.methods:
        yield "\n## Difference Cluewise − method, ± standard error over sets\n"
        lines = ([s, *(difference(ours[i], scores.of(m)[i]) for m in others)] for i, s in enumerate(scores.settings))
        yield from table(["setting", *others], lines)
    yield "\n## Goals\n"
    yield "Best afterwards: the best rival per set and setting, mean over seeds."
    yield f"Harm: more than {SMALL} below KMeans; the mean loss is that of these runs. {measure_luck(scores)}".rstrip()
    yield ""
    yield from by_setting(scores)
    yield "\n## Harm and CPU seconds by method\n"
    yield from by_method(scores, rows)
    if OURS in scores.methods:
        yield "\n## Trust: share of the clues that is right, as estimated by Cluewise\n"
        yield from by_trust(rows)
        yield "\n## Harm as estimated by Cluewise\n"
        yield from by_harm(scores, rows)
    yield "\n## Doubt\n"
    yield from by_doubt(rows)
    yield "\n## Mean ARI over settings, by set\n"
    whole = len(scores.settings)
    lines = ([name, *(mean_of(row, whole) for row in means[:, :, i])] for i, name in enumerate(scores.sets))
    yield from table(["set", *scores.methods], lines)


# --- command line


def match(patterns: Sequence[str], names: Iterable[str], what: str) -> list[str]:
    """Names that match one of the patterns, in their own order."""
    names = list(names)
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in names):
            raise SystemExit(f"there is no {what} {pattern!r}; there are {', '.join(names)}.")
    return [name for name in names if any(fnmatchcase(name, pattern) for pattern in patterns)]


def listen_to_noise(sets: Sequence[str], seeds: int) -> None:
    every = []
    for name in sets:
        X, y = load(name)
        k, found = len(np.unique(y)), []
        plain = cw.Cluewise(k, random_state=0).fit(X).labels_
        for seed in range(seeds):
            rng = np.random.default_rng([SEED, zlib.crc32(name.encode()), seed])
            clues = cw.Clues.sample(rng.permutation(y), pairs=len(y) // 2, random_state=rng)
            found.append(ari(plain, cw.Cluewise(k, random_state=0).fit(X, clues=clues).labels_))
        print(f"{name}: {sum(one >= SAME for one in found)} of {seeds} as without clues; least ARI {min(found):.2f}")
        every += found
    print(f"all: {100 * np.mean(np.array(every) >= SAME):.1f} % of {len(every)}")


def follow_updates(sets: Sequence[str], seeds: int) -> None:
    found = []
    for name in sets:
        X, y = load(name)
        for wrong, seed in product(SHARES, range(seeds)):
            model = cw.Cluewise(len(np.unique(y)), n_jobs=1, random_state=seed)
            for turn in range(UPDATES + 1):
                rng = [SEED, zlib.crc32(name.encode()), seed, turn]
                clues = cw.Clues.sample(y, pairs=MORE if turn else FIRST, noise=wrong / 100, random_state=rng)
                model = model.update(clues) if turn else model.fit(X, clues=clues)
                if turn:
                    fresh = clone(model).fit(X, clues=model.clues_)
                    found.append((name, wrong, ari(y, model.labels_), ari(y, fresh.labels_)))
        for wrong in SHARES:
            own = np.array([each[2:] for each in found if each[:2] == (name, wrong)]).mean(axis=0)
            print(f"{name}, {wrong} % wrong: updated {own[0]:.3f}, fresh {own[1]:.3f}", flush=True)
    for wrong in SHARES:
        change = [[u - f for n, w, u, f in found if (n, w) == (name, wrong)] for name in sets]
        mean = np.mean(change, axis=1)
        error = mean.std(ddof=1) / len(mean) ** 0.5 if len(mean) > 1 else np.nan
        print(f"all, {wrong} % wrong: updated − fresh {mean.mean():+.4f} ± {error:.4f}")


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("part", nargs="?", default="run", choices=["run", "report", "noise", "updates", "drop"])
    parser.add_argument(
        "--sets", nargs="+", default=["development"], help="development, report, wide, or names of sets"
    )
    parser.add_argument("--settings", nargs="+", default=["*"], help="names or patterns")
    parser.add_argument("--methods", nargs="+", help="names or patterns; by default all, to run all but suggest")
    parser.add_argument("--seeds", type=int, default=3, help="how many")
    parser.add_argument("--rows", type=int, default=ROWS, help="most rows of a set; with another number, another --csv")
    parser.add_argument("--quick", action="store_true", help="one setting on two sets, three methods, one seed")
    parser.add_argument("--csv", type=Path, default=RESULTS / "front_door.csv", help="where runs are kept")
    parser.add_argument("--table", type=Path, help="where the report is written as well")
    given = parser.parse_args(words)
    if given.quick:
        given = argparse.Namespace(**vars(given) | QUICK | {"seeds": 1})
    named = [name for group in given.sets for name in SETS.get(group, [group])]
    sets = match(named, dict.fromkeys(chain(*SETS.values())), "set")
    settings = match(given.settings, SETTINGS, "setting")
    if given.part == "drop" and not given.methods:
        parser.error("say which --methods to drop.")
    usual = [method for method in METHODS if method != "suggest" or given.part == "report"]
    methods = match(given.methods or usual, METHODS, "method")
    warnings.simplefilter("ignore")
    if given.part == "noise":
        listen_to_noise(sets, given.seeds)
    elif given.part == "updates":
        follow_updates(sets, given.seeds)
    elif given.part == "run":
        run(given.csv, sets, settings, methods, given.seeds, given.rows)
    elif given.part == "drop":
        drop(given.csv, sets, settings, methods)
    else:
        chosen = sets, settings, methods
        rows = [r for r in read(given.csv) if all(r[name] in some for name, some in zip(KEY, chosen))]
        rows = [row for row in rows if int(row["seed"]) < given.seeds]
        if not rows:
            raise SystemExit(f"nothing of this was run; {given.csv} has {len(read(given.csv))} other runs.")
        page = "\n".join(report(rows, given.rows)) + "\n"
        print(page, end="")
        if given.table:
            given.table.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
