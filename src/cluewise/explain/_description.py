"""The description of a clustering: for people as text, for programs as data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cluewise._notebook import Report
from cluewise.clues.words import plural, tell_clues
from cluewise.explain._changes import Changes
from cluewise.explain._difference import Difference
from cluewise.explain._rule import Rule

__all__ = ["Description", "Profile", "choose_names"]

_LISTED = 5  # rows and clues that the text lists


@dataclass(frozen=True, eq=False, repr=False)
class Profile(Report):
    """What makes one cluster; print it to read it.

    Attributes
    ----------
    cluster : int
        Its number in ``labels_``.
    name : str
        A suggested name, from what distinguishes it most.
    size : int
        Number of rows.
    share : float
        Share of all rows.
    differences : tuple of Difference
        The columns that distinguish it most from the rest, the largest effect first.
    words : dict of str to tuple of str
        For each text column the words that distinguish it, by c-TF-IDF.
    rule : Rule or None
        Conditions that describe it, with precision and coverage.
    typical : tuple of int
        Its most central rows; the first one is the medoid.
    borderline : tuple of int
        Its rows that are least sure.
    neighbors : tuple of int
        For each borderline row, the nearest other cluster.

    Examples
    --------
    >>> import cluewise as cw
    >>> found = cw.describe([0, 0, 1, 1, 1], {"age": [21, 25, 54, 60, 69], "pet": ["cat", "cat", "dog", "dog", "cat"]})
    >>> print(found[1])
    Cluster 1 (high age, dog): 3 rows, 60 %
      age 2.6× the rest (60 against 23); pet dog 67 % against 0 %
      rule: age ≥ 40: covers 100 %, precision 100 %
      typical: 3, 2, 4; borderline: 2, 4, 3
    """

    cluster: int
    name: str
    size: int
    share: float
    differences: tuple[Difference, ...]
    words: Mapping[str, tuple[str, ...]]
    rule: Rule | None
    typical: tuple[int, ...]
    borderline: tuple[int, ...]
    neighbors: tuple[int, ...]
    row_names: Sequence[str] | None = None

    def __str__(self) -> str:
        title = f"Cluster {self.cluster} ({self.name}): {self.summary}"
        return "\n  ".join(_join_lines(line) for line in (title, *self.lines()))

    @property
    def summary(self) -> str:
        """Size and share in words."""
        return f"{plural(self.size, 'row')}, {100 * self.share:.0f} %"

    def lines(self) -> Iterator[str]:
        """What distinguishes the cluster, line by line."""
        if self.differences:
            yield "; ".join(map(str, self.differences))
        for column, words in self.words.items():
            if words:
                yield f"words in {column}: {', '.join(words)}"
        if self.rule is not None:
            yield f"rule: {self.rule}"
        rows = [("typical", self.typical), ("borderline", self.borderline)]
        said = [f"{what}: {', '.join(map(self.row_name, some))}" for what, some in rows if some]
        if said:
            yield "; ".join(said)

    def row_name(self, row: int) -> str:
        """The name of a row in the table, or else its number."""
        return str(row) if self.row_names is None else self.row_names[row]

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data, for JSON."""
        rule = None
        if self.rule is not None:
            conditions = [condition._asdict() for condition in self.rule.conditions]
            quality = {"precision": self.rule.precision, "coverage": self.rule.coverage}
            rule = {"text": str(self.rule), "conditions": conditions, **quality}
        return {
            "cluster": self.cluster,
            "name": self.name,
            "size": self.size,
            "share": self.share,
            "differences": [vars(difference) | {"text": str(difference)} for difference in self.differences],
            "words": {column: list(words) for column, words in self.words.items()},
            "rule": rule,
            "typical": [self.row_name(row) for row in self.typical],
            "borderline": [
                {"row": self.row_name(row), "neighbor": neighbor}
                for row, neighbor in zip(self.borderline, self.neighbors)
            ],
        }


@dataclass(frozen=True, eq=False, repr=False)
class Description(Report):
    """What makes the clusters of a fit; print it to read it, index it by the number of a cluster.

    Attributes
    ----------
    profiles : tuple of Profile
        One for each cluster, in the order of their numbers.
    n_rows : int
        Number of rows.
    noise : int
        Number of rows in no cluster.
    left_out : dict of str to str
        Columns that are not used, and why.
    sampled : tuple of str
        What was computed on a sample of the rows; empty if nothing was.
    changes : Changes or None
        What the clues changed, if a clustering without them was given.

    Examples
    --------
    >>> import cluewise as cw
    >>> found = cw.describe([0, 0, 0, 1, 1], {"id": [11, 12, 13, 14, 15], "age": [25, 23, 20, 60, 66]})
    >>> [profile.name for profile in found], found.left_out
    (['low age', 'high age'], {'id': 'names the rows'})
    >>> found.to_dict()["profiles"][0]["typical"]
    ['12', '11', '13']
    """

    profiles: tuple[Profile, ...]
    n_rows: int
    noise: int
    left_out: Mapping[str, str]
    sampled: tuple[str, ...]
    changes: Changes | None

    def __getitem__(self, cluster: int) -> Profile:
        for profile in self.profiles:
            if profile.cluster == cluster:
                return profile
        raise KeyError(f"there is no cluster {cluster}.")

    def __iter__(self) -> Iterator[Profile]:
        return iter(self.profiles)

    def __len__(self) -> int:
        return len(self.profiles)

    def __str__(self) -> str:
        lines = []
        if self.noise:
            lines.append(f"Noise: {plural(self.noise, 'row')}.")
        if self.changes is not None:
            lines += self._tell_changes(self.changes)
        lines += [f"Column {name} is left out: it {why}." for name, why in self.left_out.items()]
        return "\n".join([*map(str, self.profiles), *map(_join_lines, lines), *self.sampled])

    def _tell_changes(self, changes: Changes) -> Iterator[str]:
        moved = [
            f"{self.profiles[0].row_name(int(row))} ({a} → {b})"
            for row, a, b in zip(changes.rows, changes.before, changes.after)
        ]
        listed = f": {_enumerate(moved)}" if moved else ""
        yield f"Because of the clues, {plural(len(moved), 'row')} changed cluster{listed}."
        if changes.decided.kinds:
            yield f"Clues that decided (kept, but broken without clues): {tell_clues(changes.decided)}."

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data, for JSON."""
        changes = None
        if self.changes is not None:
            decided = self.changes.decided
            changes = {
                "rows": [self.profiles[0].row_name(row) for row in self.changes.rows.tolist()],
                "before": self.changes.before.tolist(),
                "after": self.changes.after.tolist(),
                "decided": {
                    "must": decided.must.tolist(),
                    "cannot": decided.cannot.tolist(),
                    "labels": [row for row, code in enumerate(decided.labels.tolist()) if code >= 0],
                },
            }
        return {
            "profiles": [profile.to_dict() for profile in self.profiles],
            "rows": self.n_rows,
            "noise": self.noise,
            "left_out": dict(self.left_out),
            "sampled": list(self.sampled),
            "changes": changes,
        }


def choose_names(differences: Sequence[Sequence[Difference]]) -> list[str]:
    """A name for each cluster from its largest differences: two of them, more where two clusters would be alike."""
    parts = [_list_parts(some) for some in differences]
    length = [min(2, len(some)) for some in parts]
    while True:
        names = [", ".join(some[:n]) or "no clear difference" for some, n in zip(parts, length)]
        alike = [i for i, name in enumerate(names) if names.count(name) > 1 and length[i] < len(parts[i])]
        if not alike:
            return names
        for i in alike:
            length[i] += 1


def _list_parts(differences: Sequence[Difference]) -> list[str]:
    """Words for a name: what a cluster has before what it lacks."""
    ordered = ("median", "mean", "date")
    has = [d.name for d in differences if d.effect > 0 or d.kind in ordered]
    lacks = [d.name for d in differences if not (d.effect > 0 or d.kind in ordered)]
    return [*dict.fromkeys(has + lacks)]


def _join_lines(text: str) -> str:
    """A text from the table on one line."""
    return " ".join(text.splitlines())


def _enumerate(words: list[str]) -> str:
    rest = len(words) - _LISTED
    return ", ".join(words[:_LISTED]) + (f" and {rest} more" if rest > 0 else "")
