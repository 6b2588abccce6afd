"""What `Clues` stores: the facts themselves, how they are compared, sliced and merged."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any, Self

import numpy as np

from cluewise._lazy import lazy
from cluewise._typing import UNASSIGNED, Array, Bools, Floats, Ints
from cluewise.clues._groups import Groups, expand, in_order
from cluewise.clues._merge import (
    merge_columns,
    merge_groups,
    merge_labels,
    merge_sizes,
    same_arrays,
    same_sources,
)
from cluewise.clues.check import places_among, row_numbers
from cluewise.clues.links import GIVEN, Links
from cluewise.clues.words import KINDS, inventory, list_clues, plural
from cluewise.exceptions import ClueError

__all__ = ["Record"]

FIELDS = (
    *("n", "labels", "classes_", "label_source", "_must", "_cannot"),
    *("together", "apart", "partitions", "sizes", "size_unit", "avoid"),
)
"""What clues store, and what a pickle of them holds; everything else follows from it."""


class Record:
    """An immutable record of what is known about n rows; `Clues` derives what follows from it."""

    n: int
    labels: Ints
    classes_: Array
    label_source: Array | None
    together: tuple[Groups, ...]
    apart: tuple[Groups, ...]
    partitions: tuple[Array, ...]
    sizes: Floats | None
    size_unit: str
    avoid: tuple[Ints, ...]
    _must: Links
    _cannot: Links
    must: Ints  # (m, 2), first < second, sorted; these four are arrays of the two above
    must_weight: Floats
    cannot: Ints
    cannot_weight: Floats

    def _set(self, **fields: Any) -> None:
        for name, value in fields.items():
            for part in value if isinstance(value, tuple) else (value,):
                if isinstance(part, np.ndarray):
                    part.flags.writeable = False
            self.__dict__[name] = value
        must, cannot = fields["_must"], fields["_cannot"]
        self.__dict__.update(must=must.pairs, must_weight=must.weight, cannot=cannot.pairs, cannot_weight=cannot.weight)

    def _with(self, **changes: Any) -> Self:
        """The same clues with some fields replaced; what was derived from the old ones is forgotten."""
        other = object.__new__(type(self))
        other._set(**({name: self.__dict__[name] for name in FIELDS} | changes))
        return other

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"Clues are immutable; build new ones instead of setting {name!r}.")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"Clues are immutable; {name!r} cannot be deleted.")

    def __getstate__(self) -> dict[str, Any]:
        return {name: self.__dict__[name] for name in FIELDS}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._set(**state)

    # --- what is there ------------------------------------------------------------------------------------

    @property
    def must_confidence(self) -> Floats:
        """Confidence of every must-link, nan where none was given."""
        return self._must.confidences

    @property
    def must_source(self) -> Array:
        """Source of every must-link."""
        return self._must.sources

    @property
    def cannot_confidence(self) -> Floats:
        """Confidence of every cannot-link, nan where none was given."""
        return self._cannot.confidences

    @property
    def cannot_source(self) -> Array:
        """Source of every cannot-link."""
        return self._cannot.sources

    def reports(self, kind: str) -> Links:
        """Links of one kind ("must" or "cannot") as they were reported: one entry per pair and source."""
        return {"must": self._must, "cannot": self._cannot}[kind].by_source

    def partition_codes(self, t: int) -> Ints:
        """Partition ``t`` as integers, -1 = missing."""
        return expand(self.partitions[t])

    @lazy
    def _has_labels(self) -> bool:
        return bool((self.labels >= 0).any())

    @property
    def kinds(self) -> frozenset[str]:
        """Kinds of clues that are present."""
        present = {
            "labels": self._has_labels,
            "must": len(self.must) > 0,
            "cannot": len(self.cannot) > 0,
            "together": len(self.together) > 0,
            "apart": len(self.apart) > 0,
            "partitions": len(self.partitions) > 0,
            "sizes": self.sizes is not None,
            "avoid": len(self.avoid) > 0,
        }
        return frozenset(kind for kind in KINDS if present[kind])

    @property
    def shape(self) -> tuple[int, int]:
        """``(n, n)``, so that scikit-learn slices clues like a matrix of pairs."""
        return (self.n, self.n)

    def __len__(self) -> int:
        return self.n

    def __repr__(self) -> str:
        return f"Clues({inventory(self)})"

    def _repr_html_(self) -> str:
        lines = "".join(f"<li>{escape(line)}</li>" for line in list_clues(self))
        return f"<div>Clues about {plural(self.n, 'row')}<ul>{lines}</ul></div>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Record):
            return NotImplemented
        bounds = [() if x.sizes is None else (x.sizes,) for x in (self, other)]
        return (
            self.n == other.n
            and np.array_equal(self.labels, other.labels)
            and list(self.classes_) == list(other.classes_)
            and same_sources(self, other)
            and self._must == other._must
            and self._cannot == other._cannot
            and self.together == other.together
            and self.apart == other.apart
            and same_arrays(self.partitions, other.partitions)
            and same_arrays(*bounds)
            and self.size_unit == other.size_unit
            and same_arrays(self.avoid, other.avoid)
        )

    __hash__ = None  # type: ignore[assignment]

    # --- slicing and merging ------------------------------------------------------------------------------

    def __getitem__(self, rows: Any) -> Self:
        """Clues among some rows (mask, slice or row numbers), renumbered in their order.

        A clue stays when all rows that it mentions stay. Size bounds become what they entail for the rows
        that are left. A row can be picked only once, because no clue says whether a row and its copy belong
        together: draw bootstrap samples as ``sample_weight``, or ``sklearn.utils.resample(..., replace=False)``.
        """
        if isinstance(rows, tuple):  # scikit-learn asks for clues[rows, ...]
            if len(rows) != 2 or rows[1] is not Ellipsis:
                raise ClueError("clues are sliced by rows alone: clues[rows] or clues[rows, ...].")
            rows = rows[0]
        picked = row_numbers(rows, self.n)
        place, n = places_among(picked, self.n), len(picked)
        sizes = self.sizes
        if sizes is not None:
            sizes = sizes.copy()
            lower = sizes[..., 0] - (self.n - n) if self.size_unit == "points" else np.zeros(sizes.shape[:-1])
            sizes[..., 0] = np.maximum(lower, 0)
        return self._with(
            n=n,
            labels=self.labels[picked],
            label_source=None if self.label_source is None else self.label_source[picked],
            _must=self._must.among(place, n),
            _cannot=self._cannot.among(place, n),
            together=in_order(g.among(picked) for g in self.together),
            apart=in_order(g.among(picked) for g in self.apart),
            partitions=tuple(p[picked] for p in self.partitions),
            sizes=sizes,
            avoid=tuple(c[picked] for c in self.avoid),
        )

    def at(self, rows: Ints, n: int) -> Self:
        """Clues about n rows that say of row ``rows[i]`` what these say of row i; ``rows`` are ascending.

        This is the reverse of a slice.

        Bounds on sizes are left out: what holds for some rows says nothing about all.

        Examples
        --------
        >>> from cluewise import Clues
        >>> clues = Clues(3, labels=["a", None, "b"], must=[(0, 1)]).at([2, 3, 5], 7)
        >>> clues.labels.tolist(), clues.must.tolist()
        ([-1, -1, 0, -1, -1, 1, -1], [[2, 3]])
        """
        own = np.asarray(rows, dtype=np.int64)

        def spread(codes: Ints, missing: int = UNASSIGNED) -> Ints:
            every = np.full(n, missing, dtype=codes.dtype)
            every[own] = codes
            return every

        source = None
        if self.label_source is not None:
            source = np.full(n, GIVEN, dtype=np.promote_types(self.label_source.dtype, np.asarray(GIVEN).dtype))
            source[own] = self.label_source
        return self._with(
            n=n,
            labels=spread(self.labels),
            label_source=source,
            _must=self._must.at(own),
            _cannot=self._cannot.at(own),
            together=in_order(g.renumbered(spread(g.codes)) for g in self.together),
            apart=in_order(g.renumbered(spread(g.codes)) for g in self.apart),
            partitions=tuple(spread(codes, np.iinfo(codes.dtype).max) for codes in self.partitions),
            sizes=None,
            avoid=tuple(map(spread, self.avoid)),
        )

    def __or__(self, other: Record) -> Self:
        """All clues of both; the same clue from the same source counts once."""
        if not isinstance(other, Record):
            return NotImplemented
        if self.n != other.n:
            raise ClueError(f"clues about {self.n} rows cannot be merged with clues about {other.n} rows.")
        sizes, size_unit = merge_sizes(self, other)
        return self._with(
            **merge_labels(self, other),
            _must=self._must.join(other._must, self.n),
            _cannot=self._cannot.join(other._cannot, self.n),
            together=merge_groups(self.together, other.together),
            apart=merge_groups(self.apart, other.apart),
            partitions=merge_columns(self.partitions, other.partitions),
            sizes=sizes,
            size_unit=size_unit,
            avoid=merge_columns(self.avoid, other.avoid),
        )

    def subset(
        self,
        *,
        must: Bools | None = None,
        cannot: Bools | None = None,
        labels: Bools | None = None,
        together: Sequence[Bools] | None = None,
        apart: Sequence[Bools] | None = None,
        partitions: Sequence[Bools] | None = None,
        sizes: bool = False,
        avoid: bool = False,
    ) -> Self:
        """Only the clues picked by masks: over links, over rows (labels, partitions) or over groups.

        Examples
        --------
        >>> from cluewise import Clues
        >>> Clues(4, must=[(0, 1), (2, 3)], cannot=[(0, 2)]).subset(must=[True, False])
        Clues(4 rows: 1 must-link)
        """
        links = []
        for stored, mask in ((self._must, must), (self._cannot, cannot)):
            links.append(stored.take(np.zeros(len(stored.pairs), bool) if mask is None else np.asarray(mask, bool)))
        missing = [p.dtype.type(np.iinfo(p.dtype).max) for p in self.partitions]
        kept = [np.where(m, p, gap) for p, m, gap in zip(self.partitions, partitions or [], missing) if np.any(m)]
        return self._with(
            labels=np.full(self.n, -1, np.int32) if labels is None else np.where(labels, self.labels, np.int32(-1)),
            _must=links[0],
            _cannot=links[1],
            together=self.together and in_order(g.take(np.asarray(m)) for g, m in zip(self.together, together or [])),
            apart=self.apart and in_order(g.take(np.asarray(m)) for g, m in zip(self.apart, apart or [])),
            partitions=tuple(kept),
            sizes=self.sizes if sizes else None,
            avoid=self.avoid if avoid else (),
        )

    def only(self, kinds: Sequence[str] | frozenset[str]) -> Self:
        """Only the clues of some kinds.

        Examples
        --------
        >>> from cluewise import Clues
        >>> Clues(4, labels=[0, 1, -1, -1], must=[(0, 2)]).only(["labels"])
        Clues(4 rows: 2 labels in 2 classes)
        """

        def every(count: int, kind: str) -> Bools:
            return np.full(count, kind in kinds)

        return self.subset(
            must=every(len(self.must), "must"),
            cannot=every(len(self.cannot), "cannot"),
            labels=every(self.n, "labels"),
            together=[every(len(g.weights), "together") for g in self.together],
            apart=[every(len(g.weights), "apart") for g in self.apart],
            partitions=[every(self.n, "partitions") for _ in self.partitions],
            sizes="sizes" in kinds,
            avoid="avoid" in kinds,
        )

    def divide(self) -> tuple[Self, Self]:
        """Hard clues and soft ones.

        Labels and sizes are hard; links and groups are when their weight is ∞. Soft clues of weight 0 say nothing and
        are left out.

        Examples
        --------
        >>> import numpy as np
        >>> from cluewise import Clues
        >>> clues = Clues(4, must=[(0, 1), (1, 2), (2, 3)], must_weight=[np.inf, 0.5, 0.0])
        >>> clues.divide()
        (Clues(4 rows: 1 must-link), Clues(4 rows: 1 must-link))
        """
        weights = self.must_weight, self.cannot_weight, *(g.weights for g in (*self.together, *self.apart))
        certain = [np.isinf(weight) for weight in weights]
        doubtful = [~sure & (weight > 0) for sure, weight in zip(certain, weights)]
        split = 2 + len(self.together)
        hard, soft = (
            self.subset(
                must=kept[0],
                cannot=kept[1],
                together=kept[2:split],
                apart=kept[split:],
                labels=np.full(self.n, kept is certain),
                sizes=kept is certain,
            )
            for kept in (certain, doubtful)
        )
        return hard, soft
