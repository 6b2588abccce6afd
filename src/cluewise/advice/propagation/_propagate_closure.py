"""Links that are added one by one as long as nothing contradicts: neither what was given nor what was added before."""

from __future__ import annotations

from itertools import pairwise

from cluewise.clues import Clues

__all__ = ["Growing"]


class Growing:
    """The closure of some clues, growing by one link at a time."""

    def __init__(self, clues: Clues) -> None:
        graph, cliques = clues.graph, clues.cliques
        self.into: dict[int, int] = {}  # components that were joined, and to which
        self.apart: dict[int, set[int]] = {}  # cannot-links between components
        self.cliques: dict[int, set[int]] = {}  # groups and classes that a component belongs to: no two may join
        indices, indptr = graph.indices.tolist(), graph.indptr.tolist()
        for c, (start, stop) in enumerate(pairwise(indptr)):
            if start < stop:
                self.apart[c] = set(indices[start:stop])
        members, indptr = cliques.members.tolist(), cliques.indptr.tolist()
        for clique, (start, stop) in enumerate(pairwise(indptr)):
            for c in members[start:stop]:
                self.cliques.setdefault(c, set()).add(clique)

    def of(self, component: int) -> int:
        """The component that a given one has become part of."""
        last = component
        while last in self.into:
            last = self.into[last]
        while component != last:  # the next one who asks has a short way
            self.into[component], component = last, self.into[component]
        return last

    def excludes(self, u: int, v: int) -> bool:
        """Whether two different components must be apart."""
        if v in self.apart.get(u, ()):
            return True
        mine, yours = self.cliques.get(u), self.cliques.get(v)
        return mine is not None and yours is not None and not mine.isdisjoint(yours)

    def add(self, u: int, v: int, *, must: bool) -> bool:
        """Add a link between two given components, unless that contradicts; whether it was added."""
        u, v = self.of(u), self.of(v)
        if not must:
            if u != v:
                self.apart.setdefault(u, set()).add(v)
                self.apart.setdefault(v, set()).add(u)
            return u != v
        if u == v:
            return True
        if self.excludes(u, v):
            return False
        if len(self.apart.get(u, ())) > len(self.apart.get(v, ())):
            u, v = v, u
        self.into[u] = v
        for other in self.apart.pop(u, ()):
            self.apart[other].discard(u)
            self.apart[other].add(v)
            self.apart.setdefault(v, set()).add(other)
        if u in self.cliques:
            self.cliques.setdefault(v, set()).update(self.cliques.pop(u))
        return True
