"""What the doctor says, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from cluewise.advice.doctor._harm import LIKELY, SMALL
from cluewise.clues._inventory import plural

if TYPE_CHECKING:
    from cluewise.advice.doctor._check import Diagnosis
    from cluewise.advice.doctor._clashes import Clash
    from cluewise.clues import Clues

__all__ = ["accused", "named_rows", "recommended", "written"]

_SHOWN = 3
_SHORTER = 0.7  # agreement from which on clashes accuse nobody
_MISLEADING = "near rows differ and far rows belong together, so what they say must not be carried over to other rows"


def written(found: Diagnosis) -> str:
    """A page: what is there, what it is worth, what is in the way of what, what to do."""
    lines = [found.clues.explain(found.n_clusters)]
    if found.repairs:
        left = plural(found.unrepaired, "contradiction")
        rest = (
            f"Without these {left} would be left" if found.unrepaired else "Without these no link contradicts another"
        )
        lines.append(f"{rest}; look at them first:")
        lines += [f"  {words}" for words in found.repairs[:_SHOWN]]
        if len(found.repairs) > _SHOWN:
            lines.append(f"  … and {len(found.repairs) - _SHOWN} more.")
    if found.clues.kinds:
        lines += _difficulty(found)
    table = list(_worth(found))
    if table:
        width = max(len(name) for name, _, _ in table)
        lines += ["", *(f"{name:<{width}}  {value:>6}  {meaning}" for name, value, meaning in table)]
    named = accused(found)
    if named:
        lines += ["", "Most in the way of each other:", *(f"  {clash}" for clash in named)]
    if found.unused:
        lines += ["", f"{found.method} does not use: {', '.join(found.unused)}."]
    lines += ["", *_forecast(found), f"Advice: {found.advice}"]
    return "\n".join(lines)


def accused(found: Diagnosis) -> tuple[Clash, ...]:
    """The clashes that the page shows: none where neither distances nor the trial speak against the clues."""
    doubtful = found.agreement < _SHORTER or found.harm >= LIKELY
    return found.clashes[:_SHOWN] if doubtful else ()


def named_rows(found: Diagnosis) -> set[int]:
    """Rows of the clashes and repairs that the page shows."""
    pairs = [*found.repair_rows[:_SHOWN], *(rows for clash in accused(found) for rows in (clash.must, clash.cannot))]
    return {row for rows in pairs for row in rows}


def _difficulty(found: Diagnosis) -> Iterator[str]:
    if found.contradictions or not found.degeneracy or found.n_clusters is None:
        return
    k, degree = found.n_clusters, found.degeneracy
    if k == 2 and found.satisfiable:
        yield "What must be apart has no odd cycle, so two clusters are easily found."
    elif degree < k:
        yield f"What must be apart is easily kept apart: degeneracy {degree}, below {plural(k, 'cluster')}."
    elif found.satisfiable is not False:
        tangled = f"What must be apart is tangled: degeneracy {degree}, not below {plural(k, 'cluster')}"
        yield f"{tangled}; greedy methods may fail."


def _worth(found: Diagnosis) -> Iterator[tuple[str, str, str]]:
    """Rows of the table: name, value, how to read it."""
    rows = (
        ("redundancy", found.redundancy, True, "of the clues follow from the others"),
        ("informativeness", found.informativeness, True, f"of the clues are new to {found.method}"),
        ("coherence", found.coherence, True, "of must-links and cannot-links are out of each other's way, two by two"),
        ("agreement", found.agreement, False, "1: must-links are shorter than cannot-links; 0.5: no difference"),
        ("predictability", found.predictability, False, "1: links nearby tell what a link is; 0.5: they do not"),
    )
    for name, value, share, meaning in rows:
        if not np.isnan(value):
            yield name, f"{100 * value:.0f} %" if share else f"{value:.2f}", meaning


def _forecast(found: Diagnosis) -> Iterator[str]:
    trial = found.trial
    if trial is None:
        return
    rows = "" if trial.rows == found.clues.n else f" ({trial.rows} rows were tried)"
    if trial.trouble:
        yield f"{found.method} was tried{rows}: {trial.trouble}"
        return
    if not found.reasons:
        return
    if trial.moved <= SMALL:
        yield f"{found.method} was tried{rows}. {found.reasons[0]}"
        return
    if np.isnan(found.harm):
        worse = f"Whether {found.method} does worse with these clues than without cannot be told"
        yield f"{worse}: too few can be held out{rows}."
    else:
        worse = f"Probability that {found.method} does worse with these clues than without"
        share = "under 1 %" if found.harm < 0.01 else "over 99 %" if found.harm > 0.99 else f"{100 * found.harm:.0f} %"
        yield f"{worse}: {share}{rows}."
    yield from (f"  {reason}" for reason in found.reasons)


def recommended(found: Mapping[str, Any], estimator: Any, *, data: bool = True) -> tuple[str, str]:
    """What to do, in a word and in a sentence; ``data``: there are some."""
    method, trial, clues = found["method"], found["trial"], found["clues"]
    hard = estimator is not None and estimator.card.hard
    soft = "a soft method such as PCKMeans"
    if not clues.kinds:
        return "ask", "there are no clues; ask about some rows first."
    if estimator is not None and not (clues.kinds & estimator.card.accepts):
        return "leave", f"{method} uses none of these kinds of clues; choose a method that does, or leave them out."
    if found["contradictions"]:
        return "repair", f"{_first_aid(found)}; until then only {soft} can use them."
    if found["satisfiable"] is False and _sizes_alone(clues, found["n_clusters"]):
        return "soften", _other_sizes(clues, found["n_clusters"])
    if found["satisfiable"] is False and (hard or estimator is None):
        return "soften", f"take more clusters or {soft}: with a hard method these clues cannot be used."
    if trial is not None and trial.trouble:
        if np.isnan(trial.informativeness):
            return "leave", f"see to it that {method} can cluster these data without clues first."
        return "soften", f"use {soft}."
    return _by_harm(found, hard, soft, data)


def _first_aid(found: Mapping[str, Any]) -> str:
    count = len(found["repairs"])
    if not count:
        return "repair what contradicts itself first"
    if count <= _SHOWN and not found["unrepaired"]:
        return f"repair the {plural(count, 'link')} named above first"
    more = ", and look again" if found["unrepaired"] else ""
    return f"repair {plural(count, 'link')} first, beginning with those named above{more}"


def _sizes_alone(clues: Clues, k: int) -> bool:
    """Whether it is the bounds on sizes that cannot be kept."""
    return clues.sizes is not None and clues.only(clues.kinds - {"sizes"}).feasible(k) is not False


def _other_sizes(clues: Clues, k: int) -> str:
    lower, upper = np.broadcast_to(np.asarray(clues.sizes), (k, 2)).sum(axis=0)
    if lower > clues.n:
        return "take fewer clusters, or allow smaller ones: there are not enough rows for these bounds on sizes."
    if upper < clues.n:
        return "take more clusters, or allow larger ones: these bounds on sizes leave no room for all rows."
    return "change the bounds on sizes or the number of clusters: they cannot be kept together with the other clues."


def _by_harm(found: Mapping[str, Any], hard: bool, soft: str, data: bool) -> tuple[str, str]:
    trial, harm, method = found["trial"], found["harm"], found["method"]
    if found["reasons"] and np.isnan(harm):
        return "ask", "ask about more rows; these clues are too few to tell whether they help."
    if np.isnan(harm):
        missing = [] if data else ["data"]
        missing += ["a number of clusters (n_clusters, or -k)"] if found["n_clusters"] is None else []
        more = f"; with {' and '.join(missing)} there is more to say" if missing and trial is None else ""
        return "use", f"nothing speaks against these clues{more}."
    if trial.moved == 0:
        return "ask", f"{method} gives the same clusters without them; ask about rows where it is less sure."
    mislead = found["agreement"] < 0.5
    if not found["harmful"] and not (mislead and trial.strain > 0 and not trial.gain > trial.error):
        thin = found["coverage"] < 0.02
        return "use", "use them" + ("; clues about more rows would do more." if thin else ".")
    if mislead:
        return "leave", f"leave them out, repair them, or choose other columns: {_MISLEADING}."
    if hard:
        return "soften", f"use {soft}, or leave them out; cluewise.compare looks closer."
    return "leave", "leave them out, or ask about more rows and look again; cluewise.compare looks closer."
