"""The report of `check` as text, and its recommendation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from cluewise.advice.harm import ALONE, LIKELY, SMALL
from cluewise.clues.words import plural

if TYPE_CHECKING:
    from cluewise.advice._check import Diagnosis
    from cluewise.advice._clashes import Clash
    from cluewise.advice.harm import Tryout
    from cluewise.clues import Clues

__all__ = ["SHOWN", "recommend", "select_clashes", "write_page"]

SHOWN = 3  # clashes and repairs on the page
_SHORTER = 0.7  # with an agreement of at least this, clashes are not suspicious
_WORTH_A_LOOK = 0.95  # with less trust, wrong clues are worth looking for
_MISLEADING = "near rows differ and far rows belong together, so these clues do not carry over to other rows"


def write_page(found: Diagnosis) -> str:
    """Write the report: the clues, how useful they are, which of them clash, what to do."""
    lines = [found.clues.explain(found.n_clusters)]
    if found.repairs:
        rest = plural(found.unrepaired, "contradiction") if found.unrepaired else "no contradictions"
        lines.append(f"Without the following links, {rest} would remain; check them first:")
        lines += [f"  {words}" for words in found.repairs[:SHOWN]]
        if len(found.repairs) > SHOWN:
            lines.append(f"  … and {len(found.repairs) - SHOWN} more.")
    if found.clues.kinds:
        lines += _difficulty(found)
    table = list(_worth(found))
    if table:
        width = max(len(name) for name, _, _ in table)
        lines += ["", *(f"{name:<{width}}  {value:>6}  {meaning}" for name, value, meaning in table)]
    clashes = select_clashes(found)
    if clashes:
        lines += ["", "Clues that clash most:", *(f"  {clash}" for clash in clashes)]
    if found.unused:
        lines += ["", f"{found.method} does not use: {', '.join(found.unused)}."]
    lines += ["", *_forecast(found), f"Advice: {found.advice}"]
    return "\n".join(lines)


def select_clashes(found: Diagnosis) -> tuple[Clash, ...]:
    """Select the clashes to show: none if both distances and the trial support the clues."""
    doubtful = found.agreement < _SHORTER or found.harm >= LIKELY
    return found.clashes[:SHOWN] if doubtful else ()


def _difficulty(found: Diagnosis) -> Iterator[str]:
    if found.contradictions or not found.degeneracy or found.n_clusters is None:
        return
    k, degree = found.n_clusters, found.degeneracy
    if k == 2 and found.satisfiable:
        yield "Rows to keep apart form no odd cycle, so two clusters are easy to find."
    elif degree < k:
        yield f"Rows to keep apart are easy to separate: degeneracy {degree}, below {plural(k, 'cluster')}."
    elif found.satisfiable is not False:
        hard = f"Rows to keep apart are hard to separate: degeneracy {degree}, not below {plural(k, 'cluster')}"
        yield f"{hard}; greedy methods may fail."


def _worth(found: Diagnosis) -> Iterator[tuple[str, str, str]]:
    """Yield the lines of the table: name, value, how to read it."""
    rows = (
        ("redundancy", found.redundancy, True, "of the clues follow from the others"),
        ("informativeness", found.informativeness, True, f"of the clues are new to {found.method}"),
        ("trust", found.trust, True, f"of the clues seem right to {found.method}"),
        ("coherence", found.coherence, True, "of the pairs of a must-link and a cannot-link do not overlap"),
        ("agreement", found.agreement, False, "1: must-links are shorter than cannot-links; 0.5: no difference"),
        ("predictability", found.predictability, False, "1: nearby links predict the kind of a link; 0.5: they do not"),
    )
    for name, value, share, meaning in rows:
        if not np.isnan(value):
            yield name, f"{100 * value:.0f} %" if share else f"{value:.2f}", meaning


def _forecast(found: Diagnosis) -> Iterator[str]:
    trial = found.trial
    if trial is None:
        return
    rows = "" if trial.rows == found.clues.n else f" (on {trial.rows} rows)"
    if trial.trouble:
        yield f"{found.method} was tried{rows}: {trial.trouble}"
        return
    if not found.reasons:
        return
    if trial.moved <= SMALL:
        yield f"{found.method} was tried{rows}. {found.reasons[0]}"
        return
    if trial.harm_unknown:
        yield f"Whether {found.method} does worse with these clues than without is unknown{rows}."
    elif np.isnan(found.harm):
        yield f"Too few clues can be held out to tell whether {found.method} does worse with them than without{rows}."
    else:
        worse = f"Probability that {found.method} does worse with these clues than without"
        share = "under 1 %" if found.harm < 0.01 else "over 99 %" if found.harm > 0.99 else f"{100 * found.harm:.0f} %"
        yield f"{worse}: {share}{rows}."
    yield from (f"  {reason}" for reason in found.reasons)


def recommend(found: Mapping[str, Any], estimator: Any, *, data: bool = True) -> tuple[str, str]:
    """Recommend what to do, in a word and in a sentence; ``data``: whether X was given."""
    method, trial, clues = found["method"], found["trial"], found["clues"]
    hard = estimator is not None and estimator.card.hard
    soft = "a soft method such as Cluewise"
    if not clues.kinds:
        return "ask", "there are no clues; ask about some rows first."
    if estimator is not None and not (clues.kinds & estimator.card.accepts):
        return "leave", f"{method} uses none of these kinds of clues; choose a method that does, or leave them out."
    if found["contradictions"]:
        return "repair", f"{_first_aid(found)}; until then only {soft} can use them."
    if found["satisfiable"] is False and _sizes_alone(clues, found["n_clusters"]):
        return "soften", _suggest_sizes(clues, found["n_clusters"])
    if found["satisfiable"] is False and (hard or estimator is None):
        return "soften", f"use more clusters or {soft}: no hard method can satisfy these clues."
    if trial is not None and trial.trouble:
        if trial.trouble.startswith(ALONE):
            return "leave", f"first make sure that {method} can cluster these data without clues."
        if clues.sizes is not None and not hard:
            return "soften", "change the bounds on sizes, which have to hold, or the number of clusters."
        return "soften", f"use {soft}."
    return _by_harm(found, hard, soft, data)


def _first_aid(found: Mapping[str, Any]) -> str:
    count = len(found["repairs"])
    if not count:
        return "repair the contradictions first"
    if count <= SHOWN and not found["unrepaired"]:
        return f"repair the {plural(count, 'link')} named above first"
    more = ", and check again" if found["unrepaired"] else ""
    return f"repair {plural(count, 'link')} first, beginning with those named above{more}"


def _sizes_alone(clues: Clues, k: int) -> bool:
    """Whether only the bounds on sizes make the clues unsatisfiable."""
    return clues.sizes is not None and clues.only(clues.kinds - {"sizes"}).feasible(k) is not False


def _suggest_sizes(clues: Clues, k: int) -> str:
    lower, upper = np.broadcast_to(np.asarray(clues.sizes), (k, 2)).sum(axis=0)
    if lower > clues.n:
        return "use fewer clusters, or allow smaller ones: there are too few rows for these bounds on sizes."
    if upper < clues.n:
        return "use more clusters, or allow larger ones: these bounds on sizes leave no room for all rows."
    return "change the bounds on sizes or the number of clusters: they conflict with the other clues."


def _by_harm(found: Mapping[str, Any], hard: bool, soft: str, data: bool) -> tuple[str, str]:
    trial, harm, method = found["trial"], found["harm"], found["method"]
    if found["reasons"] and np.isnan(harm) and trial.harm_unknown:
        return "unknown", f"none: harm was not estimated, as {trial.harm_unknown}."
    if found["reasons"] and np.isnan(harm):
        return "ask", "ask about more rows; there are too few clues to tell whether they help."
    if np.isnan(harm):
        missing = [] if data else ["data"]
        missing += ["the number of clusters (n_clusters, or -k)"] if found["n_clusters"] is None else []
        more = f"; give {' and '.join(missing)} to learn more" if missing and trial is None else ""
        return "use", f"nothing is wrong with these clues{more}."
    mislead = found["agreement"] < 0.5
    if trial.moved == 0 and not mislead:
        return "ask", f"{method} gives the same clusters without them; ask about rows where it is less sure."
    useless = trial.moved == 0 or (trial.strain > 0 and not trial.gain > trial.error)
    if not found["harmful"] and not (mislead and useless):
        more = "; clues about more rows would help more" if found["coverage"] < 0.02 else ""
        return "use", f"use them{more}{_some_wrong(trial)}."
    if mislead:
        return "leave", f"leave them out, repair them, or choose other columns: {_MISLEADING}."
    if hard:
        return "soften", f"use {soft}, or leave them out; cluewise.compare shows more."
    return "leave", "leave them out, or ask about more rows and check again; cluewise.compare shows more."


def _some_wrong(trial: Tryout) -> str:
    """A hint if so many clues seem wrong that it pays to look at them."""
    if not trial.trust < _WORTH_A_LOOK:
        return ""
    return f"; {100 * (1 - trial.trust):.0f} % of them seem wrong (cluewise.suspects and `cluewise fit` name them)"
